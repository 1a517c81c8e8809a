"""A hub is removed from an index: what asks for it is not answered by another thing of its name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.methods.registry import make_method

FILMS = ("Sunrise Road", "Blue Lamp", "The Long Harvest", "Quiet Water", "Last Orchard", "Stone Bridge")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clew]:
    """Films with genres, and tags that are written in small letters."""
    folder = tmp_path_factory.mktemp("films")
    dramas, comedies = FILMS[:4], FILMS[4:]
    triples = [
        *((film, "has_genre", "Drama") for film in dramas),
        *((film, "has_genre", "Comedy") for film in comedies),
        *((film, "has_tags", "drama") for film in dramas[1:3]),
        *((film, "has_tags", "bd-r") for film in comedies),
        *((film, "directed_by", "Anna Berg") for film in (FILMS[0], FILMS[4])),
        *((film, "in_city", "Oslo") for film in FILMS[:2]),
        ("Anna Berg", "born_in", "Lyon"),
        ("Carl Dahl", "born_in", "Lyon"),
    ]
    (folder / "films.tsv").write_text("\n".join("\t".join(triple) for triple in triples))
    removed: Path = folder / "removed.tsv"
    removed.write_text("\n".join(f"{film}\thas_genre\tDrama" for film in dramas))
    with Clew.index(folder / "films.tsv", folder / "films.clew") as opened:
        opened.update(remove=[removed])
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "Which films are of the genre Drama?",
        "which films have the genre Drama",
        "List films in the Drama genre.",
        'Which films have a genre called "Drama"?',
    ],
)
def test_what_is_said_to_be_of_a_relation_is_not_found_by_another(films: Clew, question: str):
    answer = make_method("auto", films.opened, films.embedder, None).answer(question)
    assert answer.abstained is not None
    assert not answer.answers


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which films are of the genre Comedy?", {"Last Orchard", "Stone Bridge"}),
        ("Which films are tagged drama?", {"Blue Lamp", "The Long Harvest"}),
        ("Who was born in the city Lyon?", {"Anna Berg", "Carl Dahl"}),
    ],
)
def test_what_is_of_the_kind_or_said_by_another_word_is_answered(
    films: Clew, question: str, expected: set[str]
):
    answer = make_method("auto", films.opened, films.embedder, None).answer(question)
    assert {a.label for a in answer.answers} == expected
