"""How often the gold answers are those of one of the candidates, by set: the ceiling of the reader.

python scripts/train_reader/covered.py factory spider …
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict

from sets import MEASURED, all_of

from clew.reading.candidates import Enumerator, Option
from clew.reading.execute import Executor, OverBudget
from clew.reading.likeness import WordMatcher
from clew.reading.mention_finder import MentionFinder
from clew.reading.vocabulary import Vocabulary
from clew.text.embedders.static import StaticEmbedder
from clew.text.lexicon import Lexicon


def said(executor: Executor, option: Option) -> frozenset[str]:
    """What a candidate answers, as gold writes it."""
    query = option.query
    try:
        if query.ask == "list":
            labels = executor.graph.labels
            return frozenset(labels[n] for n in executor.members(query.part).tolist())
        if query.ask == "yes":
            return frozenset(["yes" if len(executor.members(query.part)) else "no"])
        number = executor.number(query)
    except OverBudget:
        return frozenset()
    return frozenset() if number is None else frozenset([f"{number:.4f}".rstrip("0").rstrip(".")])


def same(one: frozenset[str], gold: frozenset[str]) -> bool:
    """Whether two sets of answers are the same, numbers as numbers."""
    return one == gold or (len(one) == len(gold) == 1 and _number(one) == _number(gold) is not None)


def _number(texts: frozenset[str]) -> float | str | None:
    text = next(iter(texts))
    try:
        return round(float(text), 2)
    except ValueError:
        return text.lower() if text.lower() in ("yes", "no") else None


def main() -> None:
    """Print coverage by set and by kind."""
    embedder, lexicon = StaticEmbedder.load(), Lexicon.load()
    show = "-v" in sys.argv
    hit: dict[str, Counter[str]] = defaultdict(Counter)
    for name, asked in all_of([a for a in sys.argv[1:] if a in MEASURED]):
        vocabulary = Vocabulary.of(asked.graph, asked.schema)
        matcher = WordMatcher(vocabulary, embedder, lexicon)
        finder = MentionFinder.of(asked.names, vocabulary, lexicon)
        enumerator = Enumerator(vocabulary)
        for question in asked.questions:
            if not question.gold:
                continue
            began = time.perf_counter()
            mentions = finder.find(question.text)
            options = enumerator.enumerate(question.text, mentions, matcher.compare(question.text))
            spent = time.perf_counter() - began
            executor = Executor(asked.graph)
            found = next((i for i, o in enumerate(options) if same(said(executor, o), question.gold)), None)
            for kind in ("all", question.kind):
                hit[name][kind + " asked"] += 1
                hit[name][kind + " covered"] += found is not None
            hit[name]["ms"] += int(spent * 1e6)
            hit[name]["options"] += len(options)
            if show and found is None:
                print(
                    name, question.kind, question.text, sorted(question.gold)[:3], [m.text for m in mentions]
                )
        row = hit[name]
    for name, row in hit.items():
        count = row["all asked"]
        share, many = 100 * row["all covered"] / count, row["options"] / count
        print(f"{name}: {share:.1f} % of {count}; {many:.0f} candidates; {row['ms'] / 1000 / count:.1f} ms")
        for key in sorted(k.removesuffix(" asked") for k in row if k.endswith(" asked")):
            print(f"    {key}: {row[key + ' covered']} / {row[key + ' asked']}")


if __name__ == "__main__":
    main()
