"""Documents that are hard to show."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_bayesloc.report.ci import Checkout

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument

HERE = Checkout(root="/srv", rootdir="/srv")
#: All that would be more than text somewhere.
HOSTILE = (
    "::error file=x::boo ##[error]y %0A @octocat #12 GH-12 !3 $5 :bug: http://a.example/?a=1&b "
    "www.a.example a@b.example </details><script>alert(1)</script> `tick` ``two`` "
    "| pipe \\| \\ [link](http://b.example) ![i](x) **bold** _it_ ~s~ &amp; \ud800 \x1b[31m \u202e"
)


def many(document: ResultDocument, n_faults: int, n_tests: int) -> ResultDocument:
    """``document`` with so many faults, each of so many tests."""
    faults = [deepcopy(document.faults[0]) for _ in range(n_faults)]
    for number, fault in enumerate(faults):
        fault.failing_tests = [f"test_{number}.py::test_{i}[{'x' * 500}]" for i in range(n_tests)]
        fault.error.message = f"{number} " + "m" * 2000
    return replace(document, faults=faults)


def hostile(document: ResultDocument) -> ResultDocument:
    """``document`` in which every text that comes from a project is ``HOSTILE``."""
    changed = deepcopy(document)
    for fault in changed.faults:
        fault.failing_tests = [f"{HOSTILE} {i}" for i, _ in enumerate(fault.failing_tests)]
        fault.error.message = fault.error.type = f"{HOSTILE}\n{HOSTILE}"
        for failure in fault.failures:
            failure.node_id = failure.message = failure.masked = HOSTILE
            for frame in failure.frames:
                frame.file = frame.name = HOSTILE
        for row in fault.ranking:
            row.file = row.qualname = HOSTILE
            for evidence in row.evidence:
                evidence.why = HOSTILE
    changed.partial = [HOSTILE]
    return changed


def with_file(document: ResultDocument, file: str) -> ResultDocument:
    """``document`` in which all suspects lie in ``file``."""
    changed = deepcopy(document)
    for fault in changed.faults:
        for row in fault.ranking:
            row.file = file
    return changed
