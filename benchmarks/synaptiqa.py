"""SynaptiQA with scripted replies: the share answered right with the correction of queries, and without it.

`python benchmarks/synaptiqa.py ../shared/data/neo4j_examples [--neo4j]` asks the questions of
`synaptiqa_questions.jsonl` over the movies and northwind graphs. Each has three replies: of a good model, of
a sloppy one (one fault) and of a bad one (several). A scripted model never learns: asked to repair a query it
writes the same one again, and of names to choose from it chooses none, so that what is repaired is repaired
by Clew. `gold` are the rows of the good query on Neo4j 5.26 (`--gold` writes them anew).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from property_graphs import write_csvs

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from clew.methods.synaptiqa.method import KgQuery, SynaptiQA
from clew.methods.synaptiqa.queried import MOST_ROWS_READ, SECONDS, QueriedGraph, embedded_store
from clew.stores.cypher.parser import parse
from clew.text.embedders import StaticEmbedder

HERE = Path(__file__).resolve().parent
QUESTIONS = HERE / "synaptiqa_questions.jsonl"
TESTS = HERE.parent / "tests"
MODELS = ("good", "sloppy", "bad")
GRAPHS = ("movies", "northwind")
Row = dict[str, Any]


def scripted(row: Row, model: str) -> ScriptedModel:
    """A model that writes a query as it always does, and reads the first column of its rows."""

    def reply(request: Request) -> str:
        system, user = (message.text for message in request.messages)
        if system.startswith("Answer a question by the rows"):
            columns = user.partition("<rows>\n")[2].partition("\n")[0]
            return json.dumps({"text": "", "column": json.loads(columns)[0]})
        if system.startswith("A text should be one Cypher query"):
            return row.get("clean", row[model])
        return "" if "choices" in system else row[model]

    return ScriptedModel(reply)


def ask(method: type[SynaptiQA], graph: QueriedGraph, row: Row, model: str) -> tuple[str, bool]:
    """Whether an answer is right, wrong or an abstention, and whether each is proved by triples."""
    answer = method(graph, StaticEmbedder.load(), scripted(row, model)).answer(row["question"])
    proved = {c.answer for c in answer.citations if c.triples}
    if answer.abstained is not None:
        return "abstained", True
    right = {a.label for a in answer.answers} == set(row["gold"])
    return "right" if right else "wrong", {a.entity for a in answer.answers} <= proved


@contextmanager
def embedded(source: Path) -> Iterator[dict[str, QueriedGraph]]:
    """The graphs in the embedded store."""
    graphs: dict[str, QueriedGraph] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in GRAPHS:
            write_csvs(name, source, Path(folder) / name)
            with Clew.open(Path(folder) / name, cache_dir=Path(folder) / "cache") as clew:
                graph = clew.opened.graph
                graphs[name] = QueriedGraph(embedded_store(graph), clew.embedder, graph)
        yield graphs


def on_neo4j(questions: list[Row], visit: Callable[[QueriedGraph, list[Row]], None]) -> None:
    """Load each graph into a Neo4j server in turn, and visit its questions."""
    sys.path[:0] = [str(TESTS / "servers"), str(TESTS / "stores")]
    import graphs
    import neo4j
    from neo4j_server import PASSWORD, neo4j_server

    from clew.stores.neo4j import Neo4jStore

    with neo4j_server() as address:
        for name in GRAPHS:
            with neo4j.GraphDatabase.driver(address, auth=("neo4j", PASSWORD)) as driver:
                graphs.load(driver, name)
            store = Neo4jStore(address, password=PASSWORD, seconds=SECONDS, rows=MOST_ROWS_READ)
            graph = QueriedGraph(store, StaticEmbedder.load())
            visit(graph, [row for row in questions if row["graph"] == name])
            store.close()


def write_gold(questions: list[Row]) -> None:
    """Write the first column of the good query's rows on Neo4j beside each question."""

    def visit(graph: QueriedGraph, rows: list[Row]) -> None:
        for row in rows:
            result_rows = graph.run(parse(row["good"])).rows
            row["gold"] = sorted({r.cells[0].label for r in result_rows if r.cells[0] is not None})
            assert row["gold"], row["question"]

    on_neo4j(questions, visit)
    QUESTIONS.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in questions), "utf-8")


Counts = dict[tuple[str, str], Counter[str]]


def count(graph: QueriedGraph, rows: list[Row], counts: Counts, *, verbose: bool) -> None:
    """Ask questions by each method with each model."""
    for method in (SynaptiQA, KgQuery):
        for model in MODELS:
            for row in rows:
                outcome, proved = ask(method, graph, row, model)
                counts.setdefault((method.name, model), Counter()).update([outcome])
                counts[method.name, model]["unproved"] += not proved
                if verbose and method is SynaptiQA and outcome != "right":
                    print(f"{graph.store.name} {model} {outcome}: {row['question']}\n    {row[model]!r}")


def table(name: str, counts: Counts) -> list[str]:
    """Lines of the table for one store."""
    lines: list[str] = []
    for model in MODELS:
        for method, repair in (("synaptiqa", "on"), ("kg-query", "off")):
            outcomes = counts[method, model]
            question_count = outcomes["right"] + outcomes["wrong"] + outcomes["abstained"]
            shares = " | ".join(
                f"{100 * outcomes[k] / question_count:.1f}" for k in ("right", "wrong", "abstained")
            )
            lines.append(
                f"| {name} | {model} | {repair} | {question_count} | {shares} | {outcomes['unproved']} |"
            )
    return lines


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--neo4j", action="store_true", help="also on a Neo4j server (Java 17, Maven)")
    parser.add_argument("--gold", action="store_true", help="write the gold answers anew, and stop")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    if options.gold:
        write_gold(questions)
        return
    lines = [
        "| store | model | repair | questions | right % | wrong % | abstained % | answers without triples |",
        "|---|---|---|---|---|---|---|---|",
    ]
    counts: Counts = {}
    with embedded(options.source) as graphs:
        for name, graph in graphs.items():
            count(graph, [r for r in questions if r["graph"] == name], counts, verbose=options.verbose)
    lines += table("embedded", counts)
    if options.neo4j:
        neo4j_counts: Counts = {}
        on_neo4j(questions, lambda g, rows: count(g, rows, neo4j_counts, verbose=options.verbose))
        lines += table("Neo4j 5.26", neo4j_counts)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
