"""From a spec, as users write it and indexes record it, to an embedder; a new kind is a file and a line."""

from __future__ import annotations

from pathlib import Path

from clew.errors import UsageError
from clew.foundation.redaction import keep_address, keep_secret
from clew.text.embedder import Embedder

DEFAULT = "clew-static"
SPECS = (DEFAULT, "onnx:PATH", "sentence-transformers/NAME", "openai/NAME")


def embedder(spec: str = DEFAULT, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:
    """Make the embedder of a spec, one of `SPECS`; `base_url` and `api_key` are for `openai/NAME`.

    Raises UsageError (no such kind), MissingExtra, EmbedderError (it cannot be opened or reached).
    """
    if spec == DEFAULT:
        from clew.text.embedders.static import StaticEmbedder

        return StaticEmbedder.load()
    kind, _, model = spec.partition(":" if spec.startswith("onnx:") else "/")
    if model and kind == "onnx":
        from clew.text.embedders.onnx import OnnxEmbedder

        return OnnxEmbedder.open(Path(model))
    if model and kind == "sentence-transformers":
        from clew.text.embedders.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder.open(model)
    if model and kind == "openai":
        keep_secret(api_key)
        keep_address(base_url)
        from clew.text.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder.connect(model, base_url=base_url, api_key=api_key)
    raise UsageError(f"There is no embedder {spec!r}. Use one of: {', '.join(SPECS)}.")
