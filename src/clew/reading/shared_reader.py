"""The reader of an index, one for all methods that ask it."""

from __future__ import annotations

from clew.graph.graph import Graph
from clew.graph.schema import Schema, with_implied_types, with_types_of
from clew.index.store.directory import Index
from clew.index.store.writing import schema_of_index
from clew.reading.countries import named_countries
from clew.reading.reader import QuestionReader
from clew.text.embedders import Embedder
from clew.vocabulary.terms import team_vocabulary


def with_types(index: Index) -> tuple[Graph, Schema]:
    """The graph of an index with the types that it implies, and its schema."""
    schema = schema_of_index(index)
    graph = with_implied_types(index.graph, named_countries(index, schema))
    return graph, schema if graph is index.graph else with_types_of(schema, graph)


def reader_of(index: Index, embedder: Embedder) -> QuestionReader:
    """The reader of an index, made once."""
    reader: QuestionReader | None = index.made.get((QuestionReader, id(embedder)))
    if reader is None:  # a reader holds its embedder, so that no other one gets its place in memory
        graph, schema = with_types(index)
        team = team_vocabulary(index)
        reader = QuestionReader(graph, schema, index.names, embedder, team=team)
        index.made[QuestionReader, id(embedder)] = reader
    return reader
