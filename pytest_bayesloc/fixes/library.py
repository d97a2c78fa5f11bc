"""Fix tools at hand, and those that an error calls for.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, islice
from typing import TypeAlias

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level, ToolRecord
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.domain.source import tree_of
from pytest_bayesloc.domain.texts import bm25, masked, words
from pytest_bayesloc.fixes.definition import PRIORITIES, Tool, ToolOrigin
from pytest_bayesloc.fixes.project import Made, Project, Proposal, Task, proposal
from pytest_bayesloc.syntax.text import TextEdit

N_BEST = 3
N_JUDGED = 5  # questions to a judge: an answer takes seconds and money, a dry run neither
SLOW_S = 5.0  # for an answer
LEAST = 0.1  # similarity below which a tool is for something else
MAX_PROPOSALS = 8  # of one tool for one file
LIMIT_S = 2.0  # to search a pattern of a user
MAX_TEXT = 2_000
_SEARCH = (
    "import json, re, sys; p, flags, t = json.load(sys.stdin); "
    "sys.exit(0 if re.search(p, t, flags) else 3)"
)
_FOUND, _NOT_FOUND = 0, 3
#: A tool of the package, as it is written.
Answer: TypeAlias = Callable[[Task, Project], Iterator[Made]]
_REPEATS = re.compile(r"[*+{]")


def package_tool(
    description: str,
    *,
    error_pattern: str,
    level: Level,
    priority: str = "high",
    applies_to: tuple[str, ...] = ("*.py",),
    needs_tree: bool = True,
) -> Callable[[Answer], Tool]:
    """Make a tool of the package of a function, which the tool has its name from.

    The arguments are those of ``Tool``. Nobody is asked about a sure match of a safe tool of high
    priority. What ``needs_tree`` is asked about files that parse alone, and leaves them parsing.
    """

    def made(answer: Answer) -> Tool:
        return Tool(
            name=answer.__name__.replace("_", "-"),
            description=description,
            error_pattern=re.compile(error_pattern),
            applies_to=applies_to,
            priority=priority,
            level=level,
            auto_apply=level is Level.SAFE and priority == "high",
            propose=partial(_proposals, answer, needs_tree=needs_tree),
        )

    return made


def _proposals(
    answer: Answer, task: Task, project: Project, *, needs_tree: bool
) -> Iterator[Proposal]:
    whole = (
        given
        if isinstance(given, Proposal)
        else proposal(task.text, *([given] if isinstance(given, TextEdit) else given))
        for given in answer(task, project)
    )
    if not needs_tree:
        yield from whole
    elif tree_of(task.code) is not None:
        # Before Python 3.12 a place in an f-string may lie within a character; trees may be deep.
        with suppress(UnicodeError, RecursionError):
            yield from parsing(task.code, whole)


def parsing(
    code: str, proposals: Iterable[Proposal], max_tries: float = math.inf
) -> Iterator[Proposal]:
    """The first ``proposals`` that change ``code`` and parse, each once."""
    seen = {code}
    n_made = 0
    for made in proposals:
        if made.code in seen:
            continue
        if len(seen) > max_tries or n_made == MAX_PROPOSALS:
            return
        seen.add(made.code)
        if tree_of(made.code) is not None:
            n_made += 1
            yield made


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
            record, given = self._records.get(tool.name), tool
            if record is not None and record.is_retired and not tool.why_not:
                why = f"retired: {record.n_verified} of {record.n_bugs} bugs"
                given = replace(tool, propose=None, why_not=why)
            known.setdefault(tool.name, given)
        self.tools: tuple[Tool, ...] = tuple(known.values())
        self.names = frozenset(known)

    def search(self, error: str) -> list[tuple[Tool, float]]:
        """The tools for ``error`` that may run, by priority, then similarity, then success.

        Args:
            error: ``Type: message``.

        Returns:
            Each with its similarity in [0, 1], which is 1 where its pattern matches.
        """
        usable = [tool for tool in self.tools if tool.propose is not None]
        said = (f"{tool.name} {tool.description} {' '.join(tool.tags)}" for tool in usable)
        near = bm25(Counter(words(masked(error))), [Counter(words(text)) for text in said])
        found = [
            (tool, likeness if tool.error_pattern is None else 1.0)
            for tool, likeness in zip(usable, near, strict=True)
            if tool.error_pattern is None or self.is_called_for(tool, error)
        ]
        return sorted((match for match in found if match[1] > LEAST), key=self._order)

    def is_called_for(self, tool: Tool, error: str) -> bool:
        """Whether a tool has a pattern, and it is found in ``error``."""
        pattern = tool.error_pattern
        if pattern is None or tool.name in self._slow:
            return False
        if tool.origin is ToolOrigin.PACKAGE:
            return pattern.search(error) is not None
        is_found = _is_found(pattern, error)
        if is_found is None:
            self._slow.add(tool.name)
            self._note(
                f"The fix tool {tool.name} is left out: its error_pattern is searched for longer "
                f"than {LIMIT_S:g} s in one error. Make it simpler: no repetition within "
                f"a repetition. (broken-tool)"
            )
        return bool(is_found)

    def record(self, name: str) -> ToolRecord:
        """Returns the record of a tool; of a composition, that of its first tool."""
        return self._records.get(name.partition(" + ")[0], ToolRecord())

    def _order(self, match: tuple[Tool, float]) -> tuple[int, float, float, str]:
        tool, similarity = match
        return (
            PRIORITIES.index(tool.priority),
            -similarity,
            -self.record(tool.name).worth,
            tool.name,
        )


class ToolRunner:
    """Asks the tools that an error calls for; one that fails, or takes long, is asked no more.

    Args:
        library: The tools.
        project: What tools may ask about the project.
        judge: Whether a tool, described in words, is for a task; None if it can't tell. Asked
            about tools that don't match for sure.
        note: Tells the user.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        library: Library,
        project: Project,
        judge: Callable[[Task, str], bool | None],
        note: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self.library = library
        self._project = project
        self._judge = judge
        self._note = note
        self._clock = clock
        self._left_out: set[str] = set()
        self._judged: dict[tuple[str, str, str], bool | None] = {}

    def matches(self, tasks: Sequence[Task]) -> list[tuple[Tool, float]]:
        """The tools that the errors of ``tasks`` call for, each with its best similarity."""
        errors = dict.fromkeys(task.error for task in tasks)
        found: dict[str, tuple[Tool, float]] = {}
        for tool, similarity in chain.from_iterable(map(self.library.search, errors)):
            if tool.name not in found or found[tool.name][1] < similarity:
                found[tool.name] = tool, similarity
        return list(found.values())

    def is_for(self, tool: Tool, similarity: float, task: Task) -> bool:
        """Whether a tool may change the file of ``task``, and nobody says that it is not for it."""
        if not tool.may_change(task.filename):
            return False
        if similarity > self.library.record(tool.name).sure_from and tool.auto_apply:
            return True
        asked = tool.name, task.error, task.filename
        if asked not in self._judged and len(self._judged) < N_JUDGED:
            self._judged[asked] = self._judge(task, tool.description)
        return self._judged.get(asked) is not False  # where nobody knows, the dry run decides

    def ask(self, tool: Tool, task: Task) -> list[Proposal]:
        """The proposals of a tool for ``task``."""
        if tool.propose is None or tool.name in self._left_out:
            return []
        started = self._clock()
        why = ""
        made: list[Proposal] = []
        try:
            made = list(islice(tool.propose(task, self._project), MAX_PROPOSALS))
        except ToolError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - a tool may be anybody's
            why = (
                f"The fix tool {tool.name} failed ({type(error).__name__}: {error}): it is left "
                "out of this run. (broken-tool)"
            )
        spent_s = self._clock() - started
        if not why and spent_s > SLOW_S:
            why = (
                f"The fix tool {tool.name} took {spent_s:.0f} s for an answer: it is not asked "
                "again in this run. (broken-tool)"
            )
        if why:
            self._left_out.add(tool.name)
            self._note(why)
        return made


@lru_cache(maxsize=1_024)
def _is_found(pattern: re.Pattern[str], text: str) -> bool | None:
    """Whether a user's pattern is found in the start of a text; None if that takes too long.

    Nothing stops a search in this process. So a pattern that may take exponential time is
    searched in another, which takes some 20 ms.
    """
    text = text[:MAX_TEXT]
    n_repeats = len(_REPEATS.findall(pattern.pattern))
    if n_repeats == 0 or (n_repeats == 1 and "(" not in pattern.pattern):
        return pattern.search(text) is not None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _SEARCH],
            input=json.dumps([pattern.pattern, pattern.flags, text]).encode("ascii"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError:  # no process can be started
        return False
    return {_FOUND: True, _NOT_FOUND: False}.get(done.returncode)
