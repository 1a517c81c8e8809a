"""Embedding models exported to ONNX, run on this machine's processor by onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32
from clew.text.embedder import hash_of, in_batches, with_content
from clew.text.onnx_session import open_session

TEXTS_AT_ONCE = 64
"""Texts at a time; texts of like length go together, so that little is padded."""
MOST_TEXT_TOKENS = 512
"""Tokens of a text that are read when the tokenizer file states no limit."""
SENTENCE, TOKEN_OUTPUTS = "sentence_embedding", ("token_embeddings", "last_hidden_state")
"""Outputs that hold a vector for the text, and for every token."""


class OnnxEmbedder:
    """A model with inputs `input_ids`, `attention_mask` and perhaps `token_type_ids` (int64 [texts, tokens]).

    The vector is its output `sentence_embedding` if it has one, else the mean of its token vectors.
    """

    def __init__(self, session: Any, tokenizer: Any, model: Path) -> None:  # noqa: ANN401
        self.name = f"onnx:{model}"
        self._model = model
        self._fingerprint = ""
        self._session = session
        self._tokenizer = tokenizer
        tokenizer.enable_padding()
        if tokenizer.truncation is None:
            tokenizer.enable_truncation(MOST_TEXT_TOKENS)
        self._inputs = {node.name for node in session.get_inputs()}
        outputs = [node.name for node in session.get_outputs()]
        self._output = next((name for name in (SENTENCE, *TOKEN_OUTPUTS) if name in outputs), outputs[0])
        self.dimension = self._run(["probe"]).shape[1]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a model: its file, or the directory that has it, with `tokenizer.json` beside it or one above.

        Raises EmbedderError (a file is missing or cannot be read).
        """
        from tokenizers import Tokenizer

        model = _model_file(path)
        tokenizer_files = [folder / "tokenizer.json" for folder in (model.parent, model.parent.parent)]
        tokenizer = next((file for file in tokenizer_files if file.is_file()), None)
        if tokenizer is None:
            raise EmbedderError(
                f"{model.parent}: there is no tokenizer.json. Export it together with the model."
            )
        try:
            session = open_session(model)
            return cls(session, Tokenizer.from_file(str(tokenizer)), model)
        except EmbedderError:
            raise
        except Exception as error:  # both libraries raise bare Exceptions of their own
            raise EmbedderError(
                f"{model}: cannot open the model ({error}). Is it a whole ONNX file?"
            ) from error

    @property
    def fingerprint(self) -> str:
        """Hash of the model file."""
        self._fingerprint = self._fingerprint or hash_of(self._model.read_bytes())
        return self._fingerprint

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension]; blank ones are 0. Raises EmbedderError."""
        order = sorted(with_content(texts), key=lambda i: len(texts[i]))
        return in_batches(self, texts, order, TEXTS_AT_ONCE, self._run)

    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        """Run one batch and pool its tokens where the model does not."""
        encodings = self._tokenizer.encode_batch(texts)
        mask = np.array([e.attention_mask for e in encodings], np.int64)
        feed = {
            "input_ids": np.array([e.ids for e in encodings], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encodings], np.int64),
        }
        try:
            feed = {name: array for name, array in feed.items() if name in self._inputs}
            output = self._session.run([self._output], feed)[0]
        except Exception as error:  # onnxruntime's errors have no common base but Exception
            raise EmbedderError(f"{self.name}: the model failed ({error}). Is it a text model?") from error
        if output.ndim == 2:
            return output
        if output.ndim != 3:
            raise EmbedderError(
                f"{self.name}: output {self._output} has {output.ndim} dimensions, not 2 or 3."
            )
        weights = mask[:, :, None].astype(np.float32)
        return (output * weights).sum(1) / weights.sum(1)


def _model_file(path: Path) -> Path:
    """Find `path` itself, or `model.onnx` or the only .onnx file in it or its `onnx/`; else EmbedderError."""
    if path.is_file():
        return path
    files = [file for folder in (path, path / "onnx") for file in sorted(folder.glob("*.onnx"))]
    model_files = [file for file in files if file.name == "model.onnx"]
    if model_files:
        return model_files[0]
    if len(files) == 1:
        return files[0]
    problem = (
        "several .onnx files; name one of them" if files else "no .onnx file; give a model or its directory"
    )
    raise EmbedderError(f"{path}: there is {problem}.")
