"""Makes the list of what the terminal says, in all its forms: ``sentences.txt``, to be read.

Each sentence is made by the function that makes it in a run, with the numbers 0, 1, 2 and many
where they can occur, and with names of 3 and of 120 characters; answers are as wide as terminals.
"""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec import convert, to_builtins
from msgspec.structs import replace

from pytest_bayesloc.causes.awaits import never_awaited
from pytest_bayesloc.causes.condition_words import told
from pytest_bayesloc.causes.conditions import IMPORT_OFFSETS, OFFSETS, Decided
from pytest_bayesloc.causes.environment import EnvironmentCauses
from pytest_bayesloc.causes.order import missing_set_up, polluted_at_import, pollution
from pytest_bayesloc.causes.versions import packages_changed
from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.inspection import Check, Effect, InspectionPatch, Trial
from pytest_bayesloc.domain.recording import HandledError, Value
from pytest_bayesloc.domain.result import BreakingChange, SpoiledTest
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.domain.texts import with_texts
from pytest_bayesloc.fixes.plausibility import with_rivals
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.git import Bisection, Commit
from pytest_bayesloc.inspection.reflection import describe
from pytest_bayesloc.inspection.strategies.likely_fixes import words_of_failures, words_of_repair
from pytest_bayesloc.inspection.strategy import Limits, stop_reason
from pytest_bayesloc.memory.advice import LoopKind, loop_messages, second_opinion
from pytest_bayesloc.memory.episodes import fixed_words, moved_words
from pytest_bayesloc.pipeline.bisect import words_of
from pytest_bayesloc.pipeline.fix import nothing_found
from pytest_bayesloc.ranking.evidence.failures import guard_evidence, traceback_evidence
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.ranking.evidence.invariants import summary
from pytest_bayesloc.ranking.evidence.swallowed import caught_words, raised_words
from pytest_bayesloc.ranking.groups import change_evidence
from pytest_bayesloc.report.document import CauseEntry, LineEntry, ResultDocument, UsageEntry
from pytest_bayesloc.report.encoding import encode, entry_of, undo_words
from pytest_bayesloc.report.memory import brief_lines
from pytest_bayesloc.report.terminal import answer
from pytest_bayesloc.report.view import FaultView, hot_line
from pytest_bayesloc.report.words import (
    all_flaky_words,
    contrast_of,
    counts_of,
    flaky_words,
    llm_words,
    spoiled_words,
    summary_of,
    tracebacks,
)
from pytest_bayesloc.rerun.aside import put_back_words
from pytest_bayesloc.rerun.effects import Effects
from pytest_bayesloc.rerun.link import Workspaces
from pytest_bayesloc.rerun.transports.remote import check_tree
from tests.fakes.case import case_of, frame_in, location
from tests.fakes.runner import PASSED
from tests.fakes.sources import TextSources, failure_at
from tests.unit.causes import test_deciding_conditions as conditions
from tests.unit.causes import test_environment as environment
from tests.unit.causes import test_mocks as mocks
from tests.unit.fixes.test_plausibility import BORROWED, LESS, ONE
from tests.unit.memory.test_opinion import symptom, tried
from tests.unit.report.conftest import CALC, TESTS, two_faults
from tests.unit.report.test_report_parts import a_fix, remembered
from tests.unit.report.test_report_view import flaky

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.failure import Cause

FILE = Path(__file__).with_name("sentences.txt")
WIDTHS = (60, 80, 200)
N = (0, 1, 2, 51)


def part(**fields: Any) -> Any:  # noqa: ANN401 - it stands for a part of a result
    """A part of a result that has these ``fields`` alone."""
    return SimpleNamespace(**fields)


def long(name: str) -> str:
    """``name`` at the end of one of 120 characters: a cut must leave what tells two apart."""
    return (
        f"{'the_price_of_all_items_in_the_basket_of_a_customer_' * 3}"[: 119 - len(name)]
        + f"_{name}"
    )


LONG = long("add")
NAMES = ("add", LONG)


# -- parts of the answer


def executed() -> Iterator[str]:
    for ef, nf, ep, np in (
        (0, 1, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 0), (1, 1, 1, 1), (2, 49, 0, 51),
    ):  # fmt: skip
        yield counts_of(part(qualname="add", counts=part(ef=ef, nf=nf, ep=ep, np=np)))
    yield counts_of(part(qualname="add", counts=None))
    yield counts_of(part(qualname="<data>", counts=None))


def lines_to_look_at() -> Iterator[str]:
    where = {"file": "calc.py", "start_line": 1, "end_line": 99, "qualname": "add"}
    row, of = partial(part, **where, is_test=False), partial(part, breaking_changes=[], failures=[])
    nowhere, frame = part(file="", line=0), part(file="calc.py", line=2)
    for n in N:
        lines = [part(line=i, suspiciousness=0.5) for i in range(1, n + 1)]
        yield hot_line(row(lines=lines), of(error=nowhere))[1]
    yield hot_line(row(lines=[]), of(error=frame))[1]
    failed = of(error=nowhere, failures=[part(frames=[frame])])
    yield hot_line(row(lines=[], is_test=True), failed)[1]


def views() -> Iterator[str]:
    for view in (
        *(fault(test_share=0.3, failing_tests=["t"] * n) for n in N[1:]),
        *(fault(flaky=["t"] * n, failing_tests=["t"] * n) for n in N[1:]),
        *(fault(changed_data=[f"{i}.json" for i in range(n)]) for n in N[1:]),
        *(fault(ranking=[part(posterior=p) for p in shares]) for shares in (
            [0.95], [0.85, 0.1], [0.5, 0.4], [0.01] * 51,
        )),
    ):  # fmt: skip
        is_flaky = view.origin if view.is_flaky else ""
        yield view.or_test or is_flaky or view.changed_data or view.confidence
    yield from (fault(error=part(origin=o, kind="logic")).origin for o in (
        "code", "test", "fixture", "data", "file", "collection",
    ))  # fmt: skip
    yield from (
        fault(error=part(kind=k)).kind for k in ("validation", "runtime", "logic", "timeout")
    )


def fault(**more: object) -> FaultView:
    entry = {
        "failing_tests": ["t", "u"], "flaky": [], "spoiled": [], "changed_data": [],
        "test_share": 0.0, "ranking": [], "error": part(origin="code", kind="logic"),
    }  # fmt: skip
    document = part(session=part(threshold=0.9, model="single-fault"))
    return FaultView(
        number=1, entry=part(**entry | more), document=document, read_source=lambda _: None
    )


def differences() -> Iterator[str]:
    for name in NAMES:
        values = {name: part(passing="0", failing="3")}
        yield contrast_of(part(values=values, n_more=0, passing_test=f"t.py::test_{name}"))


def frames_left_out() -> Iterator[str]:
    for n in N[1:]:
        frames = [part(in_app=False, file="json.py", line=1, name="loads")] * n
        for _, shown in tracebacks(part(frames=frames, causes=[])):
            yield from (text for _, text in shown)


def spoiled_tests() -> Iterator[str]:
    for n, n_earlier, n_state, n_changed, is_smallest in (
        (1, 1, 0, 0, True), (1, 51, 1, 1, True), (2, 51, 1, 2, True), (51, 51, 2, 51, False),
    ):  # fmt: skip
        writers = [part(file="calc.py", line=i, qualname="add") for i in range(1, n)]
        yield spoiled_words(part(
            test="t.py::test_add",
            after=[f"t.py::test_{i}" for i in range(n)],
            n_earlier=n_earlier,
            is_smallest=is_smallest,
            state=[part(name=f"calc.T{i}", writers=writers[:3]) for i in range(n_state)],
            n_changed=n_changed,
        ))  # fmt: skip


def flaky_tests() -> Iterator[str]:
    yield flaky_words(flaky())
    yield flaky_words(flaky(low=0.001, passed_again=True))
    yield flaky_words(flaky(n_failed=1, n_outcomes=1, low=0.207, high=1.0, passed_again=True))
    yield flaky_words(flaky(n_failed=1, n_outcomes=2, environment="PyPy 3.11 on linux"))
    yield flaky_words(flaky(is_same_code=False))
    yield flaky_words(flaky(is_same_code=False, n_outcomes=3))
    for n in N[1:]:
        for n_changed in {0, 1, n}:
            known = [flaky(test=f"{i}", is_same_code=i >= n_changed) for i in range(n)]
            yield all_flaky_words(part(session=part(n_failed=n), memory=part(flaky=known)))


def models() -> Iterator[str]:
    for n in N:
        uses = {"ranking": n, "summary": 1} if n else {}
        yield llm_words(part(
            model="small", endpoint="http://localhost" * bool(n), calls=n, replayed=n,
            tokens=1000 * n, cost=0.01 * n if n else None, uses=uses,
        ))  # fmt: skip


# -- fixes


def fixes() -> Iterator[str]:
    document = a_document()
    searched: tuple[dict[str, Any], ...] = (
        {"n_failing": 1, "n_passing": 0},
        {"n_failing": 2, "n_passing": 1, "applied": True},
        {"n_failing": 51, "n_passing": 51, "doubt": "it returns a constant"},
        {"verified": False},
        {"verified": False, "diff": ""},
        {"words": f"`{LONG}` to `{long('sum')}`"},
    )
    found: dict[str, Any] = {"stage": "inspection", "verified": False, "tool": "other-name"}
    inspected = ({**found, "checked": ["t"] * n} for n in N[1:])
    for more in (*searched, *inspected, {**found, "checked": ["t"], "tool": "take-back"}):
        yield summary_of(a_fix(document, **more))
    for n, n_all, n_changes, is_smallest in (
        (1, 1, 1, True), (1, 2, 1, True), (2, 2, 2, True), (2, 51, 51, False),
    ):  # fmt: skip
        where = location("add")
        change = BreakingChange(
            location=where, first_line=1, last_line=2, diff="", n_changes=n_changes,
            is_smallest=is_smallest,
        )  # fmt: skip
        more = {**found, "words": undo_words(change), "checked": ["t"] * n, "n_failing": n_all}
        yield summary_of(a_fix(document, **more))
    for verified in ([LESS, ONE], [LESS, ONE, BORROWED], [BORROWED]):
        yield from sorted({checked.shown_doubt for checked in with_rivals(verified)} - {""})


def searches() -> Iterator[str]:
    for n_tried, n_green, n_failing in ((0, 0, 1), (1, 0, 2), (2, 1, 2), (51, 2, 51)):
        candidate = SimpleNamespace(file="calc.py", line=2, name="other-name")
        nearest = SimpleNamespace(candidate=candidate, n_green=n_green) if n_green else None
        result = SimpleNamespace(
            n_tried=n_tried,
            seconds=float(n_tried),
            nearest=nearest,
            n_failing=n_failing,
            verified=[],
        )
        yield nothing_found(1, cast("Any", result))
    result.verified.append(dataclasses.replace(LESS, doubt="no test gets to line 3 any more"))
    yield nothing_found(1, cast("Any", result))


# -- causes


def causes() -> Iterator[str]:
    masks = {
        r"\w+, \d\d \w+ \d{4}, \d\d:\d\d": "Friday, 27 November 2026, 10:00",
        r"(?<=this is )[Python ]*3\.\d+": "3.x",
    }
    for cause in all_causes():
        text = f"{cause.text}. Next, {cause.advice}" if cause.advice else cause.text
        for pattern, mask in masks.items():
            text = re.sub(pattern, mask, text)
        yield text


def all_causes() -> Iterator[Cause]:
    yield from filter(None, around_code())
    yield from filter(None, by_mocks())
    yield from by_conditions()
    yield from by_order()


def around_code() -> Iterator[Cause | None]:
    made = environment.cause_of
    yield made(environment.GUARDED, at="assert", kind="AssertionError", message="no plural")
    yield made(
        "import dot\n", at="import", kind="ModuleNotFoundError", message="No module named 'ujson'"
    )
    gone, refused = "[Errno 2] No such file or directory", "[Errno 13] Permission denied"
    above: tuple[Frame, ...] = (environment.LIBRARY,)
    yield made("run()\n", at="run", kind="FileNotFoundError", message=f"{gone}: 'dot'", above=above)
    above = (environment.ENVIRON,)
    yield made("environ['URL']\n", at="URL", kind="KeyError", message="'URL'", above=above)
    for text, kind in ((gone, "FileNotFoundError"), (refused, "PermissionError")):
        yield made("open(path)\n", at="open", kind=kind, message=f"{text}: '/etc/shop.conf'")
    yield made("connect()\n", at="connect", kind="E", message="[Errno 111] Connection refused")
    yield made("setlocale()\n", at="set", kind="Error", message="unsupported locale setting")
    for message in (
        "module 'inspect' has no attribute 'getargspec'",
        "module 'itertools' has no attribute 'never'",
        "Lock.__init__() got an unexpected keyword argument 'loop'",
        "Population must be a sequence.  For dicts or sets, use sorted(d).",
    ):
        yield made("asyncio.Lock(loop=1)\n", at="Lock", kind="TypeError", message=message)
    test = location("test_one", "test_app.py", is_test=True)
    finder = EnvironmentCauses(TextSources({}), environment.machine())
    for message in ("('mocker', <FixtureRequest", "async def functions are not natively supported"):
        yield finder.cause_of(failure_at(kind="E", message=message, tests=(test,)))
    passed = datetime(2026, 11, 5, tzinfo=timezone.utc)
    versions = {f"p{i}": ("1", "2") for i in range(51)}
    for n in N[1:]:
        imported = [*versions][:n]
        yield packages_changed(versions, passed, failure_at(kind="E", message=""), imported, None)
    sources = TextSources(
        {
            "app.py": "async def move():\n    add(1)\n",
            "test_app.py": "async def setUp():\n    pass\n",
        }
    )
    app, tests = sources.map("app.py"), sources.map("test_app.py")
    assert app is not None
    assert tests is not None
    yield never_awaited("coroutine 'add' was never awaited", app.units)
    yield never_awaited("coroutine 'setUp' was never awaited", app.units, tests.units)


def by_mocks() -> Iterator[Cause | None]:
    yield mocks.cause_of("def test_one():\n    mock.patch('app.rates.fetch')\n    convert()\n")
    for message in (
        "<module 'app.rates' from 'x'> does not have the attribute 'fetsch'",
        "'assert_called_onec' is not a valid assertion. Use a spec for the mock",
        "object dict can't be used in 'await' expression",
        "assert <MagicMock name='mock.price()' id='1'> == 3",
        "'<' not supported between instances of 'MagicMock' and 'int'",
    ):
        yield mocks.cause_of("def test_one():\n    Mock()\n    convert()\n", message, called=())
    test = "@patch('a.ship')\n@patch('a.charge')\ndef test_one(ship, charge):\n    convert()\n"
    yield mocks.cause_of(test, called=())


def by_conditions() -> Iterator[Cause]:
    code = "async def find(self):\n    n = self.n\n    await log()\n    self.n = n + 1\n"
    racing, plain = (
        TextSources({"app.py": code}),
        TextSources({"app.py": "def find():\n    pass\n"}),
    )
    for found in filter(None, decided()):
        for sources in (plain, racing) if found.turns else (plain,):
            yield told(found, conditions.FAILURE.node_id, sources, "pytest")


def decided() -> Iterator[Decided | None]:
    """The conditions that decide, by the searches of their own tests."""
    failed, passed = conditions.FAILED, PASSED
    steady: tuple[tuple[str, tuple[str, object]], ...] = (
        ("found:/p/run.lock", ("absent", "/p/run.lock")),
        ("clock", ("clock", OFFSETS[3])),
        ("time-zone", ("time-zone", "Asia/Tokyo")),
        ("listing", ("listing", "sorted")),
        ("folder", ("folder", "/p")),
        ("variable:SHOP_TAX", ("variable", "SHOP_TAX")),
        ("random", ("random", 5)),
        ("waiting", ("waiting", 6.0)),
    )
    for reads, condition in steady:
        runner = conditions.one_test(reads, {condition: passed})
        yield conditions.search(runner, {"SHOP_TAX": "7"}, "/p/tests").decided()
    for n in N[1:3]:
        bad: Any = {("random", i): failed for i in range(n)}
        yield conditions.search(conditions.one_test("random", bad, passed)).decided()
    other = conditions.one_test("hash", {}, passed)
    yield conditions.search(conditions.one_test("hash", {}), elsewhere=other).decided()
    clock: Any = {("clock", IMPORT_OFFSETS[1]): passed}
    later = {IMPORT_OFFSETS[1]: conditions.one_test("other", {}, passed)}
    yield conditions.search(conditions.one_test("other", clock), later=later).decided()
    for reads, ends in (
        ("waiting", {("starting", 0.2): failed}),
        ("waiting", {("waiting", 0.1): failed}),
        ("shared", {("twin", True): failed}),
        (
            "in-thread",
            {("delaying", (1, "find", "app.py", *more)): failed for more in ((), (20.0,))},
        ),
    ):
        runner = conditions.one_test(reads, cast("Any", ends), passed)
        yield conditions.search(runner, n_workers=2).decided()
    tasks = conditions.one_test("in-tasks", {})
    tasks.conditions = lambda condition: passed if conditions.in_turn(condition) else failed
    yield conditions.search(tasks).decided()
    files = ("app.py",)
    seed: Any = {("sets", (3, where, files)): passed for where in (None, ("app.py", 2))}
    sets = conditions.one_test("sets", seed)
    sets.asking = {conditions.FAILURE.node_id: {}, "sets": {"sets": [conditions.READER]}}
    yield conditions.search(sets, set_files=files).decided()
    switched = conditions.one_test("threads", {("switching", 1e-6): failed}, passed)
    yield conditions.search(switched).decided()
    chance = conditions.one_test("other", {}, passed)
    ends_ = cycle([passed, failed, passed])
    chance.answer = lambda _patch, _test: next(ends_)
    yield conditions.search(chance).decided()
    english = conditions.one_test("locale", {})
    utf = conditions.one_test("locale", {}, passed)
    yield conditions.search(english, {"LANG": "de_DE"}, elsewhere=utf).decided()


def by_order() -> Iterator[Cause]:
    sources = TextSources({
        "calc.py": "def add(a=[]):\n    pass\n",
        "test_calc.py": "def test_add():\n    pass\n\n\ndef test_0():\n    TABLE['a'] = 1\n",
    })  # fmt: skip
    changes: tuple[dict[str, Sequence[Any]], ...] = (
        {},
        {"calc.py::calc.TABLE": [("['a']", "1", "2")]},
        {f"calc.py::calc.TABLE{i}": [("", "", "")] for i in range(51)},
        {"::os.environ['TZ']": [("", "UTC", "CET")]},
        {"::the working directory": [("", "", "")]},
        {"::files": [("[out.txt]", "", "")]},
        {"calc.py::calc.add.__defaults__": [("[0]", "[]", "[1]")]},
        {"test_calc.py::fixture test_0": [("", "", "")]},
    )
    for n, names in (*((1, names) for names in changes), (2, changes[1]), (51, {})):
        yield pollution(sources, after_others(n), names)
    for n, state in ((0, ""), (1, ""), (1, "calc.TABLE"), (2, "calc.TABLE"), (51, "")):
        yield missing_set_up(sources, after_others(n), ["test_calc.py"], state)
    for what in ("settings.DEBUG", "logging.disable()"):
        yield polluted_at_import(sources, "t.py::test_add", "test_calc.py", (3, what), "pytest")


def after_others(n: int) -> SpoiledTest:
    """A test that fails after so many others, of which the first one is defined."""
    return SpoiledTest(
        test="test_calc.py::test_add",
        after=tuple(f"test_calc.py::test_{i}" for i in range(n))[::-1],
        n_earlier=n,
        is_smallest=True,
        command="pytest",
    )


# -- evidence


def evidence() -> Iterator[str]:
    yield from (found.why for found in static_evidence())
    yield from inspections()


def static_evidence() -> Iterator[Evidence]:
    add, test = location("add"), location("test_add", "t.py", is_test=True)
    failure = Failure(
        node_id="t", phase="call", exc_type="E", message="", frames=(frame_in(add, 2),)
    )
    places = {add.file: add}
    yield from traceback_evidence(
        [failure], {add: 0.5, location("total", "n.py"): 0.5}, lambda f: places.get(f.file),
        model="single-fault",
    )  # fmt: skip
    guard = Guard(function=add, owner=test, condition="not text", value="`''`", line=4)
    yield from guard_evidence(guard, model="single-fault")
    for commit in ("", "v1.0"):
        source = SourceMap("def f():\n    return 1\n", "m.py")
        changes = cast("Changes", SimpleNamespace(
            data_suspects=(), known={"m.py"}, every=(source.units[1].location,),
            since=Changes.since.fget(SimpleNamespace(commit=commit)),  # type: ignore[attr-defined]
        ))  # fmt: skip
        places_ = [source.units[1].location, location("g")]
        yield from change_evidence(changes, places_, model="single-fault")


def inspections() -> Iterator[str]:
    for n in N:
        checks = tuple(
            Check(number=i, at_exit=True, text="the result > 0", support=5) for i in range(n)
        )
        patch = a_patch(checks=checks)
        yield describe(patch, (), "")
        if n:
            yield describe(patch, (0,), "its arguments were unusual already" * (n > 1))
    for n, n_all in ((1, 1), (1, 2), (2, 51)):
        case = case_of(spectrum(n_all), {location("add"): 1.0})
        ran = [f"f{i}" for i in range(n)]
        words = f"other name, line 2: `a` to `{NAMES[n - 1]}`"
        yield words_of_repair(case, ran, words)
        yield words_of_repair(case, [*ran, "p"], words)
    for effects in ([Effect.SAME_ERROR] * 51, [Effect.BREAKS_OTHERS]):
        words = f"other name, line 2: `a` to `{NAMES[0]}`"
        yield words_of_failures([Trial(line=2, words=words, effect=one) for one in effects])
    for n in N[1:]:
        yield summary([Value(type_name="int", number=float(i), text=str(i)) for i in range(n)])
        frame = frame_in(location("add"), 3)
        error = HandledError(
            handler=frame, kind="KeyError", raised=frame, text="'a'" * (n > 1), n=n
        )
        yield caught_words(error)
        yield raised_words(error, location(NAMES[n > 2]))
    case = case_of(spectrum(1), {location("add"): 1.0})
    for threshold, n in ((0.9, 0), *((1.1, n) for n in N)):
        limits = Limits(threshold=threshold, budget_s=60.0, n_inspections=n)
        yield stop_reason(case.belief, limits, spent_s=0.0, n_made=n) or ""
    yield (
        stop_reason(
            case.belief,
            Limits(threshold=1.1, budget_s=60.0, n_inspections=None),
            spent_s=60.0,
            n_made=1,
        )
        or ""
    )


def spectrum(n_failing: int) -> Spectrum:
    tests = (*(f"f{i}" for i in range(n_failing)), "p")
    failing = 2**n_failing - 1
    return Spectrum(
        tests=tests, failing=failing, passing=failing + 1, lines={location("add"): {1: failing}}
    )


def a_patch(**more: Any) -> InspectionPatch:  # noqa: ANN401 - any fields
    return InspectionPatch(target=location("add"), kind="k", original="", patched="", **more)


# -- memory


def memory() -> Iterator[str]:
    from pytest_bayesloc.domain.advice import LoopWarning

    start = datetime(2026, 11, 20, 9, tzinfo=timezone.utc)
    for kind in LoopKind:
        loop = LoopWarning(kind=kind.value, n=3, edited=("calc.py add",), since=start, period=2)
        yield loop_messages(loop, symptom(), ())[0]
    loop = LoopWarning(kind="same error", n=4, edited=(), since=start, n_told=1)
    yield from loop_messages(loop, symptom(), ["never edited: calc.py total"])
    for record, first in (
        (tried("b.py g", "b.py g"), 0.95),
        (tried("a.py f", "b.py g", "c.py h"), 0.6),
    ):
        yield from second_opinion(record, symptom(first), 3)
    for n in N:
        yield fixed_words(
            "49cf5367", n, "calc.py add" if n else "", "wrong operator, in add" * (n > 1)
        )
    for n in N[1:]:
        yield moved_words("49cf5367", n, ["t.py::test_a"] * min(n, 3), ["t.py::test_b"] * min(n, 3))
    for more in (
        {},
        {"strategy": ""},
        {"strategy": "", "failed": ["rounded it", "sorted it"]},
        {"project": "shop"},
    ):
        kept = remembered()
        kept.advice[0].similar[0] = replace(kept.advice[0].similar[0], **more)
        yield from brief_lines(kept, 1)


# -- notes


def notes() -> Iterator[str]:
    said: list[str] = []
    for n in N[1:]:
        yield put_back_words([f"{i}.txt" for i in range(n)])
        found = {f"m{i}.py": "ab" for i in range(1, n)} | {FILE.name: "" if n > 1 else "ab"}
        with pytest.raises(ExecutionError) as raised:
            check_tree("farm", FILE.parent, Workspaces(str(FILE.parent), "/app"), found)
        yield str(raised.value)
    Effects(note=said.append).leave_out(["t.py::test_a", ""], "connects to 192.0.2.1:80")
    yield from said
    for n in N:
        yield from bisections(n)


def bisections(n_commits: int) -> Iterator[str]:
    day = datetime(2026, 11, 20, tzinfo=timezone.utc)
    commits = [
        Commit(
            id=f"{i:040x}",
            name=f"{i:07x}",
            date=f"{day - timedelta(days=i):%Y-%m-%d}",
            subject="Round prices",
        )
        for i in range(n_commits)
    ]
    tests = [f"t.py::test_{i}" for i in range(max(1, n_commits))]
    ways: Iterable[Callable[[int], bool | None]] = (
        lambda _: None, lambda _: False, lambda _: True, lambda at: at >= 1,
        lambda at: True if at > 2 else None,
    )  # fmt: skip
    found: dict[str, None] = {}
    for passes in ways if commits else (lambda _: None,):
        search = Bisection(n_commits)
        while (at := search.next()) is not None:
            search.take(at, passes(at))
        found[words_of(commits, search, tests)] = None
    yield from found


# -- whole answers


def a_document() -> ResultDocument:
    return encode(two_faults())


def usual(document: ResultDocument) -> None:
    document.fixes = [a_fix(
        document,
        diff="--- a/calc.py\n+++ b/calc.py\n@@ -2 +2 @@\n-    return a - b\n+    return a + b\n",
        words="change arithmetic, line 2: `a - b` to `a + b`", tool="change-arithmetic",
    )]  # fmt: skip
    document.memory = remembered()
    document.partial = ["Worker gw1 died.", "Cut."]


def alike(document: ResultDocument) -> None:
    """Suspects that tie, another error with the same ones, and more faults than are told."""
    first, second = document.faults
    rows = first.ranking
    first.ranking = [replace(row, rank=1, tied=4, posterior=0.25) for row in rows]
    others = [replace(second, ranking=[replace(rows[0], start_line=n)]) for n in range(20, 24)]
    document.faults = [first, replace(first, failing_tests=["t"]), *others]


def caused(document: ResultDocument) -> None:
    first, second = document.faults
    cause = next(all_causes())
    first.cause = entry_of(CauseEntry, cause, command="", location=None)
    second.flaky, second.spoiled = second.failing_tests, []
    second.changed_data = ["a.json", "b.json"]
    document.memory.flaky = [flaky(fault=2, test="test_calc.py::test_parse")]


def broken(document: ResultDocument) -> None:
    """A change that broke the tests, one suspect and many lines that are alike."""
    first = document.faults[0]
    row = first.ranking[1]
    row.lines = [LineEntry(line=n, suspiciousness=0.5, ef=1, ep=0) for n in range(5, 10)]
    first.ranking = [row]
    first.test_share = 0.2
    del document.faults[1:]
    document.llm = UsageEntry(model="small", calls=1, tokens=900, replayed=1, uses={"ranking": 1})


def answers() -> Iterator[str]:
    for change in (usual, alike, caused, broken):
        for width, name in zip(WIDTHS, (LONG, "add", LONG), strict=True):
            if change is usual or width == 60 or (change is alike and width == 80):
                yield from rendered(change, width, is_long=name == LONG)
    yield from rendered(usual, 80, is_long=True)
    yield from rendered(usual, 80, is_long=True, verbosity=1)


def rendered(
    change: Callable[[ResultDocument], None], width: int, *, is_long: bool, verbosity: int = 0
) -> Iterator[str]:
    document = a_document()
    change(document)
    names = re.compile(r"\b(?:add|total|parse|test_add|test_total|test_parse)\b")

    def renamed(text: str) -> str:
        return names.sub(lambda found: long(found[0]), text) if is_long else text

    document = convert(with_texts(to_builtins(document), renamed), ResultDocument)
    texts = {"calc.py": renamed(CALC), "test_calc.py": renamed(TESTS)}
    yield f"-- {change.__name__}, {width} columns{', long names' * is_long}{', -v' * verbosity}"
    lines = answer(
        document, texts.get, width=width, verbosity=verbosity, reports={"html": "r.html"}
    )
    yield from (f"{line.text}" for line in lines)
    yield ""


SECTIONS: dict[str, Callable[[], Iterator[str]]] = {
    "Tests that executed a suspect": executed,
    "The line to look at": lines_to_look_at,
    "Parts of the answer": views,
    "The argument that differs": differences,
    "Frames of libraries": frames_left_out,
    "Tests that fail after others": spoiled_tests,
    "Flaky tests": flaky_tests,
    "Use of a language model": models,
    "Fixes": fixes,
    "Searches without a fix": searches,
    "Causes": causes,
    "Evidence": evidence,
    "Memory": memory,
    "Notes": notes,
    "Answers": answers,
}


def made() -> str:
    """The list as it is now."""
    parts = ("\n".join([f"# {title}", "", *section()]) for title, section in SECTIONS.items())
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(made(), "utf-8")
