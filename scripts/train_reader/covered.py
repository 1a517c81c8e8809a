"""How often the gold answers are those of one of the candidates, by set: the ceiling of the reader.

python scripts/train_reader/covered.py factory spider …
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict

from sets import MEASURED, all_of

from clew.query.execute import Executor, OverBudget
from clew.query.vocabulary import Vocabulary
from clew.reading.candidates import Option, enumerate_candidates
from clew.reading.likeness import WordMatcher
from clew.reading.mention_finder import MentionFinder
from clew.text.embedders import StaticEmbedder
from clew.text.lexicon import Lexicon


def candidate_answers(executor: Executor, option: Option) -> frozenset[str]:
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


def same_answers(answers: frozenset[str], gold: frozenset[str]) -> bool:
    """Whether two sets of answers are the same, numbers as numbers."""
    return answers == gold or (
        len(answers) == len(gold) == 1 and _number(answers) == _number(gold) is not None
    )


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
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, question_set in all_of([a for a in sys.argv[1:] if a in MEASURED]):
        vocabulary = Vocabulary.of(question_set.graph, question_set.schema)
        matcher = WordMatcher(vocabulary, embedder, lexicon)
        finder = MentionFinder.of(question_set.names, vocabulary, lexicon)
        for question in question_set.questions:
            if not question.gold:
                continue
            began = time.perf_counter()
            mentions = finder.find(question.text)
            likeness = matcher.compare(question.text)
            options = enumerate_candidates(vocabulary, question.text, mentions, likeness)
            spent = time.perf_counter() - began
            executor = Executor(question_set.graph)
            option_at = next(
                (
                    i
                    for i, o in enumerate(options)
                    if same_answers(candidate_answers(executor, o), question.gold)
                ),
                None,
            )
            for kind in ("all", question.kind):
                counts[name][kind + " asked"] += 1
                counts[name][kind + " covered"] += option_at is not None
            counts[name]["ms"] += int(spent * 1e6)
            counts[name]["options"] += len(options)
            if show and option_at is None:
                print(
                    name, question.kind, question.text, sorted(question.gold)[:3], [m.text for m in mentions]
                )
        row = counts[name]
    for name, row in counts.items():
        count = row["all asked"]
        share, many = 100 * row["all covered"] / count, row["options"] / count
        print(f"{name}: {share:.1f} % of {count}; {many:.0f} candidates; {row['ms'] / 1000 / count:.1f} ms")
        for key in sorted(k.removesuffix(" asked") for k in row if k.endswith(" asked")):
            print(f"    {key}: {row[key + ' covered']} / {row[key + ' asked']}")


if __name__ == "__main__":
    main()
