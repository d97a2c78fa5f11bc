"""An endpoint without a model, which only follows functions: the floor that any model has.

It asks for the ranking, looks at the source and the values of the first suspects, and swaps
operators in the lines that the failing tests execute. It then names what it could repair, before
those whose values differ between failing and passing calls.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Arguments = Mapping[str, object]
    Call = tuple[str, Arguments]

N_SUSPECTS = 4
N_EDITS = 12
#: What is replaced in a line, and by what.
SWAPS = (
    (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" + ", " - "),
    (" - ", " + "), (" == ", " != "), (" != ", " == "), (" and ", " or "), (" or ", " and "),
    ("not ", ""), ("if ", "if not "), ("True", "False"), ("False", "True"), ("0", "1"),
    ("1", "0"), (" is not ", " is "), (" is ", " is not "), (" in ", " not in "),
)  # fmt: skip
_PLACE = re.compile(r"- place: (\S+:\d+ \S+)")
_LINE = re.compile(r"^ +\d+ (.*?) +[1-9]\d* failing, \d+ passing$", re.MULTILINE)
_SIDES = re.compile(r"failing: (.*?) \(.*\n +passing: (.*?) \(")
_REPAIRS = "nothing else breaks"


def next_calls(messages: Sequence[Mapping[str, Any]]) -> list[Call]:
    """Return the functions that it calls, after what was said so far."""
    answers = [str(message["content"]) for message in messages if message["role"] == "tool"]
    if not answers:
        return [("ranking", {})]
    places = _PLACE.findall(answers[0])[:N_SUSPECTS]
    if len(answers) == 1 and places:
        return [(name, {"place": place}) for place in places for name in ("source", "values")]
    sources, values = answers[1 : 2 * len(places) : 2], answers[2 : 2 * len(places) + 1 : 2]
    edits = list(_edits(places, sources))[:N_EDITS]
    outcomes = answers[1 + 2 * len(places) :]
    is_repaired = any(_REPAIRS in outcome for outcome in outcomes)
    if len(outcomes) < len(edits) and not is_repaired:
        return [("try_edit", edit) for _, edit in edits[len(outcomes) : len(outcomes) + 2]]
    repaired = [p for (p, _), told in zip(edits, outcomes, strict=False) if _REPAIRS in told]
    differing = [p for p, told in zip(places, values, strict=False) if _differs(told)]
    named = list(dict.fromkeys((*repaired, *differing, *places)))
    return [("name_suspects", {"explanation": "tests told so", "suspects": named[:3] or ["?"]})]


def _edits(places: Sequence[str], sources: Sequence[str]) -> Iterator[Call]:
    """Yield edits of each suspect in turn, each with its place."""
    rows = [list(_edits_of(p, s)) for p, s in zip(places, sources, strict=False)]
    for n in range(max(map(len, rows), default=0)):
        yield from (row[n] for row in rows if n < len(row))


def _edits_of(place: str, source: str) -> Iterator[Call]:
    for line in _LINE.findall(source):
        for old, new in SWAPS:
            if old in line and not line.lstrip().startswith(("def ", "@", "class ")):
                edit = {"old": line, "new": line.replace(old, new, 1)}
                yield place, {"file": place.partition(":")[0], **edit}


def _differs(values: str) -> bool:
    return any(failing != passing for failing, passing in _SIDES.findall(values))


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request for a chat completion."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message: dict[str, Any] = {"role": "assistant", "content": "no"}
        if "name_suspects" in json.dumps(body.get("tools", ())):
            message["tool_calls"] = [
                {
                    "id": f"call{len(body['messages'])}-{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(given)},
                }
                for n, (name, given) in enumerate(next_calls(body["messages"]))
            ]
        data = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[str]:
    """Serve on loopback; give the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
