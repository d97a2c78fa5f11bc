"""Examples of the tool stale-expectation."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="AssertionError: assert 14065 == 10875\n +  where 14065 = total()",
        before="def test_total():\n    assert total() == 10875  # cents\n",
        after="def test_total():\n    assert total() == 14065  # cents\n",
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert ['a', 'b'] == ['a']",
        before="def test_it():\n    assert ['a', 'b'] == names()\n",
        after="def test_it():\n    assert ['a'] == names()\n",
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def total():\n    assert count() == 4\n",
        after=None,
        line=2,
        filename="app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert <Money 3> == 4",
        before="def test_total():\n    assert total() == 4\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def test_total():\n    assert total() == four()\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: of all\nassert 4 == 3\n +  where 4 = total()",
        before="class TestTotal:\n    def test_it(self):\n        assert total() == 3, 'of all'\n",
        after="class TestTotal:\n    def test_it(self):\n        assert total() == 4, 'of all'\n",
        line=3,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 'aaaa...bbbb' == 'a'",
        before="def test_it():\n    assert name() == 'a'\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def test_it():\n    assert 3 == 4\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
)
