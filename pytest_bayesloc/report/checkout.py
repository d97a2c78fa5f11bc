"""Where the files of a result lie in the checkout of their repository.

A result names files relative to pytest's rootdir, which may be a subfolder. What a CI service shows
on lines of code is relative to the repository's root: this is the one place that turns the one into
the other.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

#: Where a CI service says that the repository lies.
VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
_DRIVE = re.compile(r"[A-Za-z]:/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A checkout.

    Attributes:
        root: Of the repository, absolute, with slashes.
        rootdir: Of the project, which is pytest's, in the same form.
    """

    root: str
    rootdir: str

    @classmethod
    def around(cls, rootdir: Path, environment: Mapping[str, str]) -> Checkout:
        """The checkout that ``rootdir`` lies in; ``rootdir`` itself where none is found.

        The nearest folder with a ``.git`` comes first: a checkout may be a folder of the workspace.
        """
        real = rootdir.resolve()
        above = (real, *real.parents)
        named = [Path(value).resolve() for name in VARIABLES if (value := environment.get(name))]
        roots = [*filter(_has_git, above), *(path for path in named if path in above), real]
        return cls(root=roots[0].as_posix(), rootdir=real.as_posix())

    def path(self, file: str) -> str | None:
        """``file`` of a result relative to the root of the repository; None if it lies outside."""
        full = self._absolute(file)
        inside = f"{self.root.rstrip('/')}/"
        return full[len(inside) :] if full.startswith(inside) else None

    def uri(self, file: str) -> str:
        """``file`` of a result as a URI: relative to the root, absolute if it lies outside."""
        path = self.path(file)
        if path is not None:
            return _quoted(path)
        full = self._absolute(file)
        return f"file://{'' if full.startswith('/') else '/'}{_quoted(full)}"

    def _absolute(self, file: str) -> str:
        if _DRIVE.match(file):  # another drive than rootdir's
            return file
        return posixpath.normpath(posixpath.join(self.rootdir, file))


def _has_git(folder: Path) -> bool:
    with suppress(OSError):
        return (folder / ".git").exists()  # a file in a worktree and a submodule
    return False


def _quoted(path: str) -> str:
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a name that no file system of bytes has given
        name = path.encode("utf-8", "replace")
    return quote(name, safe="/")
