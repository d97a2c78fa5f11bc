"""Past bugs found by a real model behind a real endpoint, and endpoints that misbehave."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.llm.endpoint import EndpointEmbedder
from tests.integration import test_memory_runs as runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.conftest import Projects

pytest.importorskip("openai", reason="pip install openai")
OPTIONS = ("-q", "--tb=no", "--bug-advice", "--bayesloc-llm-model=embedding:smollm2")


def test_past_bug_is_found_by_a_real_model(projects: Projects, llm_server: str) -> None:
    project = projects.make(runs.FILES)
    env = {"OPENAI_BASE_URL": f"{llm_server}/v1"}  # a server of one's own wants no key
    first = project.run(*OPTIONS, env=env)
    runs.edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    project.run(*OPTIONS, env=env)
    runs.edit(project, "knots.py", "2 * degree + 2:", "2 * degree + 9 and check.knots:")

    second = project.run(*OPTIONS, env=env)
    third = project.run(*OPTIONS, env=env)

    asked = "SELECT count(*) FROM embedding WHERE model = 'smollm2'"
    assert "(embeddings-sent)" not in first.stdout + third.stdout
    assert second.stdout.count("(embeddings-sent)") == 1
    assert "fixed by test_curve.py test_cubic" in second.stdout
    assert "(embeddings)" not in second.stdout
    assert runs.count(project, asked) == 2


def test_endpoint_that_is_gone_costs_one_line(projects: Projects) -> None:
    project = projects.make(runs.FILES)
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "sk-not-to-be-seen-1234"}
    project.run("-q")
    runs.edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    project.run("-q")
    runs.edit(project, "test_curve.py", "curve([0, 0, 1, 1], 1)", "curve([0, 1, 1], 1)")

    run = project.run(*OPTIONS, env=env)

    assert run.stdout.count("(embeddings)") == 1
    assert "fixed by test_curve.py test_cubic" in run.stdout
    assert "not-to-be-seen" not in run.output


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Misbehaving]]:
    """A server on loopback whose answer a test chooses."""
    handler = type("Chosen", (Misbehaving,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()


class Misbehaving(BaseHTTPRequestHandler):
    """Answers as its class says."""

    status, body, drips = 200, b"", False
    asked: list[list[str]]

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(told["input"])
        body = self.body or answer(*([float(len(text))] for text in reversed(told["input"])))
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            for byte in body if self.drips else ():
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.2)
            self.wfile.write(b"" if self.drips else body)

    def log_message(self, *args: object) -> None:
        """Nothing."""


def answer(*vectors: list[float]) -> bytes:
    """Vectors as an endpoint gives them, the last one first."""
    n = len(vectors)
    data = [
        {"object": "embedding", "index": n - 1 - i, "embedding": vector}
        for i, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}).encode()


def test_vectors_come_in_the_order_of_the_texts(endpoint: type[Misbehaving]) -> None:
    texts = ["x" * n for n in range(1, 40)]

    assert EndpointEmbedder("m").embed(texts) == [[float(len(text))] for text in texts]
    assert endpoint.asked == [texts]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_BASE_URL", "http://127.0.0.1:abc/v1"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/there/is/none.pem"),
    ],
)
def test_setting_of_the_client_that_is_wrong_is_one_error(
    endpoint: type[Misbehaving], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    with pytest.raises(EndpointError, match=r"\(embeddings\)"):
        EndpointEmbedder("m", deadline_s=5.0).embed(["a"])


@pytest.mark.parametrize(
    ("status", "body", "drips"),
    [
        (500, b"{}", False),
        (401, b'{"error": {"message": "no"}}', False),
        (200, b"no JSON at all", False),
        (200, b"{}", False),
        (200, b'{"data": [{"embedding": "x", "index": 0}]}', False),
        (200, answer([1.0]), False),
        (200, answer([1.0], [1.0, 2.0]), False),
        (200, answer([1.0], [1.0]), True),
        (200, answer([1.0], [1.0]).replace(b"[1.0]", b"[1" + b"0" * 400 + b"]"), False),
    ],
    ids=[
        "error",
        "refused",
        "no JSON",
        "empty",
        "no numbers",
        "too few",
        "ragged",
        "drips",
        "huge",
    ],
)
def test_answer_that_is_none_is_one_error(
    endpoint: type[Misbehaving], status: int, body: bytes, drips: bool
) -> None:
    endpoint.status, endpoint.body, endpoint.drips = status, body, drips

    with pytest.raises(EndpointError, match=r"The embeddings of m failed .*\(embeddings\)"):
        EndpointEmbedder("m", deadline_s=3.0).embed(["a", "b"])
