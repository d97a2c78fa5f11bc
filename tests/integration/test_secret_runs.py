"""Secrets of a failing project, and all that a run writes."""

from __future__ import annotations

import html
import json
import re
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.fakes.secrets import ENVIRONMENT, SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

KINDS = ("html", "json", "sarif", "gitlab", "markdown", "github", "junit", "loop", "record")
#: Long enough that nothing else has them.
PIECES = {
    piece
    for secret in (*(secret for secret, _ in SECRETS.values()), *ENVIRONMENT.values())
    for piece in re.findall(r"[A-Za-z0-9]{7,}", secret)
}
PLAIN = r"""
    import json
    import os
    from pathlib import Path

    TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text())


    def send(text, password):
        print("sending", text, "as", password)
        secret = os.environ["DEPLOY_TOKEN"]
        rest = len(text) - len(password)
        if rest:
            raise ValueError(f"refused: {text} by {password!r} {secret}")
        return rest
    """
TESTS = r"""
    import os

    import pytest

    from shop import TEXTS, known, send


    @pytest.mark.parametrize("number", range(5))
    def test_send(number):
        assert send("\n".join(TEXTS[number::5]), os.environ["SHOP_DB_PASSWORD"]) == 0


    def test_headers():
        headers = {"api_key": TEXTS[2], "url": TEXTS[15]}
        print(headers, dict(os.environ))
        assert headers == {"api_key": send("aaaa", "aaaa")}


    def test_known():
        assert known() == sorted(known())


    @pytest.mark.parametrize("word", "abcdefghij")
    def test_same(word):
        assert send(word, "a") == 0
    """


@pytest.fixture(scope="module")
def project(projects: Projects) -> Project:
    """Its data, its source and its environment hold secrets."""
    texts = [text for _, text in SECRETS.values()]
    made = projects.make({"shop.py": PLAIN, "test_shop.py": TESTS, "texts.json": json.dumps(texts)})
    lines = "\n".join(f"        {text!r}," for text in texts)
    with (made.root / "shop.py").open("a", encoding="utf-8") as stream:
        stream.write(f"\n\ndef known():\n    return [\n{lines}\n    ]\n")
    return made


@pytest.fixture(scope="module")
def run(project: Project) -> Run:
    """A run that writes everything."""
    out = project.root.parent / "out"
    reports = [f"--bayesloc-report={kind}:{out}/{kind}" for kind in KINDS if kind != "junit"]
    return project.run(
        "--bayesloc",
        "--bayesloc-fix=suggest",
        "--bayesloc-llm-mode=dry-run",
        "--bayesloc-budget=20",
        f"--junitxml={out}/junit",
        "--bayesloc-report=junit",
        "--bug-note=see " + SECRETS["github"][1],
        *reports,
        env=ENVIRONMENT,
    )


def leaks(text: str) -> list[str]:
    """The pieces of secrets in ``text``, also where HTML or JSON spell them otherwise."""
    return sorted(piece for piece in PIECES if piece in text or piece in html.unescape(text))


@pytest.mark.thorough
def test_secrets_are_planted(run: Run) -> None:
    missing = PIECES - {piece for piece in PIECES if piece in run.stdout}

    assert not missing


@pytest.mark.parametrize("kind", KINDS)
def test_report_holds_no_secret(run: Run, project: Project, kind: str) -> None:
    assert run.outcomes["failed"] == 7
    text = (project.root.parent / "out" / kind).read_text(encoding="utf-8")
    if kind == "junit":  # the rest is pytest's own
        own = ET.fromstring(text).iter("property")
        text = "\n".join(f"{entry.get('name')} {entry.get('value')}" for entry in own)
        assert "bayesloc.fault.1" in text

    assert leaks(text) == []
    if kind in {"html", "json", "markdown"}:
        assert "&lt;redacted&gt;" in text or "<redacted>" in text
        assert re.search(r"\d+ secrets withheld", text)


def test_nothing_that_is_kept_or_sent_holds_a_secret(run: Run, project: Project) -> None:
    ours = run.stdout.partition("= bayesloc =")[2].partition("short test summary info")[0]
    kept = {path: path.read_bytes() for path in files(project)}
    exported = project.root.parent / "memory.jsonl"
    project.run(f"--bug-memory=export:{exported}", env=ENVIRONMENT)

    assert "bayesloc: not sent" in ours or not find_spec("openai")  # an extra
    assert leaks(ours) == []
    assert "<redacted>" in exported.read_text("utf-8")
    assert leaks(exported.read_text("utf-8")) == []
    assert {path.name: found for path, data in kept.items() if (found := leaks(str(data)))} == {}


def files(project: Project) -> Iterator[Path]:
    """The files that are kept, without copies of the project's own source."""
    for path in sorted((project.root / ".bayesloc").rglob("*")):
        if path.is_file() and "green" not in path.name and path.suffix != ".patch":
            yield path


def test_marks_on_lines_hold_no_secret_and_a_setting_shows_all(
    projects: Projects, project: Project
) -> None:
    other = projects.copy_of(project)
    shutil.rmtree(other.root / ".bayesloc", ignore_errors=True)
    variables = {**ENVIRONMENT, "GITHUB_ACTIONS": "1", "GITHUB_STEP_SUMMARY": str(other.root / "s")}

    run = other.run("-q", "--tb=no", "--bayesloc-report=github", env=variables)
    shown = other.localize("--bayesloc-without=redaction", env=ENVIRONMENT)

    marks = [line for line in run.stdout.splitlines() if line.startswith("::")]
    assert marks
    assert leaks("\n".join(marks)) == []
    assert len(leaks(json.dumps(shown.document))) > 20
    assert not any("withheld" in note for note in shown.document["partial"])


@pytest.mark.parametrize(("glob", "is_told"), [("*.txt", True), ("calc.*", False)])
def test_prompt_of_the_page_holds_no_code_of_a_file_that_is_never_sent(
    shared_buggy_project: Project, glob: str, is_told: bool
) -> None:
    page = shared_buggy_project.root.parent / f"{is_told}.html"

    shared_buggy_project.run(
        "-q", f"--bayesloc-report=html:{page}", f"--bayesloc-llm-never-send={glob}"
    )

    prompt = page.read_text(encoding="utf-8").partition('id="prompt-text"')[2]
    assert "test_add" in prompt.partition("</pre>")[0]
    assert ("return a - b" in prompt.partition("</pre>")[0]) is is_told
