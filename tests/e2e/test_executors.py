"""Tests run again elsewhere, in real containers, over a real ssh, on a real cluster: one answer."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import places
from tests.e2e.places import IMAGE, WORKSPACE, UnderWay, answer_of, children_of, has_inspection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.conftest import Project

pytest.importorskip("execnet", reason="pip install execnet")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return places.demo(tmp_path_factory.mktemp("demo") / "project")


@pytest.fixture(scope="module")
def here(project: Project) -> dict[str, object]:
    """The result of this machine."""
    _, document = run(project)
    assert document["inspections"]
    return document


@pytest.fixture(scope="module")
def local(here: dict[str, object]) -> list[object]:
    """The answer of this machine."""
    return answer_of(here)


@pytest.fixture(scope="module")
def engine() -> Iterator[places.Engine]:
    with places.running_engine() as engine:
        yield engine


@pytest.fixture(autouse=True)
def _engine_of_the_client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the client that a run starts speak to the engine of these tests."""
    if "engine" in request.fixturenames:
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("engine").host)


def run(project: Project, *args: str) -> tuple[str, dict[str, Any]]:
    return UnderWay(project, "--bayesloc", *args).result()


IN_CONTAINER = f"--bayesloc-workspace={WORKSPACE}"


def in_image(engine: places.Engine, *more: str) -> list[str]:
    options = shlex.join([*engine.mounts, "--read-only", "--memory=1g", "--cpus=1", *more])
    return [
        f"--bayesloc-executor=docker-image:{IMAGE}//python={sys.executable} {options}",
        IN_CONTAINER,
    ]


@pytest.fixture
def container(engine: places.Engine, project: Project) -> str:
    """A running container with the project, in which nothing but its folder can be written."""
    mounted = f"--volume={project.root}:{WORKSPACE}"
    sleep = [IMAGE, sys.executable, "-c", "import time; time.sleep(300)"]
    return engine.do("run", "-d", "--rm", *engine.mounts, mounted, f"--workdir={WORKSPACE}", *sleep)


def test_answer_of_a_container_of_our_own_is_that_of_this_machine(
    engine: places.Engine, project: Project, local: list[object]
) -> None:
    output, document = run(project, *in_image(engine))

    assert answer_of(document) == local, output
    assert document["session"]["executor"].startswith(f"docker-image:{IMAGE}//python=")
    assert engine.containers() == []


def test_container_of_our_own_ends_with_a_run_that_is_killed(
    engine: places.Engine, project: Project
) -> None:
    under_way = UnderWay(project, "--bayesloc", *in_image(engine))
    places.wait_for(engine.containers, "a container")
    under_way.kill()

    places.wait_for(lambda: not engine.containers(), "its end")


def test_answer_of_a_running_container_is_that_of_this_machine(
    engine: places.Engine, container: str, project: Project, local: list[object]
) -> None:
    executor = f"--bayesloc-executor=docker:{container}//python={sys.executable}"
    output, document = run(project, executor, IN_CONTAINER)

    assert answer_of(document) == local, output
    assert WORKSPACE not in json.dumps(document["inspections"])  # no path of there


def test_run_that_is_itself_in_a_container_leaves_its_report_outside(
    engine: places.Engine, container: str, project: Project, local: list[object]
) -> None:
    command = project.command("-q", "--tb=no", "--bayesloc", "--bayesloc-memory=off")
    path = project.root / "inside.json"
    report = f"--bayesloc-report=json:{WORKSPACE}/inside.json"
    subprocess.run([*engine.client, "exec", container, *command, report], check=False)
    document = project.result(path)
    path.unlink()

    assert answer_of(document) == local


def test_container_that_is_not_there_costs_one_line(
    engine: places.Engine, project: Project
) -> None:
    output, document = run(project, "--bayesloc-executor=docker:nowhere", IN_CONTAINER)

    assert "docker:nowhere can't" in output
    assert "(no-executor)" in output
    assert "Traceback" not in output
    assert document["inspections"] == []


def test_answer_over_ssh_is_that_of_this_machine_until_the_trees_differ(
    project: Project, local: list[object], tmp_path: Path
) -> None:
    there = places.demo(tmp_path / "there")
    with places.running_sshd() as sshd:
        spec = f"ssh={sshd.options}//python={sys.executable}//chdir={there.root}"
        output, document = run(project, f"--bayesloc-executor={spec}")
        assert answer_of(document) == local, output

        changed = there.root / "guesthouse" / "stays.py"
        changed.write_text(changed.read_text() + "\n")
        output, document = run(project, f"--bayesloc-executor={spec}")

    assert "are not those here: guesthouse/stays.py (1 of " in output
    assert document["inspections"] == []


def test_what_a_lost_gateway_had_under_way_is_done_again_by_the_other(
    project: Project, here: dict[str, object]
) -> None:
    under_way = UnderWay(project, "--bayesloc", "--bayesloc-executor=2*popen")

    def at_work() -> list[int]:
        return [pid for pid in children_of(under_way.pid) if has_inspection(pid)]

    os.kill(places.wait_for(at_work, "an inspection")[0], signal.SIGKILL)
    output, document = under_way.result()

    assert answer_of(document, digits=2) == answer_of(here, digits=2), output
    assert "popen does not answer any more" in output


def test_worker_that_is_killed_in_an_inspection_costs_no_answer(
    project: Project, here: dict[str, object]
) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        workers = [nanny.pid for nanny in cluster.workers.values()]
        spec = f"--bayesloc-executor=dask:{cluster.scheduler_address}"
        under_way = UnderWay(project, "--bayesloc", spec)

        def at_work() -> list[int]:
            return [pid for pid in workers if has_inspection(pid)]

        os.kill(places.wait_for(at_work, "an inspection")[0], signal.SIGKILL)
        output, document = under_way.result()

    assert answer_of(document, digits=2) == answer_of(here, digits=2), output
