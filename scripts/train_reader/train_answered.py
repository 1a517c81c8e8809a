"""Train the trees that say how likely a reading is what was asked, once its words are accounted for.

python scripts/train_reader/train_answered.py ROWS.npz                      write what is known of readings
python scripts/train_reader/train_answered.py ROWS.npz --out answered.npz   fit, measure, write the trees

Questions of graphs of `training/asked` that the certainty (`train_certainty.py`) was not fitted on, also
those without an answer, and neighbours of them that nothing answers (`counterfactuals.py`).
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
from counterfactuals import pool_of
from sets import Question
from sklearn.ensemble import HistGradientBoostingClassifier
from train_certainty import ASKED, labels_of, plain, reader_of, write
from train_placing import SCHEMAS

from clew.errors import ClewError
from clew.query.execute import Executor
from clew.reading.answer import meanings_of
from clew.reading.certainty import OF_ANSWERED, answered_row, certainties_of
from clew.reading.reader import QuestionReader

FITTED, MOST_QUESTIONS, FOLDS = 48, 30, 5
"""Graphs that the certainty was fitted on; questions of each of the others."""


def row_of(reader: QuestionReader, text: str, gold: frozenset[str]) -> tuple[np.ndarray, bool] | None:
    """What is known of the surest meaning of a question, and whether it is right; None without one."""
    reading = reader.read(text)
    meanings = meanings_of(Executor(reader.graph), reader.vocabulary, reading)
    if not meanings:
        return None
    rows, sure = certainties_of(reader.vocabulary, reading, meanings)
    best = int(sure.argmax())
    account = reader.account(reading, meanings[best].query)
    right = bool(gold) and labels_of(reader, meanings[best].query) == gold
    return answered_row(rows, sure, best, account), right


def write_rows(out: Path) -> None:
    """Write the rows of all questions."""
    pool = pool_of(ASKED, SCHEMAS)
    rows, right, kinds, graphs, texts = [], [], [], [], []
    for folder in sorted(p for p in ASKED.iterdir() if p.is_dir())[FITTED:]:
        types = folder / "types.tsv"
        asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
        questions = [Question(r["question"], frozenset(map(str, r["answers"])), "") for r in asked]
        rng = random.Random(folder.name)
        rng.shuffle(questions)
        reader = reader_of(folder.name, folder / "kg.tsv", types if types.exists() else None)
        for question in questions[:MOST_QUESTIONS]:
            made = [("asked" if question.gold else "unanswerable", question.text, plain(question.gold))]
            names = [(m.start, m.stop) for m in reader.name(question.text) if m.candidates and m.strong]
            changes = list(pool.changes(folder.name, question.text, names, rng))
            changed = rng.choice(changes[:1] if rng.random() < 0.5 else changes)
            made.append((changed.kind, changed.text, frozenset[str]()))
            for kind, text, gold in made:
                try:
                    found = row_of(reader, text, gold)
                except ClewError:
                    continue
                if found is not None:
                    rows.append(found[0])
                    right.append(found[1])
                    kinds.append(kind)
                    graphs.append(folder.name)
                    texts.append(text)
        print(folder.name, len(rows), flush=True)
        np.savez_compressed(
            out, names=np.array(OF_ANSWERED), rows=np.stack(rows), right=np.array(right),
            kinds=np.array(kinds), graphs=np.array(graphs), texts=np.array(texts),
        )  # fmt: skip


def fitted(rows: np.ndarray, right: np.ndarray, weights: np.ndarray) -> HistGradientBoostingClassifier:
    """Trees; a surer meaning and better placed words never make a reading less likely."""
    up = ("certainty", "placed_least", "placed_second", "placed_mean", "placed_against")
    order = [1 if name in up else -1 if name == "unplaced" else 0 for name in OF_ANSWERED]
    return HistGradientBoostingClassifier(
        max_iter=120, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=25, l2_regularization=5.0,
        monotonic_cst=order, early_stopping=False, random_state=1,
    ).fit(rows, right, sample_weight=weights)  # fmt: skip


def fit(path: Path, out: Path) -> None:
    """Fit on all graphs but a fold, measure on the fold; then fit on all and write."""
    table = np.load(path)
    if table["names"].tolist() != list(OF_ANSWERED):
        raise SystemExit("The rows were written for other features. Write them again")
    rows, right, kinds, graphs = (table[name] for name in ("rows", "right", "kinds", "graphs"))
    weights = np.where(np.isin(kinds, ("asked", "unanswerable")), 1.0, CHANGED)
    folds = {graph: number % FOLDS for number, graph in enumerate(sorted(set(graphs)))}
    fold = np.array([folds[graph] for graph in graphs])
    sure = np.zeros(len(rows))
    for number in range(FOLDS):
        rest, here = fold != number, fold == number
        sure[here] = fitted(rows[rest], right[rest], weights[rest]).predict_proba(rows[here])[:, 1]
    before = rows[:, OF_ANSWERED.index("certainty")]
    before = np.where(rows[:, OF_ANSWERED.index("unplaced")] > 0, 0, 1 / (1 + np.exp(-before)))
    for name, said in (("certainty and account", before), ("trees", sure)):
        for least in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            cells: list[str] = []
            for kind in sorted(set(kinds)):
                of = kinds == kind
                answered = of & (said >= least)
                shares = [100 * (answered & r).sum() / of.sum() for r in (right, ~right)]
                cells.append(f"{kind} {shares[0]:.1f}/{shares[1]:.1f}")
            answered = said >= least
            share = 100 * right[answered].mean()
            print(f"{name} {least}: right/wrong {' '.join(cells)}; right of answered {share:.1f}")
    write(fitted(rows, right, weights), out, OF_ANSWERED)


CHANGED = 0.5
"""What a changed question counts."""


def main() -> None:
    """Write rows, or fit and write trees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.out is None:
        write_rows(args.rows)
    else:
        fit(args.rows, args.out)


if __name__ == "__main__":
    main()
