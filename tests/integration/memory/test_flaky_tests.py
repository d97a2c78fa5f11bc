"""How tests ended on which code is counted; who passed and failed on the same code is flaky."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.failure import Cause, CauseKind
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.outcomes import (
    N_STATES,
    CodeStates,
    Endings,
    FailedTest,
    Outcomes,
    forget,
)
from pytest_bayesloc.memory.transfer import export, import_lines
from tests.fakes.memory import fresh_memory
from tests.fakes.sources import TextSources
from tests.integration.memory.conftest import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.advice import FlakyTest, RememberedCause

TEST = "test_shop.py::test_price"
FILES = {
    "shop.py": "def price(n):\n    return n\n\n\ndef other():\n    return 2\n",
    "test_shop.py": "from shop import price\n\n\ndef test_price():\n    assert price(1) == 1\n",
}
EDITED = FILES | {"shop.py": FILES["shop.py"].replace("return n", "return n + 0")}
BESIDE = FILES | {"shop.py": FILES["shop.py"].replace("return 2", "return 3")}


class Runs:
    """Runs of one test, an hour apart, on code and in an environment of their own."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._n = 0

    def _count(
        self,
        failed: dict[str, FailedTest],
        passed: tuple[str, ...],
        files: dict[str, str],
        environment: str,
        *,
        edited: tuple[str, ...] = (),
        n_reruns: int = 0,
    ) -> Outcomes:
        self._n += 1
        states = CodeStates(TextSources(files))
        at = START + timedelta(hours=self._n)
        outcomes = Outcomes(self.ledger, states, environment, at)
        run = Endings(
            failed=failed,
            passed=passed,
            edited=edited,
            reruns={TEST: n_reruns} if n_reruns else {},
            executed=lambda _: frozenset({"shop.py price"}),
        )
        outcomes.load(run)
        outcomes.count(run)
        return outcomes

    def fail(
        self,
        files: dict[str, str] = FILES,
        *,
        environment: str = "here",
        passed_again: bool = False,
        cause: Cause | None = None,
        fingerprint: str = "1:aa",
    ) -> tuple[list[FlakyTest], list[RememberedCause]]:
        test = FailedTest(
            fault=0,
            fingerprint=fingerprint,
            executed=frozenset({"shop.py price", "test_shop.py test_price"}),
            passed_again=passed_again,
            cause=cause,
        )
        outcomes = self._count({TEST: test}, (), files, environment)
        return outcomes.flaky({TEST: test}), outcomes.causes({TEST: test})

    def passes(
        self,
        files: dict[str, str] = FILES,
        *,
        environment: str = "here",
        edited: bool = False,
        n_reruns: int = 0,
    ) -> None:
        marked = (TEST,) if edited else ()
        self._count({}, (TEST,), files, environment, edited=marked, n_reruns=n_reruns)

    @property
    def counts(self) -> list[tuple[int, int]]:
        """Failures and passes per state and environment, oldest first."""
        asked = """SELECT n_failed, n_passed FROM outcome WHERE project = ?
            ORDER BY first_at, state"""
        return self.ledger.db.rows(asked, self.ledger.project)


@pytest.fixture
def runs() -> Iterator[Runs]:
    with fresh_memory() as connection:
        yield Runs(Ledger(connection, "shop"))


def test_test_that_only_failed_is_not_known_to_be_flaky(runs: Runs) -> None:
    runs.fail()

    assert runs.fail() == ([], [])


def test_test_that_passed_and_failed_on_the_same_code_has_a_rate_with_an_interval(
    runs: Runs,
) -> None:
    runs.fail()
    for _ in range(8):
        runs.passes()
    runs.fail()

    ((flaky,), _) = runs.fail()

    assert (flaky.test, flaky.n_failed, flaky.rate.n, flaky.is_same_code) == (TEST, 3, 11, True)
    # Wilson's interval of 3 of 11.
    assert [flaky.rate.low, flaky.rate.high] == pytest.approx([0.0975, 0.5656], abs=0.0005)


def test_passes_of_a_test_that_never_failed_are_not_counted(runs: Runs) -> None:
    runs.passes()

    assert runs.counts == []


def test_edit_beside_the_executed_code_is_the_same_code(runs: Runs) -> None:
    runs.fail()
    runs.passes(BESIDE)

    ((flaky,), _) = runs.fail()

    assert (flaky.n_failed, flaky.rate.n, flaky.is_same_code) == (2, 3, True)


def test_pass_on_edited_code_makes_no_test_flaky(runs: Runs) -> None:
    runs.fail()
    runs.passes(EDITED, edited=True)

    assert runs.counts == []


def test_pass_after_an_edit_of_data_makes_no_test_flaky(runs: Runs) -> None:
    runs.fail()
    runs.passes(edited=True)

    assert runs.fail()[0] == []


def test_failure_in_one_environment_alone_is_not_flaky(runs: Runs) -> None:
    runs.fail(environment="old Python")
    runs.passes(environment="new Python")

    assert runs.fail(environment="old Python")[0] == []


def test_flaky_elsewhere_is_told_with_the_environment(runs: Runs) -> None:
    runs.fail(environment="old Python")
    runs.passes(environment="old Python")

    ((flaky,), _) = runs.fail(environment="new Python")

    assert (flaky.environment, flaky.n_failed, flaky.rate.n) == ("old Python", 1, 2)


def test_known_flaky_test_is_counted_anew_on_changed_code(runs: Runs) -> None:
    runs.fail()
    runs.passes()
    runs.passes(EDITED)
    runs.passes(EDITED)

    ((on_new_code,), _) = runs.fail(EDITED)
    ((on_old_code,), _) = runs.fail(FILES)

    assert runs.counts == [(2, 1), (1, 2)]
    assert (on_new_code.rate.n, on_new_code.is_same_code) == (3, True)
    assert on_new_code.since == on_old_code.since
    assert (on_old_code.rate.n, on_old_code.is_same_code) == (3, True)


def test_known_flaky_test_that_fails_on_changed_code_is_told_so(runs: Runs) -> None:
    runs.fail()
    runs.passes()

    ((flaky,), _) = runs.fail(EDITED)

    assert (flaky.n_failed, flaky.rate.n, flaky.is_same_code) == (1, 2, False)


def test_test_that_passed_again_is_flaky_and_its_rate_has_runs_alone(runs: Runs) -> None:
    assert runs.fail(passed_again=True)[0] == []  # it is found now, not remembered

    ((flaky,), _) = runs.fail()

    assert (flaky.passed_again, flaky.n_failed, flaky.rate.n) == (True, 2, 2)


def test_test_that_was_rerun_until_it_passed_is_flaky(runs: Runs) -> None:
    runs.passes(n_reruns=2)

    ((flaky,), _) = runs.fail()

    assert (flaky.n_failed, flaky.rate.n) == (3, 4)


def test_test_that_passes_long_enough_on_changed_code_is_no_longer_flaky(runs: Runs) -> None:
    for _ in range(3):
        runs.fail()
        runs.passes()
    for _ in range(15):
        runs.passes(EDITED)
    before = runs.counts

    # Of 3 in 6 the interval begins at 19 %: 0.81 ** 14 is more than 0.05, 0.81 ** 15 is not.
    assert before == [(3, 3), (0, 15)]
    assert runs.fail(EDITED)[0] == []
    assert runs.counts == [(1, 0)]


def test_test_that_passed_less_often_on_changed_code_is_still_flaky(runs: Runs) -> None:
    for _ in range(3):
        runs.fail()
        runs.passes()
    for _ in range(14):
        runs.passes(EDITED)

    assert runs.fail(EDITED)[0]


def test_few_states_are_kept_and_the_flaky_one(runs: Runs) -> None:
    runs.fail()
    runs.passes()
    for n in range(N_STATES + 3):
        runs.passes(FILES | {"shop.py": f"def price(n):\n    return n + {n}\n"})

    ((flaky,), _) = runs.fail(EDITED)

    assert len(runs.counts) == N_STATES + 1
    assert (flaky.n_failed, flaky.is_same_code) == (1, False)


# -- causes

CLOCK = Cause(
    kind=CauseKind.CLOCK,
    text="price (shop.py:1) reads the clock",
    advice="freeze it",
    after=("test_shop.py::test_first",),
    state="now",
    line=1,
    command="pytest test_shop.py",
)


def test_cause_is_told_again_for_the_same_failure_on_the_same_code(runs: Runs) -> None:
    assert runs.fail(cause=CLOCK)[1] == []  # it is found now, not remembered

    (_, (told,)) = runs.fail()

    assert told.cause == CLOCK
    assert told.found_at == (START + timedelta(hours=1)).isoformat(timespec="microseconds")


@pytest.mark.parametrize(
    "other", [{"files": EDITED}, {"fingerprint": "1:bb"}], ids=["other code", "other failure"]
)
def test_cause_is_not_told_of_anything_else(runs: Runs, other: dict[str, str]) -> None:
    runs.fail(cause=CLOCK)

    assert runs.fail(**other)[1] == []  # type: ignore[arg-type]


def test_cause_has_its_place_as_that_is_now(runs: Runs) -> None:
    where = TextSources(FILES).place("shop.py", "price")
    runs.fail(cause=Cause(kind=CauseKind.CLOCK, text="x", location=where))
    moved = FILES | {"shop.py": "# moved\n" + FILES["shop.py"]}

    (_, (told,)) = runs.fail(moved)

    assert told.cause.location == TextSources(moved).place("shop.py", "price")


def test_value_of_an_environment_variable_is_not_kept(runs: Runs) -> None:
    text = "test_b fails after test_a, which leaves os.environ['PIN'] changed from 'x' to 'y4711'"
    runs.fail(cause=Cause(kind=CauseKind.POLLUTED, text=text, state="os.environ['PIN']"))

    (_, (told,)) = runs.fail()

    assert told.cause.text.endswith("leaves os.environ['PIN'] changed")
    assert "y4711" not in "\n".join(export(runs.ledger.db))


# -- forgetting and moving


def test_forgotten_test_is_not_known(runs: Runs) -> None:
    runs.fail()
    runs.passes()
    forget(runs.ledger, [TEST])

    assert runs.fail()[0] == []


def test_counts_of_two_memories_add_up_and_those_of_one_do_not(runs: Runs) -> None:
    runs.fail(cause=CLOCK)
    runs.passes()
    told = list(export(runs.ledger.db))
    with fresh_memory() as connection:
        other = Runs(Ledger(connection, "shop"))
        other._n = 10
        other.fail()
        import_lines(connection, told)
        added = other.counts
    import_lines(runs.ledger.db, told)

    assert added == [(2, 1)]
    assert runs.counts == [(1, 1)]


def test_flaky_test_in_an_export_of_version_1_is_known(runs: Runs) -> None:
    at = START.isoformat(timespec="microseconds")
    seen = {"project": "shop", "kind": "flaky", "text": TEST, "n": 1, "first_at": at, "last_at": at}
    import_lines(
        runs.ledger.db,
        [json.dumps({"format": "bayesloc-memory/1"}), json.dumps({"observation": seen})],
    )

    ((flaky,), _) = runs.fail()

    assert (flaky.since, flaky.is_same_code) == (at, False)
