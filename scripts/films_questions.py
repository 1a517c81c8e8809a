"""Questions on examples/films.tsv with gold that is computed from the graph, and questions without an answer.

`python scripts/films_questions.py` writes films_questions.jsonl and films_absent.jsonl into `tests/data/dev`;
with `--check` it writes nothing and fails if the files differ. Every specification is verified first.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "tests" / "data" / "dev"
FILMS = ROOT / "examples"


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (FILMS / name).read_text("utf-8").splitlines()]


def normal(text: str) -> str:
    """The normal form of docs/architecture.md, near enough for these checks."""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=\w)['’](?=\w)", "", text)).strip()


TRIPLES = rows("films.tsv")
TYPES = dict(rows("films.types.tsv"))
RELATIONS = {relation for _, relation, _ in TRIPLES}
EDGES: dict[tuple[str, str], set[str]] = defaultdict(set)
for _head, _relation, _tail in TRIPLES:
    EDGES[_head, _relation].add(_tail)
    EDGES[_tail, "~" + _relation].add(_head)
NAMES: dict[str, set[str]] = defaultdict(set)
for _name in TYPES:
    NAMES[normal(_name)].add(_name)
for _name, _alias in rows("films.aliases.tsv"):
    NAMES[normal(_alias)].add(_name)


def go(start: str | Iterable[str], *steps: str) -> set[str]:
    """Follow relations from names that must exist; `~r` follows r backwards."""
    at = {start} if isinstance(start, str) else set(start)
    assert all(name in TYPES for name in at), start
    for step in steps:
        assert step.removeprefix("~") in RELATIONS, step
        at = set().union(*(EDGES[name, step] for name in at))
    return at


def directed(person: str) -> set[str]:
    return go(person, "~directed_by")


def stars(person: str) -> set[str]:
    return go(person, "~starring")


def between(films: Iterable[str], low: int, high: int) -> set[str]:
    return {f for f in films if any(low <= int(y) <= high for y in EDGES[f, "release_year"])}


def extreme(names: Iterable[str], relation: str, largest: bool) -> set[str]:
    """The one with the largest or smallest value; every candidate must have one, and there may be no tie."""
    value = {name: int(*EDGES[name, relation]) for name in names}
    best = (max if largest else min)(value.values())
    found = {name for name, v in value.items() if v == best}
    assert len(value) > 1, names
    assert len(found) == 1, found
    return found


def yes(condition: object) -> set[str]:
    return {"yes" if condition else "no"}


def count(names: Iterable[str]) -> set[str]:
    return {str(len(set(names)))}


def besides(name: str, names: Iterable[str]) -> set[str]:
    found = set(names)
    assert name in found, name
    return found - {name}


Spec = tuple[str, str, Callable[[], set[str]]]
QUESTIONS: list[Spec] = [
    ("one_hop", "Who directed Memento?", lambda: go("Memento", "directed_by")),
    ("one_hop", "Who wrote the screenplay of Insomnia?", lambda: go("Insomnia", "written_by")),
    ("one_hop", "Who stars in Memento?", lambda: go("Memento", "starring")),
    ("one_hop", "When did Pulp Fiction come out?", lambda: go("Pulp Fiction", "release_year")),
    ("one_hop", "What language is Capernaum in?", lambda: go("Capernaum", "language")),
    ("one_hop", "Which country does RRR come from?", lambda: go("RRR", "country")),
    ("one_hop", "How many minutes does Lagaan last?", lambda: go("Lagaan", "runtime_minutes")),
    ("one_hop", "Where was Toshiro Mifune born?", lambda: go("Toshiro Mifune", "birth_place")),
    ("one_hop", "In what year was Michelle Yeoh born?", lambda: go("Michelle Yeoh", "birth_year")),
    ("one_hop", "Who is Penélope Cruz married to?", lambda: go("Penélope Cruz", "spouse")),
    ("one_hop", "Which films did Hayao Miyazaki direct?", lambda: directed("Hayao Miyazaki")),
    ("one_hop", "What films has Cillian Murphy appeared in?", lambda: stars("Cillian Murphy")),
    ("one_hop", "Who made Godfather 2?", lambda: go("The Godfather Part II", "directed_by")),
    ("one_hop", "What genre is Blade Runner?", lambda: go("Blade Runner", "genre")),
    (
        "two_hop",
        "Where was the director of Memento born?",
        lambda: go("Memento", "directed_by", "birth_place"),
    ),
    (
        "two_hop",
        "Who is married to the director of The Birds?",
        lambda: go("The Birds", "directed_by", "spouse"),
    ),
    (
        "two_hop",
        "In which year was the director of Alien born?",
        lambda: go("Alien", "directed_by", "birth_year"),
    ),
    (
        "two_hop",
        "Which actors have appeared in films directed by Greta Gerwig?",
        lambda: go("Greta Gerwig", "~directed_by", "starring"),
    ),
    (
        "two_hop",
        "Who wrote the films that Denis Villeneuve directed?",
        lambda: go("Denis Villeneuve", "~directed_by", "written_by"),
    ),
    (
        "two_hop",
        "Which directors has Tom Hanks worked with?",
        lambda: go("Tom Hanks", "~starring", "directed_by"),
    ),
    (
        "two_hop",
        "What genres are the films of Wong Kar-wai?",
        lambda: go("Wong Kar-wai", "~directed_by", "genre"),
    ),
    (
        "two_hop",
        "In which languages are the movies that Penélope Cruz plays in?",
        lambda: go("Penélope Cruz", "~starring", "language"),
    ),
    (
        "two_hop",
        "Which films were directed by someone born in Tokyo?",
        lambda: go("Tokyo", "~birth_place", "~directed_by"),
    ),
    (
        "two_hop",
        "Which films were made by a director who was born in Mexico City?",
        lambda: go("Mexico City", "~birth_place", "~directed_by"),
    ),
    (
        "two_hop",
        "Which film stars the wife of Humphrey Bogart?",
        lambda: go("Humphrey Bogart", "spouse", "~starring"),
    ),
    (
        "two_hop",
        "Which films star someone who was once married to James Cameron?",
        lambda: go("James Cameron", "spouse", "~starring"),
    ),
    (
        "three_hop",
        "Where was the wife of the director of Fargo born?",
        lambda: go("Fargo", "directed_by", "spouse", "birth_place"),
    ),
    (
        "three_hop",
        "When was the wife of the director of La Strada born?",
        lambda: go("La Strada", "directed_by", "spouse", "birth_year"),
    ),
    (
        "three_hop",
        "Which films did the husband of the director of Cléo from 5 to 7 make?",
        lambda: go("Cléo from 5 to 7", "directed_by", "spouse", "~directed_by"),
    ),
    (
        "three_hop",
        "Which actors appear in films that were directed by someone born in Shanghai?",
        lambda: go("Shanghai", "~birth_place", "~directed_by", "starring"),
    ),
    (
        "three_hop",
        "Who wrote films for directors who come from Rome?",
        lambda: go("Rome", "~birth_place", "~directed_by", "written_by"),
    ),
    (
        "three_hop",
        "What are the birthplaces of the directors Javier Bardem has worked with?",
        lambda: go("Javier Bardem", "~starring", "directed_by", "birth_place"),
    ),
    (
        "conjunction",
        "Which films did Chris Nolan direct that star Christian Bale?",
        lambda: directed("Christopher Nolan") & stars("Christian Bale"),
    ),
    (
        "conjunction",
        "In which film do Al Pacino and Robin Williams play together?",
        lambda: stars("Al Pacino") & stars("Robin Williams"),
    ),
    (
        "conjunction",
        "Which movies have both Robert De Niro and Joe Pesci in the cast?",
        lambda: stars("Robert De Niro") & stars("Joe Pesci"),
    ),
    (
        "conjunction",
        "What horror films came out in 1968?",
        lambda: go("Horror", "~genre") & go("1968", "~release_year"),
    ),
    (
        "conjunction",
        "Which Japanese-language films are animated?",
        lambda: go("Japanese", "~language") & go("Animation", "~genre"),
    ),
    (
        "conjunction",
        "Which Steven Spielberg films star both Tom Hanks and Leonardo DiCaprio?",
        lambda: directed("Steven Spielberg") & stars("Tom Hanks") & stars("Leonardo DiCaprio"),
    ),
    (
        "conjunction",
        "Who both directed and starred in Citizen Kane?",
        lambda: go("Citizen Kane", "directed_by") & go("Citizen Kane", "starring"),
    ),
    (
        "conjunction",
        "Which war films by Stanley Kubrick star Kirk Douglas?",
        lambda: directed("Stanley Kubrick") & stars("Kirk Douglas") & go("War", "~genre"),
    ),
    (
        "conjunction",
        "Which Mexican films were directed by Alfonso Cuarón?",
        lambda: go("Mexico", "~country") & directed("Alfonso Cuarón"),
    ),
    (
        "conjunction",
        "Which sci-fi movies from the UK came out after 2010?",
        lambda: between(go("Science fiction", "~genre") & go("United Kingdom", "~country"), 2011, 2023),
    ),
    (
        "yes_no",
        "Did Christopher Nolan direct Dunkirk?",
        lambda: yes("Dunkirk" in directed("Christopher Nolan")),
    ),
    ("yes_no", "Is Parasite in Korean?", lambda: yes("Parasite" in go("Korean", "~language"))),
    ("yes_no", "Does Tom Cruise star in Heat?", lambda: yes("Heat" in stars("Tom Cruise"))),
    (
        "yes_no",
        "Was the director of Interstellar born in London?",
        lambda: yes("London" in go("Interstellar", "directed_by", "birth_place")),
    ),
    (
        "yes_no",
        "Did Martin Scorsese direct The Godfather?",
        lambda: yes("The Godfather" in directed("Martin Scorsese")),
    ),
    ("yes_no", "Is Spirited Away a horror film?", lambda: yes("Spirited Away" in go("Horror", "~genre"))),
    (
        "yes_no",
        "Were Alien and Aliens made by the same director?",
        lambda: yes(go("Alien", "directed_by") & go("Aliens", "directed_by")),
    ),
    (
        "yes_no",
        "Did Tokyo Story come out before Seven Samurai?",
        lambda: yes(max(go("Tokyo Story", "release_year")) < min(go("Seven Samurai", "release_year"))),
    ),
    ("count", "How many films did Christopher Nolan direct?", lambda: count(directed("Christopher Nolan"))),
    (
        "count",
        "How many films has Robert De Niro made with Martin Scorsese?",
        lambda: count(stars("Robert De Niro") & directed("Martin Scorsese")),
    ),
    ("count", "How many animated films are there?", lambda: count(go("Animation", "~genre"))),
    ("count", "How many films are in Korean?", lambda: count(go("Korean", "~language"))),
    (
        "count",
        "In how many movies does Harrison Ford play?",
        lambda: count(stars("Harrison Ford")),
    ),
    (
        "count",
        "How many science fiction films were released in the 1980s?",
        lambda: count(between(go("Science fiction", "~genre"), 1980, 1989)),
    ),
    ("count", "How many people wrote Toy Story?", lambda: count(go("Toy Story", "written_by"))),
    (
        "superlative",
        "What is the longest film that Christopher Nolan directed?",
        lambda: extreme(directed("Christopher Nolan"), "runtime_minutes", True),
    ),
    (
        "superlative",
        "Which of Martin Scorsese's films is the shortest?",
        lambda: extreme(directed("Martin Scorsese"), "runtime_minutes", False),
    ),
    (
        "superlative",
        "What was the first film directed by Stanley Kubrick?",
        lambda: extreme(directed("Stanley Kubrick"), "release_year", False),
    ),
    (
        "superlative",
        "Which is the most recent film starring Leonardo DiCaprio?",
        lambda: extreme(stars("Leonardo DiCaprio"), "release_year", True),
    ),
    (
        "superlative",
        "What is the oldest film in Swedish?",
        lambda: extreme(go("Swedish", "~language"), "release_year", False),
    ),
    (
        "superlative",
        "Which film by Akira Kurosawa runs the longest?",
        lambda: extreme(directed("Akira Kurosawa"), "runtime_minutes", True),
    ),
    (
        "superlative",
        "What is the latest film from South Korea?",
        lambda: extreme(go("South Korea", "~country"), "release_year", True),
    ),
    (
        "share",
        "Which other films have the same director as Jaws?",
        lambda: besides("Jaws", go("Jaws", "directed_by", "~directed_by")),
    ),
    (
        "share",
        "What else did the writer of Taxi Driver write?",
        lambda: besides("Taxi Driver", go("Taxi Driver", "written_by", "~written_by")),
    ),
    (
        "share",
        "Who was born in the same city as Sergio Leone?",
        lambda: besides("Sergio Leone", go("Sergio Leone", "birth_place", "~birth_place")),
    ),
    (
        "share",
        "Which other movies are by the director of Memories of Murder?",
        lambda: besides("Memories of Murder", go("Memories of Murder", "directed_by", "~directed_by")),
    ),
    (
        "share",
        "Who was born in the same year as Tom Cruise?",
        lambda: besides("Tom Cruise", go("Tom Cruise", "birth_year", "~birth_year")),
    ),
    (
        "share",
        "Which other films have an actor in common with The Matrix?",
        lambda: besides("The Matrix", go("The Matrix", "starring", "~starring")),
    ),
]

# reason, question, what it turns on, other reasons that are right too:
#   no_entity: a name that the graph lacks; no_relation: (entity, relation); ambiguous_entity: the alias;
#   empty_result: a function whose result must be empty
Absent = tuple[str, str, object, tuple[str, ...]]
ABSENT: list[Absent] = [
    ("no_entity", "Who directed The Wizard of Oz?", "The Wizard of Oz", ()),
    ("no_entity", "Which films did Satoshi Kon direct?", "Satoshi Kon", ()),
    ("no_entity", "Where was Denzel Washington born?", "Denzel Washington", ()),
    ("no_entity", "Who stars in Gone with the Wind?", "Gone with the Wind", ()),
    ("no_entity", "How many films did Tim Burton direct?", "Tim Burton", ()),
    ("no_entity", "Who wrote Shrek?", "Shrek", ()),
    ("no_entity", "Which films are in Icelandic?", "Icelandic", ()),
    ("no_entity", "Which films come from Portugal?", "Portugal", ()),
    ("no_entity", "Who is Julia Roberts married to?", "Julia Roberts", ()),
    ("no_entity", "Who composed the music for Ratatouille?", "Ratatouille", ("no_relation",)),
    ("no_relation", "Who composed the music for Inception?", ("Inception", "composer"), ()),
    ("no_relation", "How much money did Titanic earn?", ("Titanic", "box_office"), ()),
    ("no_relation", "What was the budget of Avatar?", ("Avatar", "budget"), ()),
    ("no_relation", "Who was the cinematographer of Blade Runner?", ("Blade Runner", "cinematographer"), ()),
    ("no_relation", "How many Oscars did Parasite win?", ("Parasite", "award"), ("no_entity",)),
    ("no_relation", "Where was Lawrence of Arabia filmed?", ("Lawrence of Arabia", "filming_location"), ()),
    ("no_relation", "Which studio distributed The Matrix?", ("The Matrix", "distributor"), ()),
    ("no_relation", "Who edited Raging Bull?", ("Raging Bull", "editor"), ()),
    ("no_relation", "How tall is Tom Cruise?", ("Tom Cruise", "height"), ()),
    ("no_relation", "What is the name of the sequel to Blade Runner?", ("Blade Runner", "sequel"), ()),
    ("no_relation", "Which university did Meryl Streep go to?", ("Meryl Streep", "educated_at"), ()),
    ("no_relation", "Which character does Heath Ledger play?", ("Heath Ledger", "character"), ()),
    ("empty_result", "Where was Robert Downey Jr. born?", lambda: go("Robert Downey Jr.", "birth_place"), ()),
    ("empty_result", "How long is The Shining?", lambda: go("The Shining", "runtime_minutes"), ()),
    ("empty_result", "In what language is The Artist?", lambda: go("The Artist", "language"), ()),
    ("empty_result", "Who wrote Oldboy?", lambda: go("Oldboy", "written_by"), ()),
    ("empty_result", "Who stars in Spirited Away?", lambda: go("Spirited Away", "starring"), ()),
    ("empty_result", "Who is Guy Pearce married to?", lambda: go("Guy Pearce", "spouse"), ()),
    (
        "empty_result",
        "When was the director of Mad Max born?",
        lambda: go("Mad Max", "directed_by", "birth_year"),
        (),
    ),
    ("empty_result", "Which films did Meryl Streep direct?", lambda: directed("Meryl Streep"), ()),
    (
        "empty_result",
        "Which films star both Robin Williams and Keanu Reeves?",
        lambda: stars("Robin Williams") & stars("Keanu Reeves"),
        (),
    ),
    (
        "empty_result",
        "Which horror films are in Italian?",
        lambda: go("Horror", "~genre") & go("Italian", "~language"),
        (),
    ),
    (
        "empty_result",
        "Which Stanley Kubrick films star Tom Hanks?",
        lambda: directed("Stanley Kubrick") & stars("Tom Hanks"),
        (),
    ),
    (
        "empty_result",
        "Which westerns came out in 1994?",
        lambda: go("Western", "~genre") & go("1994", "~release_year"),
        (),
    ),
    ("ambiguous_entity", "Which films did Anderson direct?", ("Anderson", "~directed_by"), ()),
    ("ambiguous_entity", "Who stars in the films of Anderson?", ("Anderson", "~directed_by", "starring"), ()),
    ("ambiguous_entity", "How many screenplays did Anderson write?", ("Anderson", "~written_by"), ()),
    (
        "ambiguous_entity",
        "What genres are the movies by Anderson?",
        ("Anderson", "~directed_by", "genre"),
        (),
    ),
    ("ambiguous_entity", "Which movies is Steve McQueen known for?", ("Steve McQueen",), ()),
    ("ambiguous_entity", "When was Steve McQueen born?", ("Steve McQueen", "birth_year"), ("empty_result",)),
]


def verify_absent(reason: str, question: str, turns_on: object, also: tuple[str, ...]) -> None:
    asked = f" {normal(question)} "
    if reason == "no_entity":
        assert isinstance(turns_on, str)
        mention = normal(turns_on)
        assert f" {mention} " in asked, question
        assert mention not in NAMES, question
        assert not difflib.get_close_matches(mention, NAMES, 1, 0.85), question
    elif reason == "no_relation":
        assert isinstance(turns_on, tuple)
        entity, relation = turns_on
        assert NAMES[normal(entity)] == {entity}, question
        assert relation not in RELATIONS, question
        assert f" {normal(entity)} " in asked, question
    elif reason == "empty_result":
        assert callable(turns_on)
        assert turns_on() == set(), (question, turns_on())
    else:
        assert reason == "ambiguous_entity"
        assert isinstance(turns_on, tuple)
        alias, *steps = turns_on
        assert f" {normal(alias)} " in asked, question
        assert len(NAMES[normal(alias)]) > 1, question
        answering = [name for name in NAMES[normal(alias)] if go(name, *steps)]
        expected = 0 if "empty_result" in also else 2
        assert not steps or len(answering) == expected, (question, answering)
    assert reason not in also


def lines(records: list[dict[str, object]]) -> str:
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)


def main() -> int:
    questions: list[dict[str, object]] = []
    for number, (kind, question, gold_of) in enumerate(QUESTIONS, 1):
        gold = sorted(gold_of())
        assert gold, question
        assert kind in {"yes_no", "count"} or all(g in TYPES for g in gold), question
        questions.append({"id": f"films-{number:03}", "question": question, "gold": gold, "kind": kind})
    absent: list[dict[str, object]] = []
    for number, (reason, question, turns_on, also) in enumerate(ABSENT, 1):
        verify_absent(reason, question, turns_on, also)
        record: dict[str, object] = {"id": f"absent-{number:03}", "question": question, "reason": reason}
        absent.append(record | ({"also": list(also)} if also else {}))
    asked = [normal(str(r["question"])) for r in questions + absent]
    assert len(set(asked)) == len(asked), [q for q, n in Counter(asked).items() if n > 1]
    for name, records in (("films_questions.jsonl", questions), ("films_absent.jsonl", absent)):
        if "--check" in sys.argv:
            assert (HERE / name).read_text("utf-8") == lines(records), f"{name} differs: run without --check"
        else:
            (HERE / name).write_text(lines(records), "utf-8")
    kinds = Counter(str(r["kind"]) for r in questions), Counter(str(r["reason"]) for r in absent)
    sys.stdout.write(f"{len(questions)} {dict(kinds[0])}\n{len(absent)} {dict(kinds[1])}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
