"""What the reader makes of the measured sets, and how risk goes with coverage.

python scripts/train_reader/measure.py SET … [--model FOLDER] [--limit N] [-v]
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from covered import said, same
from sets import MEASURED, all_of

from clew.reading.answer import meanings_of
from clew.reading.certainty import how_sure
from clew.reading.execute import Executor
from clew.reading.ranker import Ranker
from clew.reading.reader import QuestionReader
from clew.text.embedders.static import StaticEmbedder


def main() -> None:
    """Print, by set: right first, right among the first three, and the curve of risk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--limit", type=int, default=10**9, help="questions of each graph")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    ranker = Ranker.open(args.model) if args.model else None
    rows: dict[str, list[tuple[str, bool, bool, float, bool, bool]]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    embedder = StaticEmbedder.load()
    for name, asked in all_of([s for s in args.sets if s in MEASURED]):
        reader = QuestionReader(asked.graph, asked.schema, asked.names, embedder, ranker)
        some = random.Random(3).sample(asked.questions, min(args.limit, len(asked.questions)))
        for question in some:
            began = time.process_time()
            reading = reader.read(question.text)
            times[name].append(time.process_time() - began)
            executor = Executor(asked.graph)
            meanings = meanings_of(executor, reader.vocabulary, reading)
            told = how_sure(reader.vocabulary, reading, meanings) if meanings else np.zeros(1)
            first = [m.ranked for m in meanings[told.argmax() :][:1]] + [*reading.ranking.ranked[:3]]
            hits = [bool(question.gold) and same(said(executor, r.option), question.gold) for r in first]
            sure = float(told.max())
            hit1 = bool(hits and hits[0])
            if first and question.gold and not hit1:
                answers = said(executor, first[0].option)
                hit1 = False
                hit_at_1 = bool(answers & question.gold)
            else:
                hit_at_1 = hit1
            rows[name].append((question.kind, hit1, any(hits), sure, bool(question.gold), hit_at_1))
            if args.v and question.gold and not hit1:
                print(
                    name,
                    "|",
                    question.text,
                    "|",
                    sorted(question.gold)[:3],
                    "|",
                    f"{sure:.2f}",
                    [first[0].option.query, sorted(said(executor, first[0].option))[:3]] if first else None,
                )
    for name, all_ in rows.items():
        known = [r for r in all_ if r[4]]
        right, top3, hits = (100 * np.mean([r[i] for r in known]) for i in (1, 2, 5))
        middle, slow = (1e3 * np.quantile(times[name], share) for share in (0.5, 0.95))
        print(
            f"{name}: {len(known)} answerable: right {right:.1f}, Hits@1 {hits:.1f}, top 3 {top3:.1f}; "
            f"ms p50 {middle:.0f} p95 {slow:.0f}"
        )
        for bound in (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
            said_ = [r for r in all_ if r[3] >= bound]
            unknown = [r for r in all_ if not r[4]]
            right = sum(r[1] for r in said_ if r[4])
            wrong = sum(r[4] for r in said_) - right
            kept = sum(r[3] < bound for r in unknown)
            print(
                f"   p >= {bound}: right {100 * right / len(known):.1f} wrong {100 * wrong / len(known):.1f} "
                f"of answerable; abstained {kept}/{len(unknown)} of others"
            )
        kinds = Counter(r[0] for r in known)
        print("   ", {k: f"{sum(r[1] for r in known if r[0] == k)}/{n}" for k, n in sorted(kinds.items())})


if __name__ == "__main__":
    main()
