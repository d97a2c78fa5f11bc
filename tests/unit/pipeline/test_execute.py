from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import create_autospec

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.options.option import Launch
from pytest_bayesloc.options.settings import Settings
from pytest_bayesloc.pipeline.context import Context
from pytest_bayesloc.pipeline.execute import _n_runners, open_pool
from pytest_bayesloc.spectrum.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Sequence


def session(config: pytest.Config, notes: list[str], specs: Sequence[str]) -> Context:
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    return Context(
        config=config,
        settings=replace(Settings.from_config(config), executors=tuple(specs)),
        launch=Launch(path=(), environment=environment, umask=0o022),
        recorder=create_autospec(Recorder, instance=True),
        notes=notes,
    )


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [("popen", "execnet", "remote"), ("dask:local", "distributed", "dask")],
)
def test_engine_that_is_not_installed_is_named(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, spec: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)

    with pytest.raises(ExecutionError, match=rf"{spec} needs {module}, .*bayesloc\[{extra}\]"):
        open_pool(session(pytestconfig, [], [spec]), (), {})


def test_place_that_can_not_be_opened_is_said_where_there_is_another(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "execnet", None)
    notes: list[str] = []
    context = session(pytestconfig, notes, ["popen", "local"])
    open_pool(context, (), {}).close()

    assert context.executor == "local"
    assert [note.partition(" ")[0] for note in notes] == ["popen"]
    context.close()


def test_suite_that_one_process_ran_is_run_again_by_one(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)

    def n_runners(specs: Sequence[str], n_processes: int | None) -> int:
        monkeypatch.setattr(pytestconfig.option, "numprocesses", n_processes, raising=False)
        return _n_runners(session(pytestconfig, [], specs), ())

    assert [n_runners([], None), n_runners([], 2), n_runners([], 99)] == [1, 2, 4]
    assert n_runners(["local"] * 3, None) == 3
