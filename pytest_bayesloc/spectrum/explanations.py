"""Texts of failed assertions are made inside the test: what ``__repr__`` runs is no coverage."""

from __future__ import annotations

import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

# Called only where an assertion has failed, by pytest's rewritten ``assert`` and by unittest.
MAKERS = {
    "_pytest.assertion.rewrite": ("_saferepr", "_call_reprcompare", "_format_assertmsg"),
    "unittest.case": ("safe_repr", "_common_shorten_repr"),
}


class Explanations:
    """Has the makers of such texts run under a context manager.

    Args:
        paused: Makes the context manager.
    """

    def __init__(self, paused: Callable[[], AbstractContextManager[None]]) -> None:
        self._paused = paused
        self._originals: list[tuple[Any, str, Callable[..., Any]]] = []

    def mute(self) -> None:
        """Begin; modules that nobody has imported are left alone."""
        if self._originals:
            return
        for module_name, names in MAKERS.items():
            module = sys.modules.get(module_name)
            for name in names:
                maker = getattr(module, name, None)
                if maker is not None:
                    self._originals.append((module, name, maker))
                    setattr(module, name, self._muted(maker))

    def _muted(self, maker: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(maker)
        def muted(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - stands for any maker
            with self._paused():
                return maker(*args, **named)

        return muted

    def unmute(self) -> None:
        """End. May be called twice."""
        while self._originals:
            module, name, maker = self._originals.pop()
            setattr(module, name, maker)
