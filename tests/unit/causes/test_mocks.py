from __future__ import annotations

import pytest

from pytest_bayesloc.causes.awaits import never_awaited
from pytest_bayesloc.causes.mocks import MockCauses
from pytest_bayesloc.domain.failure import Cause, CauseKind
from tests.fakes.sources import TextSources, failure_at

FILES = {
    "app/rates.py": "def fetch():\n    return 1\n",
    "app/convert.py": "from app.rates import fetch\n\n\ndef convert():\n    return fetch()\n",
}
CALLED = [("app/rates.py", "fetch"), ("app/convert.py", "convert")]


def cause_of(test: str, message: str = "", *, called: object = CALLED) -> Cause | None:
    sources = TextSources({**FILES, "test_app.py": test})
    places = [sources.place(*place) for place in called]  # type: ignore[attr-defined]
    where = sources.place("test_app.py", "test_one")
    failure = failure_at(
        sources.frame("test_app.py", "convert"), kind="E", message=message, tests=(where,)
    )
    return MockCauses(sources).cause_of(failure, places)


@pytest.mark.parametrize(
    "patch",
    [
        "mock.patch('app.rates.fetch')",
        "mock.patch.object(rates, 'fetch')",
        "monkeypatch.setattr('app.rates.fetch', 1)",
    ],
)
def test_patch_of_a_name_that_was_imported_is_told_with_the_right_target(patch: str) -> None:
    cause = cause_of(f"from app import rates\n\ndef test_one():\n    {patch}\n    convert()\n")

    assert cause is not None
    assert (cause.kind, cause.state, cause.line) == (CauseKind.MOCK, "app.convert.fetch", 4)


def test_patch_is_right_where_the_real_function_did_not_run() -> None:
    test = "def test_one():\n    mock.patch('app.rates.fetch')\n    convert()\n"

    assert cause_of(test, called=CALLED[1:]) is None


# Failures that show a mock are held with their words, in tests/unit/report/sentences.py.


def test_failure_that_shows_a_mock_is_none_of_a_test_without_mocks() -> None:
    message = "assert <MagicMock name='mock.price()' id='1'> == 3"

    assert cause_of("def test_one():\n    convert()\n", message, called=()) is None


def test_mocks_in_the_order_of_their_decorators_are_right() -> None:
    test = "@patch('a.ship')\n@patch('a.charge')\ndef test_one(charge, ship):\n    convert()\n"

    assert cause_of(test, called=()) is None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("add(1)", 2),
        ("x = [add(n) for n in y]", 2),
        ("if add(1): pass", 2),
        ("await add(1)", 0),
        ("await gather(add(1))", 0),
        ("return add(1)", 0),
        ("other(1)", 0),
    ],
)
def test_call_that_is_not_awaited_is_found(body: str, line: int) -> None:
    sources = TextSources({"app.py": f"async def move(y):\n    {body}\n"})
    source = sources.map("app.py")
    assert source is not None

    cause = never_awaited("coroutine 'add' was never awaited", source.units)

    assert (cause.line if cause is not None else 0) == line


def test_coroutine_in_the_place_of_a_value_is_one_that_is_not_awaited() -> None:
    sources = TextSources({"app.py": "async def test():\n    assert board.state() == 1\n"})
    source = sources.map("app.py")
    assert source is not None

    cause = never_awaited("assert <coroutine object Board.state at 0x7f> == 1", source.units)

    assert cause is not None
    assert cause.state == "state"


@pytest.mark.parametrize(
    ("test", "is_wrong"),
    [
        ("smtp.return_value.send.call_count", True),
        ("smtp.return_value.__enter__.return_value.send.call_count", False),
        ("smtp.return_value.quit.call_count", False),
    ],
)
def test_return_value_of_what_the_code_enters_is_another_mock(test: str, is_wrong: bool) -> None:
    code = "def post(x):\n    with smtplib.SMTP(x) as server:\n        server.send(x)\n"
    sources = TextSources(
        {
            "app.py": code,
            "test_app.py": f"@patch('app.smtplib.SMTP')\ndef test_one(smtp):\n    assert {test}\n",
        }
    )
    where = sources.place("test_app.py", "test_one")
    failure = failure_at(
        sources.frame("test_app.py", "assert"), kind="E", message="", tests=(where,)
    )

    cause = MockCauses(sources).cause_of(failure, [sources.place("app.py", "post")])

    assert (cause is not None and cause.kind is CauseKind.MOCK) == is_wrong
