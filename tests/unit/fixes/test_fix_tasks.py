"""Tests that a change may break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.fixes.tasks import users
from tests.fakes.case import case_of
from tests.fakes.sources import TextSources
from tests.unit.fixes.candidates import candidate

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

TEXT = """\
WORD = (
    "a"
)
print(WORD)


class C:
    word = WORD

    def f(self):
        local = "b"
        return local, self.word
"""
SOURCES = TextSources({"m.py": TEXT, "test_w.py": "from m import WORD\n"})
NAMES = "test_w.py::test_names_it"


def place(name: str) -> Location:
    return SOURCES.place("m.py", name)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param('"a"', '"b"', ("t::one", NAMES), id="value-of-a-module"),
        pytest.param("word = WORD", 'word = "b"', ("t::two",), id="value-of-a-class"),
        pytest.param('"a"\n', '"a"\n    "b"\n', ("t::one", NAMES), id="more-of-a-value"),
        pytest.param("WORD = (", "WORDS = (", None, id="other-name"),
        pytest.param("print(WORD)", "print(1)", None, id="statement"),
        pytest.param('"b"', '"c"', None, id="function"),
    ],
)
def test_change_of_a_value_concerns_those_who_use_its_variable(
    old: str, new: str, expected: tuple[str, ...] | None
) -> None:
    lines = {
        place("<module>"): {1: 0b011, 2: 0b011, 3: 0b011, 4: 0b111},
        place("C"): {8: 0b101},
        place("C.f"): {11: 0b111},
    }
    spectrum = Spectrum(
        tests=("t::bad", "t::one", "t::two", NAMES), failing=0b0001, passing=0b1110, lines=lines
    )
    case = case_of(spectrum, dict.fromkeys(lines, 1 / 3))

    assert users(case, candidate(TEXT, TEXT.replace(old, new), file="m.py"), SOURCES) == expected
