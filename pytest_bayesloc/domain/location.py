"""Locations of code: the units that are ranked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

MODULE = "<module>"
DATA = "<data>"  # of a file that is no code
N_DIGITS = 10  # of the number of a line


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Location:
    """A function, a class body or a module body in a file of the project.

    Attributes:
        file: POSIX path relative to rootdir (or ``../`` from it).
        start_line: First line, 1-based: of ``def`` or ``class``, below any decorators.
        end_line: Last line, inclusive.
        qualname: ``__qualname__`` of the function or class, ``<module>`` for a module body,
            ``<data>`` for a file that is no code.
        is_test: Whether it is a test, a fixture, or other code of a test file.
    """

    file: str
    start_line: int
    end_line: int
    qualname: str
    is_test: bool = False

    def __post_init__(self) -> None:
        if not self.file or not 1 <= self.start_line <= self.end_line:
            raise ValueError(
                f"Location {self.file!r}:{self.start_line}-{self.end_line} is not a range of lines "
                "in a file: expected a file and 1 <= start_line <= end_line."
            )

    @property
    def module(self) -> str:
        """Dotted module name guessed from the path: ``src/shop/cart.py`` -> ``shop.cart``."""
        parts = [part for part in PurePosixPath(self.file).with_suffix("").parts if part != ".."]
        if parts[:1] == ["src"] and len(parts) > 1:
            parts = parts[1:]
        if parts[-1:] == ["__init__"] and len(parts) > 1:
            parts = parts[:-1]
        return ".".join(parts)

    @property
    def package(self) -> str:
        """Dotted name of the package that its file is in; of an ``__init__.py`` its own."""
        is_package = PurePosixPath(self.file).name == "__init__.py"
        return self.module if is_package else self.module.rpartition(".")[0]

    @property
    def fqn(self) -> str:
        """Fully qualified name: module and qualified name."""
        return self.module if self.qualname == MODULE else f"{self.module}.{self.qualname}"

    @property
    def inspectable(self) -> bool:
        """Whether a patch can be aimed at it: not made by the compiler (``<lambda>``, ...)."""
        if self.qualname == MODULE:
            return True
        return not self.qualname.startswith("<") and ".<" not in self.qualname.replace(
            ".<locals>", ""
        )

    def is_meant(self, place: str) -> bool:
        """Return whether ``place`` names it: by ``file:line``, qualified name, or both."""
        place = place.strip()
        if place in {str(self), self.qualname, f"{self.file} {self.qualname}"}:
            return True
        file, _, line = place.partition(" ")[0].rpartition(":")
        if file == self.file and line.isdecimal() and len(line) < N_DIGITS:
            return self.start_line <= int(line) <= self.end_line
        return self.qualname.endswith(f".{place}")

    def __str__(self) -> str:
        return f"{self.file}:{self.start_line} {self.qualname}"


def code_name(code: CodeType) -> str:
    """The qualified name of ``code``; before Python 3.11 its plain one."""
    return str(getattr(code, "co_qualname", code.co_name))
