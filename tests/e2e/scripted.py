"""A server of our own on loopback that answers, or fails to, as a test says."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Answer = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request, and ways to answer it."""

    body: Mapping[str, Any]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""

    def do_POST(self) -> None:
        """Read what is asked, and let the script answer."""
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        server = self.server
        assert isinstance(server, _Server)
        self.body = json.loads(text)
        server.script.asked.append(text)
        number = min(len(server.script.asked), len(server.script.answers)) - 1
        with suppress(OSError):
            server.script.answers[number](self)

    @property
    def prompt(self) -> str:
        """The question."""
        return str(self.body["messages"][1]["content"])

    def send(self, data: bytes, status: int = 200, **headers: str) -> None:
        """Answer with ``data``."""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)


@dataclass
class Script:
    """What a server says, in turn; the last answer again and again.

    Attributes:
        answers: One a request.
        asked: The requests.
    """

    answers: list[Answer]
    asked: list[str] = field(default_factory=list)
    url: str = ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    script: Script


@contextmanager
def serving(*answers: Answer) -> Iterator[Script]:
    """A server with these answers, for as long as it is wanted."""
    with _Server(("127.0.0.1", 0), Request) as server:
        server.script = Script(answers=list(answers))
        server.script.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.script
        finally:
            server.shutdown()
            thread.join(5)


def completion(content: object, **more: object) -> bytes:
    """A chat completion with ``content`` as its message."""
    text = content if isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text, **more}
    used = {"prompt_tokens": 11, "completion_tokens": 3}
    return json.dumps(
        {"choices": [{"message": message, "finish_reason": "stop"}], "usage": used}
    ).encode()


def says(content: object, **more: object) -> Answer:
    """Answers with a message."""
    return lambda request: request.send(completion(content, **more))


def fails(status: int, said: str = "no", **headers: str) -> Answer:
    """Answers with an error."""
    data = json.dumps({"error": {"message": said}}).encode()
    return lambda request: request.send(data, status, **headers)


def raw(data: bytes) -> Answer:
    """Answers with bytes."""
    return lambda request: request.send(data)


def cut_off(request: Request) -> None:
    """Promises more than it sends."""
    request.send_response(200)
    request.send_header("content-length", "1000")
    request.end_headers()
    request.wfile.write(b'{"choices": [')


def drips(request: Request) -> None:
    """Sends a byte now and then, for ten seconds."""
    request.send_response(200)
    request.send_header("content-length", "1000")
    request.end_headers()
    for _ in range(100):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.1)
