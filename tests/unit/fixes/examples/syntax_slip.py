"""Examples of the tool syntax-slip."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_INVALID = "SyntaxError: invalid syntax"
_CONFLICT = "def f(x):\n<<<<<<< HEAD\n    return x\n=======\n    return -x\n>>>>>>> other\n"
_BASED = "<<<<<<< ours\nA = 1\n||||||| base\nA = 0\n=======\nA = 2\n>>>>>>> theirs\n"
EXAMPLES = (
    Example(error=_INVALID, before=_CONFLICT, after="def f(x):\n    return x\n"),
    Example(error=_INVALID, before=_CONFLICT, after="def f(x):\n    return -x\n"),
    Example(error=_INVALID, before=_BASED, after="A = 2\n", says="second side"),
    Example(error=_INVALID, before="A = 1\n>>>>>>> 3f2a (more)\n", after="A = 1\n"),
    Example(error=_INVALID, before="```python\nA = 1\n```\n", after="A = 1\n", says="fences"),
    Example(
        error=_INVALID,
        before="Here it is:\n~~~py\nA = 1\n~~~\nI hope it helps.\n",
        after="A = 1\n",
    ),
    Example(
        error="SyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?",
        before="def f(x, y=1):\n    if x = 'a=b' or y:\n        return 1\n",
        after="def f(x, y=1):\n    if x == 'a=b' or y:\n        return 1\n",
    ),
    Example(
        error="SyntaxError: unterminated string literal (detected at line 1)",
        before='A = f("a, (b))\n',
        after='A = f("a, (b)")\n',
    ),
    Example(
        error="SyntaxError: unterminated string literal (detected at line 1)",
        before="A = ['Don't', 1]\n",
        after="A = ['Don\\'t', 1]\n",
    ),
    Example(
        error="SyntaxError: unterminated string literal (detected at line 1)",
        before="A = (\"a\", \"b', 'c')\n",
        after='A = ("a", "b", \'c\')\n',
    ),
    Example(
        error="SyntaxError: unterminated triple-quoted string literal (detected at line 3)",
        before='def f():\n    """One.\n\n    return 1\n',
        after='def f():\n    """One."""\n\n    return 1\n',
    ),
    Example(
        error="SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?",
        before="import sys\n\nfor i in 1, 2:\n    print i, 'print x'  # print y\n"
        "    print >>sys.stderr, i,\nprint\n",
        after="import sys\n\nfor i in 1, 2:\n    print(i, 'print x')  # print y\n"
        "    print(i, end=' ', file=sys.stderr)\nprint()\n",
    ),
    Example(
        error="SyntaxError: multiple exception types must be parenthesized",
        before="try:\n    f(0777, 10L)\nexcept (A, B), e:\n    if `e` <> 'x':\n"
        "        raise C, 'no'\n",
        after="try:\n    f(0o777, 10)\nexcept (A, B) as e:\n    if repr(e) != 'x':\n"
        "        raise C('no')\n",
    ),
    Example(
        error="SyntaxError: closing parenthesis ']' does not match opening parenthesis '('",
        before="A = {\n    f(1, 2]: 3,\n}\n",
        after="A = {\n    f(1, 2): 3,\n}\n",
    ),
    Example(
        error=f"{_INVALID}. Perhaps you forgot a comma?",
        before="A = {\n    'a': 1  # one\n    'b': 2,\n}\n",
        after="A = {\n    'a': 1,  # one\n    'b': 2,\n}\n",
    ),
    Example(
        error=_INVALID,
        before="if a && !b || c != '&&':\n    n++;\nelse if d:\n    self.n--\n",
        after="if a and not b or c != '&&':\n    n += 1\nelif d:\n    self.n -= 1\n",
    ),
    Example(
        error=_INVALID,
        before="def f(:\n    return ==\n",
    ),
    Example(
        error=_INVALID,
        before="A = 1\n",
    ),
)
