"""Embedders: texts in, unit vectors out. The shipped table, ONNX, torch, OpenAI's endpoint."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import sys
import unicodedata
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError, UsageError
from clew.foundation.arrays import LOADING, Float32, Int64
from clew.foundation.bounded_http import ReplyRefused, limits, refused
from clew.foundation.redaction import keep_address, keep_secret
from clew.foundation.system import check, require

# The protocol of embedders, and what its adapters have in common.

PROBE_TEXTS = ("city", "written by", "date of birth", "What is it made of?")
CLEAR_LEAD = 0.01
"""Lead of a largest component that counts in a fingerprint; endpoints' vectors vary by about 1e-4."""


class Embedder(Protocol):
    """What turns texts into vectors whose dot product is their similarity in meaning."""

    @property
    def name(self) -> str:
        """The spec that makes this embedder again, as in `clew-static` or `openai/text-embedding-3-small`."""
        ...

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash that differs between embedders whose vectors must not be mixed."""
        ...

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension]; unit rows, 0 of a blank one. Raises EmbedderError."""
        ...


@runtime_checkable
class Additive(Protocol):
    """An embedder whose vector of a text is the sum of its words' vectors, scaled to length 1."""

    def sums(self, texts: Sequence[str]) -> Float32:
        """Sum the words' vectors, not scaled: float32 [len(texts), dimension]."""
        ...


def unit_rows(vectors: Float32) -> Float32:
    """Scale rows to length 1, float32 [n, d]; zero rows stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


class ModelEmbedder(ABC):
    """What embedders have in common that run a model: blank texts, batches, checks of what it returns."""

    name: str
    dimension: int
    batch = sys.maxsize
    """Texts that the model gets at a time."""

    _fingerprint = ""

    @property
    def fingerprint(self) -> str:
        """Hash of the model, made when it is first asked for."""
        self._fingerprint = self._fingerprint or self.hash()
        return self._fingerprint

    def hash(self) -> str:
        """Hash the name, the dimension and the answers to a few texts, as the weights cannot be read.

        Of each answer only place and sign of a clearly largest component count: noise is small.
        """
        parts = [self.name, str(self.dimension)]
        for vector in self.embed(PROBE_TEXTS):
            first, *others = np.argsort(-np.abs(vector)).tolist()
            second = abs(float(vector[others[0]])) if others else 0.0
            is_clear = abs(float(vector[first])) - second > CLEAR_LEAD
            parts.append(f"{first}{'+' if vector[first] > 0 else '-'}" if is_clear else "")
        return hash_of("|".join(parts).encode("utf-8"))

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension]; blank ones are 0. Raises EmbedderError."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        order = self.ordered([i for i, text in enumerate(texts) if text.strip()], texts)
        for start in range(0, len(order), self.batch):
            positions = order[start : start + self.batch]
            rows, shape = self.run([texts[i] for i in positions]), (len(positions), self.dimension)
            if rows.shape != shape:
                raise EmbedderError(
                    f"{self.name} returned an array of shape {rows.shape} where {shape} was expected. "
                    "Check that the model is an embedding model and is the one that made the index."
                )
            rows = rows.astype(np.float32)
            if not np.isfinite(rows).all():
                raise EmbedderError(
                    f"{self.name} returned a vector with a value that is not a finite number."
                )
            vectors[positions] = unit_rows(rows)
        return vectors

    def ordered(self, positions: list[int], texts: Sequence[str]) -> list[int]:
        """The positions of texts in the order in which the model gets them."""
        return positions

    @abstractmethod
    def run(self, texts: list[str]) -> NDArray[np.generic]:
        """What the model returns for some texts, which are not blank. Raises EmbedderError."""


def hash_of(*contents: bytes | memoryview) -> str:
    """Return `sha256:` and 16 hex digits of the contents together."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(content)
    return f"sha256:{digest.hexdigest()[:16]}"


# Sessions of onnxruntime: on the processor alone, as exact on every one, and without telemetry.

PRECISION_OPTION = "session.x64quantprecision"
"""Without it 8-bit products overflow on processors without VNNI: the shipped encoder was 23 % off there.

With VNNI the results are the same to the bit, and it only makes a model twice as slow and its opening longer.
"""
CPU_INFO = Path("/proc/cpuinfo")


@cache
def has_vnni(cpu_info: Path = CPU_INFO) -> bool:
    """Whether the processor is known to multiply 8-bit numbers without an overflow; False where it is not."""
    with suppress(OSError), cpu_info.open("rb") as file:
        # The first processor is described there; all of a machine are alike.
        return b"avx512_vnni" in file.read(16_384).split()
    return False


def load_runtime() -> Any:  # noqa: ANN401
    """Import onnxruntime without its telemetry, which only this variable stops, before the import."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return import_module("onnxruntime")


def open_session(model: Path, threads: int = 0, vnni: bool | None = None) -> Any:  # noqa: ANN401
    """Open a model; raises the bare exceptions of onnxruntime. 0 threads: one a core.

    Without `vnni` 8-bit products are made exact the slow way; None is what the processor has.
    """
    runtime = load_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    if not (has_vnni() if vnni is None else vnni):
        options.add_session_config_entry(PRECISION_OPTION, "1")
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


# The embedder that ships with Clew: a table of wordpiece vectors, summed.
#
# The table (see NOTICE) has a row for every wordpiece of the uncased English BERT vocabulary. A text's vector
# is the sum of the rows of its wordpieces, scaled to length 1: no network is run, so tens of thousands of
# texts a second are embedded. Letters and digits of the Latin script count, all else is ignored.

EMBEDDER_DATA = Path(__file__).parent / "data"
WORD_PIECES = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+", re.ASCII)
LETTERS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i",
    "ħ": "h", "’": "'",
})  # fmt: skip
"""Letters that have no decomposition but are read as these."""
TEXTS_IN_CACHE = 2048
"""Texts at a time, so that the gathered rows stay in the cache of the processor."""


class StaticEmbedder:
    """Sums of wordpiece vectors: `rows` int8 [pieces, dimension], `scales` float32 [pieces], their texts."""

    name = "clew-static"

    def __init__(self, rows: NDArray[np.int8], scales: Float32, pieces: Sequence[str]) -> None:
        self._rows = rows
        self._scales = scales[:, None]
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._longest = max(map(len, pieces))
        self._words: dict[str, tuple[int, ...]] = {}
        self._fingerprint = ""

    @classmethod
    def load(cls, folder: Path = EMBEDDER_DATA) -> Self:
        """Read the table that ships (20 ms). Raises EmbedderError: the installation is incomplete."""
        try:
            with LOADING, (folder / "clew-static.npz").open("rb") as opened, np.load(opened) as file:
                rows, scales = file["q"], file["s"].astype(np.float32)
            pieces = gzip.decompress((folder / "clew-static.vocab.txt.gz").read_bytes()).decode("utf-8")
            return cls(rows, scales, pieces.removesuffix("\n").split("\n"))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            raise EmbedderError(
                f"{folder}: cannot read the embedder ({error}). Install clew again."
            ) from error

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._rows.shape[1]

    @property
    def fingerprint(self) -> str:
        """Hash of the table and its vocabulary."""
        if not self._fingerprint:
            pieces = "\n".join(self._ids).encode("utf-8")
            self._fingerprint = hash_of(self._rows.tobytes(), self._scales.tobytes(), pieces)
        return self._fingerprint

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension], each row the same whatever else is in the batch."""
        return unit_rows(self.sums(texts))

    def sums(self, texts: Sequence[str]) -> Float32:
        """Sum the wordpieces' vectors of each text, not scaled: float32 [len(texts), dimension]."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), TEXTS_IN_CACHE):
            check()
            text_pieces = [self.pieces(text) for text in texts[start : start + TEXTS_IN_CACHE]]
            filled_rows = [start + i for i, pieces in enumerate(text_pieces) if pieces]
            if filled_rows:
                index = np.fromiter(chain.from_iterable(text_pieces), np.int64)
                ends = np.cumsum([len(pieces) for pieces in text_pieces if pieces])
                rows = self._rows[index] * self._scales[index]
                vectors[filled_rows] = np.add.reduceat(rows, [0, *ends[:-1]], axis=0)
        return vectors

    def pieces(self, text: str) -> list[int]:
        """Cut a text into wordpieces: their rows in the table."""
        ids: list[int] = []
        words = self._words
        for word in WORD_PIECES.findall(_fold(text)):
            word_ids = words.get(word)
            ids += self._cut(word) if word_ids is None else word_ids
        return ids

    def _cut(self, word: str) -> tuple[int, ...]:
        """Cut a word into wordpieces, longest first from the left, and remember it; letters are pieces."""
        ids: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for stop in range(min(len(word), start + self._longest), start, -1):
                piece = self._ids.get(prefix + word[start:stop])
                if piece is not None:
                    ids.append(piece)
                    break
            else:
                stop = start + 1
            start, prefix = stop, "##"
        if len(self._words) >= 200_000:
            self._words = {}
        self._words[word] = tuple(ids)
        return tuple(ids)


def _fold(text: str) -> str:
    """Lower-case a text and take diacritics off its letters."""
    text = text.lower()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(LETTERS))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).lower()


# Embedding models exported to ONNX, run on this machine's processor by onnxruntime.

SENTENCE, TOKEN_OUTPUTS = "sentence_embedding", ("token_embeddings", "last_hidden_state")
"""Outputs that hold a vector for the text, and for every token."""


class OnnxEmbedder(ModelEmbedder):
    """A model with inputs `input_ids`, `attention_mask`, maybe `token_type_ids`: int64 [texts, tokens]."""

    batch = 64

    def __init__(self, session: Any, tokenizer: Any, model: Path) -> None:  # noqa: ANN401
        self.name = f"onnx:{model}"
        self._model = model
        self._session = session
        self._tokenizer = tokenizer
        tokenizer.enable_padding()
        if tokenizer.truncation is None:
            tokenizer.enable_truncation(512)
        self._inputs = {node.name for node in session.get_inputs()}
        outputs = self._outputs = [node.name for node in session.get_outputs()]
        self._output = next((name for name in (SENTENCE, *TOKEN_OUTPUTS) if name in outputs), outputs[0])
        self.dimension = self.run(["probe"]).shape[1]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a model: its file, or its directory, with `tokenizer.json` there or above. EmbedderError."""
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

    def hash(self) -> str:
        """Hash the model file."""
        return hash_of(self._model.read_bytes())

    def ordered(self, positions: list[int], texts: Sequence[str]) -> list[int]:
        """The shortest texts first, so that little is padded."""
        return sorted(positions, key=lambda i: len(texts[i]))

    def run(self, texts: list[str]) -> NDArray[np.float32]:
        """Run one batch and pool its tokens where the model does not."""
        encodings = self._tokenizer.encode_batch(texts)
        output, mask = self._output_of(encodings, self._output)
        if output.ndim == 2:
            return output
        if output.ndim != 3:
            raise EmbedderError(
                f"{self.name}: output {self._output} has {output.ndim} dimensions, not 2 or 3."
            )
        weights = mask[:, :, None].astype(np.float32)
        return (output * weights).sum(1) / weights.sum(1)

    def tokens(self, text: str) -> Float32:
        """Embed the tokens of one text, alone: float32 [tokens, d], unit rows, none special."""
        output = next((name for name in TOKEN_OUTPUTS if name in self._outputs), None)
        if output is None:
            expected = " or ".join(TOKEN_OUTPUTS)
            raise EmbedderError(f"{self.name}: has no output {expected}, but {', '.join(self._outputs)}")
        encoding = self._tokenizer.encode(text)
        vectors = self._output_of([encoding], output)[0][0]
        return unit_rows(vectors[np.array(encoding.special_tokens_mask) == 0].astype(np.float32))

    def _output_of(self, encodings: Sequence[Any], output: str) -> tuple[NDArray[np.float32], Int64]:
        """An output of the model for some texts, and which of their tokens are no padding."""
        mask = np.array([e.attention_mask for e in encodings], np.int64)
        feed = {
            "input_ids": np.array([e.ids for e in encodings], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encodings], np.int64),
        }
        try:
            feed = {name: array for name, array in feed.items() if name in self._inputs}
            return self._session.run([output], feed)[0], mask
        except Exception as error:  # onnxruntime's errors have no common base but Exception
            raise EmbedderError(f"{self.name}: the model failed ({error}). Is it a text model?") from error


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


# Any model of sentence-transformers (extra `sentence-transformers`, which brings torch).


class SentenceTransformersEmbedder(ModelEmbedder):
    """A loaded `sentence_transformers.SentenceTransformer`."""

    def __init__(self, model: Any, name: str) -> None:  # noqa: ANN401
        self.name = f"sentence-transformers/{name}"
        self._model = model
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

    def run(self, texts: list[str]) -> NDArray[np.generic]:
        """Encode texts, whose number the model bounds itself."""
        try:
            return np.asarray(self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False))
        except RuntimeError as error:
            raise EmbedderError(f"{self.name}: the model failed ({error}).") from error


# Endpoints that speak OpenAI's `/v1/embeddings`: OpenAI, Ollama, vLLM and others (extra `openai`).

REQUEST_SECONDS = 60.0


class OpenAIEmbedder(ModelEmbedder):
    """One model of an endpoint, through a ready `openai.OpenAI` client."""

    def __init__(self, client: Any, model: str, batch: int) -> None:  # noqa: ANN401
        self.name = f"openai/{model}"
        self._client, self._model, self.batch = client, model, batch
        self.dimension = self.run(["probe"]).shape[1]

    @classmethod
    def connect(
        cls,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        retries: int = 2,
        batch: int = 256,
    ) -> Self:
        """Connect to an endpoint and ask for one vector, to learn the dimension.

        `base_url` ends in `/v1`; None is OpenAI itself. Raises MissingExtra, EmbedderError.
        """
        package = require("openai", "openai")
        client = package.OpenAI(
            base_url=base_url or "https://api.openai.com/v1",
            api_key=api_key or "none",
            timeout=REQUEST_SECONDS,
            max_retries=retries,
            http_client=package.DefaultHttpxClient(timeout=REQUEST_SECONDS, **limits(asynchronous=False)),
        )
        return cls(client, model, batch)

    def run(self, texts: list[str]) -> NDArray[np.float32]:
        """Ask for the vectors of one batch: float32 [len(texts), whatever the model has]."""
        package = require("openai", "openai")
        place = f"{self.name} at {self._client.base_url}"
        try:
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            items = sorted(answer.data, key=lambda item: item.index)
            rows = np.array([item.embedding for item in items], np.float32)
        except package.AuthenticationError as error:
            raise EmbedderError(f"{place} refused the key ({error}). Check the API key.") from error
        except package.NotFoundError as error:
            reason = f": not found ({error}). Check the model name and the base URL."
            raise EmbedderError(place + reason) from error
        except package.APIStatusError as error:
            raise EmbedderError(f"{place} answered with status {error.status_code} ({error}).") from error
        except (package.APIConnectionError, ReplyRefused) as error:
            connection_reason = f"cannot be reached ({error}). Check the base URL and the server."
            limit_reason = refused(error)
            raise EmbedderError(
                f"{place} {connection_reason if limit_reason is None else f'{limit_reason}.'}"
            ) from error
        except (package.OpenAIError, AttributeError, TypeError, ValueError, RecursionError) as error:
            reason = f" did not answer with embeddings ({error}). Check that the base URL ends in /v1."
            raise EmbedderError(place + reason) from error
        if rows.ndim != 2 or len(rows) != len(texts) or rows.shape[1] == 0:
            raise EmbedderError(f"{place} returned {len(rows)} vectors of one length for {len(texts)} texts.")
        return rows


# From a spec, as users write it and indexes record it, to an embedder; a new kind is a file and a line.

DEFAULT = "clew-static"
SPECS = (DEFAULT, "onnx:PATH", "sentence-transformers/NAME", "openai/NAME")


def embedder(spec: str = DEFAULT, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:
    """Make the embedder of a spec (`SPECS`). Raises UsageError, MissingExtra, EmbedderError."""
    if spec == DEFAULT:
        return StaticEmbedder.load()
    kind, _, model = spec.partition(":" if spec.startswith("onnx:") else "/")
    if model and kind == "onnx":
        return OnnxEmbedder.open(Path(model))
    if model and kind == "sentence-transformers":
        return SentenceTransformersEmbedder.open(model)
    if model and kind == "openai":
        keep_secret(api_key)
        keep_address(base_url)
        return OpenAIEmbedder.connect(model, base_url=base_url, api_key=api_key)
    raise UsageError(f"There is no embedder {spec!r}. Use one of: {', '.join(SPECS)}.")
