"""Examples of the tool json-syntax."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_BROKEN = "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2"
EXAMPLES = (
    Example(
        error="json.decoder.JSONDecodeError: Illegal trailing comma before end of object: line 3",
        before='{\n  "a": [1, 2, ],\n  "b": "x, }", // why\n}\n',
        after='{\n  "a": [1, 2 ],\n  "b": "x, }" \n}\n',
        filename="data.json",
    ),
    Example(
        error=_BROKEN,
        before="{'a': True, 'b': None}\n",
        after='{"a": true, "b": null}\n',
        filename="data.json",
    ),
    Example(
        error="JSONDecodeError: Expecting ',' delimiter: line 3 column 3 (char 12)",
        before='{\n  "a": 1\n  "b": 2\n}\n',
        after='{\n  "a": 1,\n  "b": 2\n}\n',
        filename="data.json",
    ),
    Example(
        error=_BROKEN,
        before='import json\n\nDEFAULTS = """{\'a\': 1,}"""\n\n\ndef f():\n'
        "    return json.loads(DEFAULTS)\n",
        after='import json\n\nDEFAULTS = """{"a": 1}"""\n\n\ndef f():\n'
        "    return json.loads(DEFAULTS)\n",
        line=7,
    ),
    Example(error=_BROKEN, before="{a: 1}\n", after='{"a": 1}\n', filename="data.json"),
    Example(error=_BROKEN, before="{“a”: 1\n", after='{"a": 1\n}\n', filename="data.json"),
    Example(error=_BROKEN, before='{"a": "it\'s // here"}\n', after=None, filename="data.json"),
    Example(
        error=_BROKEN,
        before="import json\n\n\ndef f(x):\n    return json.loads(f'{{x}}')\n",
        after=None,
        line=5,
    ),
    Example(error=_BROKEN, before="{a-b}\n", after=None, filename="data.json"),
    Example(
        error=_BROKEN,
        before='```json\n{"a": "x\ty\nz", "b": "C:\\new\\x"}\n```\n',
        after='{"a": "x\\ty\\nz", "b": "C:\\\\new\\\\x"}\n',
        filename="data.json",
    ),
    Example(
        error=_BROKEN,
        before='{"a": [1, 2, {"b": [3]}\n',
        after='{"a": [1, 2, {"b": [3]}\n]}\n',
        filename="data.json",
    ),
    Example(
        error=_BROKEN,
        before='{"a": [1,\n"b": 2}}\n',
        after='{"a": [1],\n"b": 2}\n',
        filename="data.json",
    ),
    Example(
        error="JSONDecodeError: Extra data: line 2 column 1 (char 9)",
        before='{"a": 1}\n{"a": 2}\n',
        after='[\n{"a": 1},\n{"a": 2}\n]\n',
        filename="data.json",
    ),
    Example(
        error="JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1",
        before="import json\n\n\ndef f(p):\n    return json.loads(p.read_text('utf-8'))\n",
        after='import json\n\n\ndef f(p):\n    return json.loads(p.read_text("utf-8-sig"))\n',
        line=5,
    ),
    Example(
        error="AttributeError: 'str' object has no attribute 'read'",
        before="import json\n\n\ndef f(x):\n    return json.load(x)\n",
        after="import json\n\n\ndef f(x):\n    return json.loads(x)\n",
        line=5,
    ),
    Example(
        error="json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 9)",
        before="import json\n\n\ndef f(x):\n    return json.loads(x)\n",
        after="import json\n\n\ndef f(x):\n"
        "    return [json.loads(line) for line in x.splitlines()]\n",
        line=5,
    ),
    Example(
        error="json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes",
        before="import json\n\n\ndef f(x):\n    return json.loads(str(x))\n",
        after="import json\n\n\ndef f(x):\n    return json.loads(json.dumps(x))\n",
        line=5,
    ),
    Example(
        error="json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes",
        before="import json\n\nX = \"{'a': True}\"\n\n\ndef f():\n    return json.loads(X)\n",
        after="import json\n\nX = '{\"a\": true}'\n\n\ndef f():\n    return json.loads(X)\n",
        line=7,
    ),
    Example(
        error="TypeError: dump() missing 1 required positional argument: 'fp'",
        before="import json\n\n\ndef f(x):\n    return json.dump(x)\n",
        after="import json\n\n\ndef f(x):\n    return json.dumps(x)\n",
        line=5,
    ),
    Example(
        error="json.decoder.JSONDecodeError: Invalid control character",
        before='{\n  "a: 1,\n  "b": 2\n}\n',
        after='{\n  "a": 1,\n  "b": 2\n}\n',
        filename="a.json",
    ),
)
