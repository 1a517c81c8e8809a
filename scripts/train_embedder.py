"""Train a table for the static embedder from a teacher model. Run by hand; needs `pip install wordfreq`.

    python scripts/train_embedder.py --teacher sentence-transformers/all-MiniLM-L6-v2 \
        --wordnet /usr/share/wordnet --out table

The teacher is any embedder of Clew: `onnx:PATH`, `sentence-transformers/NAME`, `openai/NAME`. The recipe:

1. every wordpiece of the vocabulary is encoded alone, centred, and reduced to 128 dimensions by PCA;
2. rows are weighted by a / (a + p), a = 1e-3, p the frequency of the piece in the language (wordfreq);
3. the rows are trained (Adam, 1.5e-3, 6 epochs) so that the cosine matrices of batches of 512 texts match the
   teacher's (mean squared difference), anchored to where they began (2e-4 times the square of
   the change, a mean over the rows); the teacher's vectors are centred first, since what all its vectors have
   in common would be learnt instead of their differences;
4. each row is stored in 8 bits with a scale of its own.

The texts are 20,000 glosses and lemmas of WordNet and the 15,000 most frequent words of the language. For
another language give texts of your own, one a line, with `--corpus`, and its vocabulary, one wordpiece a
line, with `--vocabulary`. Only languages in Latin script: the embedder reads no other letters.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.text.embedders import EMBEDDER_DATA, StaticEmbedder, embedder, unit_rows

Encode = Callable[[list[str]], Float32]
"""A teacher: texts to unit rows, float32 [texts, any dimension]."""


@dataclass(frozen=True)
class Recipe:
    """The numbers of the recipe."""

    dimension: int = 128
    smoothing: float = 1e-3
    rate: float = 1.5e-3
    anchor: float = 2e-4
    batch: int = 512
    epochs: int = 6
    texts: int = 20_000
    words: int = 15_000
    seed: int = 0


@dataclass(frozen=True)
class Corpus:
    """Texts as wordpiece ids, text i `ids[starts[i]:starts[i + 1]]`, and the teacher's centred unit rows."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    teacher: Float32


def read_vocabulary(path: Path) -> list[str]:
    """Read the wordpieces, one a line, from a text file or its .gz."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    return text.removesuffix("\n").split("\n")


def wordnet_texts(folder: Path) -> list[str]:
    """Return the definitions of all synsets, without examples, and their lemmas."""
    texts: list[str] = []
    for name in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields, gloss = line.split(" | ", 1)
            texts.append(gloss.split('; "')[0].strip())
            texts.append(fields.split()[4].replace("_", " "))
    return texts


def initial_table(pieces: list[str], encode: Encode, recipe: Recipe, language: str) -> Float32:
    """Make the table of steps 1 and 2, float32 [pieces, dimension]; rows of pieces such as `[CLS]` are 0."""
    wordfreq = importlib.import_module("wordfreq")
    plain = [piece.removeprefix("##") for piece in pieces]
    used = np.array([not (p.startswith("[") and p.endswith("]") and len(p) > 2) for p in plain])
    vectors = encode([plain[i] for i in np.flatnonzero(used)])
    centred = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    reduced = centred @ axes[:, ::-1][:, : recipe.dimension]
    frequency = np.array([wordfreq.word_frequency(plain[i], language) for i in np.flatnonzero(used)])
    table = np.zeros((len(pieces), recipe.dimension), np.float32)
    table[used] = reduced * (recipe.smoothing / (recipe.smoothing + frequency))[:, None]
    return table


def make_corpus(texts: list[str], tokenizer: StaticEmbedder, encode: Encode) -> Corpus:
    """Cut the texts into wordpieces, leave out those without any, and centre the teacher's vectors."""
    cut = [(text, ids) for text in texts if (ids := tokenizer.pieces(text))]
    starts = np.concatenate([[0], np.cumsum([len(ids) for _, ids in cut])])
    teacher = encode([text for text, _ in cut])
    return Corpus(np.array([i for _, ids in cut for i in ids]), starts, unit_rows(teacher - teacher.mean(0)))


def gradient(
    table: Float32, ids: NDArray[np.int64], text: NDArray[np.int64], target: Float32
) -> tuple[float, Float32]:
    """Compute the loss of a batch, the mean squared difference of the cosine matrices, and its gradient.

    `ids` [occurrences] are rows of the table, `text` [occurrences] the ascending position of each one's text
    in the batch, `target` float32 [texts, texts] the teacher's cosines. The gradient is by occurrence of a
    wordpiece: float32 [occurrences, dimension].
    """
    sums = np.add.reduceat(table[ids], np.flatnonzero(np.diff(text, prepend=-1)), axis=0)
    norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    units = sums / norms
    difference = units @ units.T - target
    by_unit = 4 / difference.size * difference @ units
    by_sum = (by_unit - units * (units * by_unit).sum(1, keepdims=True)) / norms
    return float((difference**2).mean()), by_sum[text]


def train(table: Float32, corpus: Corpus, recipe: Recipe) -> Float32:
    """Step 3, by Adam (Kingma and Ba 2015) with its usual decay rates."""
    start = table.copy()
    table = table.copy()
    momentum, square = np.zeros_like(table), np.zeros_like(table)
    random = np.random.default_rng(recipe.seed)
    count, step = len(corpus.starts) - 1, 0
    for epoch in range(recipe.epochs):
        losses: list[float] = []
        order = random.permutation(count)
        for low in range(0, count, recipe.batch):
            chosen = order[low : low + recipe.batch]
            parts = [np.arange(corpus.starts[i], corpus.starts[i + 1]) for i in chosen]
            ids = corpus.ids[np.concatenate(parts)]
            text = np.repeat(np.arange(len(chosen)), [len(part) for part in parts])
            teacher = corpus.teacher[chosen]
            loss, by_occurrence = gradient(table, ids, text, teacher @ teacher.T)
            total = (2 * recipe.anchor / len(table)) * (table - start)
            np.add.at(total, ids, by_occurrence)
            step += 1
            momentum += 0.1 * (total - momentum)
            square += 0.001 * (total**2 - square)
            table -= recipe.rate * (momentum / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            losses.append(loss)
        print(f"epoch {epoch + 1}: mean squared difference of cosines {np.mean(losses):.5f}", flush=True)
    return table


def quantise(table: Float32) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Step 4: int8 rows and float16 scales; row i of the table is about `rows[i] * scales[i]`."""
    scales = (np.abs(table).max(1) / 127).astype(np.float16)
    safe = np.where(scales > 0, scales, np.float16(1)).astype(np.float32)
    return np.clip(np.round(table / safe[:, None]), -127, 127).astype(np.int8), scales


def agreement(table: Float32, corpus: Corpus) -> float:
    """Correlation of the cosines of up to 2,000 texts with the teacher's."""
    count = min(2000, len(corpus.starts) - 1)
    sums = np.add.reduceat(table[corpus.ids[: corpus.starts[count]]], corpus.starts[:count], axis=0)
    units = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    above = np.triu_indices(count, 1)
    teacher = corpus.teacher[:count]
    return float(np.corrcoef((units @ units.T)[above], (teacher @ teacher.T)[above])[0, 1])


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--teacher", required=True, help="spec of an embedder of Clew")
    parser.add_argument(
        "--base-url", help="endpoint of an openai/NAME teacher; its key is read from OPENAI_API_KEY"
    )
    parser.add_argument("--wordnet", type=Path, help="directory of WordNet's files")
    parser.add_argument("--corpus", type=Path, help="further texts, one a line")
    parser.add_argument("--vocabulary", type=Path, default=EMBEDDER_DATA / "clew-static.vocab.txt.gz")
    parser.add_argument(
        "--pieces", type=int, help="only the first so many wordpieces and letters, for a trial"
    )
    parser.add_argument("--language", default="en", help="language code of wordfreq")
    parser.add_argument("--out", type=Path, required=True, help="directory of the table and its vocabulary")
    for name, value in vars(Recipe()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    return parser.parse_args()


def main() -> None:
    """Run the recipe and write `clew-static.npz` and `clew-static.vocab.txt.gz`."""
    arguments = options()
    recipe = Recipe(**{name: getattr(arguments, name) for name in vars(Recipe())})
    teacher = embedder(
        arguments.teacher, base_url=arguments.base_url, api_key=os.environ.get("OPENAI_API_KEY")
    )
    pieces = read_vocabulary(arguments.vocabulary)
    if arguments.pieces:
        pieces = [p for i, p in enumerate(pieces) if i < arguments.pieces or len(p.removeprefix("##")) == 1]
    texts = wordnet_texts(arguments.wordnet) if arguments.wordnet else []
    if arguments.corpus:
        texts += [line.strip() for line in arguments.corpus.read_text("utf-8").splitlines() if line.strip()]
    random = np.random.default_rng(recipe.seed)
    picked = [texts[i] for i in random.permutation(len(texts))[: recipe.texts]]
    picked += importlib.import_module("wordfreq").top_n_list(arguments.language, recipe.words)
    held_count = len(picked) // 20
    mixed = [picked[i] for i in random.permutation(len(picked))]
    table = initial_table(pieces, teacher.embed, recipe, arguments.language)
    tokenizer = StaticEmbedder(*quantise(table), pieces)
    unseen = make_corpus(mixed[:held_count], tokenizer, teacher.embed)
    trained = train(table, make_corpus(mixed[held_count:], tokenizer, teacher.embed), recipe)
    rows, scales = quantise(trained)
    stored = rows * scales.astype(np.float32)[:, None]
    before, after = agreement(table, unseen), agreement(stored, unseen)
    print(
        f"correlation with the teacher on {held_count} unseen texts: {before:.3f} before, {after:.3f} after"
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    np.savez(arguments.out / "clew-static.npz", q=rows, s=scales)
    packed = gzip.compress("\n".join(pieces).encode("utf-8"), mtime=0)
    (arguments.out / "clew-static.vocab.txt.gz").write_bytes(packed)
    StaticEmbedder.load(arguments.out)


if __name__ == "__main__":
    main()
