"""Whether the Cypher queries of `synaptiqa` without a model answer on MetaQA what the matcher answers.

`python benchmarks/metaqa_queries.py --count 300` asks a sample of the dev questions of 1, 2 and 3 hops.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from harness import CACHE, shipped_embedder
from questions import metaqa, metaqa_graph, sample

from clew.engine import Clew
from clew.types import Answer


def answers_and_reason(answer: Answer) -> tuple[frozenset[str], str]:
    """The entities of an answer, and the reason of an abstention."""
    reason = "" if answer.abstained is None else answer.abstained.reason
    return frozenset(a.entity for a in answer.answers), reason


def main() -> None:
    """Ask both, and print a line for each number of hops."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    print("| hops | questions | same | by a query | wrong query | not proved | query ms p50 / p95 |")
    print("|---|---|---|---|---|---|---|")
    with Clew.open(metaqa_graph(), cache_dir=CACHE, embedder=shipped_embedder()) as clew:
        clew.ask("who directed Heat", method="synaptiqa")  # loads the store
        for hops in (1, 2, 3):
            same = queried = unproved = 0
            different: list[str] = []
            times: list[float] = []
            for item in sample(metaqa(hops), options.count, seed=7):
                matcher_answer = clew.ask(item.question)
                began = time.process_time()
                query_answer = clew.ask(item.question, method="synaptiqa")
                times.append(query_answer.timings_ms.get("query", (time.process_time() - began) * 1000))
                if answers_and_reason(query_answer) == answers_and_reason(matcher_answer):
                    same += 1
                else:
                    different.append(item.question)
                queried += query_answer.query is not None
                cited = {c.answer for c in query_answer.citations if c.triples}
                unproved += not {a.entity for a in query_answer.answers} <= cited
            p50, p95 = np.percentile(times, [50, 95])
            row = (hops, options.count, same, queried, len(different), unproved, f"{p50:.0f} / {p95:.0f}")
            print("| " + " | ".join(map(str, row)) + " |")
            for question in different[:20]:
                print(f"  {question}")


if __name__ == "__main__":
    main()
