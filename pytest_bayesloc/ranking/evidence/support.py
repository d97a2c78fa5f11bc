"""Test support that lies among the code under test: a ``testing.py``, a package ``_testing``.

It is traced and ranked like all code there, since it can be at fault. But it mostly says that some
other code is, as helpers of test files do: an exception that it raises is a test's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.likelihoods import weigh

SOURCE = "support"
WHY = "test support by the name of its file: it mostly reports faults of other code"
_NAME = re.compile(r"_?(testing|test_?(utils?|helpers?|support|case|cases|client))", re.IGNORECASE)


def is_support(file: str) -> bool:
    """Return whether ``file``, relative to rootdir, is called like test support."""
    return _root(file) is not None


def _root(file: str) -> tuple[str, ...] | None:
    """Return the parts of the path up to the name that says so, the suffix left out."""
    parts = PurePosixPath(file).with_suffix("").parts
    for n, part in enumerate(parts):
        if _NAME.fullmatch(part):
            return parts[: n + 1]
    return None


def _is_about(node_id: str, root: Sequence[str]) -> bool:
    """Return whether a test lies in the support package, or is called after it."""
    file, _, name = node_id.partition("::")
    parts = PurePosixPath(file).with_suffix("").parts
    if parts[: len(root)] == tuple(root):
        return True
    own = root[-1].strip("_").lower()
    return own in {
        parts[-1].lower().removeprefix("test_").removesuffix("_test"),
        name.lower().removeprefix("test_"),
    }


def with_support(failures: Sequence[Failure], executed: Collection[Location]) -> list[Failure]:
    """Return ``failures`` in which frames of test support count as frames of test code.

    They don't in tests that are about the support itself, nor where there is no other code.

    Args:
        failures: Of any tests.
        executed: The code that they execute.
    """
    if all(is_support(where.file) for where in executed):
        return list(failures)
    return [
        replace(
            failure,
            frames=_marked(failure.frames, failure.node_id),
            cause_frames=tuple(_marked(f, failure.node_id) for f in failure.cause_frames),
        )
        for failure in failures
    ]


def _marked(frames: Sequence[Frame], node_id: str) -> tuple[Frame, ...]:
    return tuple(
        replace(frame, is_test=True) if supports(frame.file, node_id) else frame for frame in frames
    )


def supports(file: str, node_id: str) -> bool:
    """Return whether ``file`` is test support, and the test ``node_id`` is not about that."""
    root = _root(file)
    return root is not None and not _is_about(node_id, root)


def support_evidence(
    failures: Sequence[Failure], candidates: Mapping[Location, float], *, model: str
) -> list[Evidence]:
    """Weigh against code that it is test support, unless the failing tests are about it.

    Where the failing tests run nothing else, it is what is under test.
    """
    code = [where for where in candidates if not where.is_test]
    told = [where for where in code if _supports_most(where.file, failures)]
    if len(told) == len(code):
        return []
    return [
        weigh(model, StaticOutcome.TEST_SUPPORT, where, source=SOURCE, why=WHY)
        for where in sorted(told)
    ]


def _supports_most(file: str, failures: Collection[Failure]) -> bool:
    root = _root(file)
    if root is None:
        return False
    return 2 * sum(_is_about(f.node_id, root) for f in failures) < len(failures)
