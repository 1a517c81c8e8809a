"""The embedder that ships with Clew: a table of wordpiece vectors, summed.

The table (see NOTICE) has a row for every wordpiece of the uncased English BERT vocabulary. A text's vector
is the sum of the rows of its wordpieces, scaled to length 1: no network is run, so tens of thousands of texts
a second are embedded. Letters and digits of the Latin script count, all else is ignored.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import LOADING, Float32
from clew.foundation.bounds import check
from clew.text.embedder import hash_of, unit_rows

EMBEDDER_DATA = Path(__file__).parents[1] / "data"
WORD_PIECES = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+", re.ASCII)
LETTERS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i",
    "ħ": "h", "’": "'",
})  # fmt: skip
"""Letters that have no decomposition but are read as these."""
TEXTS_IN_CACHE = 2048
"""Texts at a time, so that the gathered rows stay in the cache of the processor."""


class StaticEmbedder:
    """Sums of wordpiece vectors: `rows` int8 [pieces, dimension], `scales` float32 [pieces], their texts.

    The wordpieces of `most_words` words at most stay in memory; then it starts anew.
    """

    name = "clew-static"

    def __init__(
        self, rows: NDArray[np.int8], scales: Float32, pieces: Sequence[str], most_words: int = 200_000
    ) -> None:
        self._rows = rows
        self._scales = scales[:, None]
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._longest = max(map(len, pieces))
        self._words: dict[str, tuple[int, ...]] = {}
        self._most_words = most_words
        self._fingerprint = ""

    @classmethod
    def load(cls, folder: Path = EMBEDDER_DATA) -> Self:
        """Read the table that ships (20 ms). EmbedderError: the installation is incomplete."""
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
        if len(self._words) >= self._most_words:
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
