"""Query graphs in words: 150 cases over graphs of many trades, in `tests/data/query/words.txt`."""

from pathlib import Path

import pytest

from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.query.notation import NameLookup, read_query
from clew.query.vocabulary import Vocabulary
from clew.query.words import say
from sections import read_sections

SECTIONS = read_sections(Path(__file__).parents[1] / "data" / "query" / "words.txt")
GRAPHS = {name: graph_of(section.triples, section.types) for name, section in SECTIONS.items()}
CASES = [(name, query, words) for name, section in SECTIONS.items() for _, query, words in section.cases]


@pytest.mark.parametrize(("graph", "query", "words"), CASES)
def test_a_query_is_said_in_plain_english(graph: str, query: str, words: str) -> None:
    names = GRAPHS[graph]

    def place(strings: list[str]):
        return lambda name: strings.index(name) if name in strings else None

    lookup = NameLookup(*map(place, map(list, (names.labels, names.relations, names.types.names))))
    assert say(read_query(query, lookup), Vocabulary.of(names, schema_of(names))) == words
