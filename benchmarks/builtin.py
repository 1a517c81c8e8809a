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
    lacking = _databases(args.limit, _strangers()) if args.strangers else _all(args.limit, full=args.full)
    print("\n".join([ABSENT_HEADER, *lacking]))


def _strangers() -> list[tuple[str, Iterable[Source]]]:
    return [
        ("five graphs by a blind author (check)", databases("blind")),
        ("six graphs by two blind authors (check)", databases("unseen")),
        ("twelve trades by six blind authors (development)", databases("trades/dev")),
        ("fourteen trades by five blind authors (check)", databases("trades/check")),
        ("eight trades by later blind authors (check)", databases("trades/later")),
    ]


def _all(limit: int, *, full: bool) -> list[str]:
    """Print a row for each set; give those for what no graph can answer."""
    lacking: list[str] = []
    films = open_built_in(ROOT / "examples" / "films.tsv")
    print(
        ask_all(films, jsonl(DATA / "dev" / "films_questions.jsonl")).row("films (development)"), flush=True
    )
    lacking.append(
        ask_all(films, jsonl(DATA / "dev" / "films_absent.jsonl")).row("films (dev.)", absent=True)
    )
    for name in ("countries", "companies"):
        method = open_built_in(DATA / "dev" / f"{name}.tsv")
        items = jsonl(DATA / "dev" / f"{name}_questions.jsonl")
        print(ask_all(method, [i for i in items if i.gold]).row(f"{name} (development)"), flush=True)
        rest = [i for i in items if i.reasons]
        lacking.append(ask_all(method, rest).row(f"{name} (dev.)", absent=True))
    for which, part in (("dev", "development"), ("check", "check")):
        for author in ("parser's", "blind"):
            known, unknown = Count(), Count()
            for name, graph, items in domains(which):
                if (name in BLIND) != (author == "blind"):
                    continue
                method = open_built_in(graph)
                ask_all(method, [i for i in items if i.gold], known)
                ask_all(method, [i for i in items if i.reasons], unknown)
            print(known.row(f"four domains, {author} author ({part} half)"), flush=True)
            lacking.append(unknown.row(f"four domains, {author} author ({which})", absent=True))
    other = open_built_in(DATA / "check" / "other.tsv")
    print(ask_all(other, jsonl(DATA / "check" / "other_questions.jsonl")).row("science (check)"), flush=True)
    missing = jsonl(DATA / "check" / "absent.jsonl")
    lacking += _databases(limit, _strangers())
    if SHARED.exists():
        kb = open_built_in(metaqa_graph())
        for hops in (1, 2, 3):
            for which, part in ((0, "development"), (1, "check")):
                items = half(metaqa(hops), which)
                chosen = items if full else sample(items, limit, 1)
                print(ask_all(kb, chosen).row(f"MetaQA dev {hops}-hop ({part} half)"), flush=True)
        print(
            ask_all(kb, paraphrases(kb.reader.graph, 4)).row("MetaQA paraphrases (development)"), flush=True
        )
        print(
            ask_all(kb, jsonl(DATA / "check" / "paraphrases.jsonl")).row("MetaQA paraphrases (check)"),
            flush=True,
        )
        lacking.append(ask_all(kb, absent(kb.reader.graph, 4)).row("MetaQA (dev.)", absent=True))
        lacking.append(ask_all(kb, missing[:62]).row("MetaQA (check)", absent=True))
        for hops in (2, 3):
            method = open_built_in(SHARED / "pathquestion" / f"{hops}H-kb.txt")
            for which, part in ((0, "development"), (1, "check")):
                items = sample(half(pathquestion(hops), which), limit, 1)
                print(ask_all(method, items).row(f"PathQuestion {hops}H ({part} half)"), flush=True)
        published = [("Spider development", databases("spider")), ("Overnight", databases("overnight"))]
        lacking += _databases(limit, [("factory (development)", [factory()]), *published])
        method = open_built_in(SHARED / "wc2014" / "WC2014.txt")
        print(ask_all(method, wc2014()).row("WC2014 samples (development)"), flush=True)
    lacking.append(ask_all(other, missing[62:]).row("science (check)", absent=True))
    return lacking


def _databases(limit: int, sets: Sequence[tuple[str, Iterable[Source]]]) -> list[str]:
    """Print a row for each set of graphs; give those for what no graph can answer."""
    lacking: list[str] = []
    for name, parts in sets:
        known, unknown = Count(), Count()
        for source, types, aliases, items in parts:
            method = open_built_in(source, types, aliases)
            some = sample(items, limit, 1)
            ask_all(method, [i for i in some if i.gold], known)
            ask_all(method, [i for i in some if i.reasons], unknown)
        print(known.row(name), flush=True)
        if unknown.questions:
            lacking.append(unknown.row(name, absent=True))
    return lacking


if __name__ == "__main__":
    main()
