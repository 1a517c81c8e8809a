"""Any model of sentence-transformers (extra `sentence-transformers`, which brings torch)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32
from clew.text.embedder import in_batches, probe_fingerprint, with_content
from clew.text.embedders.extras import require


class SentenceTransformersEmbedder:
    """A loaded `sentence_transformers.SentenceTransformer`."""

    def __init__(self, model: Any, name: str) -> None:  # noqa: ANN401
        self.name = f"sentence-transformers/{name}"
        self._model = model
        self._fingerprint = ""
        self.dimension = int(model.get_sentence_embedding_dimension())

    @classmethod
    def open(cls, name: str) -> Self:
        """Load a model by its name on the hub, or from a directory. Raises MissingExtra, EmbedderError."""
        package = require("sentence_transformers", "sentence-transformers")
        try:
            return cls(package.SentenceTransformer(name), name)
        except (OSError, ValueError) as error:
            raise EmbedderError(
                f"{name}: cannot load the model ({error}). Check its name and the network."
            ) from error

    @property
    def fingerprint(self) -> str:
        """Hash of the name, the dimension and the answers to a few texts."""
        self._fingerprint = self._fingerprint or probe_fingerprint(self)
        return self._fingerprint

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension]; blank ones are 0. Raises EmbedderError."""
        return in_batches(self, texts, with_content(texts), max(1, len(texts)), self._encode)

    def _encode(self, texts: list[str]) -> NDArray[np.generic]:
        try:
            return np.asarray(self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False))
        except RuntimeError as error:
            raise EmbedderError(f"{self.name}: the model failed ({error}).") from error
