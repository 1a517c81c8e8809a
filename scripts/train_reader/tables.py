"""Graphs of tables, as WikiSQL asks them: rows are entities, or are named by the value of a column."""

from __future__ import annotations

import bz2
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from notation import Tree
from sets import DATA

from clew.graph.build import graph_of
from clew.graph.graph import Graph

_SELECT = re.compile(
    r"SELECT (?:(COUNT|MAX|MIN|SUM|AVG) )?TABLEalias0\.(\S+)_FIELD FROM TABLE AS TABLEalias0 WHERE (.+) ;"
)
_WHERE = re.compile(r'TABLEalias0\.(\S+)_FIELD (=|>|<) "?(var\d+)"?')
_AGGREGATES = {"COUNT": "count", "MAX": "max", "MIN": "min", "SUM": "sum", "AVG": "avg"}
MOST_TABLES, MOST_QUESTIONS = 1500, 14


@dataclass(frozen=True)
class TableQuestion:
    """A question for a column of the rows that meet some conditions."""

    text: str
    aggregate: str
    column: str
    conditions: tuple[tuple[str, str, str], ...]


def tables() -> Iterator[tuple[str, Graph, list[tuple[str, Tree]]]]:
    """Tables with at least four known columns: their name, a graph, and questions with their meanings."""
    questions_by_table = _questions()
    names = sorted(
        t for t, qs in questions_by_table.items() if len({c for q in qs for c in _columns(q)}) >= 4
    )
    random.Random(5).shuffle(names)
    for name in names[:MOST_TABLES]:
        yield (name, *_graph(name, questions_by_table[name][:MOST_QUESTIONS]))


def _questions() -> dict[str, list[TableQuestion]]:
    with bz2.open(DATA / "reader_training" / "wikisql" / "wikisql.json.bz2") as file:
        rows = json.load(file)
    questions_by_table: dict[str, list[TableQuestion]] = defaultdict(list)
    for row in rows:
        match = _SELECT.fullmatch(row["sql"][0])
        if not match:
            continue
        matches = [_WHERE.fullmatch(c) for c in match[3].split(" AND ")]
        if not all(matches):
            continue
        for sentence in row["sentences"]:
            values = sentence["variables"]
            conditions = tuple((_column(c[1]), c[2], values.get(c[3], "")) for c in matches if c)
            text = sentence["original"]
            if sentence["question-split"] == "train" and all(
                v and v.lower() in text.lower() for _, _, v in conditions
            ):
                aggregate = _AGGREGATES.get(match[1] or "", "")
                questions_by_table[sentence["table-id"]].append(
                    TableQuestion(text, aggregate, _column(match[2]), conditions)
                )
    return questions_by_table


def _column(name: str) -> str:
    return re.sub(r"[^\w]+", " ", name.replace("_", " ")).strip().lower() or "value"


def _columns(question: TableQuestion) -> list[str]:
    return [question.column, *(c for c, _, _ in question.conditions)]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _graph(name: str, questions: list[TableQuestion]) -> tuple[Graph, list[tuple[str, Tree]]]:
    rng = random.Random(name)
    pools: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        for column, _, value in question.conditions:
            pools[column].append(value)
        pools.setdefault(question.column, [])
    columns = sorted(pools)
    texts = Counter(c for q in questions for c, sign, v in q.conditions if sign == "=" and not _is_number(v))
    key = texts.most_common(1)[0][0] if texts and rng.random() < 0.5 else ""
    summed = {q.column for q in questions if q.aggregate not in ("", "count")}
    compared = {c for q in questions for c, sign, _ in q.conditions if sign != "="}
    for column in columns:
        of_numbers = column in summed | compared or all(map(_is_number, pools[column] or ["x"]))
        for number in range(rng.choice((4, 9))):
            filler = str(rng.randint(1, 90)) if of_numbers else f"{column} {number + 1}".title()
            pools[column].append(filler)
    rows = [_row(q, pools, rng) for q in questions] + [_row(None, pools, rng) for _ in range(10)]
    triples: list[tuple[str, str, str]] = []
    labels: list[str] = []
    for number, row in enumerate(rows):
        label = row[key] if key else f"row {number + 1}"
        labels.append(label)
        triples += [(label, c, row[c]) for c in columns if c != key and rng.random() < 0.97]
    triples += [
        (f"row {n + 1}", q.column, "1") for n, q in enumerate(questions) if not key and not q.conditions
    ]
    kind = key or "record"
    types = {label: [kind] for label in labels} if rng.random() < 0.5 else {}
    graph = graph_of(sorted(set(triples)), types)
    return graph, [(q.text, _meaning(q, key)) for q in questions]


def _row(question: TableQuestion | None, pools: dict[str, list[str]], rng: random.Random) -> dict[str, str]:
    row = {column: rng.choice(values) for column, values in pools.items()}
    for column, sign, value in question.conditions if question else ():
        row[column] = value
        if sign != "=" and _is_number(value):
            row[column] = str(int(float(value)) + (3 if sign == ">" else -3))
    return row


def _meaning(question: TableQuestion, key: str) -> Tree:
    """The rows that meet the conditions, and what is asked of them."""
    rows: Tree | None = None
    for column, _, value in (c for c in question.conditions if c[1] == "="):
        condition_rows: Tree = (
            ("entity", value) if column == key else ("walk", ("entity", value), ("^", column))
        )
        rows = condition_rows if rows is None else ("&", rows, condition_rows)
    for column, sign, value in (c for c in question.conditions if c[1] != "="):
        rows = ("compared", rows or ("sort", ((".", column),)), ((".", column),), sign, ("value", value))
    if rows is None:
        raise ValueError(f"no condition: {question.text}")
    if question.aggregate == "count":
        return ("count", rows)
    target: Tree = rows if question.column == key else ("walk", rows, (".", question.column))
    return (question.aggregate, target) if question.aggregate else target
