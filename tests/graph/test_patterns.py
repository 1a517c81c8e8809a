import pytest

from clew.errors import PatternError
from clew.graph.match.patterns import pattern_from_json, unknown_type
from clew.types import PatternEdge, PatternNode


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("UNKNOWN director 1", (True, "director")),
        ("unknown Film Director 12", (True, "Film Director")),
        ("UNKNOWN person", (True, "person")),
        ("UNKNOWN thing 1", (True, None)),
        ("UNKNOWN entity 2", (True, None)),
        ("UNKNOWN 1", (True, None)),
        ("Unknown", (True, None)),
        ("UNKNOWN relation 1", (True, "relation")),
        ("unknown_director_1", (True, "director")),
        ("The Unknown", (False, None)),
        ("Unknowns", (False, None)),
        ("Inception", (False, None)),
    ],
)
def test_names_of_unknowns(name: str, expected: tuple[bool, str | None]) -> None:
    assert unknown_type(name) == expected


def test_reads_the_form_of_simgrag() -> None:
    triples = [["UNKNOWN film 1", "director", "Nolan"], ["UNKNOWN film 1", "UNKNOWN relation 1", "UNKNOWN 2"]]
    pattern = pattern_from_json({"id": 7, "triples": triples, "answer": "UNKNOWN 2"}, "f.jsonl:3")
    assert pattern.nodes == (
        PatternNode("UNKNOWN film 1", False, "film"),
        PatternNode("Nolan", True),
        PatternNode("UNKNOWN 2", False),
    )
    assert pattern.edges == (PatternEdge(0, "director", 1), PatternEdge(0, None, 2))
    assert pattern.answer == 2
    assert pattern.as_json()["triples"][0] == triples[0]


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ([], "f:1: a pattern is an object"),
        ({}, "f:1: field 'triples' must be a list"),
        ({"triples": []}, "at least one triple"),
        ({"triples": ["abc"]}, r"f:1: field 'triples\[0\]' must be a list of three strings"),
        ({"triples": [["a", "r"]]}, r"field 'triples\[0\]' has 2 entries"),
        ({"triples": [["a", "r", "b"], ["a", 3, "b"]]}, r"field 'triples\[1\]': its relation"),
        ({"triples": [["a", "r", " "]]}, r"field 'triples\[0\]': its tail"),
        ({"triples": [["a", "r", "b"]], "answer": "c"}, "field 'answer'"),
        ({"triples": [["UNKNOWN 1", "r", "UNKNOWN 2"]]}, "every node is unknown"),
        ({"triples": [["a", "r", "b"], ["c", "r", "d"]]}, "'c' is not connected with 'a'"),
        ({"triples": [["a", "r", "b"]] * 17}, "has 17 triples: at most 16"),
    ],
)
def test_errors_name_file_line_and_field(obj: object, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        pattern_from_json(obj, "f:1")
