"""The configuration of coverage.py is read as it reads it itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from coverage import Coverage

from pytest_bayesloc.spectrum.coverage_py import texts
from pytest_bayesloc.spectrum.start import coverage_source

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    ".coveragerc": "[run]\nsource = a, b\n    c\nomit =\n    */gen/*\n",
    "setup.cfg": "[metadata]\nname = x\n[coverage:run]\nsource_pkgs = p.q\n",
    "tox.ini": "[tox]\nenvlist = py\n[coverage:run]\nsource=\n  one\n  two\n",
    "pyproject.toml": '[tool.coverage.run]\nsource = ["a b", "c"]\nomit = ["x/*"]\n',
}


@pytest.mark.parametrize("name", FILES)
def test_configuration_is_read_as_coverage_reads_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    cov = Coverage(data_file=None, config_file=str(tmp_path / name))
    wanted = [
        option
        for key in ("source", "source_pkgs")
        for option in texts(cov.get_option(f"run:{key}"))
    ]

    assert wanted
    assert coverage_source(tmp_path) == (wanted, texts(cov.get_option("run:omit")))


def test_what_is_more_than_a_list_is_left_to_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "lib")
    (tmp_path / ".coveragerc").write_text("[run]\nsource = $WHERE\n", encoding="utf-8")

    assert coverage_source(tmp_path) == (["lib"], [])


@pytest.mark.parametrize("text", ["[run\nsource = a", "[run]\nsource = a\n[run]\nomit = b\n"])
def test_what_nobody_can_read_configures_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / ".coveragerc").write_text(f"# coverage:\n{text}", encoding="utf-8")

    assert coverage_source(tmp_path) == ([], [])
