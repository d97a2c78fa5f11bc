"""The types of the JSON result, ``bayesloc/1``: every other report is drawn from it.

``docs/bayesloc-1.schema.json`` is made from them. Texts under ``Attributes`` become descriptions in
the schema. It is one long module, because a schema is read from top to bottom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from pytest_bayesloc.domain.bug import BugState, Category, TrialOutcome
from pytest_bayesloc.domain.evidence import OUTCOMES, Decision
from pytest_bayesloc.domain.failure import CauseKind, ErrorKind, Origin
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.inspection import Signals, Trial, Verdict
from pytest_bayesloc.domain.spectrum import Counts

#: Returns the text of a file of the project by its path in the result; None if it can't be read.
ReadSource: TypeAlias = Callable[[str], "str | None"]

SCHEMA = "bayesloc/1"
MAX_ROWS = 200
MAX_LINES = 200
MAX_FAULTS = 50
MAX_FAILURES = 50  # of a fault
MAX_FRAMES = 40  # of a traceback: its two ends
MAX_CAUSES = 5
MAX_STEPS = 200
MAX_TESTS = 100
MAX_EDGES = 1000
MAX_TRIALS = 100
MAX_BUG_TRIALS = 20  # the last ones
N_REACHED = 10  # suspects of which is said whether a test executed them

Unit = Annotated[float, Meta(ge=0, le=1)]
Likelihood = Annotated[float, Meta(gt=0, le=1)]
# Every integer counts or numbers something: the schema takes none below 0.
Ordinal = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Name = Annotated[str, Meta(min_length=1)]
# A plain enum of strings: evidence may come from several enumerations.
OutcomeName = Annotated[str, Meta(extra_json_schema={"enum": sorted(OUTCOMES)})]


class _Entry(Struct, kw_only=True):
    """A JSON object in which every key is always there; of a later release, it may have more."""


class SessionEntry(_Entry):
    """The run and its settings.

    Attributes:
        n_remembered: Tests that did not run, and are known to pass on this code: they stand in the
            spectrum.
        n_traced: Tests of which this run found out what they execute; of the others it was known.
        n_failed: Failing tests and files that could not be collected.
        n_refused: Re-runs under patches that were ended, since they would have done something
            outside of their process that the tests as they are do not.
        n_rejected: Candidates for a fix that were not run, since they can't be one.
        collector: How coverage was recorded.
        executor: Where tests were run again.
        formula: The prior's formula.
        model: The belief model.
        threshold: Belief at which the search stops.
        seconds: Wall seconds by stage.
    """

    pytest_version: str
    python_version: str
    n_passed: int
    n_remembered: int
    n_traced: int
    n_failed: int
    n_refused: int
    n_rejected: int
    collector: str
    executor: str
    formula: str
    model: str
    threshold: Unit
    seconds: dict[str, Amount]


class LocationEntry(_Entry):
    """A function, a class body or a module body.

    Attributes:
        file: POSIX path relative to rootdir.
        qualname: __qualname__, or <module>.
        start_line: First line, of def or class.
        end_line: Last line, inclusive.
        is_test: Whether it is a test, a fixture, or other code of a test file.
    """

    file: Name
    qualname: Name
    start_line: Ordinal
    end_line: Ordinal
    is_test: bool


class LineEntry(_Entry):
    """One executed line of a location."""

    line: Ordinal
    ef: int
    ep: int
    suspiciousness: Unit


class ValuesEntry(_Entry):
    """Values of one name in passing and in failing calls."""

    passing: str
    failing: str


class LikelihoodsEntry(_Entry):
    """The weight of an outcome.

    Attributes:
        p_if_faulty: P(outcome | faulty).
        p_if_clean: P(outcome | not faulty).
    """

    p_if_faulty: Likelihood
    p_if_clean: Likelihood


class EvidenceEntry(LikelihoodsEntry):
    """A finding about a location, weighed under both hypotheses.

    Attributes:
        source: Kind of evidence.
        why: One line for a person.
    """

    source: str
    outcome: OutcomeName
    why: str


class RowEntry(LocationEntry):
    """One ranked location.

    Attributes:
        rank: Locations that tie share the smallest rank.
        tied: How many locations share the rank, itself included.
        counts: Null outside the spectrum.
        suspiciousness: Raw score of the formula.
        prior: P(faulty) before evidence.
        posterior: P(faulty) after it.
        lines: Its executed lines, ascending; of very many the most suspicious.
        values: Parameter, or 'return', to what was seen.
        evidence: Strongest first.
        call_path: The shortest recorded calls from a failing test to it, both included, for the
            first rows of a fault; empty where none are known.
    """

    rank: Ordinal
    tied: Ordinal
    counts: Counts | None
    suspiciousness: Unit
    prior: Unit
    posterior: Unit
    lines: Annotated[list[LineEntry], Meta(max_length=MAX_LINES)]
    values: dict[str, ValuesEntry]
    evidence: list[EvidenceEntry]
    call_path: list[LocationEntry] = []


class BeliefEntry(LocationEntry):
    """A location with its probability at one step."""

    posterior: Unit


class FrameEntry(_Entry):
    """A frame of a traceback.

    Attributes:
        in_app: Whether the file belongs to the project.
    """

    file: str
    line: int
    name: str
    in_app: bool
    is_test: bool


Frames = Annotated[list[FrameEntry], Meta(max_length=MAX_FRAMES)]


class FailureEntry(_Entry):
    """The failure of one test.

    Attributes:
        masked: The message without what differs from run to run.
        frames: The traceback, outermost first; of a long one, its two ends.
        causes: Tracebacks of the exceptions that it was raised from, nearest first.
        executed: Which of the first rows of the ranking the test executed, by index.
    """

    node_id: str
    phase: Literal["setup", "call", "teardown", "collect"]
    type: str
    message: str
    masked: str
    frames: Frames
    causes: Annotated[list[Frames], Meta(max_length=MAX_CAUSES)]
    executed: Annotated[list[int], Meta(max_length=N_REACHED)]


class ErrorEntry(_Entry):
    """The error of the first failing test.

    Attributes:
        file: The innermost place in the project.
        origin: Where the error stands.
        kind: A guard that refused, a crash, or a wrong result.
    """

    type: str
    message: str
    file: str | None
    line: Ordinal | None
    origin: Origin
    kind: ErrorKind


class WriterEntry(LocationEntry):
    """A function that changes a variable, in 'line'."""

    line: Ordinal


class ChangedStateEntry(_Entry):
    """A variable of a module or a class that earlier tests leave changed.

    Attributes:
        name: Dotted, from the module on.
        writers: Functions that those tests execute and that change it, test code first.
    """

    name: str
    writers: list[WriterEntry]


class SpoiledTestEntry(_Entry):
    """A test that passes alone, and fails after others.

    Attributes:
        test: Its node id.
        after: Node ids of the tests that spoil it together, in the order they ran.
        n_earlier: Tests that ran before it in the same process.
        is_smallest: Whether no part of them was found to be enough; else time was up before.
        command: Reproduces the failure.
        state: The variables that they leave changed, most likely first; of many the first few.
        n_changed: Variables that differ.
    """

    test: str
    after: Annotated[list[str], Meta(min_length=1)]
    n_earlier: Ordinal
    is_smallest: bool
    command: str
    state: list[ChangedStateEntry]
    n_changed: int


class CauseEntry(_Entry):
    """The cause of a fault that is no mistake in a function.

    Attributes:
        text: The cause in a sentence.
        advice: What to do about it; empty if nothing is known.
        location: The function, test or body that reads or makes what matters.
        line: Its line there.
        after: Tests that have to run before, in this order.
        state: The variable, fixture, file, package or the like; empty if unknown.
        command: Reproduces the failure, or shows that it goes away; empty if the plain run does.
    """

    kind: CauseKind
    text: str
    advice: str
    location: LocationEntry | None
    line: int
    after: list[str]
    state: str
    command: str


class NearestCallEntry(_Entry):
    """A call in a failing test beside the passing call whose arguments differ least.

    Attributes:
        values: Path below a parameter or 'return' to what stood there; empty where nothing did. Of
            a value that differs, the parts that do.
        n_more: Parts that differ as well.
    """

    location: LocationEntry
    failing_test: str
    passing_test: str
    values: dict[str, ValuesEntry]
    n_more: int


class BreakingChangeEntry(_Entry):
    """A part of what changed since the tests passed, without which some failing tests pass.

    Attributes:
        location: The function, body or data file that it is in: of several, the first one's.
        first_line: Its first line as it is; where lines are gone, the one that follows.
        last_line: Its last line, likewise.
        diff: The change that puts it back, as a unified diff.
        tests: Failing tests that pass then; empty where that was not tried.
        n_tried: Failing tests that were run with it.
        n_changes: Separate blocks of lines, or entries, that it holds; all are needed together.
        is_smallest: Whether no part of it was found to be enough; else time was up before.
    """

    location: LocationEntry
    first_line: Ordinal
    last_line: Ordinal
    diff: str
    tests: list[str]
    n_tried: int
    n_changes: Ordinal
    is_smallest: bool


class FaultEntry(_Entry):
    """A group of failing tests that is localized by itself.

    Attributes:
        failing_tests: Node ids, in the order they ran.
        failures: How the first of them failed.
        n_candidates: Locations that were ranked; the list may be cut.
        test_share: P(it is a mistake of the tests) that is in no row of the list.
        ranking: Best first; empty where all tests are flaky, and none is spoiled by others.
        history: The likeliest locations: by the prior, then after each step.
        flaky: Node ids that passed when re-run as they were.
        changed_data: Files that are no code and changed since the tests passed: of configuration,
            tables, templates. Those that the code names come first.
        breaking_changes: The changes since then that make its tests fail, to the line.
        spoiled: Those of 'flaky' that fail after certain other tests.
        nearest_call: Of the first suspect; null if no passing call is known.
        cause: Why its tests fail, where that is no mistake in a function; null if none is known.
    """

    failing_tests: Annotated[list[str], Meta(min_length=1)]
    failures: Annotated[list[FailureEntry], Meta(max_length=MAX_FAILURES)]
    error: ErrorEntry
    stop_reason: str
    n_candidates: int
    test_share: Unit
    ranking: Annotated[list[RowEntry], Meta(max_length=MAX_ROWS)]
    history: list[list[BeliefEntry]]
    flaky: list[str]
    changed_data: list[str]
    spoiled: list[SpoiledTestEntry]
    nearest_call: NearestCallEntry | None
    breaking_changes: list[BreakingChangeEntry] = []
    cause: CauseEntry | None = None


class TestEntry(_Entry):
    """One test of one inspection.

    Attributes:
        covered: Whether the target was seen to run.
        violations: Numbers of the patch's checks that failed in the target's own frame.
    """

    __test__ = False  # not a test class for pytest

    node_id: str
    verdict: Verdict
    covered: bool
    violations: list[int]
    error: str
    output: str


class InspectionEntry(_Entry):
    """One patch, run in memory only, and what came of it.

    Attributes:
        fault: Position in 'faults', from 1.
        kind: The proposal that made the patch.
        patch: As a unified diff.
        trials: The edits that were tried, where an inspection tries several.
    """

    fault: Ordinal
    step: Ordinal
    target: LocationEntry
    kind: str
    patch: str
    tests: Annotated[list[TestEntry], Meta(max_length=MAX_TESTS)]
    outcome: OutcomeName
    signals: Signals
    decision: Decision
    likelihoods: LikelihoodsEntry
    why: str
    belief_before: Unit
    belief_after: Unit
    seconds: Amount
    cpu_s: Amount
    log: str
    trials: Annotated[list[Trial], Meta(max_length=MAX_TRIALS)]


class CallEntry(_Entry):
    """Calls of one function by another."""

    caller: LocationEntry
    callee: LocationEntry
    calls: int


class CallGraphEntry(_Entry):
    """Calls seen in the failing tests."""

    edges: Annotated[list[CallEntry], Meta(max_length=MAX_EDGES)]


class FixEntry(_Entry):
    """A candidate change.

    Attributes:
        fault: Position in 'faults', from 1.
        step: The inspection of that fault that found it; null if it was searched for.
        tool: Who made it; of several steps, the maker of each.
        stage: How it was found.
        level: How far it goes.
        diff: As a unified diff.
        verified: Whether all failing tests of the fault pass with it, twice, and all that passed
            and execute what it changes still pass.
        doubt: Why it is probably wrong although it is verified; null if nothing says so.
        checked: The tests that passed under it.
        seconds: Wall seconds that checking it took.
        worth: Mean of its maker's success rate.
        patch_file: Where it lies as a patch, relative to rootdir.
        applied: Whether it was written to the file.
    """

    fault: Ordinal
    step: Ordinal | None
    tool: str
    stage: Literal["inspection", "tool", "steps", "edit", "change", "generated"]
    level: Level
    target: LocationEntry
    words: str
    diff: str
    verified: bool
    doubt: str | None
    n_failing: int
    n_passing: int
    checked: list[str]
    seconds: Amount
    worth: Unit
    patch_file: str | None
    applied: bool


class BugTrialEntry(_Entry):
    """One attempt to fix a bug.

    Attributes:
        plan: What was to be done, as the person or the commit said.
        functions: What was edited, as `file qualname`.
        error: What the tests failed with afterwards, masked.
        metric: Share of the bug's tests that pass.
        lesson: The constraint learned from a failed trial, the insight from the one that fixed it.
        cause: What the root cause was, in words; empty if nobody said.
    """

    number: Ordinal
    made_at: str
    outcome: TrialOutcome
    plan: str
    functions: list[str]
    diff: str
    error: str
    metric: Unit
    why: str
    strategy: str
    lesson: str
    cause: str


class RecordEntry(_Entry):
    """The record of one bug."""

    id: str
    state: BugState
    tests: Annotated[list[str], Meta(max_length=MAX_TESTS)]
    signature: str
    category: Category
    hypothesis: str
    plan: str
    created_at: str
    completed_at: str | None
    root_cause: str
    trials: Annotated[list[BugTrialEntry], Meta(max_length=MAX_BUG_TRIALS)]
    notes: list[str]


class SimilarEntry(_Entry):
    """A past bug that is like the one at hand.

    Attributes:
        project: The other project of a shared memory whose bug it is; empty for one of this.
    """

    bug: str
    project: str
    score: Unit
    why: str
    state: str
    seen_at: str
    signature: str
    root_cause: str
    strategy: str
    insight: str
    failed: list[str]
    notes: list[str]


class AdviceEntry(_Entry):
    """Advice on one fault.

    Attributes:
        said: What became of the bug in this run.
        lies: Where the error lies, and why.
        guard: What a guard far below refused, and where it could be checked first.
    """

    fault: Ordinal
    bug: str
    said: str
    lies: str
    guard: str
    similar: list[SimilarEntry]
    failed_strategies: list[str]
    constraints: list[str]
    notes: list[str]


class LoopEntry(_Entry):
    """A circle in which somebody goes."""

    fault: Ordinal
    kind: Literal[
        "same error",
        "seen state",
        "alternation",
        "wrong place",
        "test at fault",
        "untested edit",
        "no edit",
    ]
    n: int
    said: list[str]


class MonthEntry(_Entry):
    """The bugs that began in one month.

    Attributes:
        fixed: Share.
        trials: Failed ones until fixed, median.
        hours: Until fixed, median.
    """

    month: str
    n_bugs: int
    fixed: Unit | None
    trials: Amount | None
    hours: Amount | None


class FlakyEntry(_Entry):
    """A failing test that passed and failed on the same code: it is known to be flaky.

    Attributes:
        n_failed: How often it failed on that code, this run included.
        n_outcomes: How often it ended there, in runs of the suite and in reruns of another plugin.
        low: Of the share of failures, the lower end of the interval of 95 %.
        high: Its upper end.
        is_same_code: Whether that is the code as it is; else it has changed since.
        passed_again: Whether it passed when this plugin ran it again as it was.
        environment: The Python and the platform of that; empty for those of this run.
        since: When it was first counted.
    """

    fault: Ordinal
    test: str
    n_failed: int
    n_outcomes: int
    low: Unit
    high: Unit
    is_same_code: bool
    passed_again: bool
    environment: str
    since: str


class RememberedCauseEntry(_Entry):
    """A cause that an earlier run found for the same failure on the same code.

    Attributes:
        found_at: When.
    """

    fault: Ordinal
    test: str
    found_at: str
    cause: CauseEntry


class MemoryEntry(_Entry):
    """The memory of similar failures.

    Attributes:
        said: What became of bugs that no failing test belongs to any more.
        months: How it went, by the month in which bugs began; with --bayesloc.
        flaky: Failing tests that are known to be flaky.
        causes: Of failing tests, found by earlier runs.
    """

    said: list[str]
    records: list[RecordEntry]
    advice: list[AdviceEntry]
    loops: list[LoopEntry]
    months: list[MonthEntry]
    world_model: dict[str, list[str]]
    flaky: list[FlakyEntry] = []
    causes: list[RememberedCauseEntry] = []


class UsageEntry(_Entry):
    """The use of language models.

    Attributes:
        model: Empty if none was asked.
        endpoint: Where, without credentials.
        calls: HTTP requests, retries included.
        replayed: Answers that were taken from what was kept.
        cost: In the currency of the prices that were given; null if none were.
        uses: How often an answer was of use: ranking, inspection, reflection, summary, approaches.
    """

    model: str = ""
    endpoint: str = ""
    calls: int = 0
    replayed: int = 0
    tokens: int = 0
    cost: Amount | None = 0.0
    uses: dict[str, int] = {}


class ResultDocument(_Entry):
    """The result of one pytest run: its failures and their likely causes.

    Long lists and texts are cut; 'partial' names what is missing. Stable: keys of bayesloc/1 keep
    name, type and meaning. A release may add keys; readers should skip those they don't know.

    Attributes:
        ranking: All faults' rankings in one, best first.
        faults: One a group of failing tests, most failing tests first.
        inspections: In the order of faults and steps.
        fixes: Candidate changes: with --bayesloc-fix what was found by searching; for faults that
            it verified none for, edits that inspections came across, and code as it was.
        partial: What is missing, and why: one sentence each.
    """

    schema: Literal["bayesloc/1"]
    session: SessionEntry
    ranking: Annotated[list[RowEntry], Meta(max_length=MAX_ROWS)]
    faults: Annotated[list[FaultEntry], Meta(max_length=MAX_FAULTS)]
    inspections: list[InspectionEntry]
    call_graph: CallGraphEntry
    memory: MemoryEntry
    fixes: list[FixEntry]
    llm: UsageEntry
    partial: list[str]


class LoopVerdict(_Entry):
    """Whether somebody goes in circles, for the hooks of coding agents: one line for each run.

    Stable: keys of bayesloc-loop/1 keep name, type and meaning. A release may add keys.

    Attributes:
        verdict: `unknown` where tests fail and nobody looked: loops are left out, the memory is off
            or could not be used, nearly all tests fail, or the run was stopped by hand.
        said: What became of bugs in this run: fixed, moved, or made to pass without a fix.
    """

    schema: Literal["bayesloc-loop/1"]
    verdict: Literal["loop", "none", "unknown"]
    loops: list[LoopEntry]
    said: list[str]
