"""Re-runs by servers of one transport: a warm one, and a fresh one where a swap can't reach."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache, partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.errors import LostError
from pytest_bayesloc.domain.inspection import Change, Reader, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.recording import (
    AskedPattern,
    Call,
    HandledError,
    Recording,
    Sample,
    Value,
    ValueFlow,
)
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.rerun.aside import AsideError
from pytest_bayesloc.rerun.conditions import ABSENT
from pytest_bayesloc.rerun.effects import COLLECTION, MAX_TRIES, TOO_MUCH
from pytest_bayesloc.rerun.link import UNFIT, may_answer_again, no_server
from pytest_bayesloc.rerun.swap import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.rerun.link import Message, RerunServer, Transport

# Before msgspec 0.21, its errors are no ValueError.
_UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, RecursionError, MsgspecError,
)  # fmt: skip
START_UP_S = 120.0
LEARN_S = 30.0
#: A request that has one of these runs other code than the files say.
_PATCHED = frozenset({"patches", "value", "patterns"})
GRACE_S = 10.0

T = TypeVar("T")
Method = TypeVar("Method", bound="Callable[..., Any]")


def _question(ask: Method) -> Method:
    """Have a method of a runner, which asks a server, called by ``ServerRunner._answer_of``.

    That may call it once more, elsewhere: so none of them calls another one.
    """

    @wraps(ask)
    def asked(self: ServerRunner, *args: Any, **how: Any) -> Any:  # noqa: ANN401 - of any question
        return self._answer_of(partial(ask, self, *args, **how))

    return cast("Method", asked)


class ServerRunner:
    """Implements ``domain.ports.Runner`` with servers of one transport.

    Args:
        transport: Starts them.
        tests: Node ids that may be asked for, in the order of the main run.
        texts: Text of each file that holds a target, by its path relative to rootdir.

    Attributes:
        transport: Starts servers now.
        start_s: Wall seconds that the warm server took to be ready; 0 until it was.
        waited_s: Seconds in which there was no CPU for its re-runs.
    """

    def __init__(
        self, transport: Transport, tests: Sequence[str], texts: Mapping[str, str]
    ) -> None:
        self._tests = tuple(tests)
        self._texts = texts
        self._warm: RerunServer | None = None
        self._has_stem = False
        self._fresh: RerunServer | None = None
        self._is_cancelled = False
        self.waited_s = 0.0
        self._map = lru_cache(maxsize=64)(SourceMap)
        self.use(transport)

    def use(self, transport: Transport) -> None:
        """Start servers by ``transport`` from now on."""
        self.transport = transport
        self._may_fork = transport.may_fork
        self.start_s = 0.0

    @_question
    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        """Run ``tests`` under ``patch``: forked where a swap reaches it, else fresh."""
        here = self.transport.workspaces.here
        request: Message = {"tests": list(tests), "limit_s": limit_s}
        forked = self._may_fork and all("::" in node_id for node_id in tests)
        if patch is not None and patch.value is not None:
            filename = self.transport.path_of(patch.target.file)
            request["value"] = {"filename": filename, **asdict(patch.value)}
        elif patch is not None and patch.patterns:
            request["patterns"] = [list(pair) for pair in patch.patterns]
            request["files"] = self._names()
        elif patch is not None:
            parts = (patch, *patch.companions)
            request["patches"] = [self._wire_patch(part) for part in parts]
            swapped = all(wired["keys"] for wired in request["patches"])
            forked = forked and swapped and not any(part.fresh for part in parts)
        if forked:
            messages = self._ask_warm(request)
            if messages is not None:
                rerun = _rerun_of(messages, tests, "fork", here)
                covered = any(run.covered for run in rerun.tests.values())
                is_placed = bool(rerun.n_swapped) or covered
                is_swap = patch is not None and not (patch.value or patch.patterns)
                if not is_swap or rerun.log or is_placed:
                    return rerun
        return _rerun_of(self._ask_fresh(request), tests, "fresh", here)

    @_question
    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
        detailed: Location | None = None,
    ) -> Recording:
        """Run ``tests`` as they are and note the calls of the functions among ``targets``.

        Of ``detailed``, values are noted with their parts.
        """
        units = [unit for unit in map(self._unit, targets) if unit is not None and unit.is_function]
        request: Message = {
            "tests": list(tests),
            "limit_s": limit_s,
            "targets": [[self.transport.path_of(u.location.file), *_key(u)] for u in units],
            "sample": sample,
            "detailed": next((n for n, u in enumerate(units) if u.location == detailed), -1),
        }
        return _recording_of(self._ask(request), [unit.location for unit in units])

    @_question
    def follow(self, tests: Sequence[str], *, limit_s: float) -> Sequence[ValueFlow]:
        """Run ``tests`` as they are and follow the value that is wrong in each of them."""
        request: Message = {"tests": list(tests), "limit_s": limit_s, "flow": self._names()}
        messages = self._ask(request)
        rerun = _rerun_of(messages, tests, "fork", self.transport.workspaces.here)
        return [
            convert(
                {
                    **message["flow"],
                    "node_id": message["of"],
                    "error": rerun.tests[message["of"]].error,
                },
                ValueFlow,
            )
            for message in messages
            if "flow" in message
        ]

    @_question
    def caught(
        self, tests: Sequence[str], *, limit_s: float
    ) -> Mapping[str, tuple[HandledError, ...]]:
        """Run ``tests`` as they are and note the exceptions that the project's code catches."""
        request: Message = {"tests": list(tests), "limit_s": limit_s, "handled": self._names()}
        handled = {m["of"]: m["handled"] for m in self._ask(request) if "handled" in m}
        return convert(handled, dict[str, tuple[HandledError, ...]])

    @_question
    def patterns_asked(
        self, tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Mapping[str, tuple[AskedPattern, ...]]]:
        """Run ``tests`` with stand-ins for the project's patterns and note what those are asked."""
        files = self._names()
        request: Message = {"tests": list(tests), "limit_s": limit_s, "asked": True, "files": files}
        messages = self._ask(request)
        asked = {
            message["of"]: tuple(
                AskedPattern(text=text, flags=flags, calls=tuple((m, tuple(a)) for m, a in calls))
                for text, flags, calls in message["asked"]
            )
            for message in messages
            if "asked" in message
        }
        return _rerun_of(messages, tests, "fork", self.transport.workspaces.here), asked

    @_question
    def samples(
        self,
        tests: Sequence[str],
        points: Sequence[tuple[Unit, Sequence[tuple[int, int]]]],
        *,
        limit_s: float,
        patch: InspectionPatch | None = None,
        is_valued: bool = True,
    ) -> Mapping[str, Sequence[Sample]]:
        """Run ``tests`` and note the values at points of functions."""
        request: Message = {
            "tests": list(tests),
            "limit_s": limit_s,
            "sampled": [[self.transport.path_of(u.location.file), *_key(u)] for u, _ in points],
            "points": [own for _, own in points],
            "valued": is_valued,
        }
        if patch is not None:
            request["patches"] = [self._wire_patch(patch)]
        return {
            message["of"]: [
                Sample(
                    location=points[n][0].location,
                    point=points[n][1][i],
                    then=then,
                    values={name: Value(*value) for name, value in values.items()},
                    classes=classes,
                )
                for n, i, then, values, classes in message["samples"]
            ]
            for message in self._ask(request)
            if "samples" in message
        }

    @_question
    def changed_state(self, tests: Sequence[str], *, limit_s: float) -> Sequence[str]:
        """Run ``tests`` and name the shared variables that differ just before the last one.

        None is known where no process is forked: objects can't be told apart by identity then.
        """
        request: Message = {"tests": list(tests), "limit_s": limit_s, "state": self._names()}
        messages = self._ask_warm(request)
        return convert(_last(messages or (), "state").get("state", []), list[str])

    @_question
    def under(
        self, condition: tuple[str, object], tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Sequence[Reader]] | None:
        """Run ``tests`` under a condition of ``rerun.conditions``; None where nothing is forked."""
        name, value = condition
        more = [self.transport.effects.without(str(value))] if name == ABSENT else []
        if "" in more:
            return None
        request: Message = {
            "tests": [*more, *tests],
            "limit_s": limit_s,
            "condition": [name, value],
            "files": self._names(),
        }
        messages = self._ask_warm(request)
        if messages is None:
            return None
        rerun = _rerun_of(messages, tests, "fork", self.transport.workspaces.here)
        readers = _last(messages, "readers").get("readers", [])
        return rerun, convert(readers, list[Reader])

    @_question
    def readers(self, test: str, *, limit_s: float) -> Mapping[str, Sequence[Reader]]:
        """Run ``test`` and note which code asks for what may differ between two runs."""
        request: Message = {"tests": [test], "limit_s": limit_s, "readers": self._names()}
        messages = self._ask_warm(request) or ()
        found = _last(messages, "readers").get("readers", {})
        return convert(found, dict[str, list[Reader]])

    @_question
    def restored(
        self, tests: Sequence[str], names: Sequence[str], *, limit_s: float
    ) -> tuple[TestRun, Mapping[str, Sequence[Change]]]:
        """Run ``tests``, the last one with shared variables as they were before the first."""
        request: Message = {
            "tests": list(tests),
            "limit_s": limit_s,
            "state": self._names(),
            "restored": list(names),
        }
        messages = self._ask_warm(request) or ()
        changed = _last(messages, "changed").get("changed", {})
        rerun = _rerun_of(messages, tests, "fork", self.transport.workspaces.here)
        return rerun.tests[tests[-1]], convert(changed, dict[str, list[Change]])

    def trace(self, tests: Sequence[str], *, limit_s: float) -> Any:  # noqa: ANN401 - the recorder's
        """Run ``tests`` in a process that records what they execute, one after the other.

        Returns:
            The payload of its recorder, about the tests that ended within ``limit_s`` wall seconds;
            empty if there is none.
        """
        request: Message = {"tests": list(tests), "limit_s": limit_s, "trace_s": limit_s}
        return _last(self._ask_fresh(request), "traced").get("traced", {})

    @_question
    def make_ready(self) -> None:
        """Start the warm server, if there may be one.

        Raises:
            ExecutionError: If it does not come up.
        """
        self._warm_up()

    def cancel(self) -> None:
        """End what is under way, from another thread; nothing is run until ``resume``."""
        self._is_cancelled = True
        for server in (self._warm, self._fresh):
            if server is not None:
                server.hang_up()

    def resume(self) -> None:
        """Run what is asked for again."""
        self._is_cancelled = False

    def close(self) -> None:
        """End the warm server, the only one between two requests. The transport goes on."""
        server, self._warm = self._warm, None
        if server is not None:
            server.end()

    def _names(self) -> Mapping[str, str]:
        """The names of files that hold a target, by their paths where the tests run."""
        return {self.transport.path_of(file): file for file in self._texts}

    def _unit(self, location: Location) -> Unit | None:
        text = self._texts.get(location.file)
        if text is None:
            return None
        return self._map(text, location.file, is_test=location.is_test).unit(location)

    def _wire_patch(self, patch: InspectionPatch) -> Message:
        source = self._map(patch.original, patch.target.file, is_test=patch.target.is_test)
        units = [source.unit(where) for where in (patch.target, *patch.others)]
        chains = [u.enclosing for u in units if u is not None and u.is_function]
        whole = len(chains) == len(units)  # else there is more to change than functions
        around = chains[0] if len(chains) == 1 else None
        return {
            "filename": self.transport.path_of(patch.target.file),
            "original": patch.original,
            "patched": patch.patched,
            "excerpt": excerpt(patch.original, patch.patched, around) if around else None,
            "keys": [_key(u) for chain in chains for u in chain if whole and u.is_function],
        }

    # -- servers

    def _answer_of(self, ask: Callable[[], T]) -> T:
        """Call ``ask``; a server whose answer has another form counts as lost."""
        try:
            return ask()
        except _UNREADABLE as error:
            self.close()
            said = f"{type(error).__name__}: {error}"
            raise LostError(
                f"{self.transport.name} gave an answer that can't be read ({said[:200]}): what it "
                "had under way is done again elsewhere.",
                slug="lost-executor",
            ) from error

    def _ask(self, request: Message) -> Sequence[Message]:
        """Ask the warm server, or where forking is unsafe a fresh one."""
        messages = self._ask_warm(request)
        return self._ask_fresh(request) if messages is None else messages

    def _ask_warm(self, request: Message) -> Sequence[Message] | None:
        """Ask the warm server; None if forking is unsafe here."""
        return self._fenced(request, self._answer_of_warm, self._warm_up)

    def _ask_fresh(self, request: Message) -> Sequence[Message]:
        return self._fenced(request, self._answer_of_fresh, lambda: True) or ()

    def _fenced(
        self,
        request: Message,
        ask: Callable[[Message], Sequence[Message]],
        is_ready: Callable[[], bool],
    ) -> Sequence[Message] | None:
        """Ask with a fence around what the tests as they are do, which is learned where needed."""
        effects, holds = self.transport.effects, not _PATCHED.isdisjoint(request)
        fresh = ask == self._answer_of_fresh
        messages: Sequence[Message] = ()
        for n_tried in range(MAX_TRIES):
            if not is_ready():
                return None
            tests = (effects.usable if holds else effects.learnable)(request["tests"])
            if request["tests"] and not tests:
                return ()
            try:
                with effects.kept(tests, request["limit_s"], holds=holds) as allowed:
                    messages = ask({**request, "tests": tests, "fence": allowed})
            except AsideError as error:
                effects.leave_out(effects.changing(tests), f"changes what {error}")
                if not holds:
                    return ()
                continue
            if self._is_cancelled or effects.is_over(messages, tests, holds=holds, fresh=fresh):
                break
            if holds:  # perhaps the tests as they are do that too
                learned = _learned_from(messages if fresh and not n_tried else (), tests)
                self._fenced({**learned, "limit_s": LEARN_S}, ask, is_ready)
        else:
            effects.leave_out(effects.changing(request["tests"]), TOO_MUCH)
        return messages

    def _warm_up(self) -> bool:
        """Start the warm server if there is none; False if forking is unsafe here."""
        if not self._may_fork or self._warm is not None or self._is_cancelled:
            return self._may_fork
        started = monotonic()
        effects = self.transport.effects
        ready: Message = {}
        for _ in range(MAX_TRIES):
            try:
                with effects.kept((), START_UP_S, holds=False) as allowed:
                    self._warm = self.transport.start(self._tests, None, allowed)
                    ready = self._warm.ready(START_UP_S)
            except AsideError as error:
                raise no_server(f"collecting the tests changes what {error}") from error
            if not effects.take(ready.get("effects", ()), ()):
                break
            self.close()
        self.start_s = monotonic() - started
        self._has_stem = ready.get("has_stem", False)
        if "why" in ready:
            raise no_server(ready["why"])
        if not ready:  # it was cancelled
            self.close()
        elif ready["n_threads"] > 1:
            self._may_fork = False
            self.close()
        return self._may_fork

    def _answer_of_warm(self, request: Message) -> Sequence[Message]:
        if self._warm is None:  # it was cancelled
            return ()
        try:
            messages = self._warm.exchange(request, request["limit_s"] + GRACE_S)
        except LostError:
            self.close()
            raise
        if not may_answer_again(messages):
            self.close()
        self.waited_s += _last(messages, "done").get("waited_s", 0.0)
        return messages

    def _answer_of_fresh(self, request: Message) -> Sequence[Message]:
        if self._is_cancelled:
            return ()
        files = [patch["filename"] for patch in request.get("patches", ())]
        is_code = bool(files) and all(file.endswith(".py") for file in files)
        if is_code and self._has_stem and self._warm is not None:
            # The warm server forks a process for the patches that has seen no other code.
            limit_s = request["limit_s"] + GRACE_S  # it collects in this time, too
            messages = self._answer_of_warm({**request, "is_new": True, "limit_s": limit_s})
            if _is_told(messages):
                return messages
        tests: Sequence[str] = request.get("collected") or request["tests"]
        server = self._fresh = self.transport.start(tests, request, request["fence"])
        try:
            return server.exchange(None, request["limit_s"] + GRACE_S)
        finally:
            self._fresh = None
            server.end()


def _key(unit: Unit) -> list[int | str]:
    """The key of its code object, as ``swap.key_of`` has it."""
    return [unit.first_line, unit.location.qualname.rpartition(".")[2]]


def _is_told(messages: Sequence[Message]) -> bool:
    """Whether a process that was forked anew says something of a patch: that it was in place."""
    if _last(messages, "done").get("done") == UNFIT:
        return False
    is_over = any("refused" in m or "unusable" in m for m in messages)
    is_placed = _last(messages, "swapped").get("swapped", 0) > 0
    return is_placed or is_over or _last(messages, "done").get("done") != "ok"


def _learned_from(messages: Sequence[Message], tests: Sequence[str]) -> Message:
    """Return what is to be run as it is, to learn whether it does what a re-run was refused.

    That is the file of the test to which it was refused, or collecting; all where neither is known.
    """
    files = {file_of_test(message["by"]) for message in messages if "refused" in message}
    if files == {COLLECTION}:
        return {"tests": [], "collected": tests}
    return {"tests": [test for test in tests if file_of_test(test) in files] or tests}


# -- replies


def _last(messages: Sequence[Message], key: str) -> Message:
    """The last one of ``messages`` that has ``key``; empty if none has."""
    return next((message for message in reversed(messages) if key in message), {})


def _rerun_of(
    messages: Sequence[Message], tests: Sequence[str], how: str, here: Callable[[str], str]
) -> Rerun:
    """Read from ``messages`` how each of ``tests`` went; texts get their paths from ``here``."""
    ended: dict[str, TestRun] = {}
    covered: set[str] = set()
    running = ""
    for message in messages:
        if "start" in message:
            running = message["start"]
        elif "end" in message:
            texts = {name: here(message[name]) for name in ("error", "output")}
            frames = [(here(file), line) for file, line in message["frames"]]
            ended[message["end"]] = convert({**message, **texts, "frames": frames}, TestRun)
            running = ""
        elif "covered" in message:
            covered.add(message["covered"])
    done = _last(messages, "done")
    said = here(_last(messages, "refused").get("said", ""))
    refused = f"refused: it {said}, which the tests as they are do not" if said else ""
    running = "" if refused else running

    def unfinished(node_id: str) -> TestRun:
        # The test that was running when the process ended has timed out or crashed.
        verdict = Verdict.TIMEOUT if done.get("done") == "timeout" else Verdict.CRASH
        return TestRun(
            verdict=verdict if node_id == running else Verdict.NOT_RUN, covered=node_id in covered
        )

    return Rerun(
        tests={node_id: ended.get(node_id) or unfinished(node_id) for node_id in tests},
        n_swapped=_last(messages, "swapped").get("swapped", 0),
        seconds=done.get("seconds", 0.0),
        cpu_s=done.get("cpu_s", 0.0),
        log=_last(messages, "unusable").get("unusable", "") or refused,
        how=how,
        refused=refused,
    )


def _recording_of(messages: Sequence[Message], targets: Sequence[Location]) -> Recording:
    """Read from ``messages`` the calls of ``targets``, which they give by number."""
    calls = {m["of"]: m["calls"] for m in messages if "calls" in m}
    edges = _last(messages, "edges").get("edges", [])
    return Recording(
        calls={
            node_id: tuple(
                Call(
                    location=targets[target],
                    caller=caller,
                    entered=entered,
                    left=left,
                    args={name: Value(*value) for name, value in args.items()},
                    result=None if result is None else Value(*result),
                    raised=raised,
                )
                for target, caller, entered, left, args, result, raised in raws
            )
            for node_id, raws in calls.items()
        },
        edges={(targets[a], targets[b]): n for a, b, n in edges},
    )
