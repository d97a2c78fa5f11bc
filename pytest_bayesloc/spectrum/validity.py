"""Says whether what an earlier run saw still holds: packages, options, tests, files and lines."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.standard_library import time_ns
from pytest_bayesloc.domain.texts import digest_of, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import pytest

    from pytest_bayesloc.domain.source import SourceMap
    from pytest_bayesloc.spectrum.cache_store import KnownFile
    from pytest_bayesloc.spectrum.run_record import Footprint

    # Qualified name, which of those of that name it is, and whether an import executes its body.
    Key = tuple[str, int, bool]


FORMAT = 2  # of the cache file: another one has another name
_METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")

# Options that choose tests, show something, or write it: none of them changes what a test executes.
_SHOWN = frozenset(
    """args assertmode basetemp cacheclear cacheshow capture code_highlight collectonly color
    confcutdir continue_on_collection_errors debug deselect disable_warnings dist distload durations
    durations_min durations_path failedfirst fail_on_flaky file_or_dir fold_skipped
    force_short_summary force_sugar fulltrace group help htmlpath ignore ignore_glob inifilename
    instafail itv junitprefix keyword last_failed_no_failures lf loadgroup loadscopereorder
    looponfail markers markexpr max_warnings maxfail maxprocesses maxschedchunk maxworkerrestart
    metadata metadata_from_json metadata_from_json_file newfirst no_bayesloc no_cov no_cov_on_fail
    no_header no_summary numprocesses pastebin px quiet randomly_reorganize randomly_seed
    reportchars rootdir rsyncdir rsyncignore self_contained_html setupshow show_fixtures_per_test
    showcapture showfixtures showlocals splits splitting_algorithm store_durations tb_summary
    tbstyle testrunuid traceconfig tx usepdb usepdb_cls verbose version xfail_tb
    xmlpath""".split()  # noqa: SIM905 - names to be read
)
_SHOWN_PREFIXES = (
    *("bayesloc", "benchmark_", "bug_", "cov_", "flaky_", "html", "json_report", "log_"),
    *("random_order_", "rerun", "stepwise", "sugar_", "sw_"),
)
# Plugins that only choose, show, write or distribute, given by ``-p`` or taken away.
_HARMLESS = frozenset(
    """bayesloc cacheprovider faulthandler html instafail junitxml pytest_bayesloc.plugin pytest_cov
    pytest_cov.plugin stepwise sugar terminal xdist xdist.looponfail xdist.plugin""".split()  # noqa: SIM905
)


def installation() -> str:
    """The packages that are installed, and the interpreter that runs them, as one text."""
    listed = [sys.version, str(sys.flags.optimize)]
    for folder in sorted(set(sys.path)):
        with suppress(OSError):
            names = (name for name in os.listdir(folder) if name.endswith(_METADATA))  # noqa: PTH208 - names alone
            listed += sorted(names)
    return "\n".join(listed)


def environment() -> str:
    """Name the interpreter and the platform, since tests may end otherwise elsewhere."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{platform.python_implementation()} {version} on {sys.platform}"


def digest(*parts: object) -> str:
    """A short name for ``parts``, of which only the texts count."""
    return text_digest("\0".join(map(str, parts)), 16)


def file_name(source: Sequence[str]) -> str:
    """The name of the cache of this interpreter, with its packages, over ``source``."""
    return f"spectra-{digest(FORMAT, installation(), *source)}.sqlite"


def variant_of(config: pytest.Config) -> str:
    """The options that may change what a test executes, and the ini file, as a short name."""
    options = {
        name: value
        for name, value in vars(config.option).items()
        if name not in _SHOWN and not name.startswith(_SHOWN_PREFIXES)
    }
    named = options.pop("plugins", None) or ()
    plugins = [name for name in named if name.removeprefix("no:") not in _HARMLESS]
    written = b""
    if config.inipath is not None:
        with suppress(OSError):
            written = config.inipath.read_bytes()
    return digest(sorted(map(repr, options.items())), plugins, written)


# -- tests

# Moments, addresses and random names, as they get into parameters.
_VOLATILE = re.compile(
    r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}|\d{1,2}:\d\d(?::\d\d)?|0x[0-9a-f]+|[0-9a-f]{8,}(?:\.\d+)?|\d{4,}(?:\.\d+)?",
    re.IGNORECASE,
)


def match_tests(node_ids: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Find the known name of each test; it may differ in a moment, address or random name only.

    It depends on the same files as the known test. If it fails where that one passed, it is traced
    all the same.
    """
    matches = {node_id: node_id for node_id in node_ids if node_id in known}
    unknown = [n for n in node_ids if n not in matches and _VOLATILE.search(n.partition("[")[2])]
    if not unknown:
        return matches
    gone: dict[str, list[str]] = defaultdict(list)
    for node_id in sorted(set(known).difference(matches), reverse=True):
        gone[_mask(node_id)].append(node_id)
    for node_id in unknown:
        like = gone[_mask(node_id)]
        if like:
            matches[node_id] = like.pop()
    return matches


def _mask(node_id: str) -> str:
    name, bracket, parameters = node_id.partition("[")
    return name + bracket + _VOLATILE.sub("*", parameters)


# A file that was written so shortly before may be written again within one tick of its clock.
YOUNG_NS = 2_000_000_000


def written_ns(path: Path) -> int:
    """When a file was last written or put in its place; 0 if there is none.

    A time in the future was set by somebody, and does not count.
    """
    try:
        status = path.stat()
    except OSError:
        return 0
    times = status.st_mtime_ns, status.st_ctime_ns
    now = time_ns()
    return max((time for time in times if time <= now), default=status.st_ctime_ns)


def stamp_of(path: Path) -> str:
    """Size and times of a file, which differ once it was written; empty if it is too young."""
    try:
        status = path.stat()
    except OSError:
        return ""
    times = status.st_mtime_ns, status.st_ctime_ns
    return "" if max(times) > time_ns() - YOUNG_NS else f"{status.st_size} {times[0]} {times[1]}"


def changed_files(known: Mapping[str, KnownFile], absolute: Callable[[str], str]) -> list[str]:
    """List the ``known`` files whose content changed, or which are gone."""
    changed = []
    for file, (_, digest, stamp) in known.items():
        path = Path(absolute(file))
        if (not stamp or stamp_of(path) != stamp) and digest_of(path) != digest:
            changed.append(file)
    return changed


def with_dependents(
    modules: Collection[str], known: Iterable[str], read: Callable[[str], str | None]
) -> set[str]:
    """Return test modules that changed, test files that name one of them, and so on."""
    texts = {file: read(file) or "" for file in known} if modules else {}
    dependents, pending = set(modules), list(modules)
    while pending:
        stem = Path(pending.pop()).stem
        word = re.compile(rf"\b{re.escape(stem)}\b")
        named = {file for file, text in texts.items() if stem in text and word.search(text)}
        pending += named - dependents
        dependents |= named
    return dependents


# -- lines of functions, through edits of their file


def match_lines(before: str, after: str, executed: Iterable[int]) -> Mapping[int, int] | None:
    """Map each line of ``before`` in an unchanged function to its line in ``after``.

    A function is the same if the lines of its own are, those of functions inside it left out, and
    blank lines and comments as well.

    Returns:
        None where the body of a module or of a class differs: what it defines may be used anywhere.
        Also where the import is not among the ``executed`` lines of ``before``, since it was over
        before recording began: any function may have had a part in it.
    """
    from pytest_bayesloc.domain.source import SourceMap

    then, now = (SourceMap(text, "one.py") for text in (before, after))
    is_seen = any(then.owner(line) is then.module for line in executed)
    if then.is_broken or now.is_broken or not is_seen:
        return None
    old, new = _own_lines(then), _own_lines(now)
    moved: dict[int, int] = {}
    for key in old.keys() | new.keys():
        ours, theirs = old.get(key, []), new.get(key, [])
        if [text for _, text in ours] == [text for _, text in theirs]:
            moved.update(zip((line for line, _ in ours), (line for line, _ in theirs), strict=True))
        elif key[2]:
            return None
    return moved


def move_footprint(footprint: Footprint, moved: Mapping[int, int]) -> Footprint | None:
    """``footprint`` where its lines are now; None if one of them is no longer the same."""
    lines = [moved.get(line, 0) for line in footprint.lines]
    first_line = footprint.first_line
    if footprint.name not in ("", MODULE):
        first_line = moved.get(first_line, 0)
        lines.append(first_line)
    if not all(lines):
        return None
    return footprint._replace(first_line=first_line, lines=tuple(lines[: len(footprint.lines)]))


def _own_lines(source: SourceMap) -> dict[Key, list[tuple[int, str]]]:
    """Per unit, the number and the text of each of its lines that says something."""
    from pytest_bayesloc.domain.source import lines_of
    from pytest_bayesloc.syntax.nodes import lines_of_texts

    n_seen: Counter[str] = Counter()
    keys: dict[int, Key] = {}
    for unit in source.units:
        name = unit.location.qualname
        is_body = not unit.is_function and ".<locals>." not in name
        keys[id(unit)] = name, n_seen[name], is_body
        n_seen[name] += 1
    inside = lines_of_texts(source.module.node)
    own: dict[Key, list[tuple[int, str]]] = defaultdict(list)
    for line, text in enumerate(lines_of(source.text), 1):
        stripped = text.strip()
        if line in inside or (stripped and not stripped.startswith("#")):
            own[keys[id(source.owner(line))]].append((line, text.rstrip("\r\n")))
    return own
