"""An object that fails the test in which anything of its own is run."""

from __future__ import annotations

from typing import NoReturn


class _Loud(type):
    def __getattribute__(cls, name: str) -> NoReturn:
        raise AssertionError(f"asked its class for {name}")

    def __repr__(cls) -> NoReturn:
        raise AssertionError("wrote its class")


class Hostile(metaclass=_Loud):
    """Whose every method fails; ``object.__setattr__`` gives it attributes."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(f"asked for {name}")

    def __repr__(self) -> NoReturn:
        raise AssertionError("written")

    def __len__(self) -> NoReturn:
        raise AssertionError("asked for its length")

    def __bool__(self) -> NoReturn:
        raise AssertionError("asked for its truth")

    def __eq__(self, other: object) -> NoReturn:
        raise AssertionError("compared")

    def __lt__(self, other: object) -> NoReturn:
        raise AssertionError("compared")

    def __hash__(self) -> NoReturn:
        raise AssertionError("hashed")
