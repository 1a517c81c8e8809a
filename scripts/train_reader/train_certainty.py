"""Train the trees that say how sure a reading is: on questions of people, and on what no graph records.

python scripts/train_reader/train_certainty.py ROWS.npz [--processes N] [--halves FOLDER FOLDER]
                                      [--placing FOLDER]
                                                                               write what is known of meanings
python scripts/train_reader/train_certainty.py ROWS.npz --out certainty.npz    fit, measure, write the trees

Questions: those of `training/asked`, over each graph as it is and without some of its relations, so that it
cannot answer what needs these, and neighbours of them that nothing answers (`counterfactuals.py`); and those
of `training/calibration`, over random graphs, whole and of a few triples. A meaning is right if it answers
what the question has for an answer. `--placing`: the folder of `placing.0.npz` …, each of which has not seen
the graphs that it is used for.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import made_up
import numpy as np
from compose import composed
from counterfactuals import Pool, pool_of
from notation import Translator, Tree
from sets import ROOT, Asked, Question, read_graph
from sklearn.ensemble import HistGradientBoostingClassifier

from clew.errors import ClewError
from clew.graph.graph import Graph
from clew.graph.schema import with_implied_types
from clew.graph.steps import relation_of
from clew.query.execute import Executor, OverBudget
from clew.query.tree import Query, steps_of
from clew.reading import account
from clew.reading.answer import Meaning, answer_of, meanings_of
from clew.reading.certainty import OF_MEANING, accounted, rows_of
from clew.reading.fitted import MODEL, Trees
from clew.reading.mutual import both_ways
from clew.reading.placing import shipped_placing
from clew.reading.ranker import Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders import StaticEmbedder

ASKED, SCHEMAS = ROOT / "training" / "asked", ROOT / "training" / "calibration"
WEIGHTS = {"asked": 0.7, "reduced": 0.7, "changed": 0.4, "made-up": 1.0, "composed": 0.5, "handfuls": 0.5}
"""What a question of each part counts."""
REDUCED, FEWEST = 1, 4
"""Graphs that are made of one by leaving relations out, each with so many at least."""
CONDITIONS = 0.5
"""How many of the changed questions have a condition added; the others are changed in any way."""
HANDFULS, CHAINS = 12, 25
WITHOUT = 0.7
"""Of graphs without relations and of a few triples: questions without an answer for each that has one."""
TREES, LEAVES, FOLDS, SEED = 600, 24, 6, 1
MOST_LEAVES = 32
"""What `Trees` can tell apart."""
SEEN_BY_SPLIT, DENIES = 0.15, 1.5
"""Share of the features that a split may choose from; how much more a question with *not* counts."""
WHOLE = ("asked", "made-up")
open_ranker = cache(Ranker.open)


@dataclass(frozen=True)
class MeaningRows:
    """The rows of features of the meanings of one question, which are right, and their relations."""

    part: str
    graph: str
    question: str
    answerable: bool
    rows: np.ndarray
    right: list[bool]
    relations: tuple[frozenset[str], ...]


def labels_of(reader: QuestionReader, query: Query) -> frozenset[str]:
    """What a query answers, numbers written alike."""
    draft = answer_of(reader.graph, reader.vocabulary, both_ways(reader.vocabulary, query))
    return plain({a.label for a in draft.answers})


def plain(answers: set[str] | frozenset[str]) -> frozenset[str]:
    """Answers with numbers written alike, with two digits behind the point, as people write averages."""
    return frozenset(f"{round(float(a), 2):.12g}" if _is_number(a) else a for a in answers)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def meaning_rows(
    part: str, name: str, reader: QuestionReader, questions: list[Question]
) -> Iterator[MeaningRows]:
    """The rows of the meanings of questions; questions without any are left out."""
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
        meanings, accounts = accounted(reader, reading, meanings)
        rows = rows_of(reader.vocabulary, reading, meanings, accounts)
        yield MeaningRows(part, name, question.text, bool(gold), rows, right, relations)


def _relations(reader: QuestionReader, meaning: Meaning) -> set[str]:
    return {reader.graph.relations[relation_of(step)] for step in steps_of(meaning.query)}


def reader_of(name: str, graph: Path, types: Path | None, model: Path = MODEL) -> QuestionReader:
    """The reader of a graph."""
    question_set = Asked(name, with_implied_types(read_graph(graph, types)))
    return QuestionReader(
        question_set.graph, question_set.schema, question_set.names, StaticEmbedder.load(), open_ranker(model)
    )


def read_folder(folder: Path, model: Path, placing: Path) -> list[MeaningRows]:
    """A graph with questions of people, whole and without some of its relations, and others beside them."""
    account.shipped_placing = partial(shipped_placing, placing_of(folder.name), placing)
    types = folder / "types.tsv"
    types = types if types.exists() else None
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    questions = [Question(r["question"], frozenset(map(str, r["answers"])), "") for r in rows]
    reader = reader_of(folder.name, folder / "kg.tsv", types, model)
    examples = list(meaning_rows("asked", folder.name, reader, questions))
    needed_relations = {
        k.question: next((r for r, x in zip(k.relations, k.right, strict=True) if x), None) for k in examples
    }
    examples += meaning_rows("changed", folder.name, reader, list(changed(folder.name, reader, questions)))
    triples = (folder / "kg.tsv").read_text("utf-8").splitlines()
    relations = sorted({line.split("\t")[1] for line in triples if line.count("\t") >= 2})
    for seed in range(REDUCED):
        rng = random.Random(seed)
        kept_relations = set(
            rng.sample(relations, rng.randint(min(FEWEST, len(relations)), max(FEWEST, len(relations) // 2)))
        )
        reduced_questions: list[Question] = []
        for question in questions:
            needs = needed_relations.get(question.text)
            if needs is not None or not question.gold:
                is_answerable = needs is not None and needs <= kept_relations
                reduced_questions.append(
                    question if is_answerable else Question(question.text, frozenset(), "")
                )
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "kg.tsv"
            path.write_text(
                "\n".join(t for t in triples if t.split("\t")[1:2] and t.split("\t")[1] in kept_relations)
                + "\n"
            )
            examples += meaning_rows(
                "reduced", folder.name, reader_of(folder.name, path, types, model), reduced_questions
            )
    return examples


def placing_of(graph: str) -> str:
    """The file of what was fitted without a graph."""
    from train_placing import fold_of

    return f"placing.{fold_of(graph)}.npz"


def changed(graph: str, reader: QuestionReader, questions: list[Question]) -> Iterator[Question]:
    """A neighbour of each question, that nothing in the graph answers."""
    pool = all_questions()
    for number, question in enumerate(questions):
        rng = random.Random(f"{graph} {number}")
        names = [(m.start, m.stop) for m in reader.name(question.text) if m.candidates and m.strong]
        changes = list(pool.changes(graph, question.text, names, rng))
        yield Question(
            rng.choice(changes[:1] if rng.random() < CONDITIONS else changes).text, frozenset(), ""
        )


@cache
def all_questions() -> Pool:
    """What may be put into questions."""
    return pool_of(ASKED, ROOT / "training" / "schemas")


def read_schema(path: Path) -> list[MeaningRows]:
    """Random graphs over a schema that the ranker was not trained on, nor the shipped placing."""
    account.shipped_placing = shipped_placing
    schema, schema_questions, _ = made_up.read(path)
    examples: list[MeaningRows] = []
    chains = composed(schema, schema_questions, CHAINS, random.Random(1))
    graphs: list[tuple[str, Graph, list[tuple[str, Tree]]]] = []
    for typed in sorted({False, bool(schema["declared"])}):
        variant = made_up.Variant(1, typed, renamed=False)
        graph, trees = made_up.graph(schema, [*schema_questions, *chains], variant)
        graphs += [
            ("made-up", graph, trees[: len(schema_questions)]),
            ("composed", graph, trees[len(schema_questions) :]),
        ]
    graphs += [("handfuls", *handful) for handful in made_up.handfuls(schema, schema_questions, HANDFULS, 1)]
    for part, graph, trees in graphs:
        question_set = Asked(path.stem, with_implied_types(graph))
        reader = QuestionReader(
            question_set.graph, question_set.schema, question_set.names, StaticEmbedder.load()
        )
        translator, questions = Translator.of(question_set.graph), list[Question]()
        for text, tree in trees:
            try:
                gold = frozenset[str]() if tree[0] == "none" else labels_of(reader, translator.query(tree))
            except (KeyError, ValueError, OverBudget):
                continue
            if gold or tree[0] == "none":
                questions.append(Question(text, gold, ""))
        examples += meaning_rows(part, path.stem, reader, questions)
    return examples


def write_rows(out: Path, processes: int, halves: tuple[Path, Path], placing: Path) -> None:
    """Read all questions and write the rows of their meanings.

    `halves`: models trained without every other graph of people, from the first on, and from the second on;
    each graph is read by the one that has not seen it.
    """
    folders = sorted(path for path in ASKED.iterdir() if path.is_dir())
    jobs = [partial(read_folder, folder, halves[i % 2], placing) for i, folder in enumerate(folders)]
    jobs += [partial(read_schema, path) for path in sorted(SCHEMAS.glob("*.json"))]
    with multiprocessing.Pool(processes) as pool:
        examples: list[MeaningRows] = []
        for group in pool.imap(_run, jobs):
            examples += group
            print(len(examples), group[0].graph if group else "", flush=True)
    np.savez_compressed(
        out,
        names=np.array(OF_MEANING),
        rows=np.concatenate([k.rows for k in examples]),
        right=np.concatenate([k.right for k in examples]),
        counts=np.array([len(k.right) for k in examples]),
        parts=np.array([k.part for k in examples]),
        graphs=np.array([k.graph for k in examples]),
        answerable=np.array([k.answerable for k in examples]),
        questions=np.array([k.question for k in examples]),
    )


def _run(job: Callable[[], list[MeaningRows]]) -> list[MeaningRows]:
    return job()


@dataclass(frozen=True)
class Table:
    """The written rows of all meanings; `owner` is the question of each of them."""

    rows: np.ndarray
    right: np.ndarray
    owner: np.ndarray
    parts: np.ndarray
    graphs: np.ndarray
    answerable: np.ndarray

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read what `write_rows` wrote."""
        with np.load(path) as arrays:
            if arrays["names"].tolist() != list(OF_MEANING):
                raise SystemExit(f"{path} was written for other features. Write it again")
            owner = np.repeat(np.arange(len(arrays["counts"])), arrays["counts"])
            names = ("rows", "right", "parts", "graphs", "answerable")
            rows, right, *columns = (arrays[name] for name in names)
            return cls(rows, right, owner, *columns)

    def balanced(self) -> np.ndarray:
        """Which meanings are learned from: `WITHOUT` of the questions that a smaller graph cannot answer."""
        is_learned, rng = np.ones(len(self.parts), bool), np.random.default_rng(SEED)
        for part in ("reduced", "handfuls"):
            in_part = self.parts == part
            unanswerable = rng.permutation(np.flatnonzero(in_part & ~self.answerable))
            is_learned[unanswerable[int(WITHOUT * (in_part & self.answerable).sum()) :]] = False
        return is_learned[self.owner]

    def fit(self, meanings: np.ndarray) -> HistGradientBoostingClassifier:
        """Trees of some meanings; a likelier meaning is never less sure for it."""
        up = ("share", "lead", "placed_least", "placed_second", "placed_mean", "placed_against")
        down = ("none", "unplaced", "unplaced_from_best")
        order = [(name in up) - (name in down) for name in OF_MEANING]
        trees = HistGradientBoostingClassifier(
            max_iter=TREES, learning_rate=0.05, max_leaf_nodes=LEAVES, min_samples_leaf=60,
            l2_regularization=3.0, monotonic_cst=order, max_features=SEEN_BY_SPLIT, early_stopping=False,
            random_state=SEED,
        )  # fmt: skip
        weights = np.array([WEIGHTS[part] for part in self.parts[self.owner[meanings]]])
        weights *= 1 + DENIES * self.rows[meanings, OF_MEANING.index("asks_not")]
        return trees.fit(self.rows[meanings], self.right[meanings], sample_weight=weights)

    def held_out(self) -> np.ndarray:
        """How sure each meaning is, each graph held out in its turn."""
        certainties, learned = np.zeros(len(self.rows)), self.balanced()
        names = [sorted(set(self.graphs[np.isin(self.parts, p)])) for p in (WHOLE[:1], WHOLE[1:])]
        for fold in range(FOLDS):
            in_fold = np.isin(self.graphs, [g for group in names for g in group[fold::FOLDS]])[self.owner]
            certainties[in_fold] = self.fit(~in_fold & learned).predict_proba(self.rows[in_fold])[:, 1]
        return certainties

    def report(self, certainties: np.ndarray) -> None:
        """Print right and wrong of what can be answered, and what is answered of the rest, by the surest."""
        order = np.lexsort((-certainties, self.owner))
        best = order[np.r_[True, np.diff(self.owner[order]) > 0]]
        for part in WEIGHTS:
            part_meanings = best[self.parts[self.owner[best]] == part]
            is_answerable, count = (
                self.answerable[self.owner[part_meanings]],
                self.answerable[self.parts == part].sum(),
            )
            for least in (0.0, 0.4, 0.5, 0.6, 0.7, 0.8):
                is_answered = certainties[part_meanings] >= least
                right, wrong = (
                    (is_answered & self.right[part_meanings]).sum(),
                    (is_answered & is_answerable & ~self.right[part_meanings]).sum(),
                )
                shares = [100 * n / max(1, count) for n in (right, wrong)]
                answered_shares = f"right {shares[0]:.1f} wrong {shares[1]:.1f} of {count}"
                guesses = (
                    f"{(is_answered & ~is_answerable).sum()} of {(~is_answerable).sum()} without an answer"
                )
                print(f"{part:9} {least}: {answered_shares}; {guesses}")


def write(trees: HistGradientBoostingClassifier, out: Path, names: Sequence[str], **others: object) -> None:
    """Write trees as `Trees` reads them; of scikit-learn's nodes there is no public form."""
    nodes = [tree.nodes for (tree,) in trees._predictors]
    leaves = max(int(tree["is_leaf"].sum()) for tree in nodes)
    if leaves > MOST_LEAVES:
        raise SystemExit(f"A tree has at most {MOST_LEAVES} leaves")
    shape = leaves - 1, len(nodes)
    arrays = {
        "feature": np.zeros(shape, np.int32),
        "least": np.full(shape, np.inf, np.float32),
        "lost": np.zeros(shape, np.uint32),
        "value": np.zeros((len(nodes), leaves), np.float32),
    }
    for at, tree in enumerate(nodes):
        inner, leaf = 0, 0
        open_ = [(0, ())]
        while open_:
            # With the nodes passed on the low side: where these are above, no leaf of here is reached.
            node, below = open_.pop()
            if tree["is_leaf"][node]:
                arrays["value"][at, leaf] = tree["value"][node]
                for passed in below:
                    arrays["lost"][passed, at] |= np.uint32(1 << leaf)
                leaf += 1
                continue
            arrays["feature"][inner, at] = tree["feature_idx"][node]
            arrays["least"][inner, at] = tree["num_threshold"][node]
            open_ += [(tree["right"][node], below), (tree["left"][node], (*below, inner))]
            inner += 1
    start = float(np.ravel(trees._baseline_prediction)[0])
    np.savez_compressed(out, names=np.array(names), start=start, **arrays, **others)


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
    parser.add_argument("--placing", type=Path, default=MODEL, help="where placing.0.npz … stand")
    args = parser.parse_args()
    if args.out is None:
        write_rows(args.rows, args.processes, args.halves, args.placing)
        return
    table = Table.read(args.rows)
    table.report(table.held_out())
    trees = table.fit(table.balanced())
    write(trees, args.out, OF_MEANING)
    stored_certainties = Trees.open(args.out, OF_MEANING).of(table.rows)
    print(
        "differs by at most", float(np.abs(stored_certainties - trees.predict_proba(table.rows)[:, 1]).max())
    )


if __name__ == "__main__":
    main()
