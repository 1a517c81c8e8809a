"""What a question says the kind of: the word beside a name that is a noun for it."""

from __future__ import annotations

import numpy as np
import pytest

from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.reading.ranker import Ranking, Scored
from clew.reading.reader import Reading
from clew.reading.said_kinds import kinds_of

NONE = np.zeros((0, 0), np.float32)


@pytest.mark.parametrize(
    ("question", "name", "kinds"),
    [
        ("Which films are of the genre Drama?", "Drama", ["genre"]),
        ("which films have genre Drama", "Drama", ["genre"]),
        ("Which films has_genre Drama?", "Drama", ["genre"]),
        ("List films in the Drama genre.", "Drama", ["genre"]),
        ('Who plays in films of the genre "Drama" and of Oslo?', "Drama", ["genre"]),
        ("Which museum has the painting called Saturn?", "Saturn", ["painting"]),
        ("Where is the museum that owns Saturn?", "Saturn", []),
        ("has dr farouk ever seen Pepper", "Pepper", []),
        ("Who has owned Pepper?", "Pepper", []),
        ("What genre Tom Hanks films are there?", "Tom Hanks", []),
        ("What is the language Peter speaks?", "Peter", []),
        ("What is the genre of Heat?", "Heat", []),
    ],
)
def test_a_noun_beside_a_name_is_its_kind(question: str, name: str, kinds: list[str]):
    place, words = 0, list[tuple[int, int, str]]()
    for word in question.replace("_", " ").replace('"', " ").strip("?. ").split():
        start = question.index(word, place)
        place = start + len(word)
        words.append((start, place, word.lower()))
    start = question.index(name)
    mention = Mention(start, start + len(name), name, ())
    like = Likeness(tuple(words), NONE, NONE, NONE, NONE)
    reading = Reading(question, (mention,), like, Ranking((), 1.0, Scored.nothing(0)), {})
    assert [words[place][2] for place in kinds_of(reading, mention)] == kinds


def test_a_verb_behind_a_name_is_no_kind():
    question, name = "modules in the final year assessed by exam", "final year"
    start = question.index("assessed")
    like = Likeness(((start, start + 8, "assessed"),), NONE, NONE, NONE, NONE)
    place = question.index(name)
    mention = Mention(place, place + len(name), name, ())
    assert not kinds_of(Reading(question, (mention,), like, Ranking((), 1.0, Scored.nothing(0)), {}), mention)
