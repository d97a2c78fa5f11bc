from __future__ import annotations

import importlib
import importlib.util
import os
import py_compile
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.swap import Overlay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

NAME = "bayesloc_overlaid"
TEXT = "VALUE = 1\n\ndef fail():\n    raise KeyError\n"
PATCHED = "VALUE = 1\nVALUE += 1\n\ndef fail():\n    raise KeyError\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that can be imported, and is forgotten again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / f"{NAME}.py"
    path.write_text(TEXT, encoding="utf-8")
    importlib.invalidate_caches()
    yield path
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]


def overlay(path: Path, original: str = TEXT, patched: str = PATCHED) -> Overlay:
    made = Overlay(str(path), original, patched)
    made.install()
    return made


def test_import_sees_the_patched_text_and_the_file_keeps_its_own(file: Path) -> None:
    made = overlay(file)

    module = importlib.import_module(NAME)

    assert (module.VALUE, made.n_loaded) == (2, 1)
    assert (module.__name__, module.__file__) == (NAME, str(file))
    assert file.read_text(encoding="utf-8") == TEXT


def test_traceback_names_the_line_of_the_file(file: Path) -> None:
    overlay(file)

    with pytest.raises(KeyError) as error:
        importlib.import_module(NAME).fail()

    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.line) == (str(file), 4, "raise KeyError")


def test_byte_code_is_neither_read_nor_written(file: Path) -> None:
    cached = Path(py_compile.compile(str(file), doraise=True) or "")
    before = cached.read_bytes()
    overlay(file)

    assert importlib.import_module(NAME).VALUE == 2
    assert cached.read_bytes() == before
    cached.unlink()
    assert importlib.reload(sys.modules[NAME]).VALUE == 2
    assert list(cached.parent.iterdir()) == []


def test_byte_code_of_other_modules_is_used_as_ever(file: Path) -> None:
    made = overlay(file)
    other = file.with_name(f"{NAME}_other.py")
    other.write_text("VALUE = 7\n", encoding="utf-8")
    importlib.invalidate_caches()

    assert importlib.import_module(other.stem).VALUE == 7
    assert made.n_loaded == 0


def test_module_that_does_not_exist_stays_missing(file: Path) -> None:
    overlay(file)

    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{NAME}_missing")


def test_patched_package_still_finds_its_modules(file: Path) -> None:
    package = file.parent / f"{NAME}_package"
    package.mkdir()
    (package / "inner.py").write_text("VALUE = 5\n", encoding="utf-8")
    (package / "__init__.py").write_text(TEXT, encoding="utf-8")
    importlib.invalidate_caches()
    overlay(package / "__init__.py")

    inner = importlib.import_module(f"{package.name}.inner")

    assert sys.modules[package.name].VALUE == 2
    assert (inner.VALUE, inner.__package__) == (5, package.name)


def test_file_is_known_by_its_real_path(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    made = overlay(Path(os.fspath(link), file.name))

    assert importlib.import_module(NAME).VALUE == 2
    assert made.n_loaded == 1


def test_text_that_does_not_compile_is_the_error_of_the_import(file: Path) -> None:
    overlay(file, patched="VALUE =\n")

    with pytest.raises(SyntaxError):
        importlib.import_module(NAME)


def test_a_module_that_only_another_finder_knows_is_overlaid(tmp_path: Path) -> None:
    """As of an editable install whose finder maps names to files."""
    path = tmp_path / "elsewhere.py"
    path.write_text(TEXT, encoding="utf-8")

    class Editable:
        @staticmethod
        def find_spec(fullname: str, *_: object) -> ModuleSpec | None:
            if fullname != NAME:
                return None
            return importlib.util.spec_from_file_location(NAME, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "meta_path", [*sys.meta_path, Editable])
        patch.delitem(sys.modules, NAME, raising=False)
        overlay(path)

        module = importlib.import_module(NAME)

        patch.delitem(sys.modules, NAME)
    assert module.VALUE == 2
