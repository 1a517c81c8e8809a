"""Questions compared with a small graph that needs no index."""

import pytest

from clew.graph.build.build import graph_of
from clew.graph.schema import schema_of
from clew.reading.rules.alignment import Weights
from clew.reading.rules.comparison import Span, compare
from clew.reading.rules.question import read_question
from clew.reading.rules.similarity import Scale, WordTable
from clew.reading.rules.vocabulary import vocabulary_of
from clew.text.embedders.static import StaticEmbedder
from clew.text.lexicon import Lexicon

TRIPLES = """
Acme	founded_by	Ann Lee
Acme	headquarters	Oslo
Acme	revenue	500
Acme	founded_year	1980
Initech	founded_by	Jo May
Initech	headquarters	Rome
Initech	revenue	200
Initech	founded_year	1999
Initech	subsidiary_of	Acme
Umbrella	founded_by	Ann Lee
Umbrella	headquarters	Oslo
Umbrella	revenue	900
Umbrella	founded_year	2005
Umbrella	subsidiary_of	Initech
Ann Lee	birth_place	Bern
Ann Lee	influenced	Jo May
Jo May	birth_place	Rome
Jo May	influenced	Kim Poe
Kim Poe	birth_place	Oslo
"""


class Firms:
    """The graph with all that a question is compared with."""

    def __init__(self, graph):
        self.graph, self.schema = graph, schema_of(graph)
        vocabulary = vocabulary_of(graph, self.schema, StaticEmbedder.load(), Lexicon.load())
        self.table = WordTable(vocabulary, Scale())
        self.relations = list(graph.relations)

    def relation(self, name):
        return self.relations.index(name)

    def step(self, name, forward=True):
        return 2 * self.relation(name) + (not forward)

    def compare(self, text):
        question = read_question(text)
        return question, compare(question, self.table, Weights())

    @staticmethod
    def span(text, name):
        return Span(text.index(name), text.index(name) + len(name))


@pytest.fixture(scope="session")
def firms():
    rows = (line.split("\t") for line in TRIPLES.strip().splitlines())
    return Firms(graph_of((head, relation, tail) for head, relation, tail in rows))
