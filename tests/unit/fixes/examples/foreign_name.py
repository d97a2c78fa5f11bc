"""Examples of the tool foreign-name."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

EXAMPLES = (
    Example("TypeError: sort() got an unexpected keyword argument 'cmp'",
            "def f(xs):\n    return sorted(xs, cmp=lambda a, b: cmp(len(a), b))\n",
            "import functools\n\ndef f(xs):\n"
            "    return sorted(xs, key=functools.cmp_to_key(lambda a, b: (((len(a)) > (b)) - "
            "((len(a)) < (b)))))\n", line=2),
    in_f("d", "NameError: name 'xrange' is not defined",
         "return [d[i] for i in xrange(3)], list(d.iteritems()), unicode(d)",
         "return [d[i] for i in range(3)], list(d.items()), str(d)"),
    in_f("d, k", "AttributeError: 'dict' object has no attribute 'has_key'",
         "return not d.has_key(k), d.has_key(k) == 1", "return not k in d, (k in d) == 1"),
    in_f("xs", "AttributeError: 'list' object has no attribute 'push'. Did you mean: 'pop'?",
         "xs.push(1)\n    return xs", "xs.append(1)\n    return xs"),
    Example("AttributeError: module 'collections' has no attribute 'Mapping'",
            "import collections\n\n\ndef f(x):\n    return isinstance(x, collections.Mapping)\n",
            "import collections\nimport collections.abc\n\n\ndef f(x):\n"
            "    return isinstance(x, collections.abc.Mapping)\n", line=5),
    Example("AttributeError: module 'time' has no attribute 'clock'",
            "import time\n\n\ndef f():\n    return time.clock()\n",
            "import time\n\n\ndef f():\n    return time.perf_counter()\n"),
    # its own method
    Example("AttributeError: 'B' object has no attribute 'push'",
            "class A:\n    def push(self, x):\n        return x\n\n\ndef f(b):\n"
            "    return b.push(1)\n", line=7),
    # what else may be a property of other objects
    in_f("xs, pipe", "AttributeError: 'list' object has no attribute 'length'",
         "long = pipe.length\n    return xs.length > long",
         "long = pipe.length\n    return len(xs) > long"),
    in_f("names", "AttributeError: 'list' object has no attribute 'join'",
         "return names.join(', ')", "return ', '.join(names)"),
    in_f("names", "AttributeError: 'list' object has no attribute 'joined'",
         "return names.joined(', ')", line=2),
)  # fmt: skip
