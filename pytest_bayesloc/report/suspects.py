"""The suspects that CI services are told of: each with its line, its place and its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.report.checkout import Checkout
from pytest_bayesloc.report.hot import hot_line
from pytest_bayesloc.report.rows import Row, row_of
from pytest_bayesloc.report.text import clip, one_line

N_SUSPECTS = 5  # of a fault
WORTH = 0.05  # who is less likely is named only as the first of a fault
LIKELY, POSSIBLE = 0.5, 0.1  # from which on it is an error, a warning
MAX_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A row of a fault's ranking that is worth naming.

    Attributes:
        number: Of the fault.
        order: In its ranking; 1 for the first, also where ranks are tied.
        fault: Of the document.
        row: Of the document.
        shown: The row in words.
        line: That a mark goes to.
        path: Of its file in the repository; None if it lies outside.
        uri: The same as a URI, absolute if it lies outside.
        key: Its fingerprint, which no other suspect of the document has.
    """

    number: int
    order: int
    fault: Mapping[str, Any]
    row: Mapping[str, Any]
    shown: Row
    line: int
    path: str | None
    uri: str
    key: str

    @property
    def posterior(self) -> float:
        """Its probability."""
        return float(self.row["posterior"])

    @property
    def error(self) -> str:
        """How its fault showed, on one line."""
        error = self.fault["error"]
        return clip(one_line(f"{error['type']}: {error['message']}"), MAX_ERROR)

    @property
    def said(self) -> str:
        """What speaks against it, on one line."""
        return (
            f"{self.shown.posterior} likely to be the cause of fault {self.number} "
            f"({len(self.fault['failing_tests'])} failing): {self.shown.reason}. {self.error}"
        )


def suspects(document: Mapping[str, Any], checkout: Checkout) -> Iterator[Suspect]:
    """The suspects of each fault in turn, the likeliest first.

    Args:
        document: A ``bayesloc/1`` result.
        checkout: Where its files lie.
    """
    seen: dict[str, int] = {}
    for number, fault in enumerate(document["faults"], 1):
        for order, row in enumerate(fault["ranking"][:N_SUSPECTS], 1):
            if order > 1 and row["posterior"] < WORTH:
                continue
            key = _fingerprint(fault, row, checkout)
            seen[key] = seen.get(key, 0) + 1
            yield Suspect(
                number=number,
                order=order,
                fault=fault,
                row=row,
                shown=row_of(row),
                line=hot_line(row, fault["error"]),
                path=checkout.path(row["file"]),
                uri=checkout.uri(row["file"]),
                key=key if seen[key] == 1 else f"{key}-{seen[key]}",
            )


def _fingerprint(fault: Mapping[str, Any], row: Mapping[str, Any], checkout: Checkout) -> str:
    """The same for the next run with this error, whatever lines moved and values changed."""
    masked = fault["failures"][0]["masked"].partition("\n")[0]
    place = checkout.uri(row["file"]), row["qualname"]
    said = "\0".join((*place, fault["error"]["type"], masked))
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:32]
