"""A type before a name is of the name, unless it is asked for."""

import pytest
from small_graph import SmallGraph

from clew.reading.typed_names import with_types

SMALL = SmallGraph(
    """
    Heat | directed_by | Michael Mann
    Heat | made_by | Regency
    Heat | studio | Stage 9
    """,
    {
        "Film": ["Heat"],
        "Director": ["Michael Mann"],
        "Production Company": ["Regency"],
        "Studio": ["Stage 9"],
    },
)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who directed the film Heat?", "film Heat"),
        ("films of director Michael Mann", "director Michael Mann"),
        ("films of the production company Regency", "production company Regency"),
        ("Which film Heat is meant?", "Heat"),
        ("films with studio Stage 9", "Stage 9"),
        ("Who directed Heat?", "Heat"),
        ("actor Michael Mann", "Michael Mann"),
    ],
)
def test_a_type_before_a_name_is_of_the_name(question: str, name: str) -> None:
    mentions = with_types(SMALL.vocabulary, question, SMALL.mentions(question))
    assert [m.text for m in mentions if m.candidates] == [name]
