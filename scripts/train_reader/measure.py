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

from covered import said, same
from sets import MEASURED, Asked, Question, all_of
from train_certainty import labels_of, plain

from clew.errors import ClewError
from clew.methods.auto.settings import AutoSettings
from clew.reading.answer import meanings_of
from clew.reading.certainty import how_sure
from clew.reading.execute import Executor
from clew.reading.query import Query
from clew.reading.ranker import Ranker
from clew.reading.reader import QuestionReader
from clew.reading.words import say
from clew.text.embedders.static import StaticEmbedder

STAGES = ("a candidate", "kept", "a meaning", "the surest", "answered", "wrong")


class Measure:
    """Counts where the answers of one set are lost."""

    def __init__(self, show: bool) -> None:
        self.show, self.counts, self.least = show, Counter[str](), AutoSettings().confidence

    def add(self, reader: QuestionReader, question: Question) -> None:
        """Count one question."""
        reading, gold = reader.read(question.text), plain(question.gold)
        meanings = meanings_of(Executor(reader.graph), reader.vocabulary, reading)
        sure = how_sure(reader.vocabulary, reading, meanings) if meanings else None
        best = -1 if sure is None else int(sure.argmax())
        told = sure is not None and float(sure[best]) >= self.least
        if not gold:
            self.counts.update(others=1, guessed=told)
            return
        right = [_answers(reader, m.query) == gold for m in meanings]
        # Not by `_answers`, which proves every one: there are hundreds of candidates.
        executor, ranked = Executor(reader.graph), [one.option for one in reading.ranking.ranked]
        kept = any(right) or any(same(said(executor, o), question.gold) for o in ranked)
        heard = [] if kept else reader.candidates_of(question.text)[1]
        among = kept or any(same(said(executor, o), question.gold) for o in heard)
        surest = best >= 0 and right[best]
        reached = (among, kept, any(right), surest, told and surest, told and not surest)
        self.counts.update(questions=1, **dict(zip(STAGES, map(int, reached), strict=True)))
        if self.show and not surest:
            instead = say(meanings[best].query, reader.vocabulary) if meanings else "nothing"
            print(f"{question.text} | {sorted(gold)[:3]} | {'told' if told else 'left open'}: {instead}")

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


def reader_of(asked: Asked, ranker: Ranker | None) -> QuestionReader:
    """The reader of a set's graph."""
    return QuestionReader(asked.graph, asked.schema, asked.names, StaticEmbedder.load(), ranker)


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
    for name, asked in all_of(args.sets):
        measure, reader = measures.setdefault(name, Measure(args.v)), reader_of(asked, ranker)
        for question in random.Random(3).sample(asked.questions, min(args.limit, len(asked.questions))):
            measure.add(reader, question)
    print(f"| set | questions | {' | '.join(STAGES)} | others answered |")
    print("|---" * (len(STAGES) + 3) + "|")
    for name, measure in measures.items():
        print(measure.row(name))


if __name__ == "__main__":
    main()
