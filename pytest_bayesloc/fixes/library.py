"""All tools at hand, and which of them an error calls for.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from pytest_bayesloc.domain.fixing import ToolRecord
from pytest_bayesloc.domain.masking import masked
from pytest_bayesloc.domain.similarity import cosines
from pytest_bayesloc.domain.words import trigrams, words
from pytest_bayesloc.fixes import bounded
from pytest_bayesloc.fixes.definition import Definition
from pytest_bayesloc.fixes.project import Propose

N_BEST = 3
LEAST = 0.1  # similarity below which a tool is for something else


class Source(str, Enum):
    """Where a tool comes from."""

    PACKAGE = "package"
    PLUGIN = "plugin"
    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool with what is known of it.

    Attributes:
        definition: What it says of itself.
        source: Where it comes from.
        propose: Runs it; None if it may not be run.
        why_not: Why it may not be run; empty if it may.
        where: Path of its definition; empty for those of packages.
    """

    definition: Definition
    source: Source
    propose: Propose | None = field(default=None, compare=False)
    why_not: str = ""
    where: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A tool that an error calls for; ``similarity`` in [0, 1], 1 where its pattern matches."""

    tool: Tool
    similarity: float


class Library:
    """An index of tools; of two with one name the first stays.

    Args:
        tools: Those at hand, the most trusted source first.
        records: Per name of a tool, what became of its work; of others nothing is known.
        note: Tells the user, once.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        records: Mapping[str, ToolRecord] | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._records = records or {}
        self._note = note
        self._slow: set[str] = set()
        known: dict[str, Tool] = {}
        for tool in tools:
            known.setdefault(tool.name, self._retired(tool))
        self.tools: tuple[Tool, ...] = tuple(known.values())

    def search(self, error: str) -> list[Match]:
        """The tools for ``error`` that may run: by priority, then similarity, then success.

        Args:
            error: ``Type: message``.
        """
        usable = [tool for tool in self.tools if tool.propose is not None]
        found = [
            Match(tool=tool, similarity=likeness if tool.definition.error_pattern is None else 1.0)
            for tool, likeness in zip(usable, similarities(error, usable), strict=True)
            if tool.definition.error_pattern is None or self.is_called_for(tool, error)
        ]
        return sorted((match for match in found if match.similarity > LEAST), key=self._order)

    def is_called_for(self, tool: Tool, error: str) -> bool:
        """Whether a tool has a pattern, and it is found in ``error``."""
        pattern = tool.definition.error_pattern
        if pattern is None or tool.name in self._slow:
            return False
        if tool.source is Source.PACKAGE:
            return pattern.search(error) is not None
        is_found = bounded.found(pattern, error)
        if is_found is None:
            self._slow.add(tool.name)
            self._note(
                f"The fix tool {tool.name} is left out: its error_pattern is searched for longer "
                f"than {bounded.LIMIT_S:g} s in one error. Make it simpler: no repetition within "
                f"a repetition. (broken-tool)"
            )
        return bool(is_found)

    def worth(self, name: str) -> float:
        """The mean of a tool's success rate."""
        return self.record(name).worth

    def sure_from(self, name: str) -> float:
        """Similarity above which nobody is asked whether a tool fits."""
        return self.record(name).sure_from

    def record(self, name: str) -> ToolRecord:
        """What became of a tool's work; of a composition, of its first tool's."""
        return self._records.get(name.partition(" + ")[0], ToolRecord())

    def _retired(self, tool: Tool) -> Tool:
        record = self._records.get(tool.name)
        if record is None or not record.is_retired or tool.why_not:
            return tool
        why = f"retired: {record.n_verified} of {record.n_bugs} bugs"
        return replace(tool, propose=None, why_not=why)

    def _order(self, match: Match) -> tuple[int, float, float, str]:
        tool = match.tool
        priority = tool.definition.priority.value
        return priority, -match.similarity, -self.worth(tool.name), tool.name


def similarities(error: str, tools: Sequence[Tool]) -> list[float]:
    """Per tool, how near its description is to the masked error."""
    said = [f"{t.name} {t.definition.description} {' '.join(t.definition.tags)}" for t in tools]
    return cosines(_features(masked(error)), [_features(text) for text in said])


def _features(text: str) -> Counter[str]:
    found = Counter(words(text))
    found.update(f"3:{three}" for three in trigrams(text))
    return found
