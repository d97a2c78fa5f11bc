"""Searches the conditions that decide how failing tests end, by running them again."""

from __future__ import annotations

import locale
import os
import shlex
import sys
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_bayesloc.causes.asked import READS_CLOCK, clock_at_import, keeps_hash, makes_sets
from pytest_bayesloc.causes.condition_words import stale_place, told
from pytest_bayesloc.causes.conditions import WORDS, ConditionSearch, Surroundings
from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.failure import CauseKind
from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import lines_of
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.pipeline.causes import environment_of
from pytest_bayesloc.pipeline.execute import is_local, open_elsewhere
from pytest_bayesloc.pipeline.order import left_behind, left_files
from pytest_bayesloc.spectrum.sources import FileKind
from pytest_bayesloc.syntax.nodes import attributes_in, names_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.failure import Cause
    from pytest_bayesloc.domain.inspection import Reader
    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case

SHARE = 0.3  # of the time of a group
N_SUSPECTS = 8
N_PASSING, LIMIT_S = 4, 5.0  # tests that pass, of which is asked what they ask for
N_READ = 100  # functions whose text is read
MAX_FILES = 500  # whose text is searched for what reads the clock as it is imported


def explain_condition(
    context: Context, case: Case, runner: Runner, limit_s: float, *, is_asked: bool = False
) -> bool:
    """Say whether a condition decides how the first test of ``case`` ends, and add it.

    Unless it ``is_asked``, nothing is run again where the code that the tests execute speaks of no
    condition, and makes no sets.
    """
    if case.cause is not None or not is_local(context):
        return False
    # What the failing tests execute, the likeliest first, and the first test itself.
    places = dict.fromkeys(where for where, _ in case.belief.top(N_READ))
    places |= dict.fromkeys(where for f in case.failures[:1] for where in f.test_locations)
    units = [unit[1] for where in places if (unit := context.sources.unit(where)) is not None]
    texts = [context.sources.own_text(unit.location) for unit in units]
    set_files = _set_files(units, texts)
    clocks = _clocks(context, case, units)
    if not (is_asked or set_files or clocks or any(map(WORDS.search, texts))):
        return False
    search = _search(context, case, runner, limit_s, clocks, set_files)
    try:
        is_edited = not case.belief.probabilities.keys().isdisjoint(case.changes.every)
        found = search.decided(is_edited=is_edited and not is_asked)
        case.again = search.first if len(case.failing) == 1 else None
        if found and search.is_steady and found.turns and not stale_place(found, context.sources):
            found = None  # code may be wrong that counts tasks, or relies on their order
        if found is not None:
            test = case.failures[0].node_id
            command = shlex.join(["pytest", test])
            case.cause = told(found, test, context.sources, command)
            if found.kind is CauseKind.LEFT_BEHIND:
                case.cause = left_behind(context, case.cause, test, search.left_s())
        elif search.is_steady and search.readers:
            case.cause = _asked_in_vain(context, case, runner, search.readers)
    except BayeslocError as error:
        context.note(str(error))
    return case.cause is not None


def _set_files(units: Sequence[Unit], texts: Sequence[str]) -> list[str]:
    """List the files of ``units``, written as ``texts``, that make sets."""
    found: list[str] = []
    for unit, text in zip(units, texts, strict=True):
        if unit.location.file not in found and makes_sets(unit.node, text):
            found.append(unit.location.file)
    return found


def _asked_in_vain(
    context: Context, case: Case, runner: Runner, asked: Mapping[str, Sequence[Reader]]
) -> Cause | None:
    """Return what a failing test asks for that is not there, if passing ones ask otherwise."""
    suspects = [where for where, _ in case.belief.top(N_SUSPECTS)]
    machine = environment_of(context)
    if machine.asked_in_vain(asked, (), suspects) is None:
        return None  # to watch a test costs many times what it takes
    near = case.neighbours()[:N_PASSING]
    passing = {name for n in near for name in runner.readers(n, limit_s=LIMIT_S)}
    return machine.asked_in_vain(asked, passing, suspects)


def _clocks(context: Context, case: Case, units: Sequence[Unit]) -> list[Reader]:
    """List the code that reads the clock as it is imported, for what ``units`` mention."""
    tests = case.failures[0].test_locations
    found: list[tuple[str, int, set[str]]] = []
    files = dict.fromkeys(where.file for where in (*case.spectrum.executed, *tests))
    # What this process has imported: helpers of tests, too, unless workers ran them.
    modules = [m for m in list(sys.modules.values()) if type(m) is ModuleType]  # tests put others
    known = context.sources.files
    for path in [vars(module).get("__file__") for module in modules]:
        if type(path) is str and known.kind(path) is not FileKind.FOREIGN:
            files[known.relative(path)] = None
    for file in islice(files, MAX_FILES):
        if not READS_CLOCK.search(context.sources.read(file) or ""):
            continue
        source = context.sources.map(file)
        body = getattr(source.module.node, "body", ()) if source is not None else ()
        found += [(file, line, names) for line, names in clock_at_import(body)]
    nodes = [unit.node for unit in units] if found else []
    mentioned = {unit.location.qualname for unit in units}
    mentioned |= names_in(*nodes) | attributes_in(*nodes)
    return [(file, line, 1, MODULE) for file, line, names in found if names & mentioned]


def _search(
    context: Context,
    case: Case,
    runner: Runner,
    limit_s: float,
    clocks: Sequence[Reader],
    set_files: Sequence[str],
) -> ConditionSearch:
    failure = case.failures[0]
    around = Surroundings(
        rootdir=str(context.rootdir),
        folder=str(context.config.invocation_params.dir),
        variables=os.environ,
        encoding=locale.getpreferredencoding(do_setlocale=False),
        elsewhere=partial(_elsewhere, context, [failure.node_id]),
        clocks=clocks,
        n_workers=int(getattr(context.config.option, "numprocesses", None) or 1),
        left=partial(left_files, context, failure.node_id),
        set_files=set_files,
        keeps_hash=partial(_keeps_hash, context),
    )
    return ConditionSearch(runner, failure, around, monotonic, monotonic() + limit_s)


def _keeps_hash(context: Context, reader: Reader) -> bool:
    """Say whether the line of ``reader`` sets an attribute that ``__hash__`` of its class reads."""
    file, line, _, name = reader
    source, method = context.sources.map(file), f"{name.rpartition('.')[0]}.__hash__"
    if source is None:
        return False
    text = "".join(lines_of(source.text)[line - 1 : line])
    return any(keeps_hash(u.node, text) for u in source.units if u.location.qualname == method)


@contextmanager
def _elsewhere(
    context: Context, tests: Sequence[str], variables: Mapping[str, str], later_s: float
) -> Iterator[Runner]:
    with closing(open_elsewhere(context, tests, variables, later_s)) as pool:
        yield pool.first
