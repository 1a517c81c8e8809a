"""What the built-in method answers without a model, and how fast.

    python benchmarks/builtin.py [--limit N] [--full] [--strangers]

Development sets, the other halves of the published sets, and the check sets that nothing was tuned on.
`--full` asks all 39,138 MetaQA dev questions; `--strangers` only those of authors who saw nothing of Clew.
Prints a table for `benchmarks/RESULTS.md`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from harness import Count, ask_all, open_built_in
from questions import (
    BLIND,
    DATA,
    ROOT,
    SHARED,
    Source,
    absent,
    databases,
    domains,
    factory,
    half,
    jsonl,
    metaqa,
    metaqa_graph,
    paraphrases,
    pathquestion,
    sample,
    wc2014,
)

HEADER = """| set | questions | Hits@1 | exact set | abstained | wrong | ms p50 / p95 | ungrounded |
|---|---|---|---|---|---|---|---|"""
ABSENT_HEADER = """
| questions that the graph cannot answer | questions | abstained | right reason | ms p50 / p95 |
|---|---|---|---|---|"""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=1000, help="questions of each published set and half")
    parser.add_argument("--full", action="store_true", help="all MetaQA dev questions")
    parser.add_argument(
        "--strangers", action="store_true", help="only graphs of authors who saw nothing of Clew"
    )
    args = parser.parse_args()
    print(HEADER)
    absent_rows = (
        _ask_databases(args.limit, _stranger_sets())
        if args.strangers
        else _ask_all_sets(args.limit, full=args.full)
    )
    print("\n".join([ABSENT_HEADER, *absent_rows]))


def _stranger_sets() -> list[tuple[str, Iterable[Source]]]:
    return [
        ("five graphs by a blind author (check)", databases("blind")),
        ("six graphs by two blind authors (check)", databases("unseen")),
        ("twelve trades by six blind authors (development)", databases("trades/dev")),
        ("fourteen trades by five blind authors (check)", databases("trades/check")),
        ("eight trades by later blind authors (check)", databases("trades/later")),
    ]


def _ask_all_sets(limit: int, *, full: bool) -> list[str]:
    """Print a row for each set; give those for what no graph can answer."""
    absent_rows: list[str] = []
    films = open_built_in(ROOT / "examples" / "films.tsv")
    print(
        ask_all(films, jsonl(DATA / "dev" / "films_questions.jsonl")).row("films (development)"), flush=True
    )
    absent_rows.append(
        ask_all(films, jsonl(DATA / "dev" / "films_absent.jsonl")).row("films (dev.)", absent=True)
    )
    for name in ("countries", "companies"):
        method = open_built_in(DATA / "dev" / f"{name}.tsv")
        items = jsonl(DATA / "dev" / f"{name}_questions.jsonl")
        print(ask_all(method, [i for i in items if i.gold]).row(f"{name} (development)"), flush=True)
        unanswerable = [i for i in items if i.reasons]
        absent_rows.append(ask_all(method, unanswerable).row(f"{name} (dev.)", absent=True))
    for split, part in (("dev", "development"), ("check", "check")):
        for author in ("parser's", "blind"):
            answerable_count, unanswerable_count = Count(), Count()
            for name, graph, items in domains(split):
                if (name in BLIND) != (author == "blind"):
                    continue
                method = open_built_in(graph)
                ask_all(method, [i for i in items if i.gold], answerable_count)
                ask_all(method, [i for i in items if i.reasons], unanswerable_count)
            print(answerable_count.row(f"four domains, {author} author ({part} half)"), flush=True)
            absent_rows.append(
                unanswerable_count.row(f"four domains, {author} author ({split})", absent=True)
            )
    science = open_built_in(DATA / "check" / "other.tsv")
    print(
        ask_all(science, jsonl(DATA / "check" / "other_questions.jsonl")).row("science (check)"), flush=True
    )
    absent_items = jsonl(DATA / "check" / "absent.jsonl")
    absent_rows += _ask_databases(limit, _stranger_sets())
    if SHARED.exists():
        kb = open_built_in(metaqa_graph())
        for hops in (1, 2, 3):
            for split, part in ((0, "development"), (1, "check")):
                items = half(metaqa(hops), split)
                sampled = items if full else sample(items, limit, 1)
                print(ask_all(kb, sampled).row(f"MetaQA dev {hops}-hop ({part} half)"), flush=True)
        print(
            ask_all(kb, paraphrases(kb.reader.graph, 4)).row("MetaQA paraphrases (development)"), flush=True
        )
        print(
            ask_all(kb, jsonl(DATA / "check" / "paraphrases.jsonl")).row("MetaQA paraphrases (check)"),
            flush=True,
        )
        absent_rows.append(ask_all(kb, absent(kb.reader.graph, 4)).row("MetaQA (dev.)", absent=True))
        absent_rows.append(ask_all(kb, absent_items[:62]).row("MetaQA (check)", absent=True))
        for hops in (2, 3):
            method = open_built_in(SHARED / "pathquestion" / f"{hops}H-kb.txt")
            for split, part in ((0, "development"), (1, "check")):
                items = sample(half(pathquestion(hops), split), limit, 1)
                print(ask_all(method, items).row(f"PathQuestion {hops}H ({part} half)"), flush=True)
        published = [("Spider development", databases("spider")), ("Overnight", databases("overnight"))]
        absent_rows += _ask_databases(limit, [("factory (development)", [factory()]), *published])
        method = open_built_in(SHARED / "wc2014" / "WC2014.txt")
        print(ask_all(method, wc2014()).row("WC2014 samples (development)"), flush=True)
    absent_rows.append(ask_all(science, absent_items[62:]).row("science (check)", absent=True))
    return absent_rows


def _ask_databases(limit: int, sets: Sequence[tuple[str, Iterable[Source]]]) -> list[str]:
    """Print a row for each set of graphs; give those for what no graph can answer."""
    absent_rows: list[str] = []
    for name, sources in sets:
        answerable_count, unanswerable_count = Count(), Count()
        for source, types, aliases, items in sources:
            method = open_built_in(source, types, aliases)
            sampled = sample(items, limit, 1)
            ask_all(method, [i for i in sampled if i.gold], answerable_count)
            ask_all(method, [i for i in sampled if i.reasons], unanswerable_count)
        print(answerable_count.row(name), flush=True)
        if unanswerable_count.questions:
            absent_rows.append(unanswerable_count.row(name, absent=True))
    return absent_rows


if __name__ == "__main__":
    main()
