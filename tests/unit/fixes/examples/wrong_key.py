"""Examples of the tool wrong-key."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

EXAMPLES = (
    in_f("user", "KeyError: 'user_name'",
         "return user['user_name']", "return user['username']", test_file="test_app.py",
         files={"test_app.py": "def test():\n    assert f({'username': 'a'}) == 'a'\n"}),
    Example("KeyError: 'host'",
            "import json\n\nWHERE = 'settings.json'\n\n\ndef f(x):\n    return x['host']\n",
            "import json\n\nWHERE = 'settings.json'\n\n\ndef f(x):\n    return x['db']['host']\n",
            files={"settings.json": '{"db": {"host": "a"}}'}),
    Example("TypeError: string indices must be integers, not 'str'",
            "X = {'b': [{'t': 'a'}]}\n\n\ndef f():\n    return [x['t'] for x in X]\n",
            "X = {'b': [{'t': 'a'}]}\n\n\ndef f():\n    return [x['t'] for x in X[\"b\"]]\n"),
    Example("KeyError: 'a'", "X = {'bcd': 1}\n\n\ndef f(x):\n    return x['a']\n", line=5),
    in_f("x", "TypeError: list indices must be integers or slices, not str",
         "return x['a'] + x['b']", "return x[0]['a'] + x[0]['b']"),
)  # fmt: skip
