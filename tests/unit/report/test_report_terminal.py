"""The terminal gets the answer in a few lines."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_bayesloc.domain.failure import CauseKind
from pytest_bayesloc.report.terminal import EXTENTS, answer
from pytest_bayesloc.report.text import columns
from tests.unit.report.test_report_parts import a_cause, a_fix, remembered

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ReadSource, ResultDocument

DIFF = "--- a/calc.py\n+++ b/calc.py\n@@ -2 +2 @@\n-    return a - b\n+    return a + b\n"


@pytest.fixture
def told(document: ResultDocument, read_source: ReadSource) -> Callable[..., list[str]]:
    """The texts of the answer, by arguments of ``answer``."""
    return lambda **asked: [line.text for line in answer(document, read_source, **asked)]


def matching(lines: list[str], pattern: str) -> list[str]:
    return [line for line in lines if fnmatchcase(line, pattern)]


Told = Callable[..., list[str]]


def test_reason_that_weighs_nearly_nothing_is_not_told(
    document: ResultDocument, told: Told
) -> None:
    reason = document.faults[0].ranking[0].evidence[0]
    reason.p_if_faulty, reason.p_if_clean = 0.5, 0.45

    assert not matching(told(), "*returned -1*")
    assert matching(told(verbosity=1), "*x1.1 *returned -1*")


@pytest.mark.parametrize(("share", "n_lines"), [(0.12, 1), (0.09, 0)])
def test_share_of_the_tests_has_a_line_of_its_own_where_it_is_worth_one(
    document: ResultDocument, told: Told, share: float, n_lines: int
) -> None:
    document.faults[0].test_share = share

    assert told().count("  the tests themselves may be wrong: 12 %") == n_lines
    assert len(matching(told(), "*may be wrong*")) == n_lines


def test_a_fix_stands_below_the_cause_that_it_removes(document: ResultDocument, told: Told) -> None:
    text = "total fails after add, which leaves a default changed"
    document.faults[0].cause = a_cause(CauseKind.POLLUTED, text, "make the value in the body")
    document.fixes = [a_fix(document, diff=DIFF)]

    lines = told()

    assert lines[2] == "  Next, make the value in the body"
    assert lines[3].startswith("  possible fix, not applied")
    assert "    +    return a + b" in lines[4:]


def test_wide_lines_of_a_fix_show_where_they_differ(document: ResultDocument, told: Told) -> None:
    call = "return converted(section, key, convert=convert, default=default, "
    diff = f"@@ -1 +1 @@\n-        {call}strict=False)\n+        {call}strict=True)\n"
    document.fixes = [a_fix(document, diff=diff)]

    shown = [line for line in told(width=60) if "strict" in line]

    assert len(shown) == 2
    assert shown[0].startswith("    - ...")
    assert shown[0].endswith("strict=False)")
    assert shown[1].endswith("strict=True)")


def test_line_is_the_one_that_the_fix_changes(document: ResultDocument, told: Told) -> None:
    diff = "@@ -1 +1 @@\n-def add(a, b):\n+def add(a, b=0):\n"
    document.fixes = [a_fix(document, diff=diff)]

    assert told()[2] == "  line 1: def add(a, b):  (the line that the fix changes)"


@pytest.mark.parametrize("verified", [True, False])
def test_change_of_another_function_that_an_inspection_came_across_is_told_if_it_is_verified(
    document: ResultDocument, told: Told, *, verified: bool
) -> None:
    target = document.faults[0].ranking[1]
    document.fixes = [a_fix(document, stage="inspection", target=target, verified=verified)]

    assert bool(matching(told(), "*possible fix*")) is verified


def test_doubted_fix_is_told_as_such_and_is_no_next_step(
    document: ResultDocument, told: Told
) -> None:
    document.fixes = [a_fix(document, doubt="it returns a constant")]

    assert matching(told(), "*probably wrong (it returns a constant)*")
    assert not matching(told(), "*the line that the fix changes*")
    assert not matching(told(), "*git apply*")
    assert matching(told(), "*search for a fix*")


@pytest.mark.parametrize("width", [40, 300])
def test_no_fault_takes_more_than_twelve_lines(
    document: ResultDocument, told: Told, width: int
) -> None:
    row = document.faults[0].ranking[0]
    row.evidence = [replace(row.evidence[0], why="word " * 60)] * 5
    document.fixes = [a_fix(document, diff=DIFF + "+more\n" * 50, words="long " * 50)]
    document.memory = remembered()
    document.faults[0].changed_data = [f"data/{'x' * 40}{n}.json" for n in range(5)]

    lines = told(width=width)

    assert lines.index("") <= 12
    assert matching(lines, "    ... * more lines")


def test_somebody_who_goes_in_circles_is_told_first(document: ResultDocument, told: Told) -> None:
    said = ["step back: 3 edits", "error: E", "never edited: add"]
    loop = {"fault": 1, "kind": "wrong place", "n": 3, "said": said}
    document.memory = remembered(loops=[loop])

    lines = told()

    assert lines[1] == "  step back: 3 edits"
    assert "  * never edited: add" in lines
    assert not matching(lines, "*error: E*")


def test_plain_run_tells_less_and_leads_on(told: Told) -> None:
    lines = told(is_inspected=False)

    assert lines[:2] == told()[:2]
    assert not matching(lines, "  [*] *")
    assert lines[-1] == "To inspect these suspects: pytest --bayesloc"


def test_plain_run_tells_what_is_remembered(document: ResultDocument, told: Told) -> None:
    document.memory = remembered()

    assert matching(told(is_inspected=False), "  [*] similar to bug b0 (2026-10-02), fixed by*")


def test_plain_run_is_silent_without_a_suspect(document: ResultDocument, told: Told) -> None:
    document.faults = [replace(fault, ranking=[]) for fault in document.faults]

    assert told(is_inspected=False) == []


def test_a_run_without_faults_says_so(document: ResultDocument, told: Told) -> None:
    document.faults = []

    assert told()[0] == "bayesloc: nothing to localize."


@pytest.mark.parametrize("verbosity", [0, 1])
@pytest.mark.parametrize("width", [30, 80])
def test_no_line_is_wider_than_the_terminal_but_commands(
    document: ResultDocument, told: Told, width: int, verbosity: int
) -> None:
    document.faults[0].error.message = "\N{CJK UNIFIED IDEOGRAPH-8A9E}" * 300

    lines = told(width=width, verbosity=verbosity)

    fitted = [line for line in lines if not line.startswith("  Next, ")]
    assert max(map(columns, fitted)) <= width


def test_the_path_of_a_report_is_never_cut(told: Told) -> None:
    assert told(width=30, reports={"html": "x" * 200})[-1] == f"report: html {'x' * 200}"


def test_leading_folders_give_way_before_the_name_does(
    document: ResultDocument, told: Told
) -> None:
    row = document.faults[0].ranking[0]
    row.file = "a/rather/deeply/nested/package/of/modules/calc.py"

    assert matching(told(width=46), "Most likely: add (.../calc.py:1), >99 %;")
    assert matching(told(width=46, verbosity=1), "* 1 *.../modules/calc.py:1 add")


def test_a_message_cannot_steer_the_terminal(document: ResultDocument, told: Told) -> None:
    document.faults[0].error.message = "\x1b[2J\x07gone"

    assert told()[0].endswith(r"AssertionError: \x1b[2J\x07gone")


def test_the_answer_stands_out(document: ResultDocument, read_source: ReadSource) -> None:
    title, verdict, *_ = answer(document, read_source)

    assert title.markup == {"bold": True, "red": True}
    assert verdict.markup == {"bold": True}


def test_a_table_counts_the_rows_that_it_has_no_room_for(
    document: ResultDocument, told: Told
) -> None:
    fault = document.faults[0]
    fault.ranking = [replace(fault.ranking[0], rank=n, evidence=[]) for n in range(1, 1001)]

    assert "      980 more suspects in the report" in told(verbosity=1)


def test_how_much_is_told_goes_by_verbosity(told: Told) -> None:
    lengths = [len(told(verbosity=v)) for v in EXTENTS]

    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[1] < lengths[3]
    assert told(verbosity=-2)[:3] == [*told()[:2], ""]


@pytest.mark.parametrize(
    ("n_more", "said"), [(1, "1 more part differs"), (2, "2 more parts differ")]
)
def test_parts_of_values_that_have_no_row_are_counted(
    document: ResultDocument, told: Told, n_more: int, said: str
) -> None:
    nearest = document.faults[0].nearest_call
    assert nearest is not None
    nearest.n_more = n_more

    assert [line.strip() for line in told(verbosity=2)].count(said) == 1
