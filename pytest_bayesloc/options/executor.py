"""Where tests are run again."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

import pytest

from pytest_bayesloc.options.reading import AUTO, number_of, text_of

LOCAL = "local"
MAX_AUTO = 4
_TIMES = re.compile(r"(\d+)\*(.+)", re.DOTALL)
_KNOWN = re.compile(r"(popen|ssh=|vagrant_ssh=|socket=|docker(-image)?:(?!-)|dask:).*", re.DOTALL)
_NEEDS_NAME = ("ssh=", "vagrant_ssh=", "socket=", "docker:", "docker-image:", "dask:")
_WORKERS = "a number of servers, or auto: give a whole number of 1 or more, for example 2"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """Where tests are run again, and by how many servers.

    Attributes:
        specs: ``local``, execnet's, or with ``docker:``, ``docker-image:``, ``dask:`` in front.
        n_workers: Servers; 0 where the place says how many.
        host_workspace: The project's folder on this machine; empty: rootdir.
        container_workspace: The same folder there; empty: it has the same name.
        docker_command: The client.
        docker_run: More options of ``docker run``.
    """

    specs: tuple[str, ...]
    n_workers: int
    host_workspace: str
    container_workspace: str
    docker_command: tuple[str, ...]
    docker_run: tuple[str, ...]

    @property
    def is_local(self) -> bool:
        """Whether nothing but this machine is used, as it is without any option."""
        return set(self.specs) == {LOCAL}

    @classmethod
    def from_config(cls, config: pytest.Config) -> ExecutorSettings:
        """Read and check everything.

        Raises:
            pytest.UsageError: If a value is not usable; the text names it.
        """
        given = config.getoption("bayesloc_executor") or config.getini("bayesloc_executor")
        specs = tuple(spec for text in given or (LOCAL,) for spec in _expanded(str(text).strip()))
        return cls(
            specs=specs,
            n_workers=_n_workers(config, specs),
            host_workspace=_folder(config, "host_workspace"),
            container_workspace=_folder(config, "container_workspace"),
            docker_command=_words(config, "docker_command"),
            docker_run=_words(config, "docker_run"),
        )


def _expanded(text: str) -> list[str]:
    """The specifications that ``N*SPEC`` stands for."""
    times = _TIMES.fullmatch(text)
    number, spec = (int(times[1]), times[2]) if times else (1, text)
    is_known = spec == LOCAL or (_KNOWN.fullmatch(spec) and spec not in _NEEDS_NAME)
    if not is_known or not 1 <= number <= 1000:
        raise pytest.UsageError(
            f"--bayesloc-executor={text} is not known: expected local, an execnet specification "
            "(popen, ssh=HOST, socket=HOST:PORT, several by N*SPEC), docker:CONTAINER, "
            "docker-image:IMAGE, dask:local or dask:tcp://HOST:PORT."
        )
    return [spec] * number


def _n_workers(config: pytest.Config, specs: tuple[str, ...]) -> int:
    """What was asked for; by itself, here as many as the run had processes side by side.

    A suite that was run by one process may not bear company.
    """
    if text_of(config, "workers", _WORKERS)[1] != AUTO:
        return int(number_of(config, "workers", int, lambda n: 0 < n <= 1000, _WORKERS))
    if set(specs) != {LOCAL}:
        return 0
    asked = getattr(config.option, "numprocesses", None) or 1
    return max(1, min(int(asked), os.cpu_count() or 1, MAX_AUTO))


def _folder(config: pytest.Config, name: str) -> str:
    shown, value = text_of(config, name, "an absolute path")
    if value and not value.startswith("/"):
        raise pytest.UsageError(f"{shown}={value} is not an absolute path: give one, as /srv/app.")
    return value


def _words(config: pytest.Config, name: str) -> tuple[str, ...]:
    shown, value = text_of(config, name, "words as a shell takes them")
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise pytest.UsageError(
            f"{shown}={value} can't be split into words ({error}): quote it as for a shell."
        ) from error
