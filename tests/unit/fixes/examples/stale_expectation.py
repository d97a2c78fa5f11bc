"""Examples of the tool stale-expectation."""

from __future__ import annotations

from tests.unit.fixes.examples import Example


def _of(
    error: str, before: str, after: str | None = None, *, line: int = 2, file: str = "test_app.py"
) -> Example:
    return Example(
        error=f"AssertionError: {error}",
        before=before,
        after=after,
        line=line,
        filename=file,
        test_file="test_app.py",
    )


EXAMPLES = (
    _of(
        "assert 14065 == 10875\n +  where 14065 = total()",
        "def test_total():\n    assert total() == 10875  # cents\n",
        "def test_total():\n    assert total() == 14065  # cents\n",
    ),
    _of(
        "assert ['a', 'b'] == ['a']",
        "def test_it():\n    assert ['a', 'b'] == names()\n",
        "def test_it():\n    assert ['a'] == names()\n",
    ),
    _of("assert 3 == 4", "def total():\n    assert count() == 4\n", file="app.py"),
    _of("assert <Money 3> == 4", "def test_total():\n    assert total() == 4\n"),
    _of("assert 3 == 4", "def test_total():\n    assert total() == four()\n"),
    _of(
        "of all\nassert 4 == 3\n +  where 4 = total()",
        "class TestTotal:\n    def test_it(self):\n        assert total() == 3, 'of all'\n",
        "class TestTotal:\n    def test_it(self):\n        assert total() == 4, 'of all'\n",
        line=3,
    ),
    _of("assert 'aaaa...bbbb' == 'a'", "def test_it():\n    assert name() == 'a'\n"),
    _of("assert 3 == 4", "def test_it():\n    assert 3 == 4\n"),
)
