"""A spectrum is built from a record: executed lines count for the right tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.spectrum.build import build_spectrum
from pytest_bayesloc.spectrum.cache import SpectrumCache
from pytest_bayesloc.spectrum.recorder import Recorder
from pytest_bayesloc.spectrum.run_record import (
    START_UP,
    Footprint,
    RunRecord,
    Window,
)
from pytest_bayesloc.spectrum.sources import SourceFilter, Sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.spectrum import Spectrum
    from pytest_bayesloc.spectrum.run_record import Payload

TEXT = "RATE = 3\n\ndef net(x):\n    return x / RATE\n\ndef gross(x):\n    return x\n"


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
    return Sources(SourceFilter(tmp_path))


def footprint(sources: Sources, file: str, line: int) -> Footprint:
    first, name = (1, "<module>") if line == 1 else (3, "net") if line == 4 else (6, "gross")
    return Footprint(sources.files.absolute(file), first, name, (line,))


def add(record: RunRecord, sources: Sources, executed: dict[str, list[int]]) -> None:
    """Add per file and line (``a_4``) the windows that executed it."""
    footprints = [footprint(sources, f"{name[0]}.py", int(name[2:])) for name in executed]
    rows = [
        (window, [number]) for number, windows in enumerate(executed.values()) for window in windows
    ]
    record.add(footprints, rows)


def recorded(sources: Sources, **executed: list[int]) -> RunRecord:
    """Two tests of two files, both of which were imported in window 1.

    Args:
        sources: Their files.
        executed: Per file and line (``a_4``), the windows that executed it.
    """
    record = RunRecord(
        windows=[*imports(), Window(node_id="t::1"), Window(node_id="t::2")],
        windows_of={"t::1": [3, START_UP, 1], "t::2": [4, START_UP, 2]},
        verdicts={"t::1": False, "t::2": True},
        imported={"t.py": 1},
    )
    add(record, sources, executed)
    return record


def imports() -> list[Window]:
    """The windows of conftest files and of two test modules."""
    return [Window(node_id=name, is_import=True, is_ordered=True) for name in ("", "t.py", "u.py")]


def executed_by(spectrum: Spectrum) -> dict[str, set[str]]:
    return {
        f"{where.file[0]}_{line}": set(spectrum.node_ids(tests))
        for where, rows in spectrum.lines.items()
        for line, tests in rows.items()
    }


def test_import_counts_for_every_test_that_executes_code_of_the_file(sources: Sources) -> None:
    seen = recorded(sources, a_1=[1], a_4=[4], b_1=[1], b_4=[3])

    assert executed_by(build_spectrum(seen, sources)) == {
        "a_1": {"t::1", "t::2"},  # the second did not import it, but uses it
        "a_4": {"t::2"},
        "b_1": {"t::1", "t::2"},  # as if no test that passes depended on it
        "b_4": {"t::1"},
    }


def test_import_counts_for_no_failing_test_alone_because_it_came_first(sources: Sources) -> None:
    seen = recorded(sources, a_1=[1])

    assert executed_by(build_spectrum(seen, sources)) == {"a_1": {"t::1", "t::2"}}


def test_function_that_was_called_during_the_import_counts_likewise(sources: Sources) -> None:
    seen = recorded(sources, a_7=[1], a_4=[4])

    assert executed_by(build_spectrum(seen, sources))["a_7"] == {"t::1", "t::2"}


def test_body_that_was_imported_before_recording_began_counts_for_who_runs_its_code(
    sources: Sources,
) -> None:
    """pytest itself may have imported it, before any plugin was there."""
    seen = recorded(sources, a_4=[3], b_1=[1], b_4=[4])

    found = executed_by(build_spectrum(seen, sources))

    assert {line: tests for line, tests in found.items() if line[0] == "a"} == {
        "a_1": {"t::1"},
        "a_3": {"t::1", "t::2"},
        "a_4": {"t::1"},
        "a_6": {"t::1", "t::2"},
    }


def test_what_a_test_executes_counts_for_no_other(sources: Sources) -> None:
    seen = recorded(sources, a_1=[3], a_4=[3, 4], a_7=[4])

    assert executed_by(build_spectrum(seen, sources)) == {
        "a_1": {"t::1"},  # imported by a test: it was that test's doing
        "a_4": {"t::1", "t::2"},
        "a_7": {"t::2"},
    }


def test_use_of_another_file_counts_for_nothing(sources: Sources) -> None:
    seen = recorded(sources, a_1=[2], b_4=[3])

    assert executed_by(build_spectrum(seen, sources))["a_1"] == {"t::2"}


def test_file_that_no_failing_test_has_to_do_with_is_left_out(sources: Sources) -> None:
    seen = recorded(sources, a_4=[3], b_1=[2], b_4=[4])

    assert {line[0] for line in executed_by(build_spectrum(seen, sources))} == {"a"}


def worker(sources: Sources, node_id: str, *, uses: str) -> Payload:
    """The payload of a worker that imported both files in window 2 and ran one test in window 3."""
    record = RunRecord(
        windows=[*imports(), Window(node_id=node_id)],
        windows_of={node_id: [3, START_UP, 1]},
        imported={"t.py": 1, "u.py": 2},
    )
    add(record, sources, {"a_1": [2], "b_1": [2], f"{uses}_4": [3]})
    payload = record.payload([sources.files.absolute(f"{uses}.py")])
    sent: Payload = json.loads(json.dumps(payload))
    return sent


def test_imports_of_workers_count_for_their_users_too(sources: Sources) -> None:
    verdicts = {"t::1": False, "t::2": False, "t::3": True}
    whole = RunRecord(verdicts=verdicts)

    whole.merge(worker(sources, "t::1", uses="a"))
    whole.merge(worker(sources, "t::2", uses="b"))

    assert executed_by(build_spectrum(whole, sources)) == {
        "a_1": {"t::1"},
        "a_4": {"t::1"},
        "b_1": {"t::2"},
        "b_4": {"t::2"},
    }
    assert len(list(whole.imports())) == 7
    assert [Path(name).name for name in whole.files] == ["a.py", "b.py"]


def test_worker_that_ran_no_test_keeps_its_windows_to_itself(sources: Sources) -> None:
    """It imported all the same: no other worker's test may get one of those numbers."""
    verdicts = {"t::2": False, "t::3": True}
    whole = RunRecord(verdicts=verdicts)
    idle = RunRecord(windows=[Window(is_import=True) for _ in range(5)], imported={"t.py": 4})

    whole.merge(idle.payload())
    whole.merge(worker(sources, "t::2", uses="a"))

    (own, *_) = whole.windows_of["t::2"]
    assert not whole.windows[own].is_import
    assert whole.windows[own].rows
    assert executed_by(build_spectrum(whole, sources))["a_1"] == {"t::2"}


# -- files in use


def recorder(root: Path) -> Recorder:
    files = SourceFilter(root)
    return Recorder(files, [], lambda _: None, SpectrumCache(None, Sources(files)))


def test_files_in_use_are_the_imported_ones_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, file in (("own_a", "a.py"), ("own_test", "test_a.py"), ("own_b", "sub/b.py")):
        module = ModuleType(name)
        module.__file__ = str(tmp_path / file)
        monkeypatch.setitem(sys.modules, name, module)
    (tmp_path / "never_imported.py").touch()

    assert recorder(tmp_path).files_in_use() == {
        "a.py": tmp_path / "a.py",
        "sub/b.py": tmp_path / "sub" / "b.py",
        "test_a.py": tmp_path / "test_a.py",
    }


def test_files_that_workers_imported_are_in_use(tmp_path: Path) -> None:
    made = recorder(tmp_path)
    made.recorded.files = [str(tmp_path / "a.py")]

    assert made.files_in_use() == {"a.py": tmp_path / "a.py"}


class Proxy:
    """Stands in for a module, and works only while a request is served."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


class Lazy(ModuleType):
    """Imports what it stands for as soon as it is touched."""

    def __getattribute__(self, name: str) -> object:
        raise ImportError(name)


@pytest.mark.parametrize("make", [lambda: None, Proxy, lambda: Lazy("lazy"), int])
def test_what_stands_in_for_a_module_is_never_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], object]
) -> None:
    monkeypatch.setitem(sys.modules, "bayesloc_odd", make())

    assert recorder(tmp_path).files_in_use() == {}


def test_file_is_read_once(sources: Sources) -> None:
    assert sources.read("a.py") == TEXT
    Path(sources.files.absolute("a.py")).write_text("", encoding="utf-8")

    assert sources.read("a.py") == TEXT
    assert sources.read("missing.py") is None
