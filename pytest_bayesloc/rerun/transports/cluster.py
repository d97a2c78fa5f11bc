"""Servers in a Dask cluster: each request is a task, and a server stays warm in its worker."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError, LostError
from pytest_bayesloc.rerun.link import Transport, may_answer_again
from pytest_bayesloc.rerun.transports.remote import (
    check_tree,
    digests,
    error_from,
    error_message,
    opening,
    start_server,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from distributed import Client, Future, LocalCluster

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.effects import Effects
    from pytest_bayesloc.rerun.link import Message, Workspaces
    from pytest_bayesloc.rerun.transports.local import ServerProcess

DASK = "dask:"
NAME = "pytest-bayesloc"
OPEN_S = 20.0
START_UP_S = 120.0  # that a worker's server may take, where a task comes to a new worker
IDLE_S = 120.0  # after which a worker ends the server of a run that does not ask any more
MAX_TASKS = 8  # under way at once: more inspections than that are chosen too blindly to pay


# -- in the worker


# Per run, its idle servers, each with the time at which it was used last.
_kept: dict[str, list[tuple[ServerProcess, float]]] = {}
_lock = threading.Lock()


def perform(run: str, message: str, request: str, limit_s: float) -> Message:
    """Have a warm server of this worker answer, or a fresh one that is started with the request.

    The servers of a ``run`` may answer. The ``message`` is that for ``start_server``; like the
    ``request``, which is empty for a fresh one, it is JSON.
    """
    try:
        if not request:
            fresh = start_server(json.loads(message), "")
            try:
                return {"messages": fresh.exchange(None, limit_s)}
            finally:
                fresh.end()
        with _lock:
            waiting = _kept.get(run)
            kept = waiting.pop()[0] if waiting else None
        server = kept or _start(message, START_UP_S)[0]
        messages = server.exchange(json.loads(request), limit_s)
        _put_back(run, server, is_fit=may_answer_again(messages))
    except BayeslocError as error:
        return error_message(error)
    return {"messages": messages}


def prepare(run: str, message: str, limit_s: float) -> Message:
    """Start a warm server in this worker and return its first message."""
    try:
        server, ready = _start(message, limit_s)
        _put_back(run, server, is_fit=ready["n_threads"] <= 1)
    except BayeslocError as error:
        return error_message(error)
    return ready


def _start(message: str, limit_s: float) -> tuple[ServerProcess, Message]:
    """Start a server and return it with its first message."""
    server = start_server(json.loads(message), "")
    try:
        ready = server.ready(limit_s)
    except BaseException:
        server.end()
        raise
    return server, ready


def _put_back(run: str, server: ServerProcess, *, is_fit: bool) -> None:
    if not is_fit:
        server.end()
        return
    with _lock:
        is_first = run not in _kept
        _kept.setdefault(run, []).append((server, time.monotonic()))
    if is_first:
        threading.Thread(target=_end_idle, args=(run,), daemon=True).start()


def _end_idle(run: str) -> None:
    """End the servers of a run that was lost."""
    while run in _kept:
        time.sleep(IDLE_S / 4)
        end_servers(run, IDLE_S)


def end_servers(run: str, idle_s: float = 0.0) -> None:
    """End the servers of a run that were not used for ``idle_s`` seconds."""
    with _lock:
        now = time.monotonic()
        waiting = _kept.get(run, [])
        idle = [server for server, used in waiting if now - used >= idle_s]
        left = [kept for kept in waiting if kept[0] not in idle]
        if left:
            _kept[run] = left
        else:  # what is at work comes back by itself
            _kept.pop(run, None)
    for server in idle:
        server.end()


# -- on this side


class _DaskServer:
    """Implements ``RerunServer`` by tasks of any worker: they take turns."""

    def __init__(self, name: str, client: Client, message: Message) -> None:
        self._name = name
        self._client = client
        self._key = f"{client.id}:{hash(tuple(message['spec']['tests']))}"
        self._message = json.dumps(message)
        self._future: Future | None = None
        self._is_hung_up = False

    def ready(self, limit_s: float) -> Message:
        return self._result(limit_s, prepare, self._key, self._message, limit_s)

    def exchange(self, request: Message | None, limit_s: float) -> Sequence[Message]:
        asked = "" if request is None else json.dumps(request)
        answer = self._result(limit_s, perform, self._key, self._message, asked, limit_s)
        messages: Sequence[Message] = answer.get("messages", ())
        return messages

    def hang_up(self) -> None:
        self._is_hung_up = True
        future = self._future
        if future is not None:
            future.cancel()

    def end(self) -> None:
        """Do nothing: the workers' servers answer all requests of this run."""

    def _result(self, limit_s: float, function: Any, *args: Any) -> Message:  # noqa: ANN401 - Dask's
        """Run a task on any worker and return its result; empty if it was hung up on."""
        try:
            self._future = self._client.submit(function, *args, pure=False)
            answer: Message = self._future.result(timeout=limit_s + START_UP_S)
        except Exception as error:  # the scheduler is gone, or no worker survives the task
            if self._is_hung_up:
                return {}
            raise LostError(
                f"{self._name} does not answer any more ({type(error).__name__}): what "
                "it had under way is done again elsewhere.",
                slug="lost-executor",
            ) from error
        finally:
            self._future = None
        if "error" in answer:
            raise error_from(answer)
        return answer


def open_cluster(
    spec: str,
    command: Command,
    files: Sequence[str],
    workspaces: Workspaces,
    effects: Effects,
    n_workers: int,
) -> Transport:
    """Open the cluster that ``dask:tcp://HOST:PORT`` names, or one of our own by ``dask:local``.

    The ``files``, relative to rootdir, must be the same there; what tests do there is known by
    ``effects``. A cluster of our own has
    ``n_workers``; of any other, so many tasks are under way at most, 0 for any number.

    Raises:
        ExecutionError: If it can't be used.
    """
    import logging

    import distributed

    address = spec.removeprefix(DASK)
    cluster = None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        if address == "local":
            cluster = distributed.LocalCluster(
                n_workers=n_workers or 2,
                threads_per_worker=1,
                dashboard_address=":0",  # a free port: None warns if the usual one is in use
                silence_logs=logging.CRITICAL,
            )
        client = distributed.Client(cluster or address, timeout=OPEN_S, set_as_default=False)
    except Exception as error:  # whatever Dask meets
        if cluster is not None:
            cluster.close()
        raise ExecutionError(
            f"{spec} can't be reached ({type(error).__name__}): no tests are run again there. "
            "Check the scheduler's address.",
            slug="no-executor",
        ) from error
    try:
        n_threads = _check(spec, client, command.rootdir, workspaces, files)
    except BaseException:
        _end(client, cluster)
        raise
    return Transport(
        name=spec,
        n_servers=min(n_threads, n_workers or MAX_TASKS),
        may_fork=True,
        rootdir=command.rootdir,
        workspaces=workspaces,
        start=lambda *asked: _DaskServer(spec, client, opening(command, workspaces, *asked)),
        effects=effects,
        close=partial(_end, client, cluster),
    )


def _check(
    spec: str, client: Client, rootdir: Path, workspaces: Workspaces, files: Sequence[str]
) -> int:
    """Check all workers for this package and the project's files; return their threads."""
    ours = metadata.version(NAME)
    folder = workspaces.there(str(rootdir))
    try:
        n_threads = int(sum(client.nthreads().values()))
        versions = set(client.run(metadata.version, NAME).values())
        found = client.run(digests, folder, list(files))
    except Exception as error:
        raise ExecutionError(
            f"The workers of {spec} can't run tests again ({type(error).__name__}: {error}). "
            f"Install pytest-bayesloc {ours} and what the tests need there.",
            slug="no-executor",
        ) from error
    if not n_threads or versions != {ours}:
        has = f"versions {', '.join(sorted(versions))} of" if versions else "no workers with"
        raise ExecutionError(
            f"{spec} has {has} pytest-bayesloc, and {ours} is needed: no tests are run again "
            "there. Install it on the workers, or start some.",
            slug="no-executor",
        )
    for worker, known in found.items():
        check_tree(f"{spec}, worker {worker}", rootdir, workspaces, known)
    return n_threads


def _end(client: Client, cluster: LocalCluster | None) -> None:
    """End the servers of this run, and the cluster if it is ours."""
    servers = partial(client.run, end_all, client.id)
    ends = [servers, client.close] if cluster is None else [client.close, cluster.close]
    for end in ends:
        with contextlib.suppress(Exception):
            end()


def end_all(run: str) -> None:
    """End all servers of a run in this worker."""
    for key in [key for key in list(_kept) if key.startswith(f"{run}:")]:
        end_servers(key)
