"""Examples of the tool json-syntax."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_BROKEN = "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2"


def _data(before: str, after: str | None = None, *, error: str = _BROKEN) -> Example:
    return Example(error=error, before=before, after=after, filename="data.json")


EXAMPLES = (
    _data(
        '{\n  "a": [1, 2, ],\n  "b": "x, }", // why\n}\n',
        '{\n  "a": [1, 2 ],\n  "b": "x, }" \n}\n',
        error="json.decoder.JSONDecodeError: Illegal trailing comma before end of object: line 3",
    ),
    _data("{'a': True, 'b': None}\n", '{"a": true, "b": null}\n'),
    _data(
        '{\n  "a": 1\n  "b": 2\n}\n',
        '{\n  "a": 1,\n  "b": 2\n}\n',
        error="JSONDecodeError: Expecting ',' delimiter: line 3 column 3 (char 12)",
    ),
    Example(_BROKEN,
            'import json\n\nDEFAULTS = """{\'a\': 1,}"""\n\n\ndef f():\n'
            "    return json.loads(DEFAULTS)\n",
            'import json\n\nDEFAULTS = """{"a": 1}"""\n\n\ndef f():\n'
            "    return json.loads(DEFAULTS)\n", line=7),
    _data("{a: 1}\n", '{"a": 1}\n'),
    _data("{“a”: 1\n", '{"a": 1\n}\n'),
    _data('{"a": "it\'s // here"}\n'),
    Example(_BROKEN, "import json\n\n\ndef f(x):\n    return json.loads(f'{{x}}')\n", line=5),
    _data("{a-b}\n"),
    _data(
        '```json\n{"a": "x\ty\nz", "b": "C:\\new\\x"}\n```\n',
        '{"a": "x\\ty\\nz", "b": "C:\\\\new\\\\x"}\n',
    ),
    _data('{"a": [1, 2, {"b": [3]}\n', '{"a": [1, 2, {"b": [3]}\n]}\n'),
    _data('{"a": [1,\n"b": 2}}\n', '{"a": [1],\n"b": 2}\n'),
    _data(
        '{"a": 1}\n{"a": 2}\n',
        '[\n{"a": 1},\n{"a": 2}\n]\n',
        error="JSONDecodeError: Extra data: line 2 column 1 (char 9)",
    ),
    Example("JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1",
            "import json\n\n\ndef f(p):\n    return json.loads(p.read_text('utf-8'))\n",
            'import json\n\n\ndef f(p):\n    return json.loads(p.read_text("utf-8-sig"))\n'),
    Example("AttributeError: 'str' object has no attribute 'read'",
            "import json\n\n\ndef f(x):\n    return json.load(x)\n",
            "import json\n\n\ndef f(x):\n    return json.loads(x)\n"),
    Example("json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 9)",
            "import json\n\n\ndef f(x):\n    return json.loads(x)\n",
            "import json\n\n\ndef f(x):\n"
            "    return [json.loads(line) for line in x.splitlines()]\n"),
    Example("json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes",
            "import json\n\n\ndef f(x):\n    return json.loads(str(x))\n",
            "import json\n\n\ndef f(x):\n    return json.loads(json.dumps(x))\n"),
    Example("json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes",
            "import json\n\nX = \"{'a': True}\"\n\n\ndef f():\n    return json.loads(X)\n",
            "import json\n\nX = '{\"a\": true}'\n\n\ndef f():\n    return json.loads(X)\n", line=7),
    Example("TypeError: dump() missing 1 required positional argument: 'fp'",
            "import json\n\n\ndef f(x):\n    return json.dump(x)\n",
            "import json\n\n\ndef f(x):\n    return json.dumps(x)\n"),
    _data(
        '{\n  "a: 1,\n  "b": 2\n}\n',
        '{\n  "a": 1,\n  "b": 2\n}\n',
        error="json.decoder.JSONDecodeError: Invalid control character",
    ),
)  # fmt: skip
