"""What `clew fit` learned from a user's questions about one graph, kept as one file in its index.

    score(candidate) = sharpness · head(candidate) + features · w + Σ terms Σ symbols M[term, symbol]

Terms are the words of the question and their pairs, names masked; symbols are the tokens of a candidate
(`features.py`), their pairs, and all of them together. Beside that, words are like the labels that they
were seen to ask for, so that candidates with these are enumerated. The file `reader.fit` is a line of JSON
(version, checksum, what it was made for) and arrays. One for other relations or another model is not used.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import LOADING, Float32
from clew.graph.graph import Graph
from clew.index.store.directory import FITTED
from clew.index.store.files import disk_errors, read_regular, sync
from clew.reading.features import FEATURES
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.reading.tokens import RELATION_KINDS, Kind, QueryToken

FIT_VERSION = 1
_START, _WHOLE, _ALONE = -2, -3, -1
_PRIME = (1 << 61) - 1
_WORD = re.compile(r"[^\W_]+")
Symbol = tuple[int, int]
NO_CANDIDATE: Symbol = (Kind.NONE << 32, _ALONE)
"""The symbol of the row that stands for none of the candidates."""


def terms_of(question: str, mentions: Sequence[Mention]) -> list[str]:
    """The words of a question and their pairs, each once, sorted; names are X and numbers #."""
    text, last = "", 0
    for mention in sorted((m for m in mentions if m.strong and m.candidates), key=lambda m: m.start):
        if mention.start >= last:
            text += question[last : mention.start] + " X "
            last = mention.stop
    words = [m[0] for m in _WORD.finditer(text + question[last:])]
    words = ["#" if w.isdigit() else w if w == "X" else w.lower() for w in words]
    return sorted({*words, *(f"{a} {b}" for a, b in pairwise(["^", *words, "$"]))})


def symbols_of(tokens: Sequence[QueryToken]) -> set[Symbol]:
    """The symbols of a candidate: its tokens, their pairs, and all together; mentions are all alike."""
    labels = RELATION_KINDS | {Kind.TYPE}
    codes = [(kind << 32) + (ref + 1 if kind in labels else 0) for kind, ref in tokens]
    combined = 0
    for code in codes:
        combined = (combined * 1_000_003 + code + 1) % _PRIME
    return {*((c, _ALONE) for c in codes), *pairwise([_START, *codes]), (combined, _WHOLE)}


@dataclass(frozen=True, slots=True)
class AdapterAbout:
    """What an adapter was made for and of: digests of the graph's words and of the model, and figures."""

    graph: str
    model: str
    questions: int
    held_out: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Adapter:
    """A learned layer over the shipped ranker, of one graph.

    `weights` float32 [terms + 1, symbols], the last row for any words; `features` float32 [3, FEATURES]:
    weights, means and scales; `likely` float32 [n] how like `likely_words` are to the labels `likely_labels`
    (relations, then types), in [0, 1].
    """

    about: AdapterAbout
    terms: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    weights: Float32
    features: Float32
    sharpness: float
    likely_words: tuple[str, ...]
    likely_labels: NDArray[np.int64]
    likely: Float32

    @cached_property
    def _term_at(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.terms)}

    @cached_property
    def _symbol_at(self) -> dict[Symbol, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def rescore(
        self,
        question: str,
        mentions: Sequence[Mention],
        tokens: Sequence[Sequence[QueryToken]],
        features: Float32,
        scores: Float32,
    ) -> Float32:
        """The scores of candidates, that of none of them last: float32 [rows + 1], as `scores`.

        `features` float32 [rows, FEATURES].
        """
        terms = terms_of(question, mentions)
        term_places = [self._term_at[t] for t in terms if t in self._term_at]
        symbol_scores = self.weights[-1] + self.weights[term_places].sum(0) / np.sqrt(max(1, len(terms)))
        weight, mean, scale = self.features
        added = np.zeros(len(scores), np.float32)
        added[:-1] = ((features - mean) / scale) @ weight
        places = self._symbol_at
        for row, row_tokens in enumerate(tokens):
            added[row] += symbol_scores[[places[s] for s in symbols_of(row_tokens) if s in places]].sum()
        if NO_CANDIDATE in places:
            added[-1] += symbol_scores[places[NO_CANDIDATE]]
        return (self.sharpness * scores + added).astype(np.float32)

    @cached_property
    def _labels_of(self) -> dict[str, list[tuple[int, float]]]:
        labels_by_word: dict[str, list[tuple[int, float]]] = {}
        labels, likely = self.likely_labels.tolist(), self.likely.tolist()
        for word, label, value in zip(self.likely_words, labels, likely, strict=True):
            labels_by_word.setdefault(word, []).append((label, value))
        return labels_by_word

    def widened(self, likeness: Likeness) -> Likeness:
        """The likeness of words and labels, with what was learned, for the enumeration of candidates."""
        if not self.likely_words:
            return likeness
        count = likeness.relations.shape[1]
        relations, types = likeness.relations.copy(), likeness.types.copy()
        for row, (_, _, word) in enumerate(likeness.words):
            for label, value in self._labels_of.get(word, ()):
                table, column = (relations, label) if label < count else (types, label - count)
                if column < table.shape[1]:
                    table[row, column] = max(float(table[row, column]), value)
        return replace(likeness, relations=relations, types=types)


def graph_digest(graph: Graph) -> str:
    """A digest of the relations and types of a graph, in their order."""
    return _digest(json.dumps([list(graph.relations), list(graph.types.names)]).encode())


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def model_digest(folder: Path) -> str:
    """A digest of the head of a model and of what it says of itself."""
    return _digest((folder / "model.json").read_bytes() + (folder / "head.onnx").read_bytes())


def write_adapter(index: Path, adapter: Adapter) -> Path:
    """Put an adapter into an index in the place of the one before, at once. Raises IndexAccessError."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        terms=_packed(adapter.terms),
        symbols=np.array(adapter.symbols, np.int64).reshape(-1, 2),
        weights=adapter.weights.astype(np.float16),
        features=adapter.features,
        sharpness=np.float32(adapter.sharpness),
        likely_words=_packed(adapter.likely_words),
        likely_labels=adapter.likely_labels,
        likely=adapter.likely,
    )
    body, about = buffer.getvalue(), adapter.about
    head = {
        "version": FIT_VERSION,
        "checksum": _digest(body),
        "features": list(FEATURES),
        "graph": about.graph,
    }
    head |= {"model": about.model, "questions": about.questions, "held_out": about.held_out}
    path, new = index / FITTED, index / f"{FITTED}.{os.getpid()}"
    try:
        with disk_errors(index):
            with new.open("wb") as file:
                file.write(json.dumps(head).encode() + b"\n" + body)
                sync(file)
            os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return path


def _packed(texts: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def drop_adapter(index: Path) -> bool:
    """Remove what was learned from an index; False if there is none. Raises IndexAccessError."""
    with disk_errors(index):
        exists = (index / FITTED).exists()
        (index / FITTED).unlink(missing_ok=True)
    return exists


@dataclass(frozen=True, slots=True)
class Opened:
    """The adapter of an index, or why what is there is not used; neither where there is nothing."""

    adapter: Adapter | None = None
    problem: str | None = None


def open_adapter(index: Path, graph: Graph, model: Path) -> Opened:
    """Open what was learned for an index, if it is of this graph's relations and types and of this model."""
    path = index / FITTED
    try:
        line, _, body = read_regular(path).partition(b"\n")
        head = json.loads(line)
        problem = _stale_reason(head, graph, model)
        if problem is None and head["checksum"] != _digest(body):
            problem = "is damaged (its checksum differs from what was written)"
        if problem is None:
            return Opened(_adapter(head, body))
    except FileNotFoundError:
        return Opened()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        problem = f"is damaged ({error})"
    advice = f"Run clew fit again, or remove it: clew fit {index} --drop"
    return Opened(problem=f"{path}: what was learned from your questions {problem} and is not used. {advice}")


def _stale_reason(head: dict[str, Any], graph: Graph, model: Path) -> str | None:
    if head["version"] != FIT_VERSION or head["features"] != list(FEATURES):
        return "is of another version of Clew"
    if head["graph"] != graph_digest(graph):
        return "is of other relations or types than the graph has now"
    return None if head["model"] == model_digest(model) else "is of another model of the reader"


def _adapter(head: dict[str, Any], body: bytes) -> Adapter:
    with LOADING, np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        return Adapter(
            AdapterAbout(head["graph"], head["model"], head["questions"], head["held_out"]),
            tuple(json.loads(arrays["terms"].tobytes())),
            tuple((int(a), int(b)) for a, b in arrays["symbols"].tolist()),
            arrays["weights"].astype(np.float32),
            arrays["features"],
            float(arrays["sharpness"]),
            tuple(json.loads(arrays["likely_words"].tobytes())),
            arrays["likely_labels"],
            arrays["likely"],
        )
