"""Fit how scores become probabilities, on schemas that the ranker was not trained on.

python scripts/train_reader/calibrate.py [--model FOLDER] [--limit N] [--composed N]

Reads `training/calibration`, and composes questions of chains there; writes `calibration` into the model's
`model.json`, and prints what it gives on graphs that were left out, a third of them at a time. How words are
aligned depends on the weights: so they are fitted, all is aligned anew, and they are fitted again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import compose
import made_up
import numpy as np
from notation import Translator, Tree
from scipy.optimize import minimize
from sets import ROOT, Asked

from clew.query.execute import Executor, OverBudget
from clew.query.tree import Anchor, Query, Walk, key_of
from clew.reading.alignment import ALIGNED, Alignment
from clew.reading.candidates import Option
from clew.reading.fitted import MODEL, OF_CANDIDATES, OF_NONE, none_of
from clew.reading.ranker import Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders import StaticEmbedder

SCHEMAS = ROOT / "training" / "calibration"
SEEDS = (1, 3)
"""The variants of each schema: as it is, and without types."""
FOLDS = 3
WIDTH = len(OF_CANDIDATES)
OF_ALIGNED = slice(1 + WIDTH - len(ALIGNED), 1 + WIDTH)
ROUNDS = 2
ONE = OF_NONE.index("one")
ONE_IN = 3
"""How chains are told apart is learned of all composed questions, how likely they are, of one in so many."""
PENALTY, OF_ALIGNMENT, OF_FIXED = 0.1, 0.01, 1e4
"""On squares of weights per spread: of those of alignments less, as they say which alignment is taken."""
FIRST = {
    "said": 1.5, "said_exactly": 0.5, "heard": 1.0, "heard_share": 1.0, "typed": 1.2, "typed_heard": 0.5,
    "entered": 0.8, "first_silent": -1.5, "later_silent": -1.0, "joined": -0.5,
}  # fmt: skip
"""The weights of the first alignment, where to begin."""
FREE, AGAINST = ("right_first", "no_chain"), ("first_silent", "later_silent", "joined")


@dataclass(frozen=True)
class Example:
    """A question: scores [n + 1], rows [n, KNOWN_BEFORE], and which of these are right, none last."""

    graph: str
    is_composed: bool
    scores: np.ndarray
    rows: np.ndarray
    alignment: Alignment
    right: np.ndarray


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--limit", type=int, default=35, help="questions of each graph")
    parser.add_argument(
        "--composed", type=int, default=25, help="questions of chains, composed for each graph"
    )
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    settings = json.loads((args.model / "model.json").read_text("utf-8"))
    settings.pop("calibration", None)
    _write(args.model, settings)
    jobs = [(path, args.model, args.limit, args.composed) for path in sorted(SCHEMAS.glob("*.json"))]
    with multiprocessing.Pool(args.processes) as pool:
        examples = [e for group in pool.imap(examples_of, jobs) for e in group]
    graphs = sorted({e.graph for e in examples})
    held_out: list[tuple[Example, np.ndarray]] = []
    for fold in range(FOLDS):
        held_out_graphs = set(graphs[fold::FOLDS])
        weights = fit([e for e in examples if e.graph not in held_out_graphs])
        test = [e for e in examples if e.graph in held_out_graphs]
        held_out += zip(test, shares(Table.stacked(test, weights), weights), strict=True)
    report("as scored", [(e, _softmax(e.scores)) for e in examples])
    report("calibrated", held_out)
    report("composed", [(e, p) for e, p in held_out if e.is_composed])
    settings["calibration"] = weights_by_name(fit(examples))
    _write(args.model, settings)


def _write(model: Path, settings: dict[str, object]) -> None:
    (model / "model.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")


def examples_of(job: tuple[Path, Path, int, int]) -> list[Example]:
    """Some questions of each graph that is made of a schema."""
    path, model, limit, composed = job
    return list(_examples(path, Ranker.open(model), limit, composed))


def _examples(path: Path, ranker: Ranker, limit: int, composed: int) -> Iterator[Example]:
    schema, questions, _ = made_up.read(path)
    embedder = StaticEmbedder.load()
    for variant in made_up.variants(schema["declared"]):
        if variant.seed not in SEEDS:
            continue
        rng = random.Random(variant.seed)
        chains = compose.composed(schema, questions, composed, rng)
        graph, graph_questions = made_up.graph(schema, [*questions, *chains], variant)
        question_set = Asked(path.stem, graph)
        reader = QuestionReader(graph, question_set.schema, question_set.names, embedder, ranker)
        translator = Translator.of(graph)
        sample = rng.sample(range(len(questions)), min(limit, len(questions)))
        for at in (*sample, *range(len(questions), len(graph_questions))):
            example = _example(path.stem, at >= len(questions), reader, translator, *graph_questions[at])
            if example is not None:
                yield example


def _example(
    name: str, composed: bool, reader: QuestionReader, translator: Translator, text: str, tree: Tree
) -> Example | None:
    try:
        query = translator.query(tree) if tree[0] != "none" else None
        _, scored = reader.score(text)
        right = _mark_right(Executor(reader.graph), scored.options, query)
    except (KeyError, ValueError, OverBudget):
        return None
    if not scored.options:
        return None
    right.append(query is None or not any(right))
    return Example(
        name, composed, scored.scores, scored.known[:, : -len(ALIGNED)], scored.alignment, np.array(right)
    )


def _mark_right(executor: Executor, options: Sequence[Option], query: Query | None) -> list[bool]:
    """Which candidates are right; where none is, those that the graph records nothing for do as well."""
    if query is None:
        return [_is_void(executor, option.query) for option in options]
    gold_key, gold = key_of(query), executor.members(query.part)
    right = [key_of(option.query) == gold_key for option in options]
    if any(right) or not len(gold):
        return right
    return [o.query.ask == query.ask and _has_members(executor, o.query, gold) for o in options]


def _is_void(executor: Executor, query: Query) -> bool:
    chain = query.ask == "list" and isinstance(query.part, Walk) and isinstance(query.part.source, Anchor)
    return chain and not len(executor.members(query.part))


def _has_members(executor: Executor, query: Query, gold: np.ndarray) -> bool:
    try:
        return np.array_equal(executor.members(query.part), gold)
    except OverBudget:
        return False


@dataclass(frozen=True)
class Table:
    """Examples one after the other; `owner` is the example of each row; columns of spread 1."""

    scores: np.ndarray
    rows: np.ndarray
    none: np.ndarray
    right: np.ndarray
    starts: np.ndarray
    owner: np.ndarray
    spread: tuple[np.ndarray, np.ndarray]

    @classmethod
    def stacked(cls, examples: Sequence[Example], weights: np.ndarray) -> Table:
        """Examples as arrays, aligned under some weights."""
        counts = np.array([len(e.scores) for e in examples])
        starts = np.cumsum(counts) - counts
        last = starts + counts - 1
        rows = np.zeros((counts.sum(), WIDTH))
        none = np.zeros((counts.sum(), len(OF_NONE)))
        alignment_weights = weights[OF_ALIGNED].astype(np.float32)
        for start, end, e in zip(starts, last, examples, strict=True):
            features = np.concatenate([e.rows, e.alignment.features(alignment_weights)], axis=1)
            rows[start:end] = features
            best = int((weights[0] * e.scores[:-1] + features @ weights[1 : 1 + WIDTH]).argmax())
            none[end] = none_of(e.scores, features, best)
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
    scores = (
        weights[0] * table.scores + table.rows @ weights[1 : 1 + WIDTH] + table.none @ weights[1 + WIDTH :]
    )
    odds = np.exp(scores - np.maximum.reduceat(scores, table.starts)[table.owner])
    return odds / np.add.reduceat(odds, table.starts)[table.owner]


def shares(table: Table, weights: np.ndarray) -> list[np.ndarray]:
    """The probabilities of each example."""
    return np.split(_shares(table, weights), table.starts[1:])


def fit(examples: Sequence[Example]) -> np.ndarray:
    """The weights under which what is right is likeliest."""
    weights = np.zeros(1 + WIDTH + len(OF_NONE))
    weights[0] = 1.0
    for name, weight in FIRST.items():
        weights[1 + OF_CANDIDATES.index(name)] = weight
    for _ in range(ROUNDS):
        weights = _fitted(Table.stacked(examples, weights))
    sample = [e for i, e in enumerate(examples) if not e.is_composed or i % ONE_IN == 0]
    return _fitted(Table.stacked(sample, weights), aligned=weights)


def _fitted(table: Table, aligned: np.ndarray | None = None) -> np.ndarray:
    """The weights under which what is right is likeliest, less a penalty on their squares per spread.

    With `aligned` those of alignments stay as they are there.
    """
    scale = np.concatenate([[1.0], *table.spread])
    penalty = np.full(len(scale), PENALTY)
    penalty[OF_ALIGNED] = OF_ALIGNMENT
    penalty[1 + WIDTH + ONE] = 0.0
    start = np.zeros(len(scale))
    start[0] = 1.0
    if aligned is not None:
        penalty[OF_ALIGNED] = OF_FIXED
        start[OF_ALIGNED] = (aligned * scale)[OF_ALIGNED]
    count = len(table.starts)

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        probabilities = _shares(table, scaled / scale)
        right = np.add.reduceat(probabilities * table.right, table.starts)
        wrong = probabilities - probabilities * table.right / np.maximum(right, 1e-12)[table.owner]
        slopes = np.concatenate([[wrong @ table.scores], table.rows.T @ wrong, table.none.T @ wrong])
        change = scaled - start
        value = -np.log(np.maximum(right, 1e-12)).mean() + change @ (penalty * change) / 2
        return value, slopes / scale / count + penalty * change

    solution = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=_bounds(), options={"maxiter": 300})
    return solution.x / scale


def _bounds() -> list[tuple[float | None, float | None]]:
    """What speaks for an alignment must not count against it, nor the other way."""
    free = (None, None)
    of_alignment = [
        free if name in FREE else (None, 0.0) if name in AGAINST else (0.0, None) for name in ALIGNED
    ]
    return [*[free] * (1 + WIDTH - len(ALIGNED)), *of_alignment, *[free] * len(OF_NONE)]


def weights_by_name(weights: np.ndarray) -> dict[str, object]:
    """Weights by name, those left out that move no score."""
    parts = (OF_CANDIDATES, weights[1 : 1 + WIDTH]), (OF_NONE, weights[1 + WIDTH :])
    candidates, none = (
        {name: round(float(w), 4) for name, w in zip(names, part, strict=True) if abs(w) >= 1e-3}
        for names, part in parts
    )
    return {"sharpness": round(float(weights[0]), 4), "candidates": candidates, "none": none}


def _softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max())
    return odds / odds.sum()


def report(name: str, results: Sequence[tuple[Example, np.ndarray]]) -> None:
    """Print how likely the right ones are, and how often answers from each probability on are right."""
    logs = [np.log(max(1e-12, p[e.right].sum())) for e, p in results]
    best = [int(p[:-1].argmax()) for _, p in results]
    certainties = np.array([p[i] for i, (_, p) in zip(best, results, strict=True)])
    good = np.array([bool(e.right[i]) for i, (e, _) in zip(best, results, strict=True)])
    line = [
        f"{t}: {100 * (certainties >= t).mean():.0f} % answered, "
        f"{100 * good[certainties >= t].mean():.0f} right"
        for t in (0.5, 0.6, 0.7, 0.8, 0.9)
        if (certainties >= t).any()
    ]
    print(f"{name}: {len(results)} questions, {-np.mean(logs):.3f} nats; {'; '.join(line)}")


if __name__ == "__main__":
    main()
