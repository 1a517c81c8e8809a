"""Train the trees that say whether a content word is carried by a query graph (`reading/placing.py`).

python scripts/train_reader/train_placing.py ROWS.npz --part I N   write what is known of words, graphs I of N
python scripts/train_reader/train_placing.py ROWS.npz... --out placing.npz         fit, measure, write trees

Beside `placing.npz` stands what was fitted without each fold of graphs, `placing.0.npz` …: the certainty of
readings is fitted on words as those tell them that have not seen their graph.

Questions of `training/asked` that are read right, each with its right query graph: all their words are
carried. Their neighbours (`counterfactuals.py`) that are read alike: of these some are not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from concepts import Concepts, carries
from counterfactuals import Changed, Pool, comparatives_in, is_noun, pool_of, superlatives_in
from sets import ROOT, Question
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from train_certainty import ASKED, labels_of, plain, reader_of, write

from clew.errors import ClewError
from clew.graph.steps import relation_of
from clew.query.execute import Executor
from clew.query.tree import Query, mentions_of, steps_of
from clew.reading.answer import meanings_of
from clew.reading.likeness import types_said
from clew.reading.placing import OF_WORD, PLACED, WordRows, with_heard
from clew.reading.reader import QuestionReader, Reading
from clew.text.inflection import singular

SCHEMAS = ROOT / "training" / "schemas"
FOLDS, CUT = 4, 0.15
MOST_QUESTIONS = 24
"""Questions of a graph that are taken."""
DEGREES, LABELS = 4, 2
"""Other superlatives and comparatives that are put into a question, and labels of its graph."""
WORDS = ("modifier", "verb", "noun", "superlative", "comparative", "label", "concept")
"""Kinds of neighbours in which one word is another."""
OF_CONCEPTS = 0.15
"""What a neighbour by concepts weighs: there are more of them than of all others."""
CONCEPTS = 3
"""Words of other concepts that are put in the place of each word that says a label."""
MOST_LIKE = 0.7
"""What is put into a question and is so like a label of its query graph may be carried by it."""


@dataclass(frozen=True)
class Example:
    """The words of one question under its right query graph, and which of them it carries."""

    kind: str
    graph: str
    question: str
    words: WordRows
    carried: list[bool]
    names: tuple[str, ...]


def right_reading(
    reader: QuestionReader, text: str, gold: frozenset[str]
) -> tuple[Reading, WordRows, Query] | None:
    """A question as read by the likeliest meaning that answers it right, its words, and that meaning."""
    reading = reader.read(text)
    for meaning in meanings_of(Executor(reader.graph), reader.vocabulary, reading)[:3]:
        if labels_of(reader, meaning.query) == gold:
            rows = reader.accountant.rows(
                reading.question,
                reading.mentions,
                reading.likeness,
                meaning.query,
                mentions_of(meaning.query),
            )
            return reading, rows, meaning.query
    return None


def other_labels(reader: QuestionReader, query: Query) -> list[str]:
    """Nouns that are labels of a graph, and share no word with those of a query."""
    vocabulary = reader.vocabulary
    own = [vocabulary.relations[step // 2] for step in steps_of(query)]
    own += [vocabulary.types[t] for t in types_said(vocabulary, query)]
    said = {singular(word) for label in own for word in label.split()}
    labels = {*vocabulary.relations, *vocabulary.types}
    return sorted(label for label in labels if is_noun(label) and singular(label) not in said)


def with_concepts(
    concepts: Concepts,
    reader: QuestionReader,
    reading: Reading,
    words: WordRows,
    query: Query,
    rng: random.Random,
) -> Iterator[Changed]:
    """A question with words of other concepts in the place of those that say a label of its query."""
    vocabulary, text = reader.vocabulary, reading.question
    labels = [vocabulary.relations[r] for r in sorted({relation_of(step) for step in steps_of(query)})]
    labels += [vocabulary.types[t] for t in types_said(vocabulary, query)]
    for place, row in zip(words.places, words.rows, strict=True):
        if labels and carries(row[OF_WORD.index("exact")], row[OF_WORD.index("sense_own")]):
            start, stop, _ = reading.likeness.words[place]
            for other in concepts.others(text, (start, stop), labels, rng, CONCEPTS):
                yield Changed("concept", other, ((start, stop + len(other) - len(text)),))


def examples_of(
    reader: QuestionReader, folder: str, questions: list[Question], pool: Pool, concepts: Concepts
) -> Iterator[Example]:
    """The questions of a graph and their neighbours."""
    answerable = [q for q in questions if q.gold]
    random.Random(folder).shuffle(answerable)
    rest = answerable[MOST_QUESTIONS:]
    ranking = [q for q in rest if superlatives_in(q.text) or comparatives_in(q.text)]
    for number, question in enumerate([*answerable[:MOST_QUESTIONS], *ranking]):
        rng = random.Random(f"{folder} {number}")
        gold = plain(question.gold)
        try:
            found = right_reading(reader, question.text, gold)
        except ClewError:
            continue
        if found is None:
            continue
        reading, words, query = found
        yield example("right", folder, reading, words, ())
        spans = [
            (m.start, m.stop)
            for m in reading.mentions
            if m.candidates and m.strong and reading.question == question.text
        ]
        changes = list(pool.changes(folder, reading.question, spans, rng))
        others = [c for c in changes[1:] if c.kind not in WORDS]
        chosen = [changes[0], *rng.sample(others, min(1, len(others)))]
        chosen += [c for c in changes[1:] if c.kind in WORDS]
        degrees = pool.with_superlative, pool.with_comparative
        more = [make(reading.question, spans, rng) for make in degrees for _ in range(DEGREES - 1)]
        labels = other_labels(reader, query)
        more += [pool.with_label(labels, reading.question, spans, rng) for _ in range(LABELS)]
        chosen += filter(None, more)
        chosen += with_concepts(concepts, reader, reading, words, query, rng)
        if rng.random() < 0.3:
            chosen.append(Changed("lower", question.text.lower(), ()))
        for changed in chosen:
            text = changed.text.lower() if changed.spans and rng.random() < 0.25 else changed.text
            try:
                found = right_reading(reader, text, gold)
            except ClewError:
                continue
            if found is not None and found[0].question == text:
                made = example(changed.kind, folder, *found[:2], changed.spans)
                of = ("exact", "like_relation", "like_type") if changed.kind in WORDS else ("exact",)
                like = made.words.rows[:, [OF_WORD.index(name) for name in of]].max(1)
                if not changed.spans or not any(
                    near > MOST_LIKE for near, c in zip(like, made.carried, strict=True) if not c
                ):
                    yield made


def example(
    kind: str, folder: str, reading: Reading, words: WordRows, spans: tuple[tuple[int, int], ...]
) -> Example:
    """An example; `spans` are the characters that nothing carries."""
    places = [reading.likeness.words[i] for i in words.places]
    carried = [not any(a < stop and start < b for a, b in spans) for start, stop, _ in places]
    return Example(kind, folder, reading.question, words, carried, tuple(w for _, _, w in places))


def write_rows(out: Path, part: int, parts: int) -> None:
    """Write the examples of each `parts`-th graph."""
    pool, concepts = pool_of(ASKED, SCHEMAS), Concepts()
    examples: list[Example] = []
    for folder in sorted(p for p in ASKED.iterdir() if p.is_dir())[part::parts]:
        types = folder / "types.tsv"
        rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
        questions = [Question(r["question"], frozenset(map(str, r["answers"])), "") for r in rows]
        reader = reader_of(folder.name, folder / "kg.tsv", types if types.exists() else None)
        examples += examples_of(reader, folder.name, questions, pool, concepts)
        print(folder.name, len(examples), flush=True)
        save(out, examples)


def save(out: Path, examples: list[Example]) -> None:
    """Write examples."""
    np.savez_compressed(
        out,
        of_word=np.array(OF_WORD),
        rows=np.concatenate([e.words.rows for e in examples]).astype(np.float32),
        states=np.concatenate([e.words.states for e in examples]).astype(np.float16),
        carried=np.concatenate([e.carried for e in examples]),
        counts=np.array([len(e.carried) for e in examples]),
        kinds=np.array([e.kind for e in examples]),
        graphs=np.array([e.graph for e in examples]),
        questions=np.array([e.question for e in examples]),
        words=np.array([w for e in examples for w in e.names]),
    )


def fit(files: list[Path], out: Path) -> None:
    """Fit on all graphs but a fold, measure on the fold; then fit on all and write."""
    parts = [np.load(path) for path in files]
    of_word = parts[0]["of_word"].tolist()
    if of_word != list(OF_WORD):
        raise SystemExit("The rows were written for other features. Write them again")
    rows, states, carried, counts, kinds, graphs = (
        np.concatenate([part[name] for part in parts])
        for name in ("rows", "states", "carried", "counts", "kinds", "graphs")
    )
    states, carried = states.astype(np.float32), carried.astype(bool)
    owner = np.repeat(np.arange(len(counts)), counts)
    fold = np.array([fold_of(graph) for graph in graphs])[owner]
    weights = np.where(kinds == "concept", OF_CONCEPTS, 1.0)[owner]
    heard, shares = np.zeros(len(carried)), np.zeros(len(carried))
    vectors = [linear(states[fold != number], carried[fold != number]) for number in range(FOLDS)]
    for number, fitted in enumerate(vectors):
        heard[fold == number] = fitted.decision_function(states[fold == number])
    known = with_heard(rows, heard)
    for number, fitted in enumerate(vectors):
        rest, here = fold != number, fold == number
        of_rest = trees(known[rest], carried[rest], weights[rest])
        shares[here] = of_rest.predict_proba(known[here])[:, 1]
        save_model(of_rest, fitted, out.with_suffix(f".{number}.npz"))
    least = np.ones(len(counts))
    np.minimum.at(least, owner, shares)
    for cut in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        found = " ".join(f"{k} {100 * (least[kinds == k] < cut).mean():.1f}" for k in sorted(set(kinds)))
        print(f"a word less likely than {cut}, % of questions: {found}")
    save_model(trees(known, carried, weights), linear(states, carried), out)


def fold_of(graph: str) -> int:
    """The fold of a graph, by its place among all."""
    return sorted(p.name for p in ASKED.iterdir() if p.is_dir()).index(graph) % FOLDS


def save_model(of_words: HistGradientBoostingClassifier, of_vectors: LogisticRegression, out: Path) -> None:
    """Write a model as `Placing` reads it."""
    write(
        of_words, out, PLACED, cut=CUT,
        weights=of_vectors.coef_[0].astype(np.float32), bias=float(of_vectors.intercept_[0]),
    )  # fmt: skip


def linear(states: np.ndarray, carried: np.ndarray) -> LogisticRegression:
    """What the vectors of words tell by themselves."""
    return LogisticRegression(C=0.05, max_iter=200).fit(states, carried)


def trees(rows: np.ndarray, carried: np.ndarray, weights: np.ndarray) -> HistGradientBoostingClassifier:
    """What all tells."""
    return HistGradientBoostingClassifier(
        max_iter=400, learning_rate=0.06, max_leaf_nodes=24, min_samples_leaf=30, l2_regularization=3.0,
        early_stopping=False, random_state=1,
    ).fit(rows, carried, weights)  # fmt: skip


def main() -> None:
    """Write rows, or fit and write trees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--part", type=int, nargs=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.part:
        write_rows(args.rows[0], *args.part)
    else:
        fit(args.rows, args.out)


if __name__ == "__main__":
    main()
