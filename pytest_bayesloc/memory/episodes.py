"""Episodes: a run begins, tries, fixes and closes bugs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from pytest_bayesloc.domain.advice import Advice
from pytest_bayesloc.domain.bug import (
    LESSON_LENGTH,
    LLM_MARK,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    BugState,
    CodeEdit,
    DebugTrial,
    Run,
    Sighting,
    Symptom,
    TrialOutcome,
    clipped,
    is_contradicted,
)
from pytest_bayesloc.domain.texts import count, listed, text_digest
from pytest_bayesloc.memory.feedback import judge_advice, judge_verdicts
from pytest_bayesloc.memory.ledger import FAILING, GONE, PASSING, WEAKENED, Ledger
from pytest_bayesloc.memory.sightings import PassingSighting, name_of_test
from pytest_bayesloc.memory.symptoms import short_name

UNSEEN_AFTER = timedelta(days=30)
N_TOP = 5  # suspects that an edit should hit
FORGOTTEN = -1  # the bug of groups that a person wants to be ignored


class Episodes:
    """Applies one run to all open bugs."""

    def __init__(self, ledger: Ledger, run: Run) -> None:
        self._ledger = ledger
        self._run = run

    def advance(
        self, groups: Sequence[Symptom], passing: Mapping[int, PassingSighting]
    ) -> list[Advice]:
        """Record the run, and return what it did to each bug, without advice yet.

        Args:
            groups: The groups of failing tests.
            passing: Per number of an open bug, its tests that did not fail.
        """
        for bug, sighting in passing.items():
            self._ledger.move(bug, sighting.moved)
        open_bugs = self._ledger.open_bugs()
        known = self._bugs_of(groups, open_bugs)
        left = {bug: open_bugs[bug] for bug in open_bugs if bug in passing and bug not in known}
        bug_of = [
            self._origin(group, left, passing) if bug is None else bug
            for group, bug in zip(groups, known, strict=True)
        ]
        events: list[Advice] = []
        for bug, record in open_bugs.items():
            sighting = passing.get(bug, PassingSighting())
            if own := [i for i, found in enumerate(bug_of) if found == bug]:
                before = self._ledger.fates(bug)
                passed = {n: PASSING for n in sighting.passed if n in before}
                self._ledger.settle(bug, passed)
                fixed = sorted(n for n in passed if before[n] == FAILING)
                advice = self._failed_again(bug, record, [groups[i] for i in own], fixed)
                events += [replace(advice, fault=i) for i in own]
            else:
                events += self._not_failed(bug, record, sighting)
        return events + [self._begun(g, i) for i, g in enumerate(groups) if bug_of[i] is None]

    def _bugs_of(
        self, groups: Sequence[Symptom], open_bugs: Mapping[int, BugRecord]
    ) -> list[int | None]:
        """Return per group its open bug: by its tests, else by its fingerprints."""
        rules = self._ledger.rules()
        by_id = {record.id: bug for bug, record in open_bugs.items()}
        symptoms = {bug: record.symptom for bug, record in open_bugs.items()}
        found: list[int | None] = []
        for group in groups:
            prints, tests = group.fingerprints, {*group.tests}
            decided = [bug for f in prints if (bug := by_id.get(rules.get(f, "-"))) is not None]
            if all(rules.get(f) == "" for f in prints):
                found.append(FORGOTTEN)
                continue
            shared = {
                bug: (len(tests.intersection(known.tests)), len(known.fingerprints & prints))
                for bug, known in symptoms.items()
            }
            alike = (bug for bug in shared if shared[bug] != (0, 0))
            best = max(alike, key=lambda bug: (shared[bug], -bug), default=None)
            found.append(min(decided, default=best))
        return found

    def _origin(
        self,
        group: Symptom,
        bugs: Mapping[int, BugRecord],
        passing: Mapping[int, PassingSighting],
    ) -> int | None:
        """Return the bug that was moved into ``group`` by the edit with which its own tests pass.

        Of the same edit, both executed a function, and both ran on the code before it.
        """
        edit = group.edit
        if edit is None or edit.in_tests:
            return None
        for bug, record in sorted(bugs.items()):
            other = passing[bug].edit
            if other is None or other.diff != edit.diff or not passing[bug].passed:
                continue
            failing = {n for n, fate in self._ledger.fates(bug).items() if fate == FAILING}
            both = group.executed & record.symptom.executed
            if failing and failing <= passing[bug].passed and not both.isdisjoint(edit.functions):
                return bug
        return None

    # -- failing tests

    def _begun(self, group: Symptom, index: int) -> Advice:
        record = BugRecord(
            id=uuid4().hex[:12],
            symptom=group,
            state=BugState.OPEN,
            created_at=self._run.made_at,
            seen_at=self._run.made_at,
            session=self._run.id,
            step=self._run.number,
            plan=self._run.plan,
        )
        bug = self._ledger.add(record)
        fates = dict.fromkeys(group.tests, FAILING)
        self._see(bug, [group], CodeEdit(), fates, self._run.command)
        message = f"bug {record.id} begins"
        return Advice(bug=bug, kind="begun", record=record, message=message, fault=index)

    def _failed_again(
        self, bug: int, record: BugRecord, groups: Sequence[Symptom], fixed: Sequence[str]
    ) -> Advice:
        edit = next((group.edit for group in groups if group.edit is not None), CodeEdit())
        is_known = any(group.is_since_seen for group in groups) or bool(
            self._ledger.sightings(bug, self._run.workspace, 1)
        )
        failing = {node_id for group in groups for node_id in group.tests}
        known = self._ledger.fates(bug)
        new = sorted(n for n in failing if known.get(n) != FAILING)
        for group in groups:
            self._ledger.add_failures(bug, group)
        fates = known | dict.fromkeys(failing, FAILING)
        command = self._run.command if all(group.is_idle for group in groups) else ""
        seen = self._see(bug, groups, edit, fates, command)
        doubted = [name for group in groups for name in group.believed]
        withdrawn = self._withdrawn(doubted, "the evidence points at it", bug)
        message = f"bug {record.id}{withdrawn}" if withdrawn else ""
        if not (seen.edited and is_known):
            return Advice(bug=bug, kind="again", record=record, message=message)
        metric = 1 - len(failing) / max(1, len(fates))
        # Nothing is learned of functions in doubt.
        trial = failed_trial(self._run, record, edit, groups[0], metric)
        trial = without_lesson_about(doubted, trial)
        self._ledger.add_trial(bug, trial, self._run.id)
        message = f"bug {record.id}: trial {trial.number} failed{withdrawn}"
        if fixed and new:
            message = f"{moved_words(record.id, trial.number, fixed, new)}{withdrawn}"
        record = replace(record, trials=(*record.trials, trial))
        return Advice(bug=bug, kind="tried", record=record, message=message)

    def _withdrawn(self, functions: Sequence[str], why: str, bug: int | None = None) -> str:
        """Retract constraints about ``functions`` at fault, of ``bug`` or of all bugs.

        Returns a sentence on each of them.
        """
        known = self._ledger.constraints(bug)
        wrong = [text for text in known if is_contradicted(text, functions)]
        self._ledger.withdraw(wrong, bug)
        return "".join(f"; no longer learned, since {why}: {text}" for text in wrong)

    def _see(
        self,
        bug: int,
        groups: Sequence[Symptom],
        edit: CodeEdit,
        fates: Mapping[str, str],
        command: str,
    ) -> Sighting:
        """Add a sighting of a bug, and return it.

        Args:
            bug: Number in the store.
            groups: Of its failing tests.
            edit: Since they ran before.
            fates: Of all its tests, run or not: who selects others in turn changes nothing.
            command: Digest of pytest's arguments; empty if anything was edited.
        """
        executed = frozenset().union(*(group.executed for group in groups))
        errors = sorted(frozenset().union(*(group.errors for group in groups)))
        failing = sorted(node_id for node_id, fate in fates.items() if fate == FAILING)
        top = {suspect for group in groups for suspect in group.suspects[:N_TOP]}
        sighting = Sighting(
            seen_at=self._run.made_at,
            error=text_digest("\n".join(errors), 16),
            tests=text_digest("\n".join(failing), 16),
            n_failing=len(failing),
            code_state=_joined(group.code_state for group in groups),
            test_state=_joined(group.test_state for group in groups),
            edited=() if executed.isdisjoint(edit.functions) else edit.functions,
            untested=tuple(dict.fromkeys(n for group in groups for n in group.untested)),
            command=command,
            is_aimed=not top or not top.isdisjoint(edit.functions),
        )
        self._ledger.see(bug, self._run, sighting, executed)
        return sighting

    # -- tests that did not fail

    def _not_failed(self, bug: int, record: BugRecord, sighting: PassingSighting) -> list[Advice]:
        at = self._run.made_at
        fates = self._ledger.fates(bug)
        changed = {n: _fate(n, fates.get(n, ""), sighting) for n in sighting.passed}
        changed |= dict.fromkeys(sighting.gone, GONE)
        changed = {n: fate for n, fate in changed.items() if n in fates}
        self._ledger.settle(bug, changed)
        fates |= changed
        if not {FAILING, WEAKENED}.isdisjoint(fates.values()) or not changed:
            if at - record.seen_at > UNSEEN_AFTER:
                self._ledger.close(bug, BugState.UNSEEN, "", at)
            words = {**sighting.excused, **dict.fromkeys(sighting.weakened, "weakened")}
            ends = [
                f"{node_id} is {word} now, which is no fix; it stays open"
                for node_id, word in sorted(words.items())
            ]
            return [_ended(bug, record, "excused", end) for end in ends]
        if PASSING not in fates.values():
            self._ledger.close(bug, BugState.GONE, "", at)
            end = "its tests were deleted, which is no fix; closed unresolved"
            return [_ended(bug, record, "gone", end)]
        is_back = sighting.net is not None and not sighting.net.functions
        edit = sighting.net if is_back else sighting.edit
        if not sighting.data and edit is not None and not edit.functions:
            # No edit is visible; a commit may hold other files.
            before = self._ledger.revisions().get(bug, "")
            if before.rstrip("+") == self._run.revision.rstrip("+"):
                self._ledger.close(bug, BugState.FLAKY, "", at)
                end = "passes without an edit of code or data, so it is flaky"
                return [_ended(bug, record, "flaky", end)]
        return [self._resolved(bug, record, sighting)]

    def _resolved(self, bug: int, record: BugRecord, sighting: PassingSighting) -> Advice:
        edit = sighting.net or sighting.edit or CodeEdit()
        executed = record.symptom.executed
        hit = sighting.proven or tuple(name for name in edit.functions if name in executed)
        fixed = hit or edit.functions or sighting.data
        trial = fixing_trial(self._run, record, replace(edit, functions=fixed))
        self._ledger.add_trial(bug, trial, self._run.id)
        cause = ", ".join(fixed)
        self._ledger.close(bug, BugState.RESOLVED, cause, self._run.made_at)
        judge_advice(self._ledger, bug, fixed)
        if fixed:
            judge_verdicts(self._ledger, bug, fixed)
        message = fixed_words(record.id, len(record.trials), cause, trial.lesson)
        message += self._withdrawn(fixed, "the fix changed it")
        record = replace(record, trials=(*record.trials, trial))
        return Advice(bug=bug, kind="resolved", record=record, message=message)


def moved_words(bug: str, trial: int, fixed: Sequence[str], new: Sequence[str]) -> str:
    """Return that a trial made some tests pass and others fail."""
    passes = "passes" if len(fixed) == 1 else "pass"
    fails = "fails" if len(new) == 1 else "fail"
    return (
        f"bug {bug} was moved by trial {trial}, which is no fix: "
        f"{listed(fixed)} {passes}, and {listed(new)} {fails} since the same edit"
    )


def fixed_words(bug: str, n_failed: int, cause: str, lesson: str) -> str:
    """Return after how many failed trials a bug is fixed, where, and what is learned of it."""
    after = f" after {count(n_failed, 'failed trial')}" if n_failed else ""
    where = f": {cause}" if cause else ", by something that is not known"
    return f"bug {bug} is fixed{after}{where}" + (f"; {lesson}" if lesson else "")


def _ended(bug: int, record: BugRecord, kind: str, end: str) -> Advice:
    return Advice(bug=bug, kind=kind, record=record, message=f"bug {record.id}: {end}")


def _fate(node_id: str, before: str, sighting: PassingSighting) -> str:
    """Return the fate of a test that passes: weakened until it is edited again."""
    if node_id in sighting.weakened:
        return WEAKENED
    edited = () if sighting.edit is None else sighting.edit.functions
    is_held = before == WEAKENED and name_of_test(node_id) not in edited
    return WEAKENED if is_held else PASSING


def _joined(states: Iterable[str]) -> str:
    """Return one digest of several."""
    listed = sorted(set(states))
    return listed[0] if len(listed) == 1 else text_digest("\n".join(listed), 16)


# -- trials in words, the same for the same input


def failed_trial(
    run: Run, record: BugRecord, edit: CodeEdit, now: Symptom, metric: float
) -> DebugTrial:
    """Say whether ``edit`` changed the error of ``record``, and what the new one demands."""
    before = record.trials[-1].error if record.trials else record.symptom.signature
    if now.signature == before:
        why = f"the error is as it was: {now.signature}"
    else:
        why = f"the error changed from {clipped(before, 90)} to {clipped(now.signature, 90)}"
    gained = len(record.symptom.tests) - len(now.tests)
    if gained > 0:
        why += f"; {gained} of {len(record.symptom.tests)} tests pass now"
    edited = {function.partition(" ")[2] for function in edit.functions}
    # A demand of a guard that was edited just now is not learned: somebody wrote it.
    is_known = now.constraint in record.learned_constraints
    is_new = not is_known and now.constraint.partition(" ")[0] not in edited
    return DebugTrial(
        number=len(record.trials) + 1,
        made_at=run.made_at,
        edit=replace(edit, plan=run.plan),
        outcome=TrialOutcome.FAILED,
        why=clipped(why, WHY_LENGTH),
        strategy=_strategy(edit),
        lesson=clipped(now.constraint if is_new else "", LESSON_LENGTH),
        error=now.signature,
        metric=metric,
    )


def fixing_trial(run: Run, record: BugRecord, edit: CodeEdit) -> DebugTrial:
    """Say what was changed to fix the bug of ``record``, and the kind of mistake that it was."""
    what = _named(edit.functions) or "something that is not known"
    n_tried = len(record.trials)
    before = f" after {count(n_tried, 'failed attempt')}" if n_tried else ""
    place = f"the test code {what}" if edit.in_tests else what
    return DebugTrial(
        number=n_tried + 1,
        made_at=run.made_at,
        edit=replace(edit, plan=run.plan),
        outcome=TrialOutcome.PASSED,
        why=clipped(f"with {what} changed all its tests pass{before}", WHY_LENGTH),
        strategy=_strategy(edit),
        lesson=clipped(f"{edit.mistake}, in {place}" if edit.mistake else "", LESSON_LENGTH),
        metric=1.0,
    )


def without_lesson_about(functions: Sequence[str], trial: DebugTrial) -> DebugTrial:
    """Return ``trial`` without a lesson about one of ``functions``, which are at fault."""
    by_rules, _, _ = trial.lesson.partition(f"; {LLM_MARK}")
    lessons = (trial.lesson, by_rules, "")
    return replace(trial, lesson=next(x for x in lessons if not is_contradicted(x, functions)))


def _strategy(edit: CodeEdit) -> str:
    """Return ``Curve.insert (+2 -1): `a < b` -> `a <= b` ``."""
    what = _named(edit.functions) or "unknown edit"
    counts = f" (+{edit.n_added} -{edit.n_removed})" if edit.diff else ""
    core = core_of(edit.diff)
    return clipped(f"{what}{counts}{f': {core}' if core else ''}", STRATEGY_LENGTH)


def core_of(diff: str) -> str:
    """Return the first line of code that a diff removes and the first one that it adds."""
    first: dict[str, str] = {}
    for line in diff.splitlines():
        text = line[1:].strip()
        is_head = line.startswith(("---", "+++"))
        if not is_head and re.search(r"\w", text) and not text.startswith("#"):
            first.setdefault(line[:1], text)
    old, new = first.get("-", ""), first.get("+", "")
    if old and new:
        return f"`{clipped(old, 60)}` -> `{clipped(new, 60)}`"
    return f"removed `{clipped(old, 80)}`" if old else f"added `{clipped(new, 80)}`" if new else ""


def _named(functions: Sequence[str]) -> str:
    return listed([*map(short_name, functions)])
