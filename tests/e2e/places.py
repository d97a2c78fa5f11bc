"""Real places for re-runs: an sshd on loopback, a container engine of our own, a Dask cluster."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

import pytest_bayesloc
from tests.e2e.conftest import _free_port as free_port
from tests.integration.conftest import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
LIMIT_S = 60.0
DEMO = Path(__file__).resolve().parents[2] / "demo_project"
WORKSPACE = "/app"
IMAGE = "bayesloc-test"


def wait_for(found: Callable[[], T], what: str, limit_s: float = LIMIT_S) -> T:
    """Return what ``found`` returns, once that is true."""
    deadline = time.monotonic() + limit_s
    while not (value := found()):
        assert time.monotonic() < deadline, f"{what}: not within {limit_s:g} s"
        time.sleep(0.02)
    return value


def children_of(pid: int) -> list[int]:
    """The processes that ``pid`` has started and that are there."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def has_inspection(pid: int) -> bool:
    """Whether ``pid`` has a server that has a child at work."""
    return any(children_of(server) for server in children_of(pid))


def demo(folder: Path) -> Project:
    """A copy of the demo project."""
    kept_back = shutil.ignore_patterns(".bayesloc", "__pycache__", ".pytest_cache")
    shutil.copytree(DEMO, folder, ignore=kept_back)
    return Project(folder)


def answer_of(document: dict[str, object], digits: int = 12) -> list[object]:
    """What a person would compare: of each fault, its tests and the leading suspects.

    Findings that came in another order leave another last digit in a sum. Where an executor is
    lost, one more inspection or one less is under way when the answer is clear: a few thousandths.
    """
    faults = document["faults"]
    assert isinstance(faults, list)
    return [
        (
            fault["failing_tests"],
            fault["stop_reason"],
            [
                (row["file"], row["qualname"], round(row["posterior"], digits))
                for row in fault["ranking"][:5]
            ],
        )
        for fault in faults
    ]


# -- sshd


@dataclass(frozen=True)
class Sshd:
    """A server of ours: how ssh gets there."""

    options: str


@contextlib.contextmanager
def running_sshd() -> Iterator[Sshd]:
    """An sshd on loopback that lets in a key of its own."""
    program = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(program).exists() or shutil.which("ssh") is None:
        pytest.skip("no sshd: apt-get install openssh-server")
    folder = Path(tempfile.mkdtemp(prefix="bayesloc-sshd-"))
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    port = free_port()
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile {folder}/pid\n"
        f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
    )
    with subprocess.Popen(
        [program, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.DEVNULL
    ) as server:
        try:
            options = (
                f"-p {port} -i {folder}/user -o StrictHostKeyChecking=no "
                f"-o UserKnownHostsFile={folder}/known -o LogLevel=ERROR 127.0.0.1"
            )
            probe = ["ssh", *options.split(), "true"]
            wait_for(lambda: subprocess.run(probe, check=False).returncode == 0, "sshd")
            yield Sshd(options)
        finally:
            server.terminate()
            shutil.rmtree(folder, ignore_errors=True)


# -- containers


@dataclass(frozen=True)
class Engine:
    """A container engine of ours."""

    host: str

    @property
    def client(self) -> list[str]:
        """The command that speaks to it."""
        return ["docker", "-H", self.host]

    @property
    def mounts(self) -> list[str]:
        """Options by which a container has this machine's Python, and no network."""
        ours = str(Path(pytest_bayesloc.__file__).parents[1])
        folders = dict.fromkeys(("/usr", os.path.realpath(sys.base_prefix), sys.prefix, ours))
        outer = [f for f in folders if not any(f.startswith(f"{other}/") for other in folders)]
        return ["--network=none", *(f"--volume={folder}:{folder}:ro" for folder in outer)]

    def do(self, *args: str) -> str:
        """What the client prints."""
        done = subprocess.run(
            [*self.client, *args], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def containers(self) -> list[str]:
        """The names of all, also of those that ended."""
        return self.do("ps", "--all", "--format", "{{.Names}}").split()


def _is_up(client: list[str], log: Path) -> bool:
    done = subprocess.run([*client, "version"], capture_output=True, check=False)
    if done.returncode and "failed to start daemon" in log.read_text(errors="replace"):
        pytest.skip(f"dockerd does not start here: {log.read_text(errors='replace')[-400:]}")
    return done.returncode == 0


@contextlib.contextmanager
def running_engine() -> Iterator[Engine]:
    """A dockerd of our own, with an image that holds folders only."""
    if shutil.which("dockerd") is None or shutil.which("docker") is None:
        pytest.skip("no dockerd: apt-get install docker.io")
    if os.geteuid() != 0:
        pytest.skip("dockerd needs root")
    folder = Path(tempfile.mkdtemp(prefix="bayesloc-docker-"))
    engine = Engine(f"unix://{folder}/docker.sock")
    command = [
        *("dockerd", "--host", engine.host, "--data-root", f"{folder}/data"),
        *("--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid", "--iptables=false"),
        *("--ip6tables=false", "--ip-masq=false", "--bridge=none", "--storage-driver=overlay2"),
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as d:
        try:
            wait_for(lambda: _is_up(engine.client, folder / "log"), "dockerd")
            image = [*engine.client, "import", "-", IMAGE]
            subprocess.run(image, input=_root(), check=True, capture_output=True)
            yield engine
        finally:
            for name in engine.containers():
                engine.do("rm", "--force", name)
            d.terminate()
            d.wait(LIMIT_S)
    shutil.rmtree(folder, ignore_errors=True)


def _root() -> bytes:
    """The folders of a root, as a tar archive; what is in them is mounted."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("usr", "tmp", "proc", "etc", "root", "sys", "dev"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name in ("lib", "lib64", "bin"):
            if Path("/", name).exists():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
                archive.addfile(entry)
    return stream.getvalue()


# -- runs


#: Answers are compared: however busy the machine is, there is time for all that is tried.
PATIENT = ("--bayesloc-memory=off", "--bayesloc-budget=120")


class UnderWay:
    """A run of pytest in a project, while it goes on."""

    def __init__(self, project: Project, *args: str) -> None:
        self._path = project.root.parent / f"{project.root.name}.json"
        report = f"--bayesloc-report=json:{self._path}"
        self._popen = subprocess.Popen(
            project.command("-q", "--tb=no", *PATIENT, report, *args),
            cwd=project.root,
            env=project.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.pid = self._popen.pid

    def kill(self) -> None:
        """End the process itself, by force."""
        os.kill(self.pid, signal.SIGKILL)
        self._popen.wait(LIMIT_S)
        self._popen.communicate(timeout=LIMIT_S)

    def result(self) -> tuple[str, dict[str, object]]:
        """What it printed, and its JSON result."""
        output, _ = self._popen.communicate(timeout=2 * LIMIT_S)
        assert self._path.exists(), output
        document: dict[str, object] = json.loads(self._path.read_text(encoding="utf-8"))
        return output, document
