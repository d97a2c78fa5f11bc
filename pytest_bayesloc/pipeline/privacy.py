"""What is nobody's business: how it is known on this machine."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_bayesloc.llm.privacy import Privacy

if TYPE_CHECKING:
    from collections.abc import Iterable


def privacy_of(rootdir: Path, never_sent: Iterable[str]) -> Privacy:
    """What cleans texts before others read them.

    Args:
        rootdir: Of the project.
        never_sent: Globs of files whose text is not shown.
    """
    try:
        user, home = getpass.getuser(), str(Path.home())
    except (KeyError, OSError, RuntimeError, ImportError):
        user, home = "", ""
    environment = dict(os.environ)
    base = urlsplit(environment.get("OPENAI_BASE_URL", ""))
    if not base.password:
        environment.pop("OPENAI_BASE_URL", None)  # an address, no secret
    return Privacy(
        rootdir=str(rootdir),
        home=home,
        user=user,
        environment=environment,
        never_sent=never_sent,
    )
