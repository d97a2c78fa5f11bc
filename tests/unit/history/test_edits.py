"""What was edited between two runs."""

from __future__ import annotations

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes, changes_since, edit_of, state_of

CODE = """\
LIMIT = 3


def net(price, rate):
    total = price / rate
    return total


def gross(price):
    return net(price, LIMIT)
"""


def changes(now: str, before: str = CODE) -> Changes:
    maps = {"m.py": SourceMap(now, "m.py")}
    (found,) = changes_since([{"m.py": before}], lambda _: now, maps.get)
    return found


def test_edit_names_the_functions_and_holds_the_diff() -> None:
    edit = edit_of(changes(CODE.replace("price / rate", "price * rate")))

    assert edit.functions == ("m.py net",)
    assert (edit.n_added, edit.n_removed) == (1, 1)
    assert "-    total = price / rate\n+    total = price * rate\n" in edit.diff
    assert not edit.in_tests


def test_state_of_code_is_that_of_its_text_wherever_it_stands() -> None:
    here, there = SourceMap(CODE, "m.py"), SourceMap(f"# moved\n{CODE}", "lib/m.py")
    other = SourceMap(CODE.replace("/", "*"), "m.py")

    def state(source: SourceMap) -> str:
        units = [unit.location for unit in source.units if unit.is_function]
        return state_of(units, {source.file: source}.get)

    assert state(here) == state(there)
    assert state(here) != state(other)
