"""Goes back from a wrong value: who made it, of what, and through whose hands it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.contents import contents_of, is_shared
from pytest_bayesloc.rerun.flow import Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.rerun.flow import Activation, FlowTracer

MAX_STEPS = 6  # of an object that may be the same elsewhere by chance
MAX_ENDS = 8
ARGUMENT_LEVELS = 3
HELD_LEVELS = 3  # of an argument: itself, what it holds, and what that holds
MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A value that was wrong when the test failed.

    Attributes:
        label: Its name in the source.
        value: The object.
        user: The call that used it.
        holder: The object that had it as ``key``, if it was taken from one.
        key: The attribute.
        is_part: Whether it is a part of what the source speaks of there.
    """

    label: str
    value: object
    user: Activation
    holder: object = MISSING
    key: str = ""
    is_part: bool = False


class Origins:
    """Answers questions about what ``tracer`` noted, after it was stopped."""

    def __init__(self, tracer: FlowTracer) -> None:
        self._tracer = tracer
        self._callees: dict[int, list[Activation]] = {}
        for activation in tracer.activations:
            self._callees.setdefault(id(activation.caller), []).append(activation)

    # -- who made a value

    def of_root(self, root: Root) -> list[Occurrence]:
        """Return who made ``root``, and who changed it before it was used."""
        at = root.user.left or self._tracer.clock
        if root.key and is_shared(root.value):
            written = [c for c in self._tracer.changes(root.holder) if c.key == root.key]
            if written and written[-1].value is root.value:
                last = written[-1]
                return self._steps(root.value, last.maker, last.clock, root.key, last.line)
        return self.makers(root.value, root.user, at, root.label)

    def giver(self, root: Root) -> tuple[Activation | None, int]:
        """Return the call nearest to the use of ``root`` that had it from no argument; its line."""
        user, line = root.user, root.user.left_at
        while user.caller is not None and self._was_given(user, root):
            user, line = user.caller, user.called_at
        return (None, 0) if self._was_given(user, root) else (user, line)

    def _was_given(self, user: Activation, root: Root) -> bool:
        level = list(user.args.values())
        for _ in range(HELD_LEVELS):
            if any(value is root.value or value is root.holder for value in level):
                return True
            held = [contents_of(value) for value in level]
            level = [child for children in held if children for child in children.values()]
        return False

    def makers(
        self, value: object, user: Activation, at: int, name: str, *, hops: int = 0
    ) -> list[Occurrence]:
        """Return who made ``value``, which ``user`` had at ``at``, and who changed it before."""
        if is_shared(value):
            return self._steps(value, user, at, name, user.left_at)
        first = self._tracer.first(value)
        if first is None or first.clock > at:
            first = Occurrence(value, at, user, user.left_at, name)
        source = self._copied(value, first.maker) if hops < MAX_STEPS else MISSING
        if source is not MISSING:
            found = self.makers(source, first.maker, first.maker.entered, name, hops=hops + 1)
        else:
            found = [first]
        for change in self._tracer.changes(value):
            known = any(change.maker is other.maker for other in found)
            if first.clock < change.clock <= at and not known and change.maker is not first.maker:
                found.append(change)
        return found[:MAX_ENDS]

    def _steps(
        self, value: object, user: Activation | None, at: int, name: object, line: int
    ) -> list[Occurrence]:
        """Follow an object that is the same elsewhere by chance: by the latest event before."""
        for _ in range(MAX_STEPS):
            if user is None:
                return []
            names = [n for n, given in user.args.items() if given is value]
            if names:
                name = name if name in names else names[0]
                if user.caller is None:
                    return [Occurrence(value, user.entered, user, user.called_at, name)]
                user, at, line = user.caller, user.entered, user.called_at
                continue
            result = self._latest_result(value, user, at)
            if result is not None:
                user, at, line, name = result, result.left, result.left_at, "return"
                continue
            held = self._latest_held(value, user, at, name)
            if held is None or held.maker is user:
                break
            user, at, line, name = held.maker, held.clock, held.line, held.key
        return [Occurrence(value, at, user, line, name)] if user is not None else []

    def _latest_result(self, value: object, user: Activation, at: int) -> Activation | None:
        for callee in reversed(self._callees.get(id(user), ())):
            if callee.has_result and callee.result is value and 0 < callee.left < at:
                return callee
        return None

    def _latest_held(
        self, value: object, user: Activation, at: int, name: object
    ) -> Occurrence | None:
        for holder in user.args.values():
            for change in reversed(self._tracer.changes(holder)):
                if change.value is value and change.key == name and change.clock < at:
                    return change
        return None

    def _copied(self, value: object, maker: Activation) -> object:
        """Return the argument of ``maker``, or a part of it, with the very elements of ``value``.

        ``MISSING`` if there is none.
        """
        own = _identities(value)
        if len(own) > 1:
            for given in maker.args.values():
                below = contents_of(given) or {}
                for source in (given, *below.values()):
                    if source is not value and _identities(source) == own:
                        return source
        return MISSING

    def arguments(self, maker: Activation) -> Iterator[tuple[str, list[Occurrence]]]:
        """Yield per parameter of ``maker`` who made what it was given."""
        for name, value in maker.args.items():
            if maker.caller is None:
                yield name, []
            else:
                yield name, self.makers(value, maker, maker.entered, name)


def _identities(value: object) -> list[int]:
    """Return what a built-in container holds, by identity; nothing of anything else."""
    if type(value) not in (list, tuple, set, frozenset, dict):
        return []
    return sorted(id(held) for held in (contents_of(value) or {}).values())
