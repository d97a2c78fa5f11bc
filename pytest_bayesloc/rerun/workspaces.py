"""The same folder under two names: on this machine, and where tests are run again."""

from __future__ import annotations

import re
from functools import cached_property

_BEFORE = r"(?<![\w./\\-])"
_BEHIND = r"""(?=[/\\:;,'"()<>\[\]{}\s]|$)"""


class Workspaces:
    """Maps paths both ways, also in texts that hold some.

    Args:
        here: The folder on this machine, absolute.
        there: The same folder there, absolute.
    """

    def __init__(self, here: str, there: str) -> None:
        self.here_folder = here.rstrip("/") or "/"
        self.there_folder = there.rstrip("/") or "/"

    @cached_property
    def _to_there(self) -> re.Pattern[str]:
        return re.compile(f"{_BEFORE}{re.escape(self.here_folder)}{_BEHIND}")

    @cached_property
    def _to_here(self) -> re.Pattern[str]:
        return re.compile(f"{_BEFORE}{re.escape(self.there_folder)}{_BEHIND}")

    @property
    def are_one(self) -> bool:
        """Whether both names are the same."""
        return self.here_folder == self.there_folder

    def there(self, text: str) -> str:
        """``text`` with the paths of the other side."""
        if self.are_one:
            return text
        return self._to_there.sub(lambda _: self.there_folder, text)

    def here(self, text: str) -> str:
        """``text`` with the paths of this side."""
        if self.are_one:
            return text
        return self._to_here.sub(lambda _: self.here_folder, text)

    def holds(self, path: str) -> bool:
        """Whether an absolute path of this side is in the folder."""
        return path == self.here_folder or path.startswith(f"{self.here_folder}/")
