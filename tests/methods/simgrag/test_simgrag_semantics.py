"""SimGRAG with replies as a good model gives them.

Right and complete answers in every pattern class (appendix F).

The gold is computed from the triples by brute force. The model's words are not the graph's, its reading
sees k = 3 subgraphs, and what it takes from them is one place in those whose relations are the right ones.
"""

from collections import defaultdict

import pytest
from film_scripts import answers_reply, good_model, pattern_reply

from clew.methods.simgrag.method import SimGRAG

# class, question, the model's triples, what they are in the graph (?a is asked for)
QUESTIONS = [
    (
        "1-hop",
        "who is the director of Memento",
        [("Memento", "director", "UNKNOWN person 1")],
        [("Memento", "directed_by", "?a")],
    ),
    (
        "1-hop",
        "which films did Christopher Nolan direct",
        [("Christopher Nolan", "director of", "UNKNOWN film 1")],
        [("?a", "directed_by", "Christopher Nolan")],
    ),
    (
        "1-hop",
        "what films has Tom Hanks acted in",
        [("Tom Hanks", "star of film", "UNKNOWN film 1")],
        [("?a", "starring", "Tom Hanks")],
    ),
    (
        "1-hop",
        "who wrote Inception",
        [("Inception", "screenwriter", "UNKNOWN writer 1")],
        [("Inception", "written_by", "?a")],
    ),
    ("1-hop", "what kind of film is Jaws", [("Jaws", "genre", "UNKNOWN genre 1")], [("Jaws", "genre", "?a")]),
    (
        "1-hop",
        "when did Jaws come out",
        [("Jaws", "year of release", "UNKNOWN year 1")],
        [("Jaws", "release_year", "?a")],
    ),
    (
        "1-hop",
        "films of 1999",
        [("UNKNOWN film 1", "released in year", "1999")],
        [("?a", "release_year", "1999")],
    ),
    (
        "1-hop",
        "where was Christopher Nolan born",
        [("Christopher Nolan", "place of birth", "UNKNOWN place 1")],
        [("Christopher Nolan", "birth_place", "?a")],
    ),
    (
        "1-hop",
        "which comedies are there",
        [("UNKNOWN film 1", "genre", "Comedy")],
        [("?a", "genre", "Comedy")],
    ),
    (
        "2-hop",
        "what other films did the director of Memento make",
        [("Memento", "director", "UNKNOWN director 1"), ("UNKNOWN film 1", "director", "UNKNOWN director 1")],
        [("Memento", "directed_by", "?d"), ("?a", "directed_by", "?d")],
    ),
    (
        "2-hop",
        "who starred in films directed by Steven Spielberg",
        [("UNKNOWN film 1", "director", "Steven Spielberg"), ("UNKNOWN film 1", "stars", "UNKNOWN actor 1")],
        [("?f", "directed_by", "Steven Spielberg"), ("?f", "starring", "?a")],
    ),
    (
        "2-hop",
        "where was the director of Jaws born",
        [("Jaws", "director", "UNKNOWN person 1"), ("UNKNOWN person 1", "birthplace", "UNKNOWN place 1")],
        [("Jaws", "directed_by", "?d"), ("?d", "birth_place", "?a")],
    ),
    (
        "2-hop",
        "in which years were films with Tom Hanks released",
        [("UNKNOWN film 1", "starring", "Tom Hanks"), ("UNKNOWN film 1", "release year", "UNKNOWN year 1")],
        [("?f", "starring", "Tom Hanks"), ("?f", "release_year", "?a")],
    ),
    (
        "2-hop",
        "which genres do films by Christopher Nolan have",
        [
            ("UNKNOWN film 1", "directed by", "Christopher Nolan"),
            ("UNKNOWN film 1", "genre", "UNKNOWN genre 1"),
        ],
        [("?f", "directed_by", "Christopher Nolan"), ("?f", "genre", "?a")],
    ),
    (
        "2-hop",
        "who acted alongside Guy Pearce",
        [("UNKNOWN film 1", "starring", "Guy Pearce"), ("UNKNOWN film 1", "starring", "UNKNOWN actor 2")],
        [("?f", "starring", "Guy Pearce"), ("?f", "starring", "?a")],
    ),
    (
        "2-hop",
        "who is married to the director of Memento",
        [("Memento", "directed by", "UNKNOWN person 1"), ("UNKNOWN person 1", "spouse", "UNKNOWN person 2")],
        [("Memento", "directed_by", "?d"), ("?d", "spouse", "?a")],
    ),
    (
        "2-hop",
        "films from the same year as Gladiator",
        [
            ("Gladiator", "release year", "UNKNOWN year 1"),
            ("UNKNOWN film 1", "release year", "UNKNOWN year 1"),
        ],
        [("Gladiator", "release_year", "?y"), ("?a", "release_year", "?y")],
    ),
    (
        "3-hop",
        "who acted in the films directed by the writer of Memento",
        [
            ("Memento", "writer", "UNKNOWN writer 1"),
            ("UNKNOWN film 1", "director", "UNKNOWN writer 1"),
            ("UNKNOWN film 1", "actor", "UNKNOWN actor 1"),
        ],
        [("Memento", "written_by", "?w"), ("?f", "directed_by", "?w"), ("?f", "starring", "?a")],
    ),
    (
        "3-hop",
        "genres of films that share a director with Jaws",
        [
            ("Jaws", "director", "UNKNOWN director 1"),
            ("UNKNOWN film 1", "director", "UNKNOWN director 1"),
            ("UNKNOWN film 1", "genre", "UNKNOWN genre 1"),
        ],
        [("Jaws", "directed_by", "?d"), ("?f", "directed_by", "?d"), ("?f", "genre", "?a")],
    ),
    (
        "3-hop",
        "in which countries were the films of the actors of Memento made",
        [
            ("Memento", "starring", "UNKNOWN actor 1"),
            ("UNKNOWN film 1", "starring", "UNKNOWN actor 1"),
            ("UNKNOWN film 1", "country of origin", "UNKNOWN country 1"),
        ],
        [("Memento", "starring", "?p"), ("?f", "starring", "?p"), ("?f", "country", "?a")],
    ),
    (
        "3-hop",
        "where were the directors of films with Tom Hanks born",
        [
            ("UNKNOWN film 1", "starring", "Tom Hanks"),
            ("UNKNOWN film 1", "director", "UNKNOWN person 1"),
            ("UNKNOWN person 1", "birthplace", "UNKNOWN place 1"),
        ],
        [("?f", "starring", "Tom Hanks"), ("?f", "directed_by", "?d"), ("?d", "birth_place", "?a")],
    ),
    (
        "3-hop",
        "when were films by the director of Inception released",
        [
            ("Inception", "director", "UNKNOWN director 1"),
            ("UNKNOWN film 1", "director", "UNKNOWN director 1"),
            ("UNKNOWN film 1", "release year", "UNKNOWN year 1"),
        ],
        [("Inception", "directed_by", "?d"), ("?f", "directed_by", "?d"), ("?f", "release_year", "?a")],
    ),
    (
        "2-conjunction",
        "which thrillers did Christopher Nolan direct",
        [("UNKNOWN film 1", "director", "Christopher Nolan"), ("UNKNOWN film 1", "genre", "Thriller")],
        [("?a", "directed_by", "Christopher Nolan"), ("?a", "genre", "Thriller")],
    ),
    (
        "2-conjunction",
        "films by Steven Spielberg with Tom Hanks",
        [("UNKNOWN film 1", "directed by", "Steven Spielberg"), ("UNKNOWN film 1", "stars", "Tom Hanks")],
        [("?a", "directed_by", "Steven Spielberg"), ("?a", "starring", "Tom Hanks")],
    ),
    (
        "2-conjunction",
        "films of 2010 by Christopher Nolan",
        [("UNKNOWN film 1", "release year", "2010"), ("UNKNOWN film 1", "director", "Christopher Nolan")],
        [("?a", "release_year", "2010"), ("?a", "directed_by", "Christopher Nolan")],
    ),
    (
        "2-conjunction",
        "films with both Tom Hardy and Cillian Murphy",
        [("UNKNOWN film 1", "starring", "Tom Hardy"), ("UNKNOWN film 1", "starring", "Cillian Murphy")],
        [("?a", "starring", "Tom Hardy"), ("?a", "starring", "Cillian Murphy")],
    ),
    (
        "2-conjunction",
        "French dramas",
        [("UNKNOWN film 1", "country", "France"), ("UNKNOWN film 1", "genre", "Drama")],
        [("?a", "country", "France"), ("?a", "genre", "Drama")],
    ),
    (
        "3-conjunction",
        "which dramas were made by a director born in London",
        [
            ("UNKNOWN film 1", "genre", "Drama"),
            ("UNKNOWN film 1", "director", "UNKNOWN person 1"),
            ("UNKNOWN person 1", "birthplace", "London"),
        ],
        [("?a", "genre", "Drama"), ("?a", "directed_by", "?d"), ("?d", "birth_place", "London")],
    ),
    (
        "3-conjunction",
        "films with Tom Hanks whose director was born in 1946",
        [
            ("UNKNOWN film 1", "starring", "Tom Hanks"),
            ("UNKNOWN film 1", "director", "UNKNOWN person 1"),
            ("UNKNOWN person 1", "year of birth", "1946"),
        ],
        [("?a", "starring", "Tom Hanks"), ("?a", "directed_by", "?d"), ("?d", "birth_year", "1946")],
    ),
    (
        "3-conjunction",
        "thrillers that share a director with Inception",
        [
            ("UNKNOWN film 1", "genre", "Thriller"),
            ("UNKNOWN film 1", "director", "UNKNOWN director 1"),
            ("Inception", "director", "UNKNOWN director 1"),
        ],
        [("?a", "genre", "Thriller"), ("?a", "directed_by", "?d"), ("Inception", "directed_by", "?d")],
    ),
    (
        "3-star",
        "dramas of 1993 by Steven Spielberg",
        [
            ("UNKNOWN film 1", "genre", "Drama"),
            ("UNKNOWN film 1", "release year", "1993"),
            ("UNKNOWN film 1", "director", "Steven Spielberg"),
        ],
        [("?a", "genre", "Drama"), ("?a", "release_year", "1993"), ("?a", "directed_by", "Steven Spielberg")],
    ),
    (
        "3-star",
        "thrillers by Christopher Nolan with Christian Bale",
        [
            ("UNKNOWN film 1", "genre", "Thriller"),
            ("UNKNOWN film 1", "director", "Christopher Nolan"),
            ("UNKNOWN film 1", "stars", "Christian Bale"),
        ],
        [
            ("?a", "genre", "Thriller"),
            ("?a", "directed_by", "Christopher Nolan"),
            ("?a", "starring", "Christian Bale"),
        ],
    ),
    (
        "3-star",
        "films by Christopher Nolan with Michael Caine and Christian Bale",
        [
            ("UNKNOWN film 1", "director", "Christopher Nolan"),
            ("UNKNOWN film 1", "stars", "Michael Caine"),
            ("UNKNOWN film 1", "stars", "Christian Bale"),
        ],
        [
            ("?a", "directed_by", "Christopher Nolan"),
            ("?a", "starring", "Michael Caine"),
            ("?a", "starring", "Christian Bale"),
        ],
    ),
]


def solve(triples, truth):
    """Every value of ?a, by brute force; no two conditions are met by one triple."""
    by_relation = defaultdict(list)
    for triple in triples:
        by_relation[triple[1]].append(triple)
    rows = [({}, frozenset())]
    for head, relation, tail in truth:
        grown = []
        for row, used in rows:
            for triple in by_relation[relation]:
                bound = dict(row)
                for place, node in ((head, triple[0]), (tail, triple[2])):
                    value = bound.setdefault(place, node) if place.startswith("?") else place
                    if value != node:
                        break
                else:
                    if triple not in used:
                        grown.append((bound, used | {triple}))
        rows = grown
    return {row["?a"] for row, _ in rows}


def reader(truth):
    """A good reader: of the graphs whose relations and named things are right, what stands where ?a does."""
    at, end = next((i, t.index("?a")) for i, t in enumerate(truth) if "?a" in t)

    def fits(triple, wanted):
        return all(w.startswith("?") or w == part for part, w in zip(triple, wanted, strict=True))

    def read(graphs):
        right = [g for g in graphs if len(g) == len(truth) and all(map(fits, g, truth))]
        return answers_reply(*dict.fromkeys(g[at][end] for g in right))

    return read


@pytest.mark.parametrize(("kind", "question", "pattern", "truth"), QUESTIONS, ids=[q[1] for q in QUESTIONS])
def test_answers_are_right_and_complete(films, triples, kind, question, pattern, truth):
    gold = solve(triples, truth)
    assert gold, "a question without an answer tests nothing"
    model = good_model(pattern_reply(*pattern), reader(truth))
    answer = SimGRAG(films.index, films.embedder, model=model).answer(question)
    assert {a.entity for a in answer.answers} == gold
    assert (answer.usage.calls, len(model.requests)) == (2, 2)
    assert {c.answer for c in answer.citations} == gold
    assert all(
        films.triple(t).as_json() == c.triples[i].as_json()
        for c in answer.citations
        for i, t in enumerate(c.triple_ids)
    )


def test_every_class_of_the_appendix_is_there():
    kinds = [q[0] for q in QUESTIONS]
    assert len(kinds) >= 30
    assert set(kinds) == {"1-hop", "2-hop", "3-hop", "2-conjunction", "3-conjunction", "3-star"}
