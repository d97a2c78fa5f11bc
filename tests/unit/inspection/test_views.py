"""What a guide is shown, and what it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.inspection import Check, InspectionPatch, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.history.changes import changes_since
from pytest_bayesloc.inspection.views import HIDDEN, Views
from pytest_bayesloc.ranking.belief import MODELS
from tests.fakes.case import case_of

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case

SHOP = SourceMap(
    """\
RATE = 2


class Cart:
    size = 3

    def total(self):
        return rate() * self.size


def rate():
    return RATE
""",
    "shop.py",
)
KEYS = SourceMap("def unlock():\n    return 'hunter2'\n", "secret_keys.py")
TEST = SourceMap(
    "def test_total():\n    assert Cart().total() == 7\n", "test_shop.py", is_test=True
)
FILES = {source.file: source for source in (SHOP, KEYS, TEST)}
MODULE, CART, TOTAL, RATE = (unit.location for unit in SHOP.units)
UNLOCK = KEYS.units[1].location
TEST_TOTAL = TEST.units[1].location
NODE = "test_shop.py::test_total"
FAILURE = Failure(
    node_id=NODE,
    phase="call",
    exc_type="AssertionError",
    message="assert 6 == 7 where <shop.Cart object at 0x7f53e23d00d0>",
    frames=(
        Frame(
            file="test_shop.py", line=2, name="test_total", first_line=1, in_app=True, is_test=True
        ),
        Frame(file="/lib/x.py", line=9, name="inner", first_line=1, in_app=False),
        Frame(file="secret_keys.py", line=2, name="unlock", first_line=1, in_app=True),
    ),
    test_locations=(TEST_TOTAL,),
)


def views() -> Views:
    return Views(lambda file: FILES[file] if "secret" not in file else None)


def case(*suspects: Location) -> Case:
    places = suspects or (TOTAL, RATE)
    spectrum = Spectrum(
        tests=(NODE, "test_shop.py::test_other"),
        failing=0b01,
        passing=0b10,
        lines={where: {where.start_line: 0b01} for where in places},
    )
    prior = {where: (len(places) - n) / 10 for n, where in enumerate(places)}
    case = case_of(spectrum, prior)
    case.failures = (FAILURE,)
    case.belief = MODELS["independent"](prior)
    return case


def test_candidates_are_code_and_tests_with_their_text_likeliest_first() -> None:
    view = views().fault(case(TOTAL, RATE, TEST_TOTAL))

    assert [code.location for code in view.candidates] == [TOTAL, RATE, TEST_TOTAL]
    assert view.candidates[1].text == "def rate():\n    return RATE\n"
    assert view.candidates[2].facts == ()


def test_who_executed_a_candidate_and_what_changed_in_it_is_shown() -> None:
    fault = case(TOTAL, RATE)
    before = SHOP.text.replace("rate() * self.size", "rate() + self.size")
    (fault.changes,) = changes_since([{"shop.py": before}], lambda _: SHOP.text, FILES.get)

    total, rate = views().fault(fault).candidates

    assert total.facts[0] == "executed by 1 of 1 failing tests and by 0 of 1 passing tests"
    assert (
        "-        return rate() + self.size\n+        return rate() * self.size" in total.facts[1]
    )
    assert len(rate.facts) == 1


def test_classes_and_modules_are_shown_without_their_functions() -> None:
    module, cart = views().fault(case(MODULE, CART)).candidates

    assert "RATE = 2" in module.text
    assert "size = 3" in cart.text
    assert "return" not in module.text + cart.text


def test_failure_is_shown_with_its_test_and_the_frames_of_the_project() -> None:
    (test,) = views().fault(case()).tests

    assert test.error == "AssertionError: assert 6 == 7 where <shop.Cart object at 0x...>"
    assert test.code is not None
    assert "Cart().total() == 7" in test.code.text
    assert test.trace == (
        "test_shop.py:2 in test_total: assert Cart().total() == 7",
        f"secret_keys.py:2 in unlock: {HIDDEN}",
    )


def test_files_that_may_not_be_sent_show_neither_code_nor_values_nor_diffs() -> None:
    work = case(UNLOCK, RATE)
    work.values = {UNLOCK: {"result": ("'a'", "'hunter2'")}}
    patch = InspectionPatch(target=UNLOCK, kind="x", original=KEYS.text, patched="hunter3")
    rerun = Rerun(tests={})

    target = views().target(work, UNLOCK)
    seen = views().inspected(target, work, patch, rerun)

    assert target.target.text == ""
    assert target.values == ()
    assert seen.diff == HIDDEN


def test_target_is_shown_with_who_calls_it_and_what_was_seen() -> None:
    work = case()
    work.recording = Recording(edges={(TOTAL, RATE): 3, (RATE, RATE): 5})
    work.values = {RATE: {"result": ("2", "3")}}

    view = views().target(work, RATE, ("tried in vain: nothing",))

    assert [code.location for code in view.callers] == [TOTAL]
    assert view.callees == ()
    assert view.values == (("rate: result", "2", "3"),)
    assert view.tried == ("tried in vain: nothing",)


def test_inspection_tells_how_each_test_went_and_what_callees_returned() -> None:
    work = case()
    work.recording = Recording(edges={(TOTAL, RATE): 3})
    work.values = {RATE: {"result": ("2", "3")}}
    patch = InspectionPatch(
        target=TOTAL,
        kind="x",
        original=SHOP.text,
        patched=SHOP.text + "\n",
        checks=(Check(number=0, at_exit=True, text="size == 3", support=0),),
    )
    failed = TestRun(verdict=Verdict.FAIL, error="E: 1", covered=True, violations=(0,))
    tests = {NODE: failed, "test_other": TestRun(verdict=Verdict.PASS)}
    rerun = Rerun(tests=tests)

    seen = views().inspected(views().target(work, TOTAL), work, patch, rerun)

    assert seen.runs == (
        f"{NODE} (failing before): fail; target executed; assertions broken: `size == 3`; E: 1",
        "test_other (passing before): pass; target not executed",
    )
    assert seen.callee_values == (("rate: result", "2", "3"),)
