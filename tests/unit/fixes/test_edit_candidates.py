"""Edits of several suspects come by their chance, whichever suspect leads."""

from __future__ import annotations

from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.fixes.edit_candidates import mutated
from tests.fakes.case import case_of
from tests.fakes.runner import FakeRunner, as_port
from tests.fakes.sources import TextSources

LINES = "".join(f"    x{n} = a + b * {n}\n" for n in range(30))
TEXT = f"""\
TABLE = {{}}


def long(a, b):
{LINES}    return x1


def short(a, b):
    return a <= b
"""


def test_likely_edits_of_a_short_function_come_before_most_of_a_long_one() -> None:
    sources = TextSources({"m.py": TEXT})
    long, module, short = (sources.place("m.py", name) for name in ("long", "<module>", "short"))
    lines = {w: dict.fromkeys(range(w.start_line, w.end_line + 1), 1) for w in (long, short)}
    spectrum = Spectrum(tests=("t",), failing=1, passing=0, lines={module: {1: 1}, **lines})
    case = case_of(spectrum, {long: 0.6, module: 0.3, short: 0.1})

    made = list(mutated(case, sources, (), as_port(FakeRunner()), 1.0))

    places = [edit.target for edit in made]
    assert {long, short} == set(places)
    assert places.index(short) < places.count(long) / 4
