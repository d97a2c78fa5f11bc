"""Planted changes that need files on disk or a second process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.suites import faulty_tests
from benchmarks.suites.transplants import joint, transplants
from tests.unit.benchmarks.test_generators import drawn

if TYPE_CHECKING:
    from benchmarks.suites.change import Change

ROOT = Path(__file__).resolve().parents[3]


def test_the_order_is_the_same_in_another_process() -> None:
    code = (
        "from tests.unit.benchmarks.test_generators import drawn\n"
        "print(*[change.digest for change in drawn('mutant', 3)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(ROOT),
            },
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert outputs == {" ".join(c.digest for c in drawn("mutant", 3)) + "\n"}


def test_test_files_are_those_that_pytest_reads_and_what_they_import(tmp_path: Path) -> None:
    for name, text in {
        "src/app.py": "",
        "conftest.py": "",
        "tests/test_a.py": "from tests.helpers import x\n",
        "tests/helpers.py": "x = 1\n",
        "tests/data.py": "y = 1\n",
        "tests/.cache/test_b.py": "",
        "tests/test_broken.py": "def",
        "pkg/unit_test.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    found = [file.name for file in faulty_tests.test_source_files(tmp_path)]
    below = [file.name for file in faulty_tests.test_source_files(tmp_path, "tests", "conftest.py")]

    assert found == ["conftest.py", "pkg/unit_test.py", "tests/helpers.py", "tests/test_a.py"]
    assert below == ["conftest.py", "tests/helpers.py", "tests/test_a.py"]


NEWER = {
    "a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    y = f(x)\n    return y\n",
    "b.py": "from a import f, g\n\n\ndef h(x):\n    return g(x)\n",
    "c.py": "def far(g):\n    return g.f(g)\n",
}


OLDER = {
    "a.py": "def f(x):\n    return not x\n\n\ndef g(x):\n    return f(x)\n",
    "b.py": "from a import f, g\n\n\ndef h(x):\n    return g(f(x))\n",
    "c.py": "def far(g):\n    return not g.f(g)\n",
}


@pytest.fixture
def regressions(tmp_path: Path) -> list[Change]:
    for folder, texts in {"new": NEWER, "old": OLDER}.items():
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    new, old = tmp_path / "new", tmp_path / "old"
    return list(transplants(new, old, root=tmp_path, release="3.7"))


def test_transplants_put_one_old_body_into_the_new_file(regressions: list[Change]) -> None:
    made = {str(change.places[0]): change for change in regressions}

    assert list(made) == ["new/a.py:1 f", "new/a.py:5 g", "new/b.py:4 h", "new/c.py:1 far"]
    assert made["new/c.py:1 far"].texts == {"new/c.py": OLDER["c.py"]}
    assert {(change.kind, change.how) for change in regressions} == {("regression", "body of 3.7")}


def test_joint_regressions_take_functions_near_each_other(regressions: list[Change]) -> None:
    found = [change for n in range(20) for change in joint(regressions, random.Random(n))]

    names = {tuple(place.qualname for place in change.places) for change in found}
    assert {frozenset(each) for each in names} == {
        frozenset(each) for each in ({"f", "g"}, {"f", "h"}, {"g", "h"}, {"f", "g", "h"})
    }
    assert {change.how for change in found} == {"bodies of 3.7"}
    assert ("g", "f", "h") in names  # the most changed first
    for change in found:
        if set(change.places) == {regressions[0].places[0], regressions[1].places[0]}:
            assert change.texts == {"new/a.py": OLDER["a.py"]}


def test_joint_regressions_are_the_same_for_the_same_dice(regressions: list[Change]) -> None:
    first, again = (
        [change.digest for change in joint(regressions, random.Random(5))] for _ in range(2)
    )

    assert first == again
    assert first


def test_bodies_of_different_releases_are_not_joined(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.py").write_text(NEWER["a.py"], encoding="utf-8")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.py").write_text(OLDER["a.py"], encoding="utf-8")
    new, old = tmp_path / "new", tmp_path / "old"
    first, _ = transplants(new, old, root=tmp_path, release="3.7")
    _, second = transplants(new, old, root=tmp_path, release="3.5")

    assert list(joint([first, second], random.Random(1))) == []
