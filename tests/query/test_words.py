"""Query graphs in words: 150 cases over graphs of many trades, in `tests/data/query/words.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.query.notation import NameLookup, read_query
from clew.query.vocabulary import Vocabulary
from clew.query.words import say

FILE = Path(__file__).parents[1] / "data" / "query" / "words.txt"


def _vocabulary(lines: list[str]) -> Vocabulary:
    """A graph of lines `head | relation | tail` and `Type: names`."""
    triples = [tuple(part.strip() for part in line.split("|")) for line in lines if "|" in line]
    typed = [line.split(":", 1) for line in lines if "|" not in line]
    types = {name.strip(): [type_] for type_, names in typed for name in names.split(",")}
    graph = graph_of(triples, types)
    return Vocabulary.of(graph, schema_of(graph))


def _cases() -> list[tuple[str, str, str]]:
    """The name of the graph, the query and its words."""
    cases: list[tuple[str, str, str]] = []
    for section in FILE.read_text("utf-8").split("# ")[1:]:
        name, *lines = section.strip().splitlines()
        asked = [line[2:].split("=>") for line in lines if line.startswith("> ")]
        cases += [(name, query.strip(), words.strip()) for query, words in asked]
    return cases


VOCABULARIES = {
    name: _vocabulary([line for line in lines if line and not line.startswith("> ")])
    for name, *lines in (s.strip().splitlines() for s in FILE.read_text("utf-8").split("# ")[1:])
}


@pytest.mark.parametrize(("graph", "query", "words"), _cases())
def test_a_query_is_said_in_plain_english(graph: str, query: str, words: str) -> None:
    vocabulary = VOCABULARIES[graph]
    names = vocabulary.graph

    def place(strings: list[str]):
        return lambda name: strings.index(name) if name in strings else None

    lookup = NameLookup(
        place(list(names.labels)), place(list(names.relations)), place(list(names.types.names))
    )
    assert say(read_query(query, lookup), vocabulary) == words
