"""Fit how scores become probabilities, on schemas that the ranker was not trained on.

python scripts/train_reader/calibrate.py [--model FOLDER] [--limit N] [--penalty P]

Reads `training/calibration`, writes `calibration` into the model's `model.json`, and prints what it gives on
graphs that were left out, a fifth of them at a time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import made_up
import numpy as np
from notation import Translator, Tree
from scipy.optimize import minimize
from sets import ROOT, Asked

from clew.reading.calibration import OF_CANDIDATES, OF_NONE, none_of
from clew.reading.candidates import Option
from clew.reading.execute import Executor, OverBudget
from clew.reading.query import Entity, Query, Walk, key_of
from clew.reading.ranker import MODEL, Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders.static import StaticEmbedder

SCHEMAS = ROOT / "training" / "calibration"
SEEDS = (1, 3)
"""The variants of each schema: as it is, and without types."""
FOLDS = 5
ONE = OF_NONE.index("one")


@dataclass(frozen=True)
class Example:
    """A question: scores [n + 1], rows [n, OF_CANDIDATES], and which of these are right, none last."""

    graph: str
    scores: np.ndarray
    rows: np.ndarray
    none: np.ndarray
    right: np.ndarray


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--limit", type=int, default=50, help="questions of each graph")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--penalty", type=float, default=0.1)
    args = parser.parse_args()
    about = json.loads((args.model / "model.json").read_text("utf-8"))
    about.pop("calibration", None)
    _write(args.model, about)
    jobs = [(path, args.model, args.limit) for path in sorted(SCHEMAS.glob("*.json"))]
    with multiprocessing.Pool(args.processes) as pool:
        examples = [e for some in pool.imap(examples_of, jobs) for e in some]
    graphs = sorted({e.graph for e in examples})
    held_out: list[tuple[Example, np.ndarray]] = []
    for fold in range(FOLDS):
        away = set(graphs[fold::FOLDS])
        train = [e for e in examples if e.graph not in away]
        test = [e for e in examples if e.graph in away]
        weights = fit(Table.stacked(train), args.penalty)
        held_out += zip(test, shares(Table.stacked(test), weights), strict=True)
    report("as scored", [(e, _softmax(e.scores)) for e in examples])
    report("calibrated", held_out)
    table = Table.stacked(examples)
    about["calibration"] = named(table, fit(table, args.penalty))
    _write(args.model, about)


def _write(model: Path, about: dict[str, object]) -> None:
    (model / "model.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def examples_of(job: tuple[Path, Path, int]) -> list[Example]:
    """Some questions of each graph that is made of a schema."""
    path, model, limit = job
    return list(_examples(path, Ranker.open(model), limit))


def _examples(path: Path, ranker: Ranker, limit: int) -> Iterator[Example]:
    schema, asked, _ = made_up.read(path)
    embedder = StaticEmbedder.load()
    for variant in made_up.variants(schema["declared"]):
        if variant.seed not in SEEDS:
            continue
        graph, typed = made_up.graph(schema, asked, variant)
        of = Asked(path.stem, graph)
        reader = QuestionReader(graph, of.schema, of.names, embedder, ranker)
        labels = {label: node for node, label in reversed(list(enumerate(graph.labels)))}
        types = {t: i for i, t in enumerate(graph.types.names)}
        translator = Translator(labels, {r: i for i, r in enumerate(graph.relations)}, types)
        some = random.Random(variant.seed).sample(typed, min(limit, len(typed)))
        for text, tree in some:
            made = _example(path.stem, reader, translator, text, tree)
            if made is not None:
                yield made


def _example(
    name: str, reader: QuestionReader, translator: Translator, text: str, tree: Tree
) -> Example | None:
    try:
        query = translator.query(tree) if tree[0] != "none" else None
        _, _, scored = reader.score(text)
        right = _right(Executor(reader.graph), scored.options, query)
    except (KeyError, ValueError, OverBudget):
        return None
    if not scored.options:
        return None
    rows = scored.rows
    none = query is None or not any(right)
    return Example(name, scored.scores, rows, none_of(scored.scores, rows), np.array([*right, none]))


def _right(executor: Executor, options: Sequence[Option], query: Query | None) -> list[bool]:
    """Which candidates are right; where none is, those that the graph records nothing for do as well."""
    if query is None:
        return [_is_void(executor, option.query) for option in options]
    wanted, gold = key_of(query), executor.members(query.part)
    right = [key_of(option.query) == wanted for option in options]
    if any(right) or not len(gold):
        return right
    return [o.query.ask == query.ask and _same(executor, o.query, gold) for o in options]


def _is_void(executor: Executor, query: Query) -> bool:
    chain = query.ask == "list" and isinstance(query.part, Walk) and isinstance(query.part.source, Entity)
    return chain and not len(executor.members(query.part))


def _same(executor: Executor, query: Query, gold: np.ndarray) -> bool:
    try:
        return np.array_equal(executor.members(query.part), gold)
    except OverBudget:
        return False


@dataclass(frozen=True)
class Table:
    """Examples one behind the other; columns of spread 1."""

    scores: np.ndarray
    rows: np.ndarray
    none: np.ndarray
    right: np.ndarray
    starts: np.ndarray
    of: np.ndarray
    spread: tuple[np.ndarray, np.ndarray]

    @classmethod
    def stacked(cls, examples: Sequence[Example]) -> Table:
        """Examples as arrays."""
        counts = np.array([len(e.scores) for e in examples])
        starts = np.cumsum(counts) - counts
        last = starts + counts - 1
        rows = np.zeros((counts.sum(), len(OF_CANDIDATES)))
        rows[np.setdiff1d(np.arange(counts.sum()), last)] = np.concatenate([e.rows for e in examples])
        none = np.zeros((counts.sum(), len(OF_NONE)))
        none[last] = np.stack([e.none for e in examples])
        spread = (rows.std(0) + 0.05, none[last].std(0) + 0.05)
        spread[1][ONE] = 1.0
        return cls(
            np.concatenate([e.scores for e in examples]).astype(float),
            rows,
            none,
            np.concatenate([e.right for e in examples]),
            starts,
            np.repeat(np.arange(len(examples)), counts),
            spread,
        )


def _shares(table: Table, weights: np.ndarray) -> np.ndarray:
    width = len(OF_CANDIDATES)
    scores = (
        weights[0] * table.scores + table.rows @ weights[1 : 1 + width] + table.none @ weights[1 + width :]
    )
    made = np.exp(scores - np.maximum.reduceat(scores, table.starts)[table.of])
    return made / np.add.reduceat(made, table.starts)[table.of]


def shares(table: Table, weights: np.ndarray) -> list[np.ndarray]:
    """The probabilities of each example."""
    return np.split(_shares(table, weights), table.starts[1:])


def fit(table: Table, penalty: float) -> np.ndarray:
    """The weights under which what is right is likeliest, less a penalty on their squares per spread."""
    scale = np.concatenate([[1.0], *table.spread])
    free = np.ones(len(scale))
    free[1 + len(OF_CANDIDATES) + ONE] = 0.0
    start = np.zeros(len(scale))
    start[0] = 1.0
    count = len(table.starts)

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        made = _shares(table, scaled / scale)
        right = np.add.reduceat(made * table.right, table.starts)
        wrong = made - made * table.right / np.maximum(right, 1e-12)[table.of]
        slopes = np.concatenate([[wrong @ table.scores], table.rows.T @ wrong, table.none.T @ wrong])
        away = (scaled - start) * free
        value = -np.log(np.maximum(right, 1e-12)).mean() + penalty * (away @ away) / 2
        return value, slopes / scale / count + penalty * away

    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x / scale


def named(table: Table, weights: np.ndarray) -> dict[str, object]:
    """Weights by name, those left out that move no score."""
    width = len(OF_CANDIDATES)
    parts = (OF_CANDIDATES, weights[1 : 1 + width]), (OF_NONE, weights[1 + width :])
    candidates, none = (
        {name: round(float(w), 4) for name, w in zip(names, part, strict=True) if abs(w) >= 1e-3}
        for names, part in parts
    )
    return {"sharpness": round(float(weights[0]), 4), "candidates": candidates, "none": none}


def _softmax(scores: np.ndarray) -> np.ndarray:
    made = np.exp(scores - scores.max())
    return made / made.sum()


def report(name: str, made: Sequence[tuple[Example, np.ndarray]]) -> None:
    """Print how likely the right ones are, and how often answers from each probability on are right."""
    logs = [np.log(max(1e-12, p[e.right].sum())) for e, p in made]
    best = [int(p[:-1].argmax()) for _, p in made]
    sure = np.array([p[i] for i, (_, p) in zip(best, made, strict=True)])
    good = np.array([bool(e.right[i]) for i, (e, _) in zip(best, made, strict=True)])
    line = [f"{t}: {100 * (sure >= t).mean():.0f} % answered, {100 * good[sure >= t].mean():.0f} right"
            for t in (0.5, 0.6, 0.7, 0.8, 0.9) if (sure >= t).any()]  # fmt: skip
    print(f"{name}: {len(made)} questions, {-np.mean(logs):.3f} nats; {'; '.join(line)}")


if __name__ == "__main__":
    main()
