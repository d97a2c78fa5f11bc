"""A unit test fails that touches the disk, the network, another process or a database.

Such a test belongs below tests/integration. Reading is allowed: modules and templates lie on disk.
"""

from __future__ import annotations

import builtins
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun.child import NAME, Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = frozenset({"pytester", "testdir", "tmp_path", "tmp_path_factory", "tmpdir"})
EVENTS = frozenset(
    {
        "os.chdir",
        "os.exec",
        "os.fork",
        "os.mkdir",
        "os.posix_spawn",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.system",
        "socket.bind",
        "socket.connect",
        "sqlite3.connect",
        "subprocess.Popen",
        "time.sleep",
    }
)
WRITING = os.O_WRONLY | os.O_RDWR


class Guard:
    """Notes forbidden audit events of the unit test under way."""

    def __init__(self) -> None:
        self.is_on = False
        self.events: list[str] = []

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_on and (event in EVENTS or (event == "open" and _writes(*args))):
            self.events.append(f"{event}{args}")


def _writes(path: object, _: object, flags: int) -> bool:
    """Whether a file is opened to be written; a descriptor was opened before."""
    return not isinstance(path, int) and bool(flags & WRITING)


def _is_cache(event: str) -> bool:
    """Whether Python keeps byte code, or Hypothesis its examples."""
    return "__pycache__" in event or ".hypothesis" in event


guard = Guard()
# An audit hook can't be taken away again, so there is one, which is switched on for each test.
sys.addaudithook(guard)


TEMPLATES = pytest.mark.skipif(sys.version_info < (3, 14), reason="Python 3.14 has t-strings")


@pytest.fixture(params=["f", pytest.param("t", marks=TEMPLATES)])
def prefix(request: pytest.FixtureRequest) -> str:
    """The letter before a text with values filled in."""
    return str(request.param)


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe:
    """What patches speak to."""
    probe = Probe(lambda: None)
    monkeypatch.setattr(builtins, NAME, probe, raising=False)
    return probe


@pytest.fixture(autouse=True)
def only_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the test if it leaves the process or its memory."""
    forbidden = FIXTURES.intersection(request.fixturenames)
    if forbidden:
        pytest.fail(f"a unit test has no {', '.join(forbidden)}: move it to tests/integration")
    guard.events.clear()
    guard.is_on = True
    yield
    guard.is_on = False
    events = [event for event in guard.events if not _is_cache(event)]
    if events:
        pytest.fail(f"a unit test does not leave memory: {'; '.join(events)}")
