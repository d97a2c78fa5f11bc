from __future__ import annotations

from dataclasses import replace

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes, changes_since, edit_of
from pytest_bayesloc.history.mistakes import is_renaming
from pytest_bayesloc.history.runs import followed
from tests.unit.history.test_edits import CODE

USER = "from knots import check\n\n\ndef curve(knots):\n    check(knots)\n    return knots\n"
THEN = {"knots.py": CODE, "curve.py": USER}


def imported_from(module: str) -> dict[str, str]:
    return {"curve.py": USER.replace("knots import", f"{module} import")}


def since(now: dict[str, str], *new: str) -> Changes:
    """What changed from ``THEN``, where ``new`` files were made since."""
    texts, moved = followed(THEN, now.get, now, new.__contains__)
    (found,) = changes_since(
        [texts], lambda file: now.get(file, ""), lambda file: SourceMap(now.get(file, ""), file)
    )
    return replace(found, moved=moved)


def test_file_that_was_moved_is_renamed() -> None:
    found = since({"sub/nodes.py": CODE, **imported_from("nodes")})

    assert found.moved == {"knots"}
    assert [where.qualname for where in found.every] == ["<module>"]
    assert is_renaming(found)


def test_edit_of_a_file_that_was_moved_is_seen_under_its_new_path() -> None:
    now = {"sub/nodes.py": CODE.replace("price / rate", "1"), **imported_from("nodes")}

    found = since(now)

    assert not is_renaming(found)
    assert set(edit_of(found).functions) == {"curve.py <module>", "sub/nodes.py net"}


def test_import_from_another_file_is_an_edit() -> None:
    gone = since({"other.py": "def f():\n    return 3\n", **imported_from("other")})
    still_there = since({**THEN, **imported_from("other")})

    assert not gone.moved
    assert not is_renaming(gone)
    assert not is_renaming(still_there)
    assert edit_of(still_there).functions == ("curve.py <module>",)


def test_file_that_is_gone_was_edited() -> None:
    assert edit_of(since({"curve.py": USER})).functions == ("knots.py <module>",)


def test_file_counts_as_made_if_it_was_not_there_before() -> None:
    now = {**THEN, "tax.py": "def tax():\n    return 1\n"}

    assert edit_of(since(now)).functions == ()
    assert edit_of(since(now, "tax.py")).functions == ("tax.py <module>", "tax.py tax")
