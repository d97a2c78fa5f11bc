"""Redacts what never leaves the machine: secrets, names of its user, and files that are named."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pytest_bayesloc.domain.redaction import Redaction

T = TypeVar("T")

#: Files whose text is never sent, whatever the user adds.
NEVER_SENT = (
    ".env*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "*secret*",
    "*credential*", "*password*",
)  # fmt: skip
HOME, USER, ROOT = "<home>", "<user>", "<rootdir>"
#: Names of accounts that name nobody.
_NOBODY = frozenset(
    {"admin", "build", "builder", "ci", "circleci", "dev", "docker", "gitlab-runner", "jenkins",
     "node", "nobody", "py", "python", "root", "runner", "test", "tester", "travis", "ubuntu",
     "user", "vagrant", "vscode", "work", "worker"}
)  # fmt: skip
_SHORTEST_USER = 3
_HOMES = re.compile(r"(?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+(?P<user>[\w.@-]+)")


class Privacy:
    """Cleans texts before anything leaves the machine.

    Args:
        rootdir: Of the project, absolute.
        home: Of the user, absolute; empty if unknown.
        user: The name of the account; empty if unknown.
        environment: Variables; values of those that are named like secrets are taken out.
        never_sent: More globs of files, by path or by name.
    """

    def __init__(
        self,
        *,
        rootdir: str = "",
        home: str = "",
        user: str = "",
        environment: Mapping[str, str] | None = None,
        never_sent: Iterable[str] = (),
    ) -> None:
        self._redaction = Redaction(environment)
        folders = [(rootdir, ROOT), (home, HOME)]
        self._folders = [(path, mask) for path, mask in folders if len(path) > 1]
        is_somebody = len(user) >= _SHORTEST_USER and user.lower() not in _NOBODY
        self._user = re.compile(rf"(?<!\w){re.escape(user)}(?!\w)") if is_somebody else None
        self._globs = tuple(glob.lower() for glob in (*NEVER_SENT, *never_sent))

    def may_send(self, file: str) -> bool:
        """Return whether the text of ``file``, relative to rootdir, may be sent."""
        path = PurePosixPath(file.replace("\\", "/").lower())
        names = (*path.parts, path.as_posix())
        return not any(fnmatchcase(name, glob) for glob in self._globs for name in names)

    def reader(self, read: Callable[[str], T | None]) -> Callable[[str], T | None]:
        """Return ``read`` restricted to files that may be sent; it returns None for all others."""
        return lambda file: read(file) if self.may_send(file) else None

    def clean(self, text: str) -> str:
        """Return ``text`` without secrets, home folders and user names."""
        text = self._redaction.clean(text)
        for path, mask in self._folders:
            text = text.replace(path, mask)
        text = _HOMES.sub(HOME, text)
        return self._user.sub(USER, text) if self._user else text


def local_privacy(rootdir: Path, never_sent: Iterable[str]) -> Privacy:
    """Collect what is redacted: secrets and names of this machine, and files by their globs."""
    try:
        user, home = getpass.getuser(), str(Path.home())
    except (KeyError, OSError, RuntimeError, ImportError):
        user, home = "", ""
    return Privacy(
        rootdir=str(rootdir), home=home, user=user, environment=os.environ, never_sent=never_sent
    )
