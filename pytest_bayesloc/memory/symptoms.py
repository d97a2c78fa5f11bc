"""How a group of failing tests is described in the memory, by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_bayesloc.domain.bug import (
    CODE_LENGTH,
    ERROR_LENGTH,
    SIGNATURE_LENGTH,
    Category,
    Symptom,
    TestFailure,
    clipped,
)
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.masking import masked
from pytest_bayesloc.domain.ports import Summarizer
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.memory.constraints import Guards
from pytest_bayesloc.memory.fingerprint import fingerprint

N_SUSPECTS = 5
_MISUSES = (
    "unexpected keyword argument",
    "required positional argument",
    "required keyword-only argument",
    "positional argument",
    "got multiple values for argument",
    "abstract class",
)
_CATEGORIES = {
    "TypeError": Category.TYPE_ERROR,
    "ValueError": Category.VALUE_ERROR,
    "AttributeError": Category.ATTRIBUTE_ERROR,
    "NameError": Category.ATTRIBUTE_ERROR,
    "UnboundLocalError": Category.ATTRIBUTE_ERROR,
    "ImportError": Category.IMPORT_ERROR,
    "ModuleNotFoundError": Category.IMPORT_ERROR,
    "AssertionError": Category.LOGIC_ERROR,
    "Failed": Category.LOGIC_ERROR,
    "XPASS": Category.LOGIC_ERROR,
    "ZeroDivisionError": Category.LOGIC_ERROR,
    "RecursionError": Category.LOGIC_ERROR,
    "KeyError": Category.DATA_ERROR,
    "IndexError": Category.DATA_ERROR,
    "UnicodeDecodeError": Category.DATA_ERROR,
    "UnicodeEncodeError": Category.DATA_ERROR,
    "JSONDecodeError": Category.DATA_ERROR,
    "NotImplementedError": Category.API_MISUSE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What a run says of failing tests that probably share a fault.

    Attributes:
        failures: Theirs.
        suspects: The likeliest locations with their probabilities, best first.
        in_test: Whether the error stands in the tests or their data.
    """

    failures: Sequence[Failure]
    suspects: Sequence[tuple[Location, float]] = ()
    in_test: bool = False


class Describer:
    """Turns groups into symptoms.

    Args:
        read: The locations of a file.
        rootdir: Absolute path of the project.
        summarizer: Words the hypothesis.
    """

    def __init__(
        self, read: Callable[[str], SourceMap | None], rootdir: str, summarizer: Summarizer
    ) -> None:
        self._read = read
        self._rootdir = rootdir
        self._summarizer = summarizer
        self._guards = Guards(read, rootdir)

    def symptom(self, group: Group) -> Symptom:
        """What is remembered of ``group``."""
        first = group.failures[0]
        constraints = map(self._guards.constraint, group.failures)
        constraint = next(filter(None, constraints), "")
        checks = map(self._guards.first_check, group.failures)
        where = _place(first)
        error = f"{first.exc_type}: {first.message}\n{where}".strip()
        signature = self._signature(group.failures)
        symptom = Symptom(
            failures=tuple(
                TestFailure(
                    node_id=failure.node_id,
                    fingerprint=fingerprint(failure, self._read, self._rootdir),
                    signature=self.signature_of(failure),
                )
                for failure in group.failures
            ),
            signature=signature,
            category=_category(first, in_test=group.in_test),
            hypothesis="",
            tags=frozenset(self._tags(group)),
            error=error[:ERROR_LENGTH],
            code=self._code(first)[:CODE_LENGTH],
            constraint=constraint,
            suspects=tuple(_named(where) for where, _ in group.suspects[:N_SUSPECTS]),
            in_test=group.in_test,
            first_check=next(filter(None, checks), ""),
        )
        p = group.suspects[0][1] if group.suspects else 0.0
        return replace(symptom, hypothesis=self._summarizer.begun(symptom, raised_at=where, p=p))

    def _signature(self, failures: Sequence[Failure]) -> str:
        """What most of the failures say; of equally many, the first."""
        said = Counter(self.signature_of(failure) for failure in failures)
        return said.most_common(1)[0][0]

    def signature_of(self, failure: Failure) -> str:
        """Type and message of one failure, masked."""
        message = failure.message.partition("\n  ")[0]  # what is below repeats it with values
        text = f"{failure.exc_type}: {masked(message, self._rootdir)}"
        return clipped(text, SIGNATURE_LENGTH)

    def _tags(self, group: Group) -> set[str]:
        tags = set()
        for failure in group.failures:
            tags.add(f"error:{failure.exc_type}")
            for frame in failure.frames:
                if frame.in_app and not frame.is_test and (source := self._read(frame.file)):
                    where = source.unit_of_code(frame.first_line, frame.name).location
                    tags |= {f"api:{where.qualname}", f"module:{where.module}"}
        for where, _ in group.suspects[:1]:
            tags |= {f"cause:{where.qualname}", f"module:{where.module}"}
        return tags

    def _code(self, failure: Failure) -> str:
        """Text of the function that raised, or of the test."""
        frame = failure.raise_frame
        where = failure.test_locations[0] if failure.test_locations else None
        if frame is not None and (source := self._read(frame.file)) is not None:
            where = source.unit_of_code(frame.first_line, frame.name).location
        source = self._read(where.file) if where is not None else None
        return source.text_of(where) if source is not None and where is not None else ""


def _named(where: Location) -> str:
    return f"{where.file} {where.qualname}"


def _place(failure: Failure) -> str:
    if failure.syntax_error is not None:
        return "at {}:{}".format(*failure.syntax_error)
    frame = failure.raise_frame
    return "" if frame is None else f"at {frame.file}:{frame.line} in {frame.name}"


def _category(failure: Failure, *, in_test: bool) -> Category:
    name = failure.exc_type
    if name == "TypeError" and any(words in failure.message for words in _MISUSES):
        return Category.API_MISUSE
    known = max((k for k in _CATEGORIES if name.endswith(k)), key=len, default="")
    found = _CATEGORIES.get(known, Category.OTHER)
    if found is Category.VALUE_ERROR and in_test:
        return Category.DATA_ERROR
    return found
