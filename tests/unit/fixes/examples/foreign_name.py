"""Examples of the tool foreign-name."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="TypeError: sort() got an unexpected keyword argument 'cmp'",
        before="def f(xs):\n    return sorted(xs, cmp=lambda a, b: cmp(len(a), b))\n",
        after="import functools\n\ndef f(xs):\n    return sorted(xs, "
        "key=functools.cmp_to_key(lambda a, b: (((len(a)) > (b)) - ((len(a)) < (b)))))\n",
        line=2,
    ),
    Example(
        error="NameError: name 'xrange' is not defined",
        before="def f(d):\n    return [d[i] for i in xrange(3)], list(d.iteritems()), unicode(d)\n",
        after="def f(d):\n    return [d[i] for i in range(3)], list(d.items()), str(d)\n",
    ),
    Example(
        error="AttributeError: 'dict' object has no attribute 'has_key'",
        before="def f(d, k):\n    return not d.has_key(k), d.has_key(k) == 1\n",
        after="def f(d, k):\n    return not k in d, (k in d) == 1\n",
    ),
    Example(
        error="AttributeError: 'list' object has no attribute 'push'. Did you mean: 'pop'?",
        before="def f(xs):\n    xs.push(1)\n    return xs\n",
        after="def f(xs):\n    xs.append(1)\n    return xs\n",
    ),
    Example(
        error="AttributeError: module 'collections' has no attribute 'Mapping'",
        before="import collections\n\n\ndef f(x):\n    return isinstance(x, collections.Mapping)\n",
        after="import collections\nimport collections.abc\n\n\ndef f(x):\n"
        "    return isinstance(x, collections.abc.Mapping)\n",
        line=5,
    ),
    Example(
        error="AttributeError: module 'time' has no attribute 'clock'",
        before="import time\n\n\ndef f():\n    return time.clock()\n",
        after="import time\n\n\ndef f():\n    return time.perf_counter()\n",
    ),
    Example(  # its own method
        error="AttributeError: 'B' object has no attribute 'push'",
        before="class A:\n    def push(self, x):\n        return x\n\n\ndef f(b):\n"
        "    return b.push(1)\n",
        line=7,
    ),
    Example(  # what else may be a property of other objects
        error="AttributeError: 'list' object has no attribute 'length'",
        before="def f(xs, pipe):\n    long = pipe.length\n    return xs.length > long\n",
        after="def f(xs, pipe):\n    long = pipe.length\n    return len(xs) > long\n",
    ),
    Example(
        error="AttributeError: 'list' object has no attribute 'join'",
        before="def f(names):\n    return names.join(', ')\n",
        after="def f(names):\n    return ', '.join(names)\n",
    ),
    Example(
        error="AttributeError: 'list' object has no attribute 'joined'",
        before="def f(names):\n    return names.joined(', ')\n",
        line=2,
    ),
)
