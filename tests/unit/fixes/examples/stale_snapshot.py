"""Examples of the tool stale-snapshot."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

_PAGE = "def test_page(snapshot):\n    assert page() == snapshot\n"
_GOLDEN = "def test_page():\n    assert page() == Path('page.golden').read_text()\n"
_INLINE = """\
from inline_snapshot import snapshot

def test_sum():
    assert add(2, 2) == snapshot(
        5
    )
"""
_CONFTEST = """\
def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true")
"""


def _of(error: str, before: str, says: str, line: int = 2, **more: object) -> Example:
    return Example(
        error=error,
        before=before,
        after=before if says else None,
        says=says,
        line=line,
        filename="tests/test_app.py",
        test_file="tests/test_app.py",
        **more,  # type: ignore[arg-type]
    )


EXAMPLES = (
    _of(
        "AssertionError: assert [+ received] == [- snapshot]\n  - 'a'\n  + 'b'",
        _PAGE,
        "`pytest tests/test_app.py -k test_page --snapshot-update`",
    ),
    _of(
        "AssertionError: FILES DIFFER:\ntests/test_app/page.yml\n/tmp/page.obtained.yml",
        _PAGE,
        "-k test_page --force-regen`",
    ),
    _of(
        "AssertionError: value does not match the expected value in snapshot page.txt\n"
        "  (run pytest with --snapshot-update to update snapshots)",
        _PAGE,
        "-k test_page --snapshot-update`",
    ),
    _of(
        "AssertionError: page differs; set UPDATE_GOLDEN=1 to write it anew",
        _GOLDEN,
        "`UPDATE_GOLDEN=1 pytest tests/test_app.py -k test_page`",
    ),
    _of("AssertionError: assert 4 == 5", _INLINE, "-k test_sum --inline-snapshot=fix`", 4),
    _of(
        "AssertionError: assert 'b' == 'a'",
        _GOLDEN,
        "-k test_page --update-golden`",
        test=_GOLDEN,
        files={"tests/conftest.py": _CONFTEST},
    ),
    # Nothing is stored here, or nobody can store it anew.
    _of("AssertionError: assert 'b' == 'a'", _GOLDEN, "", test=_GOLDEN),
    _of("AssertionError: assert 4 == 5", _INLINE.replace("snapshot(", "int("), "", 4),
    _of(
        "AssertionError: assert 3 == 4",
        "def test_sum():\n    assert add(1, 2) == 4\n",
        "",
        files={"tests/conftest.py": _CONFTEST},
    ),
    Example(
        error="AssertionError: assert [+ received] == [- snapshot]",
        before="def check(page, snapshot):\n    assert page == snapshot\n",
        line=2,
        test_file="test_app.py",
    ),
)
