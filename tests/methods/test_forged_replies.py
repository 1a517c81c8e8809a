"""Forged replies of a model: what no fact proves, or what is not asked for, is never a grounded answer.

Each line is a reply to a question over the films of `TRIPLES`, at the public doors. `FORGED` have to be left
open, `HONEST` have to be answered.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew import Answer as Result
from clew import Clew
from clew.cli.app import app
from clew.llm.testing import ScriptedModel
from clew.methods.registry import settings_of
from servers.fake_server import Answer, completion, serving

TRIPLES = [
    *[(film, "directed by", "Christopher Nolan") for film in ("Memento", "Insomnia", "Tenet")],
    ("Heat", "directed by", "Michael Mann"), ("Memento", "starring", "Guy Pearce"),
    ("Insomnia", "starring", "Al Pacino"), ("Heat", "starring", "Al Pacino"),
    ("Memento", "release year", "2000"), ("Insomnia", "release year", "2002"),
    ("Tenet", "release year", "2020"), ("Heat", "release year", "1995"), ("Memento", "running time", "113"),
    ("Heat", "running time", "170"), ("Christopher Nolan", "born in", "London"),
    ("Jaws", "directed by", "Steven Spielberg"),
]  # fmt: skip
PEOPLE = ("Christopher Nolan", "Michael Mann", "Guy Pearce", "Al Pacino", "Steven Spielberg")
TYPES = {
    **{film: ["film"] for film in ("Memento", "Insomnia", "Tenet", "Heat", "Jaws")},
    **{person: ["person"] for person in PEOPLE},
    "London": ["city"],
}
READERS = ("kaping", "kg-retrieval", "vector-rag", "walk-retrieve", "kg-rag")
"""Methods whose replies are read alike; each is asked its share of `FORGED`."""
WHO, COUNT = "Who directed Memento?", "How many films did Christopher Nolan direct?"
DID, NOT = "Did Christopher Nolan direct Memento?", "Did Michael Mann direct Memento?"
WHICH, WHEN = "Which films did Christopher Nolan direct?", "When was Memento released?"
WHERE, LONG = "Where was Christopher Nolan born?", "How long is the running time of Heat?"

FORGED = [
    (WHO, "42"), (WHO, "yes"), (WHO, "no"), (WHO, "2000"), (WHO, "113"), (WHO, "3"), (WHO, "true"),
    (WHO, "1"), (WHO, "0"), (WHO, "-1"), (WHO, "1e9"), (WHO, "Memento"), (WHO, "Insomnia"), (WHO, "Uwe Boll"),
    (WHO, "42; Uwe Boll"), (WHO, "about 42 people"), (WHO, "London"), (WHO, "all of 99"), (WHO, "all of 0"),
    (WHO, "2000-01-01"), (WHO, "$42"), (WHO, "42 %"), (WHO, "Yes, he did"), (WHO, "No, nobody"),
    (COUNT, "42"), (COUNT, "1"), (COUNT, "2"), (COUNT, "4"), (COUNT, "0"), (COUNT, "yes"), (COUNT, "no"),
    (COUNT, "2000"), (COUNT, "three hundred"), (COUNT, "3.5"), (COUNT, "-3"), (COUNT, "30"),
    (COUNT, "London"), (COUNT, "113"), (COUNT, "Guy Pearce"), (COUNT, "12 of them"),
    (DID, "no"), (DID, "42"), (DID, "false"), (DID, "No, he did not"), (DID, "Guy Pearce"), (DID, "2000"),
    (DID, "London"),
    (NOT, "yes"), (NOT, "true"), (NOT, "Yes, he did"), (NOT, "42"), (NOT, "Guy Pearce"),
    (WHICH, "yes"), (WHICH, "no"), (WHICH, "42"), (WHICH, "Heaven"), (WHICH, "17"),
    (WHEN, "yes"), (WHEN, "1950"), (WHEN, "42"), (WHEN, "Guy Pearce"), (WHEN, "no"), (WHEN, "2001-05-05"),
    (WHERE, "42"), (WHERE, "yes"), (WHERE, "no"), (WHERE, "2000"), (WHERE, "Paris"),
    (LONG, "42"), (LONG, "yes"), (LONG, "171"), (LONG, "Al Pacino"), (LONG, "no"),
    # Names of the right type, which the facts hold by another relation or of something else.
    (WHO, "Guy Pearce"), (WHO, "Michael Mann"), (WHO, "Al Pacino"), (WHO, "Guy Pearce; Al Pacino"),
    (WHO, "Steven Spielberg"), (WHICH, "Heat"), (WHICH, "Jaws"), (WHICH, "Heat; Jaws"),
]  # fmt: skip
HONEST = [
    (WHO, "Christopher Nolan", "Christopher Nolan"), (COUNT, "3", "3"), (DID, "yes", "yes"),
    (NOT, "no", "no"),
    (WHEN, "2000", "2000"), (WHERE, "London", "London"), (LONG, "170", "170"), (LONG, "170 minutes", "170"),
]  # fmt: skip


@pytest.fixture(scope="module")
def films() -> Iterator[Clew]:
    with Clew.from_triples(TRIPLES, types=TYPES) as clew:
        yield clew


PATTERNS = {
    WHO: [["Memento", "directed by", "UNKNOWN person 1"]],
    DID: [["Memento", "directed by", "Christopher Nolan"]],
    NOT: [["Memento", "directed by", "Michael Mann"]],
    WHEN: [["Memento", "release year", "UNKNOWN year 1"]],
    COUNT: [["UNKNOWN film 1", "directed by", "Christopher Nolan"]],
    WHICH: [["UNKNOWN film 1", "directed by", "Christopher Nolan"]],
    WHERE: [["Christopher Nolan", "born in", "UNKNOWN place 1"]],
    LONG: [["Heat", "running time", "UNKNOWN number 1"]],
}
FILMS_OF = "MATCH (f:film)-[:directed_by]->(p:person) WHERE p.name = "
QUERIES = {
    WHO: "MATCH (f:film)-[:directed_by]->(p:person) WHERE f.name = 'Memento' RETURN p.name",
    COUNT: f"{FILMS_OF}'Christopher Nolan' RETURN f.name",
    DID: f"{FILMS_OF}'Christopher Nolan' AND f.name = 'Memento' RETURN f.name",
    NOT: "MATCH (f:film)-[:directed_by]->(p:person) WHERE f.name = 'Memento' RETURN p.name",
    WHICH: f"{FILMS_OF}'Christopher Nolan' RETURN f.name",
    WHEN: "MATCH (f:film) WHERE f.name = 'Memento' RETURN f.release_year",
    WHERE: "MATCH (p:person)-[:born_in]->(c:city) WHERE p.name = 'Christopher Nolan' RETURN c.name",
    LONG: "MATCH (f:film) WHERE f.name = 'Heat' RETURN f.running_time",
}


def model_of(method: str, question: str, answer: str, query: str = "") -> ScriptedModel:
    """A model that takes nothing apart, names every fact for its answer, and may write a query of its own."""
    if method in ("synaptiqa", "kg-query"):
        pytest.importorskip("ladybug")
        read, query = json.dumps({"text": "so it is", "answers": [answer]}), query or QUERIES[question]
        return ScriptedModel(lambda r: read if any("<rows>" in m.text for m in r.messages) else query)
    if method == "simgrag":
        pattern = json.dumps({"divided": [question], "triples": PATTERNS[question]})
        return ScriptedModel([pattern, *[json.dumps({"reason": "so it is", "answers": [answer]})] * 2])
    plan = f"Reasoning: one step.\nSub-questions:\n1. {question}"
    said = f"So it is.\nFacts: 1-20\nAnswer: {answer}"
    first = iter([plan] if method == "kg-rag" else [])
    return ScriptedModel(lambda _: next(first, said))


def ask(films: Clew, method: str, question: str, answer: str, query: str = "") -> Result:
    return films.ask(question, method=method, model=model_of(method, question, answer, query))


EVERY = "Does every film directed by Christopher Nolan star Guy Pearce?"
FIRST = "Which film directed by Christopher Nolan was released first?"
OTHERWISE = [
    (EVERY, "yes"), ("Do all films directed by Christopher Nolan star Guy Pearce?", "yes"),
    (LONG, "1995"), (WHEN, "113"), (FIRST, "Tenet"), (FIRST, "Insomnia"),
]  # fmt: skip
MARRIED, PACINO = "Is Al Pacino married?", "Which films star Al Pacino?"
BESIDE = [
    (MARRIED, "yes"), (MARRIED, "no"), ("How long is Memento?", "1"), ("How much did Memento earn?", "2"),
    ("How many prizes did Memento win?", "0"), (WHO, "Steven Spielberg"), (WHO, "London"),
    (WHERE, "Heat"), (PACINO, "Al Pacino"), (PACINO, "2002"), ("Who insured Heat?", "Michael Mann"),
    ("What is the salary of Al Pacino?", "Insomnia"), ("What is the budget of Heat?", "Al Pacino"),
    ("Who composed the music of Insomnia?", "Al Pacino"), ("Who played in Memento?", "Christopher Nolan"),
    ("Who played in Memento?", "Al Pacino"),
]  # fmt: skip
"""No query graph says it, no path leads to it from what is named, it is of another type, or named itself; the
path does not say what is asked, or leads back as it came."""
MADE_UP = [
    *((READERS[n % len(READERS)], *forged) for n, forged in enumerate(FORGED)),
    *((method, *forged) for method in ("simgrag", "synaptiqa") for forged in FORGED[::3]),
    *((method, *forged) for method in ("kaping", "vector-rag", "walk-retrieve") for forged in OTHERWISE),
    *((method, *forged) for method in ("kaping", "walk-retrieve", "kg-rag") for forged in BESIDE),
]


@pytest.mark.parametrize(("method", "question", "answer"), MADE_UP)
def test_what_is_made_up_is_not_grounded(films: Clew, method: str, question: str, answer: str):
    found = ask(films, method, question, answer)
    if (method, question) == ("simgrag", COUNT) and answer.isdigit():  # Code counts, whatever the model says.
        assert [a.label for a in found.answers] == ["3"]
        return
    assert found.abstained is not None, found.answers
    assert (found.answers, found.citations, found.text) == ((), (), "")
    if method in READERS and (question, answer) in FORGED:
        assert found.abstained.reason in ("ungrounded", "not_in_evidence")
    assert method != "synaptiqa" or found.query is not None


@pytest.mark.parametrize("method", ["kaping", "walk-retrieve", "kg-rag", "simgrag", "synaptiqa"])
@pytest.mark.parametrize(("question", "answer", "label"), HONEST)
def test_what_the_facts_come_to_is(films: Clew, method: str, question: str, answer: str, label: str):
    found = ask(films, method, question, answer)
    assert [a.label for a in found.answers] == [label], found.abstained
    assert found.grounded
    assert found.citations[0].triples


MEMENTO = "MATCH (f:film {name: 'Memento'})"
WRITTEN = [
    (COUNT, "RETURN 42 AS n", "42"),
    (COUNT, "WITH 42 AS n RETURN n", "42"),
    (COUNT, "UNWIND [42] AS n RETURN n", "42"),
    (COUNT, f"{MEMENTO} RETURN 42 AS n", "42"),
    (COUNT, "RETURN 'Guy Pearce' AS name", "1"),
    (WHO, "RETURN 'Guy Pearce' AS name", "Guy Pearce"),
    (WHO, f"{MEMENTO} RETURN 'Guy Pearce' AS name", "Guy Pearce"),
    (WHO, f"{MEMENTO}-[:directed_by]->(p) RETURN 'Michael Mann' AS name", "Michael Mann"),
    (WHO, "WITH 'Guy Pearce' AS name MATCH (f:film {name: 'Heat'}) RETURN name", "Guy Pearce"),
    (WHO, f"{MEMENTO} RETURN ['Guy Pearce'][0] AS name", "Guy Pearce"),
    (WHO, f"{MEMENTO} RETURN CASE WHEN f.name = 'Memento' THEN 'Guy Pearce' END AS name", "Guy Pearce"),
    (WHO, f"{MEMENTO} RETURN coalesce(f.nickname, 'Guy Pearce') AS name", "Guy Pearce"),
    (NOT, "RETURN true AS answer", "yes"),
    (NOT, "MATCH (f:film) WITH count(f) AS n RETURN 'yes' AS answer", "yes"),
]


@pytest.mark.parametrize("method", ["synaptiqa", "kg-query"])
@pytest.mark.parametrize(("question", "query", "answer"), WRITTEN)
def test_what_a_query_says_itself_is_no_answer(
    films: Clew, method: str, question: str, query: str, answer: str
):
    found = ask(films, method, question, answer, query)
    assert found.abstained is not None, found.answers
    assert (found.answers, found.citations, found.text) == ((), (), "")


NOLAN = "MATCH (f:film)-[:directed_by]->(p:person {name: 'Christopher Nolan'})"


@pytest.mark.parametrize(
    ("question", "query", "answer"),
    [
        (COUNT, f"{NOLAN} RETURN count(*) AS n", "3"),
        (COUNT, f"{NOLAN} WITH count(f) AS n RETURN n", "3"),
        (WHO, f"{MEMENTO}-[:directed_by]->(p) RETURN coalesce(p.name, 'x') AS name", "Christopher Nolan"),
        (DID, f"{NOLAN} RETURN CASE WHEN count(f) > 0 THEN 'yes' ELSE 'no' END AS answer", "yes"),
        (WHICH, f"{NOLAN} WHERE f.name = 'Tenet' RETURN f.name AS name UNION RETURN 'Heat' AS name", "Tenet"),
    ],
)
def test_what_a_query_computes_of_the_graph_is(films: Clew, question: str, query: str, answer: str):
    found = ask(films, "synaptiqa", question, answer, query)
    assert [a.label for a in found.answers] == [answer], found.abstained
    assert found.grounded


@pytest.mark.parametrize(
    ("method", "question", "answer", "labels"),
    [
        ("kg-rag", LONG, "170; 113", ["170"]),
        ("kaping", LONG, "170; 113", ["170"]),
        ("kg-rag", "Which films were not directed by Christopher Nolan?", "Heat; Jaws", ["Heat", "Jaws"]),
        ("kaping", "Which film was released later, Memento or Heat?", "Memento", ["Memento"]),
        ("kaping", FIRST, "Memento", ["Memento"]),
        ("kaping", "Who is the helmer of Heat?", "Michael Mann", ["Michael Mann"]),
        ("kg-rag", "Who is behind Tenet?", "Christopher Nolan", ["Christopher Nolan"]),
        ("walk-retrieve", "Which films have the same director as Memento?", "Insomnia", ["Insomnia"]),
    ],
)
def test_what_is_right_beside_it_is(films: Clew, method: str, question: str, answer: str, labels: list[str]):
    assert [a.label for a in ask(films, method, question, answer).answers] == labels


@pytest.mark.parametrize("answer", ["all of 1", "all of fact 1"])
def test_all_of_a_single_triple_is_what_it_leads_to(films: Clew, answer: str):
    assert [a.label for a in ask(films, "kaping", WHO, answer).answers] != ["1"]


@pytest.mark.parametrize("method", READERS)
def test_what_is_ungrounded_is_given_where_that_is_allowed(films: Clew, method: str):
    kind = settings_of(method)
    assert kind is not None
    found = films.ask(
        WHO, method=method, model=model_of(method, WHO, "42"), settings=kind(allow_ungrounded=True)
    )
    assert (found.grounded, found.answers, found.abstained) == (False, (), None)
    assert "42" in found.text or "So it is" in found.text
    assert "a person is asked for" in found.notes[0]


@pytest.mark.parametrize(("flags", "code"), [([], 3), (["--allow-ungrounded"], 0)])
def test_the_command_line_says_so_by_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], code: int
):
    pytest.importorskip("openai")
    source = tmp_path / "films.tsv"
    source.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), "utf-8")
    with serving(Answer(completion("So it is.\nFacts: 1\nAnswer: 42"))) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        arguments = ["ask", str(source), WHO, "--method", "kaping", "--llm", "vllm/m", "--json", *flags]
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    assert json.loads(result.stdout)["grounded"] == (code == 3)
