"""Keeps questions and answers by content, so that they need not be asked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.llm.endpoint import CallError, ChatReply

FORMAT = 1
FOLDER = ".bayesloc/llm"  # relative to rootdir
_KEY_LENGTH = 24
_MAX_FILE = 4 << 20


class Exchanges:
    """Replies by the content of their requests, a file each.

    Args:
        folder: Where they are kept.
        mode: ``live`` asks what is not kept, ``record`` asks always, ``replay`` never asks.
        write: Writes a text to a path in one step.
    """

    def __init__(self, folder: Path, mode: str, write: Callable[[Path, str], None]) -> None:
        self._folder = folder
        self.mode = mode
        self._write = write

    def find(self, use: str, body: Mapping[str, Any]) -> ChatReply | CallError | None:
        """Return what is kept of this request; None if it has to be sent.

        A request that failed is kept for replays alone: it may fare better now.
        """
        if self.mode == "record":
            return None
        kept = self._read(self._path(use, body))
        if isinstance(kept, ChatReply):
            return kept
        if self.mode == "live":
            return None
        return kept or CallError(
            f"nothing is kept of this request in {self._folder.name}",
            n_calls=0,
            hint="Run once with bayesloc_llm_mode=record.",
        )

    def keep(self, use: str, body: Mapping[str, Any], answer: ChatReply | CallError) -> None:
        """Keep an answer, or that there was none; nothing is kept where nothing can be written."""
        document: dict[str, Any] = {"format": FORMAT, "use": use, "request": dict(body)}
        if isinstance(answer, ChatReply):
            document["reply"] = asdict(answer)
        else:
            document["error"] = {"what": answer.what, "status": answer.status}
        with suppress(OSError, ValueError):
            self._write(self._path(use, body), json.dumps(document, ensure_ascii=True, indent=1))

    def _path(self, use: str, body: Mapping[str, Any]) -> Path:
        text = json.dumps([FORMAT, body], sort_keys=True, ensure_ascii=True)
        return self._folder / f"{use}-{text_digest(text, _KEY_LENGTH)}.json"

    @staticmethod
    def _read(path: Path) -> ChatReply | CallError | None:
        """Return the answer in a file; None if it is none of ours, or damaged."""
        with suppress(OSError, ValueError, LookupError, TypeError, RecursionError, MsgspecError):
            if path.stat().st_size <= _MAX_FILE:
                document = json.loads(path.read_text(encoding="utf-8"))
                if document["format"] == FORMAT:
                    if "reply" in document:
                        return replace(convert(document["reply"], ChatReply), n_calls=0)
                    return CallError(**document["error"], n_calls=0)
        return None
