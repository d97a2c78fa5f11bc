from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.options import Launch
from pytest_bayesloc.options.executor import ExecutorSettings
from pytest_bayesloc.pipeline.execute import RerunTransports

if TYPE_CHECKING:
    from collections.abc import Sequence


def executing(config: pytest.Config, notes: list[str], specs: Sequence[str]) -> RerunTransports:
    executor = ExecutorSettings(
        specs=tuple(specs),
        n_workers=0,
        host_workspace="",
        container_workspace="",
        docker_command=("docker",),
        docker_run=(),
    )
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    return RerunTransports(
        config, executor, Launch(path=(), environment=environment), list, notes.append
    )


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [("popen", "execnet", "remote"), ("dask:local", "distributed", "dask")],
)
def test_engine_that_is_not_installed_is_named(
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    module: str,
    extra: str,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)

    with pytest.raises(ExecutionError, match=rf"{spec} needs {module}, .*bayesloc\[{extra}\]"):
        executing(pytestconfig, [], [spec]).pool((), {})


def test_place_that_can_not_be_opened_is_said_where_there_is_another(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "execnet", None)
    notes: list[str] = []
    stage = executing(pytestconfig, notes, ["popen", "local"])
    stage.pool((), {}).close()

    assert stage.words == "local"
    assert [note.partition(" ")[0] for note in notes] == ["popen"]
    stage.close()
