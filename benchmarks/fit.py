"""What `clew fit` learns from some questions of a graph, measured on others that it has not seen.

    python benchmarks/fit.py metaqa pq2 spider [--seed N]

Two thirds of the questions are learned from, with the strength chosen on their halves; the rest is asked
with what was learned and without it. Prints a table for `benchmarks/RESULTS.md`. Candidates are enumerated
without the words that were learned for it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "train_reader"))
from sets import Asked, metaqa, pathquestion, spider

from clew.methods.auto.settings import AutoSettings
from clew.reading.feedback import Feedback, usable
from clew.reading.fitted_layer import Example
from clew.reading.fitting import Figures, choose, figures_of, learned, read_examples, without
from clew.reading.reader import QuestionReader
from clew.text.embedders.static import StaticEmbedder

HEADER = """| graph | learned from | asked | first | right / wrong | with: first | right / wrong | CPU s |
|---|---|---|---|---|---|---|---|"""


def question_set_of(name: str, limit: int) -> Asked:
    """A graph with questions: MetaQA's dev set, PathQuestion, or the database of Spider that has most."""
    if name == "metaqa":
        question_set = next(metaqa(limit))
        question_set.questions = [q for q in question_set.questions if q.kind != "paraphrase"]
        return question_set
    if name.startswith("pq"):
        return next(pathquestion(int(name[2:]), limit))
    return max(spider("development"), key=lambda question_set: len(question_set.questions))


def row(name: str, examples: list[Example], seconds: float, seed: int) -> str:
    """Learn from two thirds and ask the rest: a row of the table."""
    count = 2 * len(examples) // 3
    train, test = examples[:count], examples[count:]
    half = np.random.default_rng(seed).permutation(count) % 2
    confidence = AutoSettings().confidence
    strength = choose(train, train, half, confidence, lambda _stage, _done, _total: None)[2]
    shares = learned(train, strength).shares(test)
    fitted_figures = figures_of(list(zip(test, shares, strict=True)), confidence)
    figures = [_text(f) for f in (without(test, confidence), fitted_figures)]
    return f"| {name} | {count} | {len(test)} | {' | '.join(figures)} | {seconds:.0f} |"


def _text(figures: Figures) -> str:
    first, right, wrong = (
        100 * n / max(1, figures.questions)
        for n in (figures.right, figures.answered_right, figures.answered_wrong)
    )
    return f"{first:.1f} | {right:.1f} / {wrong:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", help="metaqa, pq2, pq3 or spider")
    parser.add_argument("--limit", type=int, default=300, help="questions of each graph")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(HEADER)
    for name in args.sets:
        question_set, began = question_set_of(name, args.limit), time.process_time()
        questions = list(question_set.questions)
        random.Random(5).shuffle(questions)
        questions = questions[: args.limit]
        feedback = usable(
            [Feedback(i, q.text, q.gold) for i, q in enumerate(questions)], question_set.names
        ).feedback
        reader = QuestionReader(
            question_set.graph, question_set.schema, question_set.names, StaticEmbedder.load()
        )
        examples = read_examples(reader, feedback, "reading", lambda _stage, _done, _total: None)
        print(row(question_set.name, examples, time.process_time() - began, args.seed), flush=True)


if __name__ == "__main__":
    main()
