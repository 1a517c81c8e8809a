"""What the IRIs of Wikibase's statements say."""

import pytest

from clew.graph.namespaces import RDF
from clew.graph.readers.wikibase import StatementPart, is_spelling, is_statement, relation_of, statement_part

WD = "http://www.wikidata.org"
POSITION = f"{WD}/prop/direct/P39"


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        (f"{WD}/prop/P39", StatementPart("claim", POSITION)),
        (f"{WD}/prop/statement/P39", StatementPart("value", POSITION)),
        (f"{WD}/prop/qualifier/P39", StatementPart("qualifier", POSITION)),
        (f"{WD}/prop/statement/value/P39", StatementPart("beside", POSITION)),
        (f"{WD}/prop/direct-normalized/P39", StatementPart("beside", POSITION)),
        (RDF + "type", StatementPart("beside", RDF + "type")),
        ("http://wikiba.se/ontology#rank", StatementPart("beside", "http://wikiba.se/ontology#rank")),
        (POSITION, None),
        (f"{WD}/prop/P", None),
    ],
)
def test_what_a_predicate_says_of_a_statement(predicate, said):
    assert statement_part(predicate) == said


def test_a_property_describes_the_relation_of_its_id():
    assert relation_of(f"{WD}/entity/P39") == POSITION
    assert relation_of(f"{WD}/entity/Q39") is None


def test_statements_and_spellings_are_told_from_facts():
    assert is_statement(f"{WD}/entity/statement/Q1-ab")
    assert not is_statement(f"{WD}/entity/Q1")
    ontology = "http://wikiba.se/ontology#directClaim"
    assert is_spelling(ontology, POSITION)
    assert not is_spelling(ontology, f"{WD}/entity/Q1")
