"""Tests that fail after others: which ones, and by what variable that they leave changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pytest_bayesloc.domain.failure import DEFAULTS, Cause, CauseKind, Failure
from pytest_bayesloc.domain.inspection import Change, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.domain.result import SpoiledTest
from pytest_bayesloc.domain.source import Unit
from pytest_bayesloc.domain.texts import plain_name
from pytest_bayesloc.inspection.delta import minimal
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.provenance import line_that_writes, mentions
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.syntax.nodes import argument_names, bound_name, children, names_from, walk

#: Passes alone, and failures after others, before a test is taken as one that those spoil: what
#: fails by chance, as often as it likes, does all that less than once in 200 times.
N_AGREEING = 4
MAX_RERUNS = 120  # of one test: some 2 * log2 of its earlier tests where one spoils it
_PLAIN = ("assert ", "AssertionError")  # pytest leaves the type out of some messages


class OrderSearch:
    """Runs one test after others, in one process.

    Args:
        runner: Of a server that knows them all.
        failure: Of the test in the main run.
        clock: Monotonic seconds.
        deadline: When the search must end.

    Attributes:
        is_flaky: Whether the test passed after all earlier ones as well.
        is_cut: Whether the search ended before no smaller part was left to try.
    """

    def __init__(self, runner: Runner, failure: Failure, clock: Clock, deadline: float) -> None:
        self._runner = runner
        self.failure = failure
        self._clock = clock
        self._deadline = deadline
        self._n_left = MAX_RERUNS
        self.is_flaky = False
        self.is_cut = False

    def spoilers(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """Return a smallest part of ``earlier`` after which the test fails as in the main run.

        Empty if it passes after all of them, or fails alone as well. When time is up, what is left
        by then is returned: the test was seen to fail after it.
        """
        first = self._after(earlier)
        self.is_flaky = first.verdict is Verdict.PASS
        if not earlier or not is_same(first, self.failure):
            return ()
        if any(self._after(()).verdict is not Verdict.PASS for _ in range(N_AGREEING)):
            return ()
        found = minimal(earlier, self._fails)
        self.is_cut = not self._may_run()
        is_sure = self.is_cut or all(self._fails(found) for _ in range(N_AGREEING - 1))
        return tuple(found) if is_sure else ()

    def needed_tests(self, others: Sequence[str]) -> tuple[str, ...] | None:
        """Return a smallest part of ``others`` after which the test passes, which fails alone.

        Empty if it passes as soon as their files are imported; None if it fails after all of them,
        or by chance.
        """
        if self._after(others).verdict is not Verdict.PASS:
            return None
        if all(self._after(()).verdict is Verdict.PASS for _ in range(N_AGREEING)):
            return ()
        found = minimal(others, self._passes)
        is_sure = all(self._passes(found) for _ in range(N_AGREEING - 1)) and self.is_steady()
        return tuple(found) if is_sure else None

    def is_steady(self) -> bool:
        """Say whether the test fails each time when it runs alone."""
        return self.always_ends(Verdict.FAIL)

    def always_ends(self, verdict: Verdict) -> bool:
        """Say whether the test passes, or fails as it did, each time when it runs alone."""
        runs = (self._after(()) for _ in range(N_AGREEING))
        if verdict is Verdict.FAIL:
            return all(is_same(run, self.failure) for run in runs)
        return all(run.verdict is verdict for run in runs)

    def _passes(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and self._after(earlier).verdict is Verdict.PASS

    def changed_by(self, spoilers: Sequence[str]) -> list[str]:
        """List the shared variables that ``spoilers`` leave changed, as the test starts.

        They are named as by ``Runner.changed_state``.
        """
        tests = [*spoilers, self.failure.node_id]
        return [*self._runner.changed_state(tests, limit_s=self._left_s())]

    def needed(self, spoilers: Sequence[str], names: Sequence[str]) -> dict[str, list[Change]]:
        """Return those of the variables that make the test pass when they are put back alone.

        Each comes with what ``spoilers`` changed of it. Empty if all of ``names`` are not enough.
        """
        tests, seen = [*spoilers, self.failure.node_id], dict[str, list[Change]]()

        def passes(some: Sequence[str]) -> bool:
            if not self._may_run():
                return False
            self._n_left -= 1
            run, changes = self._runner.restored(tests, some, limit_s=self._left_s())
            seen.update({name: [*parts] for name, parts in changes.items()})
            return run.verdict is Verdict.PASS

        if not names or not passes(names):
            return {}
        return {name: seen.get(name, []) for name in minimal(names, passes)}

    def _fails(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and is_same(self._after(earlier), self.failure)

    def _after(self, earlier: Sequence[str]) -> TestRun:
        self._n_left -= 1
        node_id = self.failure.node_id
        rerun = self._runner.rerun(None, [*earlier, node_id], limit_s=self._left_s())
        return rerun.tests[node_id]

    def _may_run(self) -> bool:
        return self._n_left > 0 and self._clock() < self._deadline

    def _left_s(self) -> float:
        return max(0.1, self._deadline - self._clock())


def is_same(run: TestRun, failure: Failure) -> bool:
    """Say whether a test failed with the same type of exception: its text may name the state."""
    if run.verdict is not Verdict.FAIL:
        return False
    if run.error.startswith(_PLAIN):
        return failure.exc_type == "AssertionError"
    return run.error.partition(":")[0].rpartition(".")[2] == failure.exc_type


# -- the cause in words

MAX_STATE = 3  # variables that are named
MAX_WRITERS = 5  # of each
MAX_SHOWN = 40  # characters of a value before and after
FIXTURE = "fixture "
FILES = "files"


def pollution(
    sources: Sources, found: SpoiledTest, changes: Mapping[str, Sequence[Change]]
) -> Cause:
    """Return the cause for a test that others spoil.

    Args:
        sources: The project's files.
        found: The tests, and the variables that they leave changed.
        changes: Of the variables that were seen to matter, by their names in ``Runner.restored``,
            the parts that changed; empty if none of them is known to.
    """
    victim, polluter = plain_name(found.test), plain_name(found.after[-1])
    others = "" if len(found.after) == 1 else f" and {len(found.after) - 1} more before it"
    name = next(iter(changes), "")
    unit = next(_test_code(sources, found.after[-1]), None)
    line = _line(unit, name, found) if unit is not None else 0
    owner = _with_default(sources, name)
    at = f" ({unit.location.file}:{line})" if unit is not None else ""
    text = f"{victim} fails after {polluter}{at}{others}"
    if changes:
        text += f", which leaves {_thing(sources, name, changes[name])}"
        text += f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    elif found.state:
        text += f", which leaves {next(iter(found.state))} changed"
    unit, line = (owner, owner.location.start_line) if owner is not None else (unit, line)
    return Cause(
        kind=CauseKind.POLLUTED,
        text=text,
        advice=_advice(name, polluter),
        location=None if unit is None else unit.location,
        line=line,
        after=found.after,
        state=_plain(name) if name else next(iter(found.state), ""),
        command=found.command,
    )


def missing_set_up(sources: Sources, found: SpoiledTest, files: Sequence[str], state: str) -> Cause:
    """Return the cause for a test that passes after others alone.

    Args:
        sources: The project's files.
        found: The test, those that have to run before, and the command for both; none of these if
            it is enough to import their ``files``.
        files: Of them.
        state: A variable that they set; empty if none is known.
    """
    victim, needed = plain_name(found.test), found.after
    unit = next(_test_code(sources, found.test), None)
    other = next(_test_code(sources, needed[-1]), None) if needed else None
    at = f" ({other.location.file}:{other.location.start_line})" if other is not None else ""
    if needed:
        text = f"{victim} passes only after {plain_name(needed[-1])}{at}"
        text += f", which sets {state}" if state else ""
        text += f", and {len(needed) - 1} more before it" if len(needed) > 1 else ""
    else:
        text = f"{victim} passes only where other test files are imported ({files[0]})"
    return Cause(
        kind=CauseKind.NEEDS_ANOTHER_TEST,
        text=text,
        advice=f"give {victim} what it needs in a fixture of its own",
        location=None if unit is None else unit.location,
        line=0 if unit is None else unit.location.start_line,
        after=needed,
        state=state,
        command=found.command,
    )


#: What test files call as they are imported, and that only speaks of their own tests.
_HARMLESS = frozenset({"pytest", "mock", "unittest", "functools", "dataclasses", "typing"})
#: Lines of a module's body that may change something else as it is imported.
_WORDS = "|".join(sorted({"from", *_HARMLESS}))
AT_IMPORT = re.compile(rf"^(?:del\s+|@)?(?!(?:{_WORDS})\b)\w+\s*[.\[(]", re.MULTILINE)


def changes_at_import(module: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each line of a module that changes what it has imported, with what it changes."""
    body = [node for node in children(module) if isinstance(node, ast.stmt)]
    imports = [n for n in body if isinstance(n, (ast.Import, ast.ImportFrom))]
    aliases = [alias for node in imports for alias in node.names]
    foreign = {bound_name(alias) for alias in aliases} - _HARMLESS
    for statement in body:
        for changed in _changed(statement):
            words = re.split(r"\W", ast.unparse(changed))
            if words[0] in foreign and words[:2] != ["sys", "path"]:
                yield statement.lineno, ast.unparse(changed)


def _changed(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement of a module may change: where it stores to, and what it calls."""
    if isinstance(statement, (ast.Assign, ast.Delete)):
        targets = statement.targets
    elif isinstance(statement, ast.Expr):
        targets = [statement.value] if isinstance(statement.value, ast.Call) else []
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    else:
        targets = [*getattr(statement, "decorator_list", ())]
    return [t for t in targets if isinstance(t, (ast.Attribute, ast.Subscript, ast.Call))]


def polluted_at_import(
    sources: Sources, test: str, file: str, change: tuple[int, str], command: str
) -> Cause:
    """Return the cause for a test that fails where another test file is imported.

    Args:
        sources: The project's files.
        test: Its node id.
        file: The other one.
        change: The line of it that changes something, and what.
        command: Makes the test fail.
    """
    (line, what), victim = change, plain_name(test)
    source, does = sources.map(file), "calls" if what.endswith(")") else "sets"
    return Cause(
        kind=CauseKind.POLLUTED,
        text=f"{victim} fails where {file} is imported, which {does} {what} (line {line})",
        advice=f"use monkeypatch in a fixture of {file}: pytest then restores it",
        location=None if source is None else source.module.location,
        line=line,
        after=(file,),
        state=what,
        command=command,
    )


def _plain(name: str) -> str:
    """Return what a person calls a variable of ``Runner.restored``."""
    return name.partition("::")[2].removeprefix(FIXTURE)


def _thing(sources: Sources, name: str, changes: Sequence[Change]) -> str:
    """Return what is left changed, in words, with what it was and is where that is short."""
    file, _, dotted = name.partition("::")
    path, before, now = changes[0] if changes else ("", "", "")
    if dotted == FILES:
        return f"the file {path.strip('[]')} behind"
    if dotted.endswith(DEFAULTS):
        return f"a default of {dotted.rpartition('.')[0]} changed"
    if " " in dotted and not dotted.startswith(FIXTURE):
        return f"{dotted} changed"
    what = dotted
    path = path.partition("['#")[0].partition("[#")[0]
    if dotted.startswith(FIXTURE):
        source = sources.map(file)
        own = [u for u in source.units if u.location.qualname == _plain(name)] if source else []
        what = f"the {dotted}" + (f" ({file}:{own[0].location.start_line})" if own else "")
    what = f"{path} of {what}" if path else what
    is_short = before and now and before != now and max(len(before), len(now)) <= MAX_SHOWN
    return f"{what} changed" + (f" from {before} to {now}" if is_short else "")


def _with_default(sources: Sources, name: str) -> Unit | None:
    """Return the function whose default is named: calls share it, a mistake in its code."""
    file, _, dotted = name.partition("::")
    source = sources.map(file) if dotted.endswith(DEFAULTS) else None
    units = source.units if source is not None else ()
    owner = f".{dotted.rpartition('.')[0]}"
    return next((u for u in units if owner.endswith(f".{u.location.qualname}")), None)


def _advice(name: str, polluter: str) -> str:
    plain = _plain(name)
    if plain.endswith(DEFAULTS):
        return f"have {plain.split('.')[-2]} take None, and make the value in its body"
    if name.partition("::")[2].startswith(FIXTURE):
        return f"have each test get a {plain} of its own (a fixture of scope function), or a copy"
    for start, way in (("os.environ", "setenv"), ("the working directory", "chdir")):
        if plain.startswith(start):
            return f"use monkeypatch.{way} in {polluter}: pytest then restores it"
    if plain == FILES:
        return f"have {polluter} write below tmp_path, or remove what it wrote"
    if " " in plain:
        return f"restore it at the end of {polluter}, in the tear-down of a fixture"
    return f"change it with monkeypatch in {polluter}, or restore it in the tear-down of a fixture"


def _line(unit: Unit, name: str, found: SpoiledTest) -> int:
    """Return the line of a test that changes a variable, as far as that can be seen."""
    writers = (writer for writers in found.state.values() for writer in writers)
    own = next((line for where, line in writers if where == unit.location), 0)
    words = re.findall(r"\w+", _plain(name))
    lines = [
        node.lineno
        for node in walk(unit.node)
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.With))
        and any(mentions(node, word) for word in words[-1:])
    ]
    return own or min(lines, default=unit.location.start_line)


def read_first(sources: Sources, case: Case, test: str, names: Sequence[str]) -> list[str]:
    """Return ``names``, first those that the code of ``test`` mentions, then what it executes."""
    own = [unit.node for unit in _test_code(sources, test)]
    executed = [unit.node for unit in _executed(sources, case, [test])]

    def order(name: str) -> tuple[bool, bool]:
        word = re.split(r"[.\[]", _plain(name))[-1].strip("]'")
        of_test = any(mentions(node, word) for node in own)
        return not of_test, not any(mentions(node, word) for node in executed)

    return sorted(names, key=order)


def changed_variables(
    sources: Sources, case: Case, test: str, spoilers: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[tuple[Location, int], ...]]:
    """Return some variables of ``names``, and the lines of ``spoilers`` that write them.

    First come those that ``test`` reads, and that are written.
    """
    writing = [unit for spoiler in spoilers for unit in _test_code(sources, spoiler)]
    writing += _executed(sources, case, spoilers)
    reading = [*_test_code(sources, test), *_executed(sources, case, [test])]

    def writers(name: str) -> tuple[tuple[Location, int], ...]:
        lines = {unit.location: line_that_writes(unit.node, _variable(name)) for unit in writing}
        return tuple((where, line) for where, line in lines.items() if line)[:MAX_WRITERS]

    plain = [name.partition("::")[2] for name in names]
    state = {name: writers(name) for name in plain}
    is_read = {
        name: any(mentions(unit.node, _variable(name)) for unit in reading) for name in plain
    }
    ordered = sorted(state, key=lambda name: (not is_read[name], not state[name], name))
    return {name: state[name] for name in ordered[:MAX_STATE]}


def _variable(name: str) -> str:
    return name.partition("[")[0]  # of an environment variable, ``os.environ``


def is_import(sources: Sources, name: str) -> bool:
    """Say whether a variable is only another module's, under a name of its own."""
    file, _, dotted = name.partition("::")
    source = sources.map(file) if file else None
    dotted = re.sub(r"\.__(?:kw)?defaults__$", "", dotted)
    imported = names_from(source.module.node, "") if source is not None else ()
    return any(dotted.rpartition(".")[2] in known.values() for _, known in imported)


def _executed(sources: Sources, case: Case, tests: Sequence[str]) -> Iterator[Unit]:
    """Yield the functions of the code that ``tests`` execute."""
    spectrum = case.spectrum
    wanted = spectrum.bitset(tests)
    for where in sorted(w for w, executed in spectrum.executed.items() if executed & wanted):
        found = sources.unit(where)
        if found is not None and found[1].is_function:
            yield found[1]


def _test_code(sources: Sources, node_id: str) -> Iterator[Unit]:
    """Yield the function of a test, then what it uses of its file and of conftest files by name."""
    file, _, name = node_id.partition("::")
    qualname = name.partition("[")[0].replace("::", ".")
    folders = PurePosixPath(file).parents
    files = [file, *(str(folder / "conftest.py") for folder in folders)]
    maps = [source for f in files if (source := sources.map(f)) is not None]
    known = [unit for source in maps for unit in source.units if unit.is_function]
    used = [unit for unit in known if unit.location.qualname == qualname][:1]
    for unit in used:  # grows while it is read
        yield unit
        asked = argument_names(unit.node)
        own = unit.location.qualname.rpartition(".")[0]
        for other in [other for other in known if other not in used]:
            around, _, name = other.location.qualname.rpartition(".")
            sets_up = name.lower().startswith("setup") and bool(around) and around == own
            if name in asked or sets_up or mentions(unit.node, name):
                used.append(other)
