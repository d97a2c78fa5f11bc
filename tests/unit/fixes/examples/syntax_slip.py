"""Examples of the tool syntax-slip."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

_INVALID = "SyntaxError: invalid syntax"
_CONFLICT = "def f(x):\n<<<<<<< HEAD\n    return x\n=======\n    return -x\n>>>>>>> other\n"
_BASED = "<<<<<<< ours\nA = 1\n||||||| base\nA = 0\n=======\nA = 2\n>>>>>>> theirs\n"
EXAMPLES = (
    Example(_INVALID, _CONFLICT, "def f(x):\n    return x\n"),
    Example(_INVALID, _CONFLICT, "def f(x):\n    return -x\n"),
    Example(_INVALID, _BASED, "A = 2\n", says="second side"),
    Example(_INVALID, "A = 1\n>>>>>>> 3f2a (more)\n", "A = 1\n"),
    Example(_INVALID, "```python\nA = 1\n```\n", "A = 1\n", says="fences"),
    Example(_INVALID, "Here it is:\n~~~py\nA = 1\n~~~\nI hope it helps.\n", "A = 1\n"),
    in_f("x, y=1", "SyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?",
         "if x = 'a=b' or y:\n        return 1", "if x == 'a=b' or y:\n        return 1"),
    Example("SyntaxError: unterminated string literal (detected at line 1)",
            'A = f("a, (b))\n', 'A = f("a, (b)")\n'),
    Example("SyntaxError: unterminated string literal (detected at line 1)",
            "A = ['Don't', 1]\n", "A = ['Don\\'t', 1]\n"),
    Example("SyntaxError: unterminated string literal (detected at line 1)",
            "A = (\"a\", \"b', 'c')\n", 'A = ("a", "b", \'c\')\n'),
    in_f("", "SyntaxError: unterminated triple-quoted string literal (detected at line 3)",
         '"""One.\n\n    return 1', '"""One."""\n\n    return 1'),
    Example("SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?",
            "import sys\n\nfor i in 1, 2:\n    print i, 'print x'  # print y\n"
            "    print >>sys.stderr, i,\nprint\n",
            "import sys\n\nfor i in 1, 2:\n    print(i, 'print x')  # print y\n"
            "    print(i, end=' ', file=sys.stderr)\nprint()\n"),
    Example("SyntaxError: multiple exception types must be parenthesized",
            "try:\n    f(0777, 10L)\nexcept (A, B), e:\n    if `e` <> 'x':\n"
            "        raise C, 'no'\n",
            "try:\n    f(0o777, 10)\nexcept (A, B) as e:\n    if repr(e) != 'x':\n"
            "        raise C('no')\n"),
    Example("SyntaxError: closing parenthesis ']' does not match opening parenthesis '('",
            "A = {\n    f(1, 2]: 3,\n}\n", "A = {\n    f(1, 2): 3,\n}\n"),
    Example(f"{_INVALID}. Perhaps you forgot a comma?",
            "A = {\n    'a': 1  # one\n    'b': 2,\n}\n",
            "A = {\n    'a': 1,  # one\n    'b': 2,\n}\n"),
    Example(_INVALID,
            "if a && !b || c != '&&':\n    n++;\nelse if d:\n    self.n--\n",
            "if a and not b or c != '&&':\n    n += 1\nelif d:\n    self.n -= 1\n"),
    Example(_INVALID, "def f(:\n    return ==\n"),
    Example(_INVALID, "A = 1\n"),
)  # fmt: skip
