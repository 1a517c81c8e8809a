"""Where the answers of the measured sets are lost: not among the candidates, ranked too low, or too unsure.

    python scripts/train_reader/measure.py SET… [--limit N] [--model FOLDER] [-v]

Of the questions that have an answer: for how many a candidate gives it, one that the first look keeps, one of
the likeliest meanings, the surest of them; what is then answered, right and wrong; and how many of the others
are answered. Exact answer sets. `-v` shows those whose surest meaning is another, with what the surest is.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

from covered import candidate_answers, same_answers
from sets import MEASURED, Asked, Question, all_of
from train_certainty import labels_of, plain

from clew.errors import ClewError
from clew.methods.settings import AutoSettings
from clew.query.execute import Executor
from clew.query.tree import Query
from clew.query.words import say
from clew.reading.answer import meanings_of
from clew.reading.certainty import certainties_of
from clew.reading.ranker import Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders import StaticEmbedder

STAGES = ("a candidate", "kept", "a meaning", "the surest", "answered", "wrong")


class Measure:
    """Counts where the answers of one set are lost."""

    def __init__(self, show: bool) -> None:
        self.show, self.counts, self.least = show, Counter[str](), AutoSettings().confidence

    def add(self, reader: QuestionReader, question: Question) -> None:
        """Count one question."""
        reading, gold = reader.read(question.text), plain(question.gold)
        meanings = meanings_of(Executor(reader.graph), reader.vocabulary, reading)
        accounts = [reader.account(reading, meaning.query) for meaning in meanings]
        certainties = certainties_of(reader.vocabulary, reading, meanings, accounts) if meanings else None
        best = -1 if certainties is None else int(certainties.argmax())
        is_answered = certainties is not None and float(certainties[best]) >= self.least
        if not gold:
            self.counts.update(others=1, guessed=is_answered)
            return
        right = [_answers(reader, m.query) == gold for m in meanings]
        # Not by `_answers`, which proves every one: there are hundreds of candidates.
        executor, ranked = Executor(reader.graph), [candidate.option for candidate in reading.ranking.ranked]
        is_kept = any(right) or any(
            same_answers(candidate_answers(executor, o), question.gold) for o in ranked
        )
        options = [] if is_kept else reader.candidates_of(question.text)[1]
        is_candidate = is_kept or any(
            same_answers(candidate_answers(executor, o), question.gold) for o in options
        )
        is_surest_right = best >= 0 and right[best]
        reached = (
            is_candidate,
            is_kept,
            any(right),
            is_surest_right,
            is_answered and is_surest_right,
            is_answered and not is_surest_right,
        )
        self.counts.update(questions=1, **dict(zip(STAGES, map(int, reached), strict=True)))
        if self.show and not is_surest_right:
            surest_text = say(meanings[best].query, reader.vocabulary) if meanings else "nothing"
            print(
                f"{question.text} | {sorted(gold)[:3]} "
                f"| {'told' if is_answered else 'left open'}: {surest_text}"
            )

    def row(self, name: str) -> str:
        """The row of a set."""
        counts = self.counts
        shares = " | ".join(f"{100 * counts[stage] / max(1, counts['questions']):.1f}" for stage in STAGES)
        return f"| {name} | {counts['questions']} | {shares} | {counts['guessed']} of {counts['others']} |"


def _answers(reader: QuestionReader, query: Query) -> frozenset[str]:
    try:
        return labels_of(reader, query)
    except ClewError:
        return frozenset()


def reader_of(question_set: Asked, ranker: Ranker | None) -> QuestionReader:
    """The reader of a set's graph."""
    return QuestionReader(
        question_set.graph, question_set.schema, question_set.names, StaticEmbedder.load(), ranker
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", choices=MEASURED, metavar="SET")
    parser.add_argument("--limit", type=int, default=10**9, help="questions of each graph, drawn with a seed")
    parser.add_argument("--model", type=Path, help="a folder that export.py wrote")
    parser.add_argument("-v", action="store_true", help="show what is not the surest")
    args = parser.parse_args()
    ranker = Ranker.open(args.model) if args.model else None
    measures: dict[str, Measure] = {}
    for name, question_set in all_of(args.sets):
        measure, reader = measures.setdefault(name, Measure(args.v)), reader_of(question_set, ranker)
        for question in random.Random(3).sample(
            question_set.questions, min(args.limit, len(question_set.questions))
        ):
            measure.add(reader, question)
    print(f"| set | questions | {' | '.join(STAGES)} | others answered |")
    print("|---" * (len(STAGES) + 3) + "|")
    for name, measure in measures.items():
        print(measure.row(name))


if __name__ == "__main__":
    main()
