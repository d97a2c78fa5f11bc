"""Past bugs found by a real model behind a real endpoint, and endpoints that misbehave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.llm.endpoint import EndpointEmbedder
from tests.e2e.scripted import Request, drips, fails, raw, serving
from tests.integration import test_memory_runs as runs

if TYPE_CHECKING:
    from tests.e2e.scripted import Answer
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
def settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment of the client, which wants a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return monkeypatch


def embedded(settings: pytest.MonkeyPatch, reply: Answer, *texts: str) -> list[list[float]]:
    """What comes of texts at an endpoint that answers so."""
    with serving(reply) as script:
        settings.setenv("OPENAI_BASE_URL", script.url)
        found = EndpointEmbedder("m", deadline_s=3.0).embed(texts)
    assert [json.loads(asked)["input"] for asked in script.asked] == [list(texts)]
    return found


def answer(*vectors: list[float]) -> bytes:
    """Vectors as an endpoint gives them, the last one first."""
    n = len(vectors)
    data = [
        {"object": "embedding", "index": n - 1 - i, "embedding": vector}
        for i, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}).encode()


def test_vectors_come_in_the_order_of_the_texts(settings: pytest.MonkeyPatch) -> None:
    texts = ["x" * n for n in range(1, 40)]

    def lengths(request: Request) -> None:
        request.send(answer(*([float(len(text))] for text in reversed(request.body["input"]))))

    assert embedded(settings, lengths, *texts) == [[float(len(text))] for text in texts]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_BASE_URL", "http://127.0.0.1:abc/v1"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/there/is/none.pem"),
    ],
)
def test_setting_of_the_client_that_is_wrong_is_one_error(
    settings: pytest.MonkeyPatch, name: str, value: str
) -> None:
    settings.delenv("NO_PROXY", raising=False)
    settings.delenv("no_proxy", raising=False)

    with serving(raw(answer([1.0]))) as script:
        settings.setenv("OPENAI_BASE_URL", script.url)
        settings.setenv(name, value)
        with pytest.raises(EndpointError, match=r"\(embeddings\)"):
            EndpointEmbedder("m", deadline_s=5.0).embed(["a"])


NO_VECTORS = {
    "error": fails(500),
    "refused": fails(401),
    "no JSON": raw(b"no JSON at all"),
    "empty": raw(b"{}"),
    "no numbers": raw(b'{"data": [{"embedding": "x", "index": 0}]}'),
    "too few": raw(answer([1.0])),
    "ragged": raw(answer([1.0], [1.0, 2.0])),
    "drips": drips,
    "huge": raw(answer([1.0], [1.0]).replace(b"[1.0]", b"[1" + b"0" * 400 + b"]")),
}


@pytest.mark.parametrize("reply", NO_VECTORS.values(), ids=NO_VECTORS)
def test_answer_that_is_none_is_one_error(settings: pytest.MonkeyPatch, reply: Answer) -> None:
    with pytest.raises(EndpointError, match=r"The embeddings of m failed .*\(embeddings\)"):
        embedded(settings, reply, "a", "b")
