"""Tells a condition that decides how a test ends: where it is read, in words, with what to do."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_bayesloc.causes.asked import rewrites, stores
from pytest_bayesloc.causes.awaits import StaleRead, stale_read
from pytest_bayesloc.causes.conditions import HASH, Decided
from pytest_bayesloc.domain.failure import Cause, CauseKind
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.texts import plain_name
from pytest_bayesloc.rerun.conditions import TWIN
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.syntax.nodes import RECEIVERS

#: Per kind, or condition: what the code at the place does, and what to do about it.
_WORDS: Mapping[str, tuple[str, str]] = {
    CauseKind.CLOCK: (
        "{} reads the clock",
        "give the code the time as an argument, or freeze it in the test (freezegun, time-machine)",
    ),
    CauseKind.TIME_ZONE: (
        "{} depends on the time zone",
        "use times with a zone of their own, or set TZ in the test",
    ),
    CauseKind.LISTING_ORDER: (
        "{} takes entries of a folder in the order that the file system gives",
        "sort the entries",
    ),
    CauseKind.WORKING_DIRECTORY: (
        "{} looks for files relative to the working directory",
        "make the path absolute by __file__, or start pytest in the project's folder",
    ),
    CauseKind.LEFT_BEHIND: (
        "{} finds what an earlier run left behind",
        "remove it, and have the test write below tmp_path, or remove what it wrote at its end",
    ),
    CauseKind.VARIABLE: (
        "{} reads an environment variable",
        "set it in the test: monkeypatch.setenv or monkeypatch.delenv",
    ),
    CauseKind.RANDOM: (
        "{} draws random numbers",
        "seed the generator in the test, or check what holds for every draw",
    ),
    CauseKind.SLOWNESS: (
        "{} waits too short a time for what another thread or task does",
        "wait for the event itself, not for some seconds",
    ),
    CauseKind.RACE: (
        "{} is executed by several threads or tasks at once, which get into each other's way",
        "protect what they share with a lock",
    ),
    CauseKind.LOCALE: (
        "{} depends on the locale or its encoding",
        'name the encoding (encoding="utf-8"), or set the locale in the test',
    ),
    CauseKind.HASH_ORDER: (
        "{} depends on the order of a set",
        "sort what comes from it",
    ),
    CauseKind.CHANCE: ("its outcome changes from run to run", ""),
    TWIN: (
        "{} uses a file or port that two workers of pytest-xdist use at once",
        "use a free port (port 0) and files below tmp_path, or mark the tests with xdist_group "
        "and run them with --dist loadgroup",
    ),
    HASH: (
        "{} depends on hash(), which differs from process to process",
        "use a hash that stays the same (hashlib, zlib.crc32)",
    ),
}


def told(found: Decided, test: str, sources: Sources, command: str) -> Cause:
    """Return what was decided as a cause.

    Args:
        found: The condition.
        test: Node id of the test.
        sources: The project's files.
        command: Runs the test alone.
    """
    location, line = _place(found, sources)
    is_named = found.kind in {CauseKind.VARIABLE, CauseKind.LEFT_BEHIND}
    name = found.condition[0] if found.condition is not None else ""
    does, advice = _WORDS.get(name) or _WORDS[found.kind]
    if stale := stale_place(found, sources):
        location, read = stale
        line, name = read.line, read.name
        if name in RECEIVERS:
            name = location.qualname.rpartition(".")[0] or name
        does = f"a race between tasks: {{}} reads {name} before an await and uses the old value "
        does += f"after it (line {read.written}), while another task may write it"
        advice = "hold an asyncio.Lock from the read to the write, or read it again after the await"
    who = "the code" if location is None else f"{location.qualname} ({location.file}:{line})"
    if location is not None and location.qualname == MODULE:
        who = f"the body of {location.file} (line {line})"
    return Cause(
        kind=found.kind,
        text=f"{does.format(who)}: {plain_name(test)} {found.seen}",
        advice=advice,
        location=location,
        line=line,
        state=str(found.condition[1]) if found.condition and is_named else "",
        command=command,
    )


def stale_place(found: Decided, sources: Sources) -> tuple[Location, StaleRead] | None:
    """Return the first function of a race between tasks that writes by what it read too early."""
    for file, _, first_line, name in found.readers if found.turns else ():
        where = sources.locate((file, first_line, name))
        unit = sources.unit(where) if where is not None else None
        if unit is not None and (stale := stale_read(unit[1].node)):
            return unit[1].location, stale
    return None


def _place(found: Decided, sources: Sources) -> tuple[Location | None, int]:
    """Return the code that asks for what the condition changes, rather of the code than a test."""
    places = []
    for file, line, first_line, name in found.readers:
        where = sources.locate((file, first_line, name))
        if where is not None:
            places.append((where, line))
    if found.kind is CauseKind.SLOWNESS:
        places.reverse()  # who waits last is nearest to what went wrong

    def far(place: tuple[Location, int]) -> tuple[bool, ...]:
        unit = sources.unit(place[0]) if found.kind is CauseKind.RACE else None
        if unit is None:
            return place[0].is_test, True, True
        return place[0].is_test, not rewrites(unit[1].node), not stores(unit[1].node)

    return min(places, key=far) if places else (None, 0)
