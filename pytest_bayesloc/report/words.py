"""Parts of a JSON result in words: places, reasons, values, failures, and fixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from textwrap import dedent
from typing import TypeAlias
from urllib.parse import quote

from pytest_bayesloc.domain.fixing import TAKE_BACK, UNDO
from pytest_bayesloc.domain.location import DATA, MODULE
from pytest_bayesloc.domain.texts import all_of, common_ends, count, listed, plain_name
from pytest_bayesloc.report.document import (
    N_REACHED,
    ErrorEntry,
    EvidenceEntry,
    FailureEntry,
    FaultEntry,
    FixEntry,
    FlakyEntry,
    FrameEntry,
    InspectionEntry,
    LikelihoodsEntry,
    LocationEntry,
    NearestCallEntry,
    RememberedCauseEntry,
    ResultDocument,
    RowEntry,
    SpoiledTestEntry,
    UsageEntry,
)
from pytest_bayesloc.report.text import columns, fit, one_line, percent, ratio, score

#: File, first line and qualified name: they tell one place from another.
Key: TypeAlias = tuple[str, int, str]
#: A line of a unified diff: its kind (``add``, ``del``, ``hunk``, ``file`` or ``same``), its text.
DiffLine: TypeAlias = tuple[str, str]
#: Path below a parameter or ``return``, its text in the passing and in the failing call.
ValueRow: TypeAlias = tuple[str, str, str]
#: Tests that failed with the same error, but for what differs from run to run: the first one's
#: error, how many they are, and each of them.
FailureGroup: TypeAlias = tuple[str, str, tuple[FailureEntry, ...]]

GLYPHS = ("", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")
LEAST_RATIO = 1.05  # of likelihoods, for a reason to be shown
MAX_VALUE = 60  # characters of a value beside another
N_BEFORE = 20  # of them before the first difference
MISSING = "not there"
ARROW = " -> "
RESULT = "return"
N_VALUES = 5  # with the answer
TREATS = "It may treat the symptom rather than the cause."
LOSES = "It loses what the change was to do."
# The constants speak of a language model; a rule of ours may have decided as well.
_WORDS = {
    "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES": "target assertion failed, but is excused",
    "COLLATERAL_FAILURE_LLM_SUSPICIOUS": "collateral failure, judged suspicious",
    "COLLATERAL_FAILURE_LLM_INNOCENT": "collateral failure, judged innocent",
}


# -- places: a row, a target, the end of a call


def key_of(location: LocationEntry) -> Key:
    """Return what tells a place from another."""
    return location.file, location.start_line, location.qualname


def where_of(location: LocationEntry) -> str:
    """Return ``calc.py:2``, of the first line; the anchor of that line as well."""
    return one_line(f"{location.file}:{location.start_line}")


def link_to(location: LocationEntry) -> str:
    """Return the fragment that leads to a place on the page."""
    return f"#{quote(where_of(location), safe='/:')}"


def name_of(location: LocationEntry) -> str:
    """Return the qualified name of a place."""
    return one_line(location.qualname)


def place_of(location: LocationEntry) -> str:
    """Return a place with its name."""
    return f"{where_of(location)} {name_of(location)}"


def short_name(location: LocationEntry) -> str:
    """Return the name of a function or class; of the body of a module, that of its file."""
    if location.qualname == DATA:
        return PurePosixPath(one_line(location.file)).name
    if location.qualname != MODULE:
        return name_of(location)
    return f"module {PurePosixPath(one_line(location.file)).stem}"


def way_of(row: RowEntry) -> str:
    """Return how a failing test reached a row, as ``test_total -> total -> add``.

    Empty if no calls are known.
    """
    return ARROW.join(map(short_name, row.call_path))


# -- rows of a ranking, and what speaks for and against them


def rank_of(row: RowEntry) -> str:
    """Return the rank of a row, with a mark if others share it."""
    return f"{row.rank}=" if row.tied > 1 else str(row.rank)


def suspiciousness_of(row: RowEntry) -> str:
    """Return the raw score of a row; a dash outside the spectrum."""
    return score(row.suspiciousness) if row.counts else "-"


def counts_of(row: RowEntry) -> str:
    """Return how many tests executed a row."""
    counts = row.counts
    if row.qualname == DATA:
        return "not measured: the tests that read it are not known"
    if counts is None:
        return "not measured: test code, or code that did not run"
    failing = count(counts.ef + counts.nf, "failing test")
    executed = f"executed by {counts.ef} of {failing}"
    if not counts.ep + counts.np:
        return f"{executed}; no test passed"
    passing = count(counts.ep + counts.np, "passing test")
    return f"{executed} and {counts.ep} of {passing}"


def telling(row: RowEntry) -> list[EvidenceEntry]:
    """Return the evidence that moves the belief in a row: what says nothing is not shown."""
    pairs = ((e, sorted((e.p_if_faulty, e.p_if_clean))) for e in row.evidence)
    return [e for e, (least, most) in pairs if most > LEAST_RATIO * least]


def kinds_of(row: RowEntry) -> tuple[str, ...]:
    """Return the sources of the evidence on a row, each once."""
    return tuple(dict.fromkeys(one_line(e.source).replace(" ", "-") for e in telling(row)))


def reason_of(row: RowEntry) -> str:
    """Return the strongest evidence against a row, else which tests executed it."""
    against = (said_of(e) for e in telling(row) if verdict_of(e) == "incriminates")
    return next(against, counts_of(row))


def verdict_of(likelihoods: LikelihoodsEntry) -> str:
    """Return ``incriminates``, ``exonerates`` or ``says nothing``."""
    faulty, clean = likelihoods.p_if_faulty, likelihoods.p_if_clean
    if faulty == clean:
        return "says nothing"
    return "incriminates" if faulty > clean else "exonerates"


def ratio_of(likelihoods: LikelihoodsEntry) -> str:
    """Return the weight of a piece of evidence."""
    return ratio(likelihoods.p_if_faulty, likelihoods.p_if_clean)


def said_of(evidence: EvidenceEntry | InspectionEntry) -> str:
    """Return evidence or an inspection in its own words, else in those of its outcome."""
    return one_line(evidence.why) or words_of(evidence.outcome)


def belief_words(step: InspectionEntry) -> str:
    """Return what was believed of the target before an inspection and after it."""
    return f"{percent(step.belief_before)} to {percent(step.belief_after)}"


def words_of(constant: str) -> str:
    """Return ``A_CONSTANT`` as words."""
    if constant in _WORDS:
        return _WORDS[constant]
    return constant.replace("_LLM_", "_LLM ").replace("_", " ").lower().replace("llm", "LLM")


def heat(value: float) -> int:
    """Return the shade of a number in [0, 1]: 0 for cold, to 4."""
    return 0 if value <= 0 else 1 + min(3, int(value * 4))


# -- two calls side by side


def bare_name(node_id: str) -> str:
    """Return the name of a test without its file and class."""
    return one_line(plain_name(node_id))


def value_rows(nearest: NearestCallEntry) -> list[ValueRow]:
    """Return the arguments and results of a passing and of a failing call side by side."""
    rows: list[ValueRow] = []
    for path, seen in nearest.values.items():
        both = one_line(seen.passing), one_line(seen.failing)
        # Of long texts, what stands around the first difference is shown.
        first, _ = common_ends(*both)
        start = max(0, first - N_BEFORE) if max(map(len, both)) > MAX_VALUE else 0
        texts = (f"{'...' if start else ''}{text[start:]}" for text in both)
        passing, failing = (t if len(t) <= MAX_VALUE else f"{t[:MAX_VALUE]}..." for t in texts)
        rows.append((one_line(path), passing or MISSING, failing or MISSING))
    return rows


def shown_values(nearest: NearestCallEntry) -> list[ValueRow]:
    """Return the rows for the answer, those that differ first."""
    return sorted(value_rows(nearest), key=lambda row: row[1] == row[2])[:N_VALUES]


def contrast_of(nearest: NearestCallEntry) -> str:
    """Return the one part of the arguments that differs, in a sentence; empty if several do."""
    differing = (row for row in value_rows(nearest) if row[1] != row[2])
    own = [row for row in differing if re.split(r"[.[]", row[0])[0] != RESULT]
    if len(own) != 1 or nearest.n_more:
        return ""
    name, passing, failing = own[0]
    test = bare_name(nearest.passing_test)
    return f"{name} is `{failing}`, and `{passing}` in {test}, which passes"


# -- failures


def failure_groups(fault: FaultEntry) -> tuple[FailureGroup, ...]:
    """Return the failing tests of a fault, the most frequent error first."""
    groups: dict[str, list[FailureEntry]] = {}
    for failure in fault.failures:
        first = failure.masked.strip().partition("\n")[0]
        groups.setdefault(f"{failure.type}: {first}", []).append(failure)
    ordered = sorted(groups.values(), key=lambda failures: -len(failures))
    return tuple(
        (headline(failures[0]), count(len(failures), "test"), tuple(failures))
        for failures in ordered
    )


def headline(error: ErrorEntry | FailureEntry) -> str:
    """Return the type and the first line of the message of an error or a failure."""
    first = next((line for line in error.message.splitlines() if line.strip()), "")
    return ": ".join(part for part in (one_line(error.type), one_line(first)) if part)


def spoiled_words(spoiled: SpoiledTestEntry) -> str:
    """Return which earlier tests make a test fail, and by which state that they leave."""
    earlier = [*map(plain_name, spoiled.after)]
    matter, changes = ("matters", "it changes") if len(earlier) == 1 else ("matter", "they change")
    needed = f"{len(earlier)} of {count(spoiled.n_earlier, 'earlier test')} {matter}"
    if spoiled.n_earlier == 1:
        needed = "the only earlier test"
    elif not spoiled.is_smallest:
        needed = f"at most {needed}: time was up before fewer were tried"
    text = f"{bare_name(spoiled.test)} passes alone and fails after {listed(earlier)} ({needed})"
    if spoiled.state:
        named = []
        for changed in spoiled.state:
            writers = [f"{w.file}:{w.line} {w.qualname}" for w in changed.writers]
            named.append(f"{changed.name} (in {listed(writers)})" if writers else changed.name)
        text += f": {changes} {', '.join(named)}"
        n_unnamed = spoiled.n_changed - len(spoiled.state)
        text += f" and {count(n_unnamed, 'more variable')}" if n_unnamed > 0 else ""
    return one_line(text)


def flaky_words(flaky: FlakyEntry) -> str:
    """Return how often a test that is known to be flaky failed, and on which code."""
    n, low, high = flaky.n_outcomes, percent(flaky.low), percent(flaky.high)
    failed = f"failed {flaky.n_failed} of {n} times"
    rate = f"(likely {low.removesuffix(' %')} to {high} of the time)"
    if n == 1:
        failed, rate = "failed in its only run", ""
    text = f"{bare_name(flaky.test)} is known to be flaky"
    if flaky.is_same_code:
        text += f": {failed} on this code {rate}".rstrip()
        text += ", and passed when run again" if flaky.passed_again else ""
    else:
        text += f" since {flaky.since[:10]}, but its code has changed since then"
        text += f": it {failed} before {rate}" if n > flaky.n_failed else ""
    return text + (f", with {one_line(flaky.environment)}" if flaky.environment else "")


def all_flaky_words(document: ResultDocument) -> str:
    """Return that all failures of a run are of tests known to be flaky; empty if not so."""
    n, flaky = document.session.n_failed, document.memory.flaky
    if not flaky or len({entry.test for entry in flaky}) < n:
        return ""
    n_changed = sum(not entry.is_same_code for entry in flaky)
    if n == 1:
        changed = ", but its code has changed since then" if n_changed else ""
        return f"the only failure is of a test known to be flaky{changed}"
    whose = "their code" if n_changed == n else f"the code of {n_changed}"
    changed = f", but {whose} has changed since then" if n_changed else ""
    return f"{all_of(n, 'failure')} are of tests known to be flaky{changed}"


def remembered_cause_words(remembered: RememberedCauseEntry) -> str:
    """Return the cause that an earlier run found."""
    return f"Cause found on {remembered.found_at[:10]}: {one_line(remembered.cause.text)}"


def reached(failure: FailureEntry, rows: Sequence[RowEntry]) -> list[tuple[str, bool]]:
    """Return the likeliest places, each with whether the test executed it."""
    return [(name_of(row), i in failure.executed) for i, row in enumerate(rows[:N_REACHED])]


def tracebacks(failure: FailureEntry) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    """Yield a heading and frames, of the last exception first, then of those behind it.

    A frame is where it is, and a name; for foreign frames that were left out it is an empty text,
    and how many.
    """
    for i, frames in enumerate([failure.frames, *failure.causes]):
        if frames:
            heading = "raised while handling, or because of, this" if i else ""
            yield heading, _frames(frames)


def _frames(frames: Sequence[FrameEntry]) -> Iterator[tuple[str, str]]:
    for in_app, run in groupby(frames, key=lambda frame: frame.in_app):
        if in_app:
            yield from (
                (one_line(f"{frame.file}:{frame.line}"), one_line(frame.name)) for frame in run
            )
        else:
            yield "", f"{count(len(list(run)), 'frame')} outside of the project"


# -- fixes


def next_step(fix: FixEntry) -> str:
    """Return how to have a change; empty where there is no patch of it, or it is applied."""
    patch = fix.patch_file
    return f"git apply {one_line(patch)}" if patch and not fix.applied else ""


def caution(fix: FixEntry) -> str:
    """Return what a change may be that was not searched for but come across."""
    if not fix.diff:
        return ""
    return LOSES if fix.tool == TAKE_BACK else TREATS


def summary_of(fix: FixEntry, near: str = "") -> str:
    """Return what a change was checked against, in a sentence.

    It names the file, unless that is ``near``, which the reader knows.
    """
    doubt = f", probably wrong ({fix.doubt})" if fix.doubt else ""
    if fix.stage == "inspection" and fix.words.startswith(UNDO):
        some, every = len(fix.checked), count(fix.n_failing, "failing test")
        what = f"{some} of {every}" if fix.n_failing > 1 else "the failing test"
        return f"{one_line(fix.words)} makes {what} pass"
    if fix.stage == "inspection" and not fix.verified:
        name, n = short_name(fix.target), len(fix.checked)
        how = f"undo the change of {name}" if fix.tool == TAKE_BACK else f"this edit of {name}"
        return f"possible fix, not applied{doubt}: {how}; {_pass(n, 'test')} with it"
    words, tool = one_line(fix.words), one_line(fix.tool)
    if not words.startswith(tool.replace("-", " ")):
        words += f" ({tool})"
    if not fix.verified:
        what = "possible fix, not checked since it changes a test" if fix.diff else "hint"
        return f"{what}: {words}"
    where = f" in {one_line(fix.target.file)}" if near and fix.target.file != near else ""
    done = f"applied fix{where}" if fix.applied else f"possible fix{where}, not applied"
    others = "no other test runs it"
    if fix.n_passing:
        others = _pass(fix.n_passing, "other test", "still ")
    return f"{done}{doubt}: {words}; {_pass(fix.n_failing, 'failing test')} with it, {others}"


def _pass(n: int, noun: str, still: str = "") -> str:
    return f"{count(n, noun)} {still}{'passes' if n == 1 else 'pass'}"


def changed_lines(patch: str) -> list[DiffLine]:
    """Return the lines that a unified diff takes away and adds, less indented."""
    lines = _changed(patch)
    texts = dedent("\n".join(text[1:] for _, text in lines)).split("\n")
    return [(kind, f"{sign[0]} {text}") for (kind, sign), text in zip(lines, texts, strict=False)]


def fitting_changes(patch: str, width: int) -> list[DiffLine]:
    """Return the changed lines of a unified diff in ``width`` columns, with where they differ.

    Where they fit they are as they stand in the diff.
    """
    plain = _changed(patch)
    if all(columns(text) <= width for _, text in plain):
        return plain
    lines = changed_lines(patch)
    runs = [[text for _, text in run] for _, run in groupby(lines, key=lambda line: line[0])]
    beside: list[str] = []
    for i, run in enumerate(runs):
        near = [other for other in runs[max(0, i - 1) : i + 2] if len(other) == len(run)]
        others = next((other for other in near if other is not run), run)
        for line, other in zip(run, others, strict=True):
            sign, text = line[:2], line[2:]
            n_same = common_ends(text, other[2:])[0]
            if columns(line) > width and n_same > width // 2:
                text = f"...{text[n_same - width // 3 :]}"
            beside.append(fit(f"{sign}{text}", width))
    return [(kind, text) for (kind, _), text in zip(lines, beside, strict=True)]


def _changed(patch: str) -> list[DiffLine]:
    return [(kind, text) for kind, text in diff_lines(patch) if kind in {"add", "del"}]


def diff_lines(patch: str) -> Iterator[DiffLine]:
    """Yield the lines of a unified diff, each with its kind."""
    kinds = {"+++": "file", "---": "file", "@@": "hunk", "+": "add", "-": "del"}
    for text in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        kind = next((kind for start, kind in kinds.items() if text.startswith(start)), "same")
        yield kind, text


# -- the run


def llm_words(used: UsageEntry) -> str:
    """Return the use of a language model in words; empty if none was asked."""
    if not used.model:
        return ""
    uses = ", ".join(f"{one_line(use)} ({n})" for use, n in sorted(used.uses.items()))
    cost = "cost unknown" if used.cost is None else f"cost {used.cost:.4f}"
    kept = f", {count(used.replayed, 'answer')} kept before" if used.replayed else ""
    where = f" at {one_line(used.endpoint)}" if used.endpoint else ""
    return (
        f"{count(used.calls, 'call')}, {used.tokens:,} tokens, {cost}{kept}; "
        f"helped with: {uses or 'nothing'}; {one_line(used.model)}{where}"
    )
