"""Examples of mutations: bodies of ``def f(self, first, second):`` before and after."""

from __future__ import annotations

import ast
from dataclasses import replace

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Sample, Value
from pytest_bayesloc.fixes.site import Hints


def sampled(text: str, *, line: int = 2, then: int = 3) -> Sample:
    """``first`` as a test has it at ``line``, as a literal."""
    given = ast.literal_eval(text)
    number = float(given) if isinstance(given, int) else None
    value = Value(type(given).__name__, number=number, text=text)
    where = Location(file="m.py", qualname="f", start_line=1, end_line=9)
    return Sample(location=where, point=(line, line), then=then, values={"first": value})


#: What the failing tests say, for mutations that read it.
HINTS = {
    "catch-error": Hints(error="TypeError", line=3),
    "add-clause": Hints(failing=[sampled("None")], passing=[sampled("3"), sampled("0")]),
    "guard-case": Hints(failing=[sampled("None")], passing=[sampled("3"), sampled("0")]),
    "accept-more": Hints(
        failing=[replace(sampled("'a'"), classes={"second": ["Kind", "Base"]})],
        passing=[sampled("'b'")],
    ),
    "skip-empty": Hints(error="IndexError", line=2),
    "raise-again": Hints(is_lenient=True),
    "other-directive": Hints(failing=[sampled("'11:00 PM'")]),
    "normalize-given": Hints(failing=[sampled("'Ab '")]),
    "other-kind": Hints(sides=[(None, "null")]),
    "convert-to-expected": Hints(sides=[("", "A"), ([2, 1], [1, 2]), ([1, 2], [2, 1])]),
}
_METHOD = "class A:\n        def g(self): pass\n    "
EXAMPLES = {
    "use-unused": (
        ("return max(first, min(3, first))", "return max(first, min(3, second))"),
        ("return sorted(first)", "return sorted(second)"),
        ("return g(first)", "return g(first, second)"),
        ("def g(a, second): pass\n    return g(first)",
         "def g(a, second): pass\n    return g(first, second=second)"),
        ("x = first + second\n    return [1]", "x = first + second\n    return x"),
        ("for a in first:\n        g(second)\n    return first",
         "for a in first:\n        g(a)\n    return first"),
    ),
    "other-directive": (
        ("return strptime(first, '%I:%M %S')", "return strptime(first, '%I:%M %p')"),
        ("f('%I:'\n      '%M %S', f'{a}%S')", "f('%I:'\n      '%M %p', f'{a}%S')"),
    ),
    "skip-empty": (
        ("return [a[0] for a in first]", "return [a[0] for a in first if a]"),
        ("return {a[0]: 1 for a in b if c}", "return {a[0]: 1 for a in b if c if a}"),
    ),
    "other-grouping": (
        ("return int(first * 10 + second)", "return int(first) * 10 + second"),
        ("return int((first + 1) * 10)", "return int(first + 1) * 10"),
        ("return first + second / 2", "return (first + second) / 2"),
        ("return (first - second) * 2 + 1", "return (first - second) * (2 + 1)"),
        ("return int(first * 10 + second)", "return int(first * 10) + second"),
        ("return len(first) + second", "return len(first + second)"),
        ("return first + second.strip()", "return (first + second).strip()"),
        ("return not first and second", "return not (first and second)"),
        ("return first or second and a", "return (first or second) and a"),
        ("return first or 0 + 1", "return (first or 0) + 1"),
        ("return 'x' + first if first else ''", "return 'x' + (first if first else '')"),
        ("return 1 - (first if a else second + 2)", "return 1 - ((first if a else second) + 2)"),
        ("return -(first**2)", "return (-first) ** 2"),
        ("a = '%s %s' % first, second", "a = '%s %s' % (first, second)"),
        ("print('%s %s' % first, second)", "print('%s %s' % (first, second))"),
    ),
    "normalize-given": (
        ("return first == 1", "first = first.lower()\n    return first == 1"),
        ("return first == 1", "first = first.strip()\n    return first == 1"),
    ),
    "whole-span": (
        ("return (first - second).seconds", "return (first - second).total_seconds()"),
        ("return first.replace(tzinfo=second)", "return first.astimezone(second)"),
    ),
    "raise-again": (
        ("try:\n        first()\n    except OSError:\n        return",
         "try:\n        first()\n    except OSError:\n        raise"),
    ),
    "chain-if": (
        ("if first:\n        a = 1\n    if second:\n        a = 2",
         "if first:\n        a = 1\n    elif second:\n        a = 2"),
    ),
    "copy-looped": (
        ("for a in first:\n        if a:\n            first.remove(a)",
         "for a in list(first):\n        if a:\n            first.remove(a)"),
        ("for k, v in self.d.items():\n        del self.d[k]",
         "for k, v in list(self.d.items()):\n        del self.d[k]"),
    ),
    "other-key": (
        ("return sorted(first, key=lambda a: a[1])",
         "return sorted(first, key=lambda a: float(a[1]))"),
        ("first.sort(key=lambda a: a.n)", "first.sort(key=lambda a: -a.n)"),
        ("return max(first, key=lambda a: g(a))", "return max(first, key=lambda a: g(a).lower())"),
    ),
    "split-once": (
        ("a, b = first.split('=')", "a, b = first.split('=', 1)"),
        ("[a, b, c] = first.rsplit(second)", "[a, b, c] = first.rsplit(second, 2)"),
    ),
    "exchange-names": (
        ("return min(max(a, first), second)", "return min(max(a, second), first)"),
        ("x = first - second", "x = second - first"),
    ),
    "first-item": (
        ("x = 0\n    for a in first:\n        if a > x:\n            x = a\n    return x",
         "x = first[0]\n    for a in first:\n        if a > x:\n            x = a\n    return x"),
    ),
    "branch-first": (
        ("if a:\n        return 1\n    if b:\n        return 2\n    if c:\n        return 3",
         "if c:\n        return 3\n    if a:\n        return 1\n    if b:\n        return 2"),
        ("if a:\n        x = 1\n    elif b:\n        x = 2\n    else:\n        x = 3",
         "if b:\n        x = 2\n    elif a:\n        x = 1\n    else:\n        x = 3"),
    ),
    "keep-result": (
        ("first.strip()\n    return first", "first = first.strip()\n    return first"),
        ("sorted(self.n)\n    return self.n", "self.n = sorted(self.n)\n    return self.n"),
        ("first.strip()", "return first.strip()"),
    ),
    "call-method": (
        ("first.close", "first.close()"),
        (f"{_METHOD}if first.g: return 1", f"{_METHOD}if first.g(): return 1"),
        (f"{_METHOD}return [a for a in b if not a.g]",
         f"{_METHOD}return [a for a in b if not a.g()]"),
    ),
    "catch-error": (
        ("try:\n        a()\n    except KeyError:\n        b()",
         "try:\n        a()\n    except (KeyError, TypeError):\n        b()"),
    ),
    "add-clause": (
        ("if second:\n        return 1", "if second and first is not None:\n        return 1"),
        ("if second or a:\n        return 1",
         "if (second or a) and first is not None:\n        return 1"),
    ),
    "guard-case": (
        ("print(first)", "if first is not None:\n        print(first)"),
        ("return a == first", "if first is None:\n        return False\n    return a == first"),
        ("print(first)", "if first is None:\n        return\n    print(first)"),
    ),
    "other-kind": (("first['type'] = None", "first['type'] = 'null'"),),
    "convert-to-expected": (
        ("return first", "return sorted(first)"),
        ("return sorted(first)", "return sorted(first, reverse=True)"),
    ),
    "negate-condition": (
        ("if a: b()", "if (not (a)): b()"),
        ("if not a: b()", "if a: b()"),
        ("x = [i for i in y if i]", "x = [i for i in y if (not (i))]"),
    ),
    "compare-with-none": (
        ("if a: b()", "if a is not None: b()"),
        ("if not a.b and c: d()", "if a.b is None and c: d()"),
        ("x = a or b()", "x = (a if a is not None else b())"),
    ),
    "compare-text": (
        ("if a in 'bc': d()", "if a == 'bc': d()"),
        ("if 'bc' in a: d()", "if a.startswith('bc'): d()"),
        ("x = a == b'c'", "x = b'c' in a"),
    ),
    "accept-more": (
        ("if first == 'b': c()", "if first in ('b', 'a'): c()"),
        ("return isinstance(first, B)", "return isinstance(first, (B, str))"),
        ("return isinstance(second, b.C)", "return isinstance(second, (b.C, b.Kind))"),
    ),
    "keep-order": (("return list(set(first))", "return list(dict.fromkeys(first))"),),
    "same-case": (
        ("return a.b == 'AS'", "return a.b.upper() == 'AS'"),
        ("return first in ('yes', 'on')", "return first.lower() in ('yes', 'on')"),
    ),
    "fill-in": (
        ("return 'no {first} here'", "return f'no {first} here'"),
        ("f('of {second.n!r}'\n      'all')", "f(f'of {second.n!r}'\n      'all')"),
    ),
    "one-tuple": (
        ("return 'no %s' % first", "return 'no %s' % (first,)"),
        ("return g(first, ('a',), 'b')", "return g(first, ('a',), ('b',))"),
    ),
    "other-flag": (
        ("return sorted(first)", "return sorted(first, reverse=True)"),
        ("def g(a, b=True): pass\n    g(1)", "def g(a, b=True): pass\n    g(1, b=False)"),
    ),
    "go-on": (
        ("for a in first:\n        return a", "for a in first:\n        continue"),
        ("while a:\n        raise B", "while a:\n        break"),
    ),
    "negate-clause": (
        ("return a.ok", "return not a.ok"),
        ("x = a or not b(1)", "x = a or b(1)"),
        ("x = a or not b(1)", "x = not a or not b(1)"),
        ("return name.isdigit()", "return not name.isdigit()"),
    ),
    "other-number": (
        ("return first[0]", "return first[-1]"),
        ("x = 1000; y = 1024", "x = 1024; y = 1024"),
        ("x = 24 * a; y = 60.5", "x = 60.5 * a; y = 60.5"),
    ),
    "change-comparison": (
        ("return sorted(a, key=lambda x: x > 1)", "return sorted(a, key=lambda x: x >= 1)"),
        ("x = a < b <= c", "x = a <= b <= c"),
        ("x = (a) is  not b", "x = (a) is b"),
        ("x = a not in b", "x = a in b"),
    ),
    "change-boolean": (
        ("x = a and b", "x = a or b"),
        ("x = a or (b)", "x = a and (b)"),
    ),
    "change-constant": (
        ("x = 2", "x = 3"),
        ("x = 0", "x = (-1)"),
        ("f(y=True)", "f(y=False)"),
    ),
    "change-return": (
        ("return a < b", "return True"),
        ("return True", "return False"),
        ("return a", "return None"),
        ("if a:\n        return b\n    return c", "if a:\n        return c\n    return c"),
    ),
    "change-arithmetic": (
        ("return first // second", "return -(-first // second)"),
        ("x = a - 1", "x = a + 1"),
        ("x = a + b", "x = a * b"),
        ("x //= y", "x /= y"),
        ("x = a % b", "x = a // b"),
    ),
    "swap-arguments": (
        ("f(a, b, c)", "f(a, c, b)"),
        ("f(a,  (b))", "f(b,  (a))"),
    ),
    "other-name": (
        ("return first + first", "return first + second"),
        ("total = 1\n    return totals", "total = 1\n    return total"),
    ),
    "other-attribute": (
        ("self.low = first.low\n    return first.high",
         "self.low = first.low\n    return first.low"),
    ),
    "similar-call": (
        ("return first.rstrip('.html')", "return first.removesuffix('.html')"),
        ("return copy.copy(first)", "return copy.deepcopy(first)"),
        ("return first.lstrip()", "return first.strip()"),
        ("return min(first)", "return max(first)"),
    ),
    "call-it": (("return first.upper", "return first.upper()"),),
    "add-argument": (("return g(first)", "return g(first, second)"),),
    "same-keyword": (
        ("g(1, strict=True)\n    return g(first)",
         "g(1, strict=True)\n    return g(first, strict=True)"),
        ("a.g(b=self.c)\n    second.g()", "a.g(b=self.c)\n    second.g(b=self.c)"),
    ),
    "item-of-loop": (
        ("for a in first:\n        g(first[0], a)", "for a in first:\n        g(a, a)"),
        ("for a in self.b:\n        g(self.b)", "for a in self.b:\n        g(a)"),
    ),
    "wrap-result": (
        ("def g(a): pass\n    x = first\n    return x.n if g(a) else b",
         "def g(a): pass\n    x = g(first)\n    return x.n if g(a) else b"),
    ),
    "convert": (
        ("return first", "return str(first)"),
        ("return first.items", "return first.items.copy()"),
        ("return first + second", "return first + str(second)"),
    ),
    "drop-conversion": (
        ("return list(first)", "return first"),
        ("return int(first + second)", "return (first + second)"),
        ("return first.lower()", "return first"),
    ),
    "other-text": (
        ("first['name']\n    return first['names']", "first['name']\n    return first['name']"),
        ("return ' ,'", "return ','"),
        ("if first < b'1.1': return b'1.'", "if first < b'1.1': return b'1.1'"),
        ("return second.split(';'), first.split('')", "return second.split(';'), first.split(';')"),
    ),
    "other-exception": (
        ("raise KeyError(first)", "raise ValueError(first)"),
        ("try:\n        g()\n    except KeyError:\n        pass",
         "try:\n        g()\n    except IndexError:\n        pass"),
    ),
    "other-slice": (
        ("return first[1:]", "return first[1:-1]"),
        ("return first[:n]", "return first[:n + 1]"),
    ),
    "one-more": (
        ("return range(first)", "return range(first + 1)"),
        ("return first[second]", "return first[second - 1]"),
        ("return first * second", "return (first - 1) * second"),
    ),
    "add-up": (
        ("x = 1", "x += 1"),
        ("x += 1", "x = 1"),
        ("x[a] = x.get(a, 0)", "x[a] = x.get(a, 0) + 1"),
    ),
    "exchange-statements": (("a = 1\n    b = a", "b = a\n    a = 1"),),
    "exchange-targets": (
        ("a, b = first", "b, a = first"),
        ("return a, b", "return b, a"),
    ),
    "other-jump": (
        ("for a in first:\n        break", "for a in first:\n        continue"),
        ("for a in first:\n        pass", "for a in first:\n        break"),
    ),
    "move-out": (
        ("for a in first:\n        b = a\n        return b",
         "for a in first:\n        b = a\n    return b"),
        ("if first:\n        second()", "if first:\n        pass\n    second()"),
    ),
    "move-in": (
        ("for a in first:\n        b = a\n    second(b)",
         "for a in first:\n        b = a\n        second(b)"),
    ),
    "borrow-clause": (
        ("if second:\n        a = first\n    if first > 2:\n        a = second",
         "if second:\n        a = first\n    if (first > 2) and (first is None):\n"
         "        a = second"),
    ),
    "borrow-statement": (
        ("return len(first)\n\n\ndef g(first):\n    if not first:\n"
         "        return 0\n    return 1",
         "if not first:\n        return 0\n    return len(first)\n\n\n"
         "def g(first):\n    if not first:\n"
         "        return 0\n    return 1"),
    ),
}  # fmt: skip
