"""How risk goes with coverage: what `auto` without a model answers from each `--confidence` on.

    python benchmarks/risk.py [--limit N]

Each question is read once. Prints a table for `benchmarks/RESULTS.md`: right / wrong of the answerable
questions (Hits@1), and the share of the others that is left open, in %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from harness import open_built_in
from questions import (
    DATA,
    ROOT,
    SHARED,
    Item,
    Source,
    absent,
    databases,
    domains,
    factory,
    half,
    jsonl,
    metaqa,
    metaqa_graph,
    pathquestion,
    sample,
    wc2014,
)

from clew.methods.built_in import BuiltInReader, LikelyReading
from clew.methods.settings import AutoSettings

CONFIDENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LEAST_CONFIDENCE = 0.01
"""All questions are asked with this confidence, so that unlikely readings get their answer too."""


@dataclass(frozen=True)
class AskedQuestion:
    """A question's reading, whether it is answered, whether rightly, and whether the graph can answer it."""

    reading: LikelyReading
    answered: bool
    right: bool
    answerable: bool


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=40, help="questions of each published set and graph")
    args = parser.parse_args()
    print(
        "| set | questions | "
        + " | ".join(map(str, CONFIDENCES))
        + " |\n"
        + "|---" * (2 + len(CONFIDENCES))
        + "|"
    )
    for name, sources in sets(args.limit):
        questions = [question for source in sources for question in ask(source)]
        print(row(name, questions), flush=True)


def sets(limit: int) -> Iterator[tuple[str, list[Source]]]:
    """Sets of graphs with their questions."""
    dev = DATA / "dev"
    films = jsonl(dev / "films_questions.jsonl") + jsonl(dev / "films_absent.jsonl")
    graphs = [
        (dev / f"{n}.tsv", None, None, jsonl(dev / f"{n}_questions.jsonl"))
        for n in ("countries", "companies")
    ]
    yield (
        "films, countries, companies (development)",
        [(ROOT / "examples" / "films.tsv", None, None, films), *graphs],
    )
    for split, part in (("dev", "development"), ("check", "check")):
        yield f"domains ({part})", [(graph, None, None, items) for _, graph, items in domains(split)]
    yield "five graphs by a blind author (check)", list(databases("blind"))
    if not SHARED.exists():
        return
    metaqa_items = [item for hops in (1, 2, 3) for item in sample(half(metaqa(hops), 0), limit, 1)]
    kb = metaqa_graph()
    absent_items = absent(open_reader((kb, None, None, [])).reader.graph, 4)
    yield "MetaQA (development)", [(kb, None, None, metaqa_items + absent_items)]
    yield (
        "PathQuestion (development)",
        [
            (
                SHARED / "pathquestion" / f"{hops}H-kb.txt",
                None,
                None,
                sample(half(pathquestion(hops), 0), limit, 1),
            )
            for hops in (2, 3)
        ],
    )
    yield "WC2014 samples", [(SHARED / "wc2014" / "WC2014.txt", None, None, wc2014())]
    yield "factory", [factory()]
    for name in ("spider", "overnight"):
        yield (
            name,
            [
                (graph, types, aliases, sample(items, limit, 1))
                for graph, types, aliases, items in databases(name)
            ],
        )


def open_reader(source: Source) -> BuiltInReader:
    """The built-in reader of a graph, which answers from all that is likely at all."""
    graph, types, aliases, _ = source
    return open_built_in(graph, types, aliases, AutoSettings(confidence=LEAST_CONFIDENCE))


def ask(source: Source) -> Iterator[AskedQuestion]:
    """Ask the questions of a graph."""
    reader = open_reader(source)
    items: list[Item] = source[3]
    for item in items:
        reading, answer = reader.read_and_answer(item.question)
        entities, labels = {a.entity for a in answer.answers}, {a.label for a in answer.answers}
        right = bool((entities | labels) & item.gold)
        yield AskedQuestion(reading, answer.abstained is None, right, bool(item.gold))


def row(name: str, questions: list[AskedQuestion]) -> str:
    """One line: right / wrong · left open."""
    answerable, unanswerable = (
        [question for question in questions if question.answerable],
        [question for question in questions if not question.answerable],
    )
    cells: list[str] = []
    for confidence in CONFIDENCES:
        answered = [question for question in answerable if is_answered(question, confidence)]
        right = sum(question.right for question in answered)
        cell = f"{100 * right / len(answerable):.0f} / {100 * (len(answered) - right) / len(answerable):.0f}"
        if unanswerable:
            left_open = sum(not is_answered(question, confidence) for question in unanswerable)
            cell += f" · {100 * left_open / len(unanswerable):.0f}"
        cells.append(cell)
    return f"| {name} | {len(answerable)} + {len(unanswerable)} | " + " | ".join(cells) + " |"


def is_answered(question: AskedQuestion, confidence: float) -> bool:
    """Whether a question is answered with some `--confidence`."""
    return question.answered and question.reading.likelihood >= confidence


if __name__ == "__main__":
    main()
