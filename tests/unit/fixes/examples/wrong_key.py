"""Examples of the tool wrong-key."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="KeyError: 'user_name'",
        before="def f(user):\n    return user['user_name']\n",
        after="def f(user):\n    return user['username']\n",
        test_file="test_app.py",
        files={"test_app.py": "def test():\n    assert f({'username': 'a'}) == 'a'\n"},
    ),
    Example(
        error="KeyError: 'host'",
        before="import json\n\nWHERE = 'settings.json'\n\n\ndef f(x):\n    return x['host']\n",
        after="import json\n\nWHERE = 'settings.json'\n\n\ndef f(x):\n    return x['db']['host']\n",
        files={"settings.json": '{"db": {"host": "a"}}'},
    ),
    Example(
        error="TypeError: string indices must be integers, not 'str'",
        before="X = {'b': [{'t': 'a'}]}\n\n\ndef f():\n    return [x['t'] for x in X]\n",
        after="X = {'b': [{'t': 'a'}]}\n\n\ndef f():\n    return [x['t'] for x in X[\"b\"]]\n",
    ),
    Example(
        error="KeyError: 'a'",
        before="X = {'bcd': 1}\n\n\ndef f(x):\n    return x['a']\n",
        line=5,
    ),
    Example(
        error="TypeError: list indices must be integers or slices, not str",
        before="def f(x):\n    return x['a'] + x['b']\n",
        after="def f(x):\n    return x[0]['a'] + x[0]['b']\n",
    ),
)
