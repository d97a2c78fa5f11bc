"""Causes in how a test replaces what the code uses: a name that the code does not look up there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pytest_bayesloc.domain.failure import Cause, CauseKind, Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, Unit
from pytest_bayesloc.domain.texts import plain_name
from pytest_bayesloc.fixes.side_effects import aliases
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.syntax.nodes import called_name, imported_from, nodes_of, walk

_NO_ATTRIBUTE = re.compile(r"<(?:module|class) '?([\w.]+)'?.*> does not have the attribute '(\w+)'")
_NOT_REAL = re.compile(r"Mock object has no attribute '(\w+)'|'?(\w+)'? is not a valid assertion")
_NO_COROUTINE = re.compile(r"can't be used in 'await' expression|can't be awaited")
_MOCK_TYPE = re.compile(r"'(?:Magic|Async|NonCallable)*Mock' (?:and|object)|and '(?:Magic)?Mock'")
_MOCK = re.compile(r"<(?:Magic|Async|NonCallable)*Mock (?:name='([^']+)' )?(?:spec='\w+' )?id=")
_MAKES_MOCKS = re.compile(r"\b(?:mock|mocker|patch|Mock|MagicMock|monkeypatch)\b")


class Patch(NamedTuple):
    """A name that a test replaces: in a module or class, by its dotted name, at a line."""

    owner: str
    name: str
    line: int

    @property
    def target(self) -> str:
        """As ``mock.patch`` takes it."""
        return f"{self.owner}.{self.name}"


class MockCauses:
    """Finds tests whose replacements don't replace what the code uses.

    ``executed`` are the functions of the code that a test executes.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def cause_of(self, failure: Failure, executed: Iterable[Location]) -> Cause | None:
        """Return the cause of ``failure``; None where its mocks are not known to be wrong."""
        units = [found[1] for w in failure.test_locations if (found := self._sources.unit(w))]
        if not units:
            return None
        functions = [where for where in executed if not where.is_test]
        for unit in units:
            for patch in self._patches(unit):
                cause = self._elsewhere(failure, unit, patch, functions)
                if cause or (cause := self._entered(failure, unit, patch, functions)):
                    return cause
        making = [u for u in units if _MAKES_MOCKS.search(self._sources.own_text(u.location))]
        told = self._told(failure, making[0]) if making else None
        return self._swapped(failure, units[0]) or told

    # -- a target that the code does not look up

    def _elsewhere(
        self, failure: Failure, unit: Unit, patch: Patch, functions: list[Location]
    ) -> Cause | None:
        """Return the cause if executed code holds the patched function by a name of its own."""
        home = self._sources.module(patch.owner)
        real = [w for w in functions if home and w.file == home.file and w.qualname == patch.name]
        if home is not None and not real:
            return None
        for file in dict.fromkeys(where.file for where in functions):
            own = [where for where in functions if where.file == file]
            if name := self._imported_as(file, patch, own):
                right = f"{own[0].module}.{name}"
                test = plain_name(failure.node_id)
                return Cause(
                    kind=CauseKind.MOCK,
                    text=f"{test} patches {patch.target} ({unit.location.file}:{patch.line}), "
                    f"and {file} imported {patch.name} before: it calls the real one",
                    advice=f"patch the name where it is used: {right}",
                    location=unit.location,
                    line=patch.line,
                    state=right,
                )
        return None

    def _imported_as(self, file: str, patch: Patch, functions: list[Location]) -> str:
        """Return the name of what ``patch`` replaces in ``file``, if a function there uses it."""
        source = self._sources.map(file)
        body = getattr(source.module.node, "body", ()) if source is not None else ()
        for node in body:
            if not isinstance(node, ast.ImportFrom):
                continue
            if imported_from(node, functions[0].package) != patch.owner:
                continue
            for alias in node.names:
                name = alias.asname or alias.name
                if alias.name == patch.name and any(
                    re.search(rf"\b{name}\b", self._sources.own_text(where)) for where in functions
                ):
                    return name
        return ""

    def _patches(self, unit: Unit) -> Iterator[Patch]:
        """Yield what a test or fixture replaces, also by decorators, and those of its class."""
        outer = [o.node for o in unit.enclosing[:-1] if isinstance(o.node, ast.ClassDef)]
        decorators = [d for node in outer for d in node.decorator_list]
        source = self._sources.map(unit.location.file)
        if source is None or ("patch" not in source.text and "setattr" not in source.text):
            return
        modules = aliases(source.module.node)
        for node in (n for top in (*decorators, unit.node) for n in walk(top)):
            if isinstance(node, ast.Call) and (found := _replaced(node, modules)):
                yield Patch(*found, node.lineno)

    def _entered(
        self, failure: Failure, unit: Unit, patch: Patch, functions: list[Location]
    ) -> Cause | None:
        """Return the cause if a test speaks of a ``return_value`` that the code enters by ``with``.

        The code gets what ``__enter__`` gives then.
        """
        nodes = nodes_of(unit.node, ast.Attribute)
        of_test = {n.attr for n in nodes if getattr(n.value, "attr", "") == "return_value"}
        units = [found[1] for where in functions if (found := self._sources.unit(where))]
        uses = [(u, *use) for u in units for use in _entered_by(u.node, patch.name)]
        for code, line, used in uses if "__enter__" not in of_test else ():
            for attribute in sorted(used & of_test):
                test, file = plain_name(failure.node_id), code.location.file
                return Cause(
                    kind=CauseKind.MOCK,
                    text=f"{test} uses return_value.{attribute} of {patch.target}, and "
                    f"{code.location.qualname} ({file}:{line}) uses what `with` gives",
                    advice=f"use return_value.__enter__.return_value.{attribute}",
                    location=unit.location,
                    line=patch.line,
                    state=patch.target,
                )
        return None

    def _swapped(self, failure: Failure, unit: Unit) -> Cause | None:
        """Return the cause if ``@patch`` decorators give parameters the mocks of each other."""
        node = unit.node
        if not isinstance(node, FunctionNode):
            return None
        targets = [
            found[1]
            for decorator in reversed(node.decorator_list)
            if isinstance(decorator, ast.Call) and (found := _replaced(decorator, {}))
        ]
        names = [re.sub(r"^mock_|_mock$", "", a.arg) for a in node.args.args if a.arg != "self"]
        given = names[: len(targets)]
        if given == targets or sorted(given) != sorted(targets):
            return None
        test = plain_name(failure.node_id)
        return Cause(
            kind=CauseKind.MOCK,
            text=f"{test} takes its mocks in another order than its decorators give them: "
            f"{targets[0]} comes first, since the lowest decorator is applied first",
            advice=f"name the parameters {', '.join(targets)}",
            location=unit.location,
            line=unit.location.start_line,
        )

    # -- what the failure says

    def _told(self, failure: Failure, unit: Unit) -> Cause | None:
        message = failure.message
        test = plain_name(failure.node_id)
        if found := _NO_ATTRIBUTE.search(message):
            said = f"{test} patches {found[1]}.{found[2]}, which does not exist"
            advice = "patch a name that the code has"
        elif found := _NOT_REAL.search(message):
            said = f"{test} asks a mock for {found[1] or found[2]}, which the real object lacks"
            advice = "name an attribute of the real object"
        elif _NO_COROUTINE.search(message):
            said = f"{test} replaces a coroutine function with one whose result can't be awaited"
            advice = "use mock.AsyncMock there"
        elif found := _MOCK.search(message) or _MOCK_TYPE.search(message):
            what = (found.re is _MOCK and found[1]) or "a mock"
            said = f"{test} does not set what {what} returns: the code got a mock instead"
            advice = (
                f"set the value that the code expects of {what} (return_value), or use autospec"
            )
        else:
            return None
        return Cause(
            kind=CauseKind.MOCK,
            text=said,
            advice=advice,
            location=unit.location,
            line=unit.location.start_line,
        )


def _entered_by(function: ast.AST, name: str) -> Iterator[tuple[int, set[str]]]:
    """Yield each ``with NAME(...) as ...`` by its line, with the attributes of what it gives."""
    attributes = nodes_of(function, ast.Attribute)
    items = nodes_of(function, ast.withitem)
    for made, held in ((item.context_expr, item.optional_vars) for item in items):
        if isinstance(made, ast.Call) and called_name(made) == name and isinstance(held, ast.Name):
            yield made.lineno, {n.attr for n in attributes if getattr(n.value, "id", "") == held.id}


def _replaced(call: ast.Call, modules: dict[str, str]) -> tuple[str, str] | None:
    """Return the dotted owner and the name that ``call`` replaces, if it is a patch."""
    named = ast.unparse(call.func)
    first, *rest = call.args or (None,)
    text = first.value if isinstance(first, ast.Constant) else None
    if named.endswith(("patch", "setattr")) and isinstance(text, str) and "." in text:
        owner, _, name = text.rpartition(".")
        return owner, name
    second = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
    if named.endswith(("patch.object", "setattr")) and isinstance(second, str) and first:
        start, *more = ast.unparse(first).split(".")
        if start in modules:
            return ".".join([modules[start], *more]), second
    return None
