from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.bug import Category, CodeEdit, Run, Symptom
from pytest_bayesloc.memory.episodes import Episodes
from pytest_bayesloc.memory.ledger import Ledger
from tests.fakes.memory import fresh_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.advice import Advice
    from pytest_bayesloc.memory.sightings import PassingSighting

START = datetime(2026, 11, 22, 10, 0, tzinfo=timezone.utc)


def symptom(  # noqa: PLR0913 - all of it has a default
    signature: str = "ValueError: too few",
    tests: Sequence[str] = ("t.py::test_a",),
    *,
    fingerprint: str = "1:aa",
    constraint: str = "",
    tags: Sequence[str] = ("error:ValueError",),
    suspects: Sequence[str] = ("knots.py check",),
    in_test: bool = False,
) -> Symptom:
    return Symptom(
        failing=dict.fromkeys(tests, fingerprint),
        signatures={fingerprint: signature},
        errors=frozenset({signature}),
        signature=signature,
        category=Category.VALUE_ERROR,
        hypothesis="a guess",
        tags=frozenset(tags),
        error=f"{signature}\nat knots.py:3 in check",
        code="def check(): ...",
        constraint=constraint,
        suspects=tuple(suspects),
        in_test=in_test,
    )


def red(
    what: Symptom | None = None,
    edit: CodeEdit | None = None,
    *,
    state: str = "s0",
    test_state: str = "t0",
) -> Symptom:
    return replace(
        what or symptom(),
        executed=frozenset({"knots.py check", "curve.py insert", "t.py test_a"}),
        edit=edit,
        code_state=state,
        test_state=test_state,
    )


def edit(*functions: str, old: str = "a", new: str = "b") -> CodeEdit:
    return CodeEdit(
        functions=functions or ("knots.py check",),
        diff=f"--- a\n+++ b\n-{old}\n+{new}\n",
        n_added=1,
        n_removed=1,
    )


class Story:
    """A project's runs, an hour apart, in one memory."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.n_runs = 0

    def run(
        self,
        *reds: Symptom,
        passing: Mapping[int, PassingSighting] | None = None,
        workspace: str = "w",
        revision: str = "r",
        hours: float = 1,
    ) -> list[Advice]:
        self.n_runs += 1
        made_at = START + timedelta(hours=self.n_runs * hours)
        run = Run(
            id=f"run{self.n_runs}",
            workspace=workspace,
            made_at=made_at,
            revision=revision,
            n_passed=9,
            n_failed=len(reds),
            plan="a plan",
        )
        self.ledger.add_run(run)
        return Episodes(self.ledger, run).advance(reds, passing or {})


@pytest.fixture
def story() -> Iterator[Story]:
    with fresh_memory() as connection:
        yield Story(Ledger(connection, "shop"))
