"""What the main run and the server say to each other: one JSON value a line."""

from __future__ import annotations

import json
from typing import Any

# The environment variable that names the file with a server's start-up values, as JSON.
SERVER_VARIABLE = "PYTEST_BAYESLOC_SERVER"

Message = dict[str, Any]


def encode(message: Message) -> bytes:
    """``message`` as one line of ASCII."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


class LineBuffer:
    """Cuts what arrives in pieces into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that ``data`` completes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line]
