"""Train the trees that say how sure a reading is: on questions of people, and on what no graph records.

python scripts/train_reader/train_certainty.py ROWS.npz [--processes N] [--halves FOLDER FOLDER]
                                                                               write what is known of meanings
python scripts/train_reader/train_certainty.py ROWS.npz --out certainty.npz    fit, measure, write the trees

Questions: those of `training/asked`, over each graph as it is and without some of its relations, so that it
cannot answer what needs these; and those of `training/calibration`, over random graphs, whole and of a few
triples. A meaning is right if it answers what the question has for an answer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import made_up
import numpy as np
from compose import composed
from notation import Translator, Tree
from sets import ROOT, Asked, Question, read_graph
from sklearn.ensemble import HistGradientBoostingClassifier

from clew.errors import ClewError
from clew.graph.graph import Graph
from clew.graph.implied_types import with_implied_types
from clew.reading.answer import Meaning, answer_of, meanings_of
from clew.reading.certainty import OF_MEANING, Certainty, rows_of
from clew.reading.execute import Executor, OverBudget
from clew.reading.mutual import both_ways
from clew.reading.query import Query, steps_of
from clew.reading.ranker import MODEL, Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders.static import StaticEmbedder

ASKED, SCHEMAS = ROOT / "training" / "asked", ROOT / "training" / "calibration"
WEIGHTS = {"asked": 0.7, "reduced": 0.7, "made-up": 1.0, "composed": 0.5, "handfuls": 0.5}
"""What a question of each part counts."""
REDUCED, FEWEST = 2, 4
"""Graphs that are made of one by leaving relations out, each with so many at least."""
HANDFULS, CHAINS = 12, 25
WITHOUT = 0.7
"""Of graphs without relations and of a few triples: questions without an answer for each that has one."""
TREES, LEAVES, FOLDS, SEED = 150, 16, 6, 1
WHOLE = ("asked", "made-up")
opened = cache(Ranker.open)


@dataclass(frozen=True)
class Known:
    """What is known of the meanings of one question, which are right, and what their relations are."""

    part: str
    graph: str
    question: str
    answerable: bool
    rows: np.ndarray
    right: list[bool]
    relations: tuple[frozenset[str], ...]


def labels_of(reader: QuestionReader, query: Query) -> frozenset[str]:
    """What a query answers, numbers written alike."""
    drafted = answer_of(reader.graph, reader.vocabulary, both_ways(reader.vocabulary, query))
    return plain({a.label for a in drafted.answers})


def plain(answers: set[str] | frozenset[str]) -> frozenset[str]:
    """Answers with numbers written alike, with two digits behind the point, as people write averages."""
    return frozenset(f"{round(float(a), 2):.12g}" if _is_number(a) else a for a in answers)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def known_of(part: str, name: str, reader: QuestionReader, questions: list[Question]) -> Iterator[Known]:
    """What is known of the meanings of questions; those without any are left out."""
    executor = Executor(reader.graph)
    for question in questions:
        try:
            reading = reader.read(question.text)
            meanings = meanings_of(executor, reader.vocabulary, reading)
            if not meanings:
                continue
            gold = plain(question.gold)
            right = [bool(gold) and labels_of(reader, m.query) == gold for m in meanings]
        except ClewError:
            continue
        relations = tuple(frozenset(_relations(reader, m)) for m in meanings)
        rows = rows_of(reader.vocabulary, reading, meanings)
        yield Known(part, name, question.text, bool(gold), rows, right, relations)


def _relations(reader: QuestionReader, meaning: Meaning) -> set[str]:
    return {reader.graph.relations[step // 2] for step in steps_of(meaning.query)}


def reader_of(name: str, graph: Path, types: Path | None, model: Path = MODEL) -> QuestionReader:
    """The reader of a graph."""
    asked = Asked(name, with_implied_types(read_graph(graph, types)))
    return QuestionReader(asked.graph, asked.schema, asked.names, StaticEmbedder.load(), opened(model))


def of_folder(folder: Path, model: Path) -> list[Known]:
    """A graph with questions of people, whole and without some of its relations."""
    types = folder / "types.tsv"
    types = types if types.exists() else None
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    questions = [Question(r["question"], frozenset(map(str, r["answers"])), "") for r in rows]
    reader = reader_of(folder.name, folder / "kg.tsv", types, model)
    made = list(known_of("asked", folder.name, reader, questions))
    needed = {
        k.question: next((r for r, x in zip(k.relations, k.right, strict=True) if x), None) for k in made
    }
    triples = (folder / "kg.tsv").read_text("utf-8").splitlines()
    relations = sorted({line.split("\t")[1] for line in triples if line.count("\t") >= 2})
    for seed in range(REDUCED):
        rng = random.Random(seed)
        kept = set(
            rng.sample(relations, rng.randint(min(FEWEST, len(relations)), max(FEWEST, len(relations) // 2)))
        )
        left: list[Question] = []
        for question in questions:
            needs = needed.get(question.text)
            if needs is not None or not question.gold:
                there = needs is not None and needs <= kept
                left.append(question if there else Question(question.text, frozenset(), ""))
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "kg.tsv"
            path.write_text(
                "\n".join(t for t in triples if t.split("\t")[1:2] and t.split("\t")[1] in kept) + "\n"
            )
            made += known_of("reduced", folder.name, reader_of(folder.name, path, types, model), left)
    return made


def of_schema(path: Path) -> list[Known]:
    """Random graphs over a schema that the ranker was not trained on."""
    schema, asked, _ = made_up.read(path)
    made: list[Known] = []
    chains = composed(schema, asked, CHAINS, random.Random(1))
    graphs: list[tuple[str, Graph, list[tuple[str, Tree]]]] = []
    for typed in sorted({False, bool(schema["declared"])}):
        variant = made_up.Variant(1, typed, renamed=False)
        graph, trees = made_up.graph(schema, [*asked, *chains], variant)
        graphs += [("made-up", graph, trees[: len(asked)]), ("composed", graph, trees[len(asked) :])]
    graphs += [("handfuls", *some) for some in made_up.handfuls(schema, asked, HANDFULS, 1)]
    for part, graph, trees in graphs:
        of = Asked(path.stem, with_implied_types(graph))
        reader = QuestionReader(of.graph, of.schema, of.names, StaticEmbedder.load())
        translator, questions = Translator.of(of.graph), list[Question]()
        for text, tree in trees:
            try:
                gold = frozenset[str]() if tree[0] == "none" else labels_of(reader, translator.query(tree))
            except (KeyError, ValueError, OverBudget):
                continue
            if gold or tree[0] == "none":
                questions.append(Question(text, gold, ""))
        made += known_of(part, path.stem, reader, questions)
    return made


def write_rows(out: Path, processes: int, halves: tuple[Path, Path]) -> None:
    """Read all questions and write what is known of their meanings.

    `halves`: models trained without every other graph of people, the first among them, and without the rest;
    each graph is read by the one that has not seen it.
    """
    folders = sorted(path for path in ASKED.iterdir() if path.is_dir())
    jobs = [partial(of_folder, folder, halves[i % 2]) for i, folder in enumerate(folders)]
    jobs += [partial(of_schema, path) for path in sorted(SCHEMAS.glob("*.json"))]
    with multiprocessing.Pool(processes) as pool:
        found: list[Known] = []
        for some in pool.imap(_run, jobs):
            found += some
            print(len(found), some[0].graph if some else "", flush=True)
    np.savez_compressed(
        out,
        names=np.array(OF_MEANING),
        rows=np.concatenate([k.rows for k in found]),
        right=np.concatenate([k.right for k in found]),
        counts=np.array([len(k.right) for k in found]),
        parts=np.array([k.part for k in found]),
        graphs=np.array([k.graph for k in found]),
        answerable=np.array([k.answerable for k in found]),
        questions=np.array([k.question for k in found]),
    )


def _run(job: Callable[[], list[Known]]) -> list[Known]:
    return job()


@dataclass(frozen=True)
class Table:
    """The written rows: of each meaning, and of each question where its own begin."""

    rows: np.ndarray
    right: np.ndarray
    of: np.ndarray
    parts: np.ndarray
    graphs: np.ndarray
    answerable: np.ndarray

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read what `write_rows` wrote."""
        with np.load(path) as given:
            if given["names"].tolist() != list(OF_MEANING):
                raise SystemExit(f"{path} was written for other features. Write it again")
            of = np.repeat(np.arange(len(given["counts"])), given["counts"])
            names = ("rows", "right", "parts", "graphs", "answerable")
            rows, right, *others = (given[name] for name in names)
            return cls(rows, right, of, *others)

    def balanced(self) -> np.ndarray:
        """Which meanings are learned from: `WITHOUT` of the questions that a smaller graph cannot answer."""
        kept, rng = np.ones(len(self.parts), bool), np.random.default_rng(SEED)
        for part in ("reduced", "handfuls"):
            mine = self.parts == part
            without = rng.permutation(np.flatnonzero(mine & ~self.answerable))
            kept[without[int(WITHOUT * (mine & self.answerable).sum()) :]] = False
        return kept[self.of]

    def fit(self, some: np.ndarray) -> HistGradientBoostingClassifier:
        """Trees of some meanings; a likelier meaning is never less sure for it."""
        order = [{"share": 1, "lead": 1, "none": -1}.get(name, 0) for name in OF_MEANING]
        trees = HistGradientBoostingClassifier(
            max_iter=TREES, learning_rate=0.04, max_leaf_nodes=LEAVES, min_samples_leaf=60,
            l2_regularization=3.0, monotonic_cst=order, early_stopping=False, random_state=SEED,
        )  # fmt: skip
        weights = np.array([WEIGHTS[part] for part in self.parts[self.of[some]]])
        return trees.fit(self.rows[some], self.right[some], sample_weight=weights)

    def held_out(self) -> np.ndarray:
        """How sure each meaning is, each graph held out in its turn."""
        sure, learned = np.zeros(len(self.rows)), self.balanced()
        names = [sorted(set(self.graphs[np.isin(self.parts, p)])) for p in (WHOLE[:1], WHOLE[1:])]
        for fold in range(FOLDS):
            away = np.isin(self.graphs, [g for some in names for g in some[fold::FOLDS]])[self.of]
            sure[away] = self.fit(~away & learned).predict_proba(self.rows[away])[:, 1]
        return sure

    def report(self, sure: np.ndarray) -> None:
        """Print right and wrong of what can be answered, and what is answered of the rest, by the surest."""
        order = np.lexsort((-sure, self.of))
        best = order[np.r_[True, np.diff(self.of[order]) > 0]]
        for part in WEIGHTS:
            mine = best[self.parts[self.of[best]] == part]
            known, count = self.answerable[self.of[mine]], self.answerable[self.parts == part].sum()
            for least in (0.0, 0.4, 0.5, 0.6, 0.7, 0.8):
                told = sure[mine] >= least
                right, wrong = (told & self.right[mine]).sum(), (told & known & ~self.right[mine]).sum()
                shares = [100 * n / max(1, count) for n in (right, wrong)]
                said = f"right {shares[0]:.1f} wrong {shares[1]:.1f} of {count}"
                rest = f"{(told & ~known).sum()} of {(~known).sum()} without an answer"
                print(f"{part:9} {least}: {said}; {rest}")


def write(trees: HistGradientBoostingClassifier, out: Path) -> None:
    """Write trees as `Certainty` reads them; of scikit-learn's nodes there is no public form."""
    nodes = [tree.nodes for (tree,) in trees._predictors]
    most = max(map(len, nodes))
    whole, real = ("feature", "low", "high"), ("least", "value")
    made = {name: np.zeros((len(nodes), most), np.int32) for name in whole}
    made |= {name: np.zeros((len(nodes), most), np.float32) for name in real}
    for at, tree in enumerate(nodes):
        leaf, own = tree["is_leaf"].astype(bool), np.arange(len(tree))
        made["feature"][at, own] = np.where(leaf, 0, tree["feature_idx"])
        made["least"][at, own] = np.where(leaf, 0, tree["num_threshold"])
        made["low"][at, own], made["high"][at, own] = np.where(leaf, own, (tree["left"], tree["right"]))
        made["value"][at, own] = np.where(leaf, tree["value"], 0)
    depth = max(int(tree["depth"].max()) for tree in nodes)
    start = float(np.ravel(trees._baseline_prediction)[0])
    np.savez_compressed(out, names=np.array(OF_MEANING), start=start, depth=depth, **made)


def main() -> None:
    """Write rows, or fit, measure and write trees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out", type=Path, help="fit, and write the trees here")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--halves",
        type=Path,
        nargs=2,
        default=(MODEL, MODEL),
        help="models trained without half of people's graphs",
    )
    args = parser.parse_args()
    if args.out is None:
        write_rows(args.rows, args.processes, args.halves)
        return
    table = Table.read(args.rows)
    table.report(table.held_out())
    trees = table.fit(table.balanced())
    write(trees, args.out)
    told = Certainty.open(args.out).of(table.rows)
    print("differs by at most", float(np.abs(told - trees.predict_proba(table.rows)[:, 1]).max()))


if __name__ == "__main__":
    main()
