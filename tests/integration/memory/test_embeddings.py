from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.memory import retrieval
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.retrieval import Embeddings, Entry, by_words, text_of
from pytest_bayesloc.memory.store import BugStore
from tests.integration.memory.conftest import Story, red, symptom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def entry(signature: str, *tags: str) -> Entry:
    return signature, frozenset(tags)


QUERY = entry("ValueError: too few knots", "error:ValueError", "api:check")
LIKE = entry("ValueError: too few knots in curve", "error:ValueError", "api:curve")
OTHER = entry("KeyError: too late", "error:KeyError", "api:clock")


class FakeEmbedder:
    """Texts that speak of knots point one way, others another, in vectors of any length."""

    def __init__(self, model: str = "fake", *, is_down: bool = False) -> None:
        self.model = model
        self.is_down = is_down
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.is_down:
            raise EndpointError("down", slug="embeddings")
        self.asked += texts
        return [[3.0, 4.0] if "knots" in text else [-4.0, 3.0] for text in texts]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BugStore]:
    """Two past bugs, with a secret in one."""
    with closing(BugStore(tmp_path / "memory", pytest.fail)) as made:
        with made.transaction() as connection:
            story = Story(Ledger(connection, "shop"))
            for signature, tags in (LIKE, OTHER):
                said = f"{signature} token=abcdefgh12345678"
                what = symptom(said, [f"t.py::{said}"], fingerprint=said, tags=sorted(tags))
                story.run(red(what))
        yield made


def test_score_is_the_mean_of_words_and_meaning(store: BugStore) -> None:
    found = Embeddings(FakeEmbedder())
    past = [(f"{signature} token=<redacted>", tags) for signature, tags in (LIKE, OTHER)]

    found.prepare(store, "shop", [QUERY])

    words = by_words(QUERY, past)
    assert found.score(QUERY, past) == pytest.approx([(words[0] + 1) / 2, words[1] / 2])


def test_text_is_sent_once_and_without_secrets(store: BugStore) -> None:
    embedder = FakeEmbedder()

    is_first = [Embeddings(embedder).prepare(store, "shop", [QUERY]) for _ in range(2)]

    assert is_first == [True, False]
    assert len(embedder.asked) == len(set(embedder.asked)) == 3
    assert "abcdefgh12345678" not in "".join(embedder.asked)
    assert text_of(QUERY) == "ValueError: too few knots\ncheck"


def test_vectors_of_another_model_are_its_own(store: BugStore) -> None:
    other = FakeEmbedder("other")
    Embeddings(FakeEmbedder()).prepare(store, "shop", [QUERY])

    assert Embeddings(other).prepare(store, "shop", [QUERY])
    assert len(other.asked) == 3


def test_nothing_is_sent_where_there_is_nothing_to_compare_with(store: BugStore) -> None:
    embedder = FakeEmbedder()

    assert not Embeddings(embedder).prepare(store, "another project", [QUERY])
    assert embedder.asked == []


def test_endpoint_that_is_down_leaves_the_words(store: BugStore) -> None:
    found = Embeddings(FakeEmbedder(is_down=True))

    with pytest.raises(EndpointError):
        found.prepare(store, "shop", [QUERY])

    assert found.score(QUERY, [LIKE, OTHER]) == by_words(QUERY, [LIKE, OTHER])


def test_slow_endpoint_gets_on_from_run_to_run(
    store: BugStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = FakeEmbedder()
    monkeypatch.setattr(retrieval, "BATCH", 1)
    monkeypatch.setattr(retrieval, "LIMIT_S", -1.0)

    for n in range(4):
        found = Embeddings(embedder)
        found.prepare(store, "shop", [QUERY])
        assert len(embedder.asked) == min(n + 1, 3)
        assert embedder.asked[0] == text_of(QUERY)


def test_number_of_vectors_is_bounded(store: BugStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "MAX_KEPT", 2)

    Embeddings(FakeEmbedder()).prepare(store, "shop", [QUERY])

    with store.transaction(write=False) as connection:
        assert connection.value("SELECT count(*) FROM embedding") == 2
