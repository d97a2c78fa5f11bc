"""Reads what a child says of the way of a wrong value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.failure import Frame
from pytest_bayesloc.domain.flow import Maker, ValueFlow, WrongValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.link import Message


def flow_of(node_id: str, message: Message, error: str) -> ValueFlow:
    """Return the way of the value that was wrong in the test ``node_id``.

    Args:
        node_id: The test.
        message: Of a ``FlowProbe``.
        error: First line of the error that the test ended with.
    """
    return ValueFlow(
        node_id=node_id,
        error=error,
        user=_frame(message["user"]),
        condition=message["condition"],
        values=tuple(
            WrongValue(
                label=label,
                makers=_makers(makers),
                giver=_frame(giver) if giver else None,
                is_part=is_part,
            )
            for label, makers, giver, is_part in message["values"]
        ),
    )


def _makers(raw: Sequence[Mapping[str, Any]]) -> tuple[Maker, ...]:
    return tuple(
        Maker(
            frame=_frame(maker["frame"]),
            key=maker["key"],
            is_held=maker["held"],
            arguments={name: _makers(given) for name, given in maker["arguments"].items()},
        )
        for maker in raw
    )


def _frame(raw: Sequence[Any]) -> Frame:
    file, line, name, first_line = raw
    return Frame(file=file, line=line, name=name, first_line=first_line, in_app=True)
