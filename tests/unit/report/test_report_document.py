"""The JSON result holds to its schema, whatever the run was like."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import convert, structs

from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import Effect, Trial
from pytest_bayesloc.domain.redaction import Redaction
from pytest_bayesloc.domain.result import Ranked, RankedLine
from pytest_bayesloc.report.document import MAX_LINES, MAX_ROWS, ResultDocument, ValuesEntry
from pytest_bayesloc.report.encoding import Result, dumps, encode, without_secrets
from pytest_bayesloc.report.text import MAX_TEXT

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "bayesloc-1.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def as_json(result: Result) -> dict[str, Any]:
    """What a reader of the written file gets."""
    document = encode(result)
    read: dict[str, Any] = json.loads(dumps(document))
    return read


def with_first_row(result: Result, row: Ranked) -> Result:
    return replace(result, ranking=(row, *result.ranking[1:]))


def test_a_document_matches_the_schema(result: Result) -> None:
    VALIDATOR.check_schema(SCHEMA)

    VALIDATOR.validate(as_json(result))


def test_an_empty_result_matches_the_schema(result: Result) -> None:
    VALIDATOR.validate(as_json(replace(result, ranking=(), faults=(), edges=())))


def test_a_written_document_is_read_as_it_was(document: ResultDocument) -> None:
    assert convert(json.loads(dumps(document)), ResultDocument) == document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "bayesloc/2"),
        (("surprise",), 1),
        (("ranking", 0, "posterior"), 1.01),
        (("ranking", 0, "suspiciousness"), -0.1),
        (("ranking", 0, "rank"), 0),
        (("ranking", 0, "counts", "ef"), 0.5),
        (("ranking", 0, "lines", 0, "line"), 0),
        (("ranking", 0, "evidence", 0, "p_if_clean"), 0),
        (("faults", 0, "error", "origin"), "moon"),
        (("faults", 0, "failing_tests"), []),
        (("inspections", 0, "tests", 0, "verdict"), "maybe"),
        (("session", "seconds", "collect"), -1),
        (("call_graph", "edges", 0, "caller"), "calc.py"),
    ],
)
def test_the_schema_rejects_a_wrong_value(
    result: Result, path: tuple[str | int, ...], value: object
) -> None:
    broken = as_json(replace(result, partial=("note",)))
    *parents, last = path
    target: Any = broken
    for key in parents:
        target = target[key]
    target[last] = value

    assert not VALIDATOR.is_valid(broken)


def test_values_beside_each_other_are_without_secrets(result: Result) -> None:
    fault = result.faults[0]
    assert fault.nearest_call is not None
    values = {"user['password']": ("'ab'", "'hunter2'"), "key[0]": ("", "'AKIAABCDEFGHIJKLMNOP'")}
    told = replace(fault, nearest_call=replace(fault.nearest_call, values=values))

    entry = encode(replace(result, faults=(told,)), Redaction()).faults[0].nearest_call

    assert entry is not None
    assert entry.values["user['password']"].failing == "'<redacted>'"
    assert entry.values["key[0]"] == ValuesEntry(passing="", failing="'<redacted>'")
    assert entry.location.qualname == "add"


def test_a_syntax_error_stands_where_the_parser_stopped(result: Result) -> None:
    fault = result.faults[0]
    failure = replace(fault.failures[0], syntax_error=("calc.py", 3))

    error = as_json(replace(result, faults=(replace(fault, failures=(failure,)),)))["faults"][0]

    assert (error["error"]["file"], error["error"]["line"]) == ("calc.py", 3)


def test_an_inspection_names_its_fault_and_shows_its_patch(result: Result) -> None:
    document = as_json(replace(result, faults=result.faults[::-1]))

    (inspection,) = document["inspections"]
    assert inspection["fault"] == 2
    assert "+    assert result >= a" in inspection["patch"].splitlines()


@pytest.mark.parametrize(("doubt", "n_shown"), [("", 1), ("no test gets to line 3 any more", 0)])
def test_edit_of_an_inspection_is_shown_where_nothing_speaks_against_it(
    result: Result, doubt: str, n_shown: int
) -> None:
    fault = result.faults[0]
    finding = fault.inspections[0]
    repairs = replace(
        finding,
        evidence=replace(finding.evidence, outcome=InspectionOutcome.EDIT_REPAIRS),
        trials=(Trial(line=2, words="change constant, line 2: 1 to 2", effect=Effect.REPAIRS),),
        doubt=doubt,
    )
    found = replace(result, faults=(replace(fault, inspections=(repairs,)),), fixes=())

    assert len(encode(found).fixes) == n_shown


def test_numbers_that_are_not_finite_become_zero_and_are_owned_up_to(result: Result) -> None:
    row = replace(result.ranking[0], prior=nan, posterior=inf)

    session = structs.replace(result.session, seconds={"collect": inf})
    document = as_json(replace(with_first_row(result, row), session=session))

    VALIDATOR.validate(document)
    assert document["ranking"][0]["posterior"] == 0
    assert document["session"]["seconds"] == {"collect": 0}
    assert any("not a finite number" in note for note in document["partial"])


def test_a_lone_surrogate_survives(result: Result) -> None:
    fault = result.faults[0]
    failure = replace(fault.failures[0], message="bad byte \udcff")

    text = dumps(encode(replace(result, faults=(replace(fault, failures=(failure,)),))))

    assert text.isascii()
    assert json.loads(text)["faults"][0]["error"]["message"] == "bad byte \udcff"


def test_a_long_message_is_cut_and_says_so(result: Result) -> None:
    fault = result.faults[0]
    failure = replace(fault.failures[0], message="x" * (MAX_TEXT + 7))

    document = as_json(replace(result, faults=(replace(fault, failures=(failure,)),)))

    message = document["faults"][0]["error"]["message"]
    assert message == f"{'x' * MAX_TEXT} ... [7 characters left out]"


def test_a_long_ranking_is_cut_and_needs_no_note(result: Result) -> None:
    fault = result.faults[0]
    rows = fault.ranking[:1] * (MAX_ROWS + 1)
    long = replace(result, faults=(replace(fault, ranking=rows),), ranking=rows)

    document = as_json(long)

    assert len(document["ranking"]) == len(document["faults"][0]["ranking"]) == MAX_ROWS
    assert document["faults"][0]["n_candidates"] == MAX_ROWS + 1
    assert document["partial"] == []


def test_of_many_lines_the_most_suspicious_are_kept_in_order(result: Result) -> None:
    lines = tuple(
        RankedLine(line=n, ef=1, ep=0, suspiciousness=0.0 if n <= 5 else 0.5)
        for n in range(1, MAX_LINES + 6)
    )

    document = as_json(with_first_row(result, replace(result.ranking[0], lines=lines)))

    given = [line["line"] for line in document["ranking"][0]["lines"]]
    assert given == list(range(6, MAX_LINES + 6))
    assert f"Of {MAX_LINES + 5} lines of a location, {MAX_LINES} are given." in document["partial"]


def test_word_of_an_enumeration_that_is_a_secret_as_well_stays(document: ResultDocument) -> None:
    word = document.faults[1].error.kind.value
    document.partial = [f"the password is {word}"]

    told = without_secrets(document, Redaction({"DB_PASSWORD": word}))

    assert told.partial == ["the password is <redacted>"]
    assert told.faults[1].error.kind == word
