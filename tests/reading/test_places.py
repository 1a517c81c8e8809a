"""What is of a country, and its other names, mean the country."""

import pytest
from small_graph import SmallGraph

FILMS = SmallGraph(
    """
    Kiosk | country | Germany
    Kiosk | language | German
    Moth | country | United Kingdom
    Moth | english subtitles | yes
    Ran | country | South Korea
    """,
    {"Film": ["Kiosk", "Moth", "Ran"]},
)


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("British films", ["United Kingdom"]),
        ("which films are british", ["United Kingdom"]),
        ("films from the UK", ["United Kingdom"]),
        ("films of the Brits", []),
        ("German films", ["German", "Germany"]),
        ("which films are in German?", ["German"]),
        ("films with English subtitles", []),
        ("Korean films", ["South Korea"]),
        ("Who gave us polish?", []),
    ],
)
def test_a_place_is_meant(question: str, labels: list[str]) -> None:
    found = [FILMS.graph.labels[c.node] for m in FILMS.mentions(question) for c in m.candidates]
    assert sorted(found) == labels
