from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.options.option import Launch
from pytest_bayesloc.pipeline.execute import RerunTransports

if TYPE_CHECKING:
    from collections.abc import Sequence


def executing(config: pytest.Config, notes: list[str], specs: Sequence[str]) -> RerunTransports:
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    launch = Launch(path=(), environment=environment)
    return RerunTransports(config, specs, ("", ""), launch, list, notes.append)


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


def test_suite_that_one_process_ran_is_run_again_by_one(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)

    def n_runners(specs: Sequence[str], n_processes: int | None) -> int:
        monkeypatch.setattr(pytestconfig.option, "numprocesses", n_processes, raising=False)
        return executing(pytestconfig, [], specs)._n_runners()

    assert [n_runners([], None), n_runners([], 2), n_runners([], 99)] == [1, 2, 4]
    assert n_runners(["local"] * 3, None) == 3
