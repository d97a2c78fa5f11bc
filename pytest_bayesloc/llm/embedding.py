"""Vectors of texts from an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.llm.deadline import within

DEADLINE_S = 15.0
RETRIES = 2


class EndpointEmbedder:
    """Asks the endpoint that the client's variables name (``OPENAI_BASE_URL``, ...).

    Args:
        model: Its name there.
        deadline_s: Seconds that a call may take.
    """

    def __init__(self, model: str, deadline_s: float = DEADLINE_S) -> None:
        self.model = model
        self._deadline_s = deadline_s

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order.

        Raises:
            EndpointError: If there is no answer, or one of another shape.
        """
        try:
            vectors = within(self._deadline_s, lambda: self._asked(texts))
        except ModuleNotFoundError as error:
            missing = f"{error.name} is missing: pip install 'pytest-bayesloc[llm]'"
            raise self._failed(missing) from error
        except Exception as error:  # of the client, of what it stands on, or of the answer
            raise self._failed(f"{type(error).__name__}: {error}") from error
        if len({len(vector) for vector in vectors}) != 1 or len(vectors) != len(texts):
            raise self._failed(
                f"{len(vectors)} vectors came for {len(texts)} texts, or of different lengths"
            )
        return vectors

    def _asked(self, texts: Sequence[str]) -> list[list[float]]:
        from openai import OpenAI

        with OpenAI(timeout=self._deadline_s, max_retries=RETRIES) as client:
            answer = client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        ordered = sorted(answer.data, key=lambda item: item.index)
        return [[float(x) for x in item.embedding] for item in ordered]

    def _failed(self, why: str) -> EndpointError:
        said = redacted(" ".join(why.split()))[:200]
        return EndpointError(
            f"The embeddings of {self.model} failed ({said}): past bugs are found by their words "
            "alone. See OPENAI_BASE_URL and OPENAI_API_KEY, or unset bayesloc_embedding_model.",
            slug="embeddings",
        )
