"""The built-in method on two small graphs: exact answers, abstentions and their proof."""

import json
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import InputError
from clew.llm.testing import ScriptedModel
from clew.methods.synaptiqa import method

DATA = Path(__file__).resolve().parents[1] / "data" / "dev"
DOMAINS = DATA.parent / "domains" / "dev"


def entities(answer):
    return {a.entity for a in answer.answers}


def walk(graph, start, *steps):
    """Names reached from a name by (relation, forward?) steps."""
    names = list(graph.entities)
    triples = [tuple(graph.triple(t)) for t in range(graph.triples)]
    front = {start}
    for relation, forward in steps:
        chosen = [(names[h], names[t]) for h, r, t in triples if graph.relations[r] == relation]
        front = {b if forward else a for a, b in chosen if (a if forward else b) in front}
    return front


NOLAN = "Christopher Nolan"
BY_NOLAN = (("directed_by", False),)


def test_no_cites_what_is_recorded_instead(countries):
    answer = countries.answer("Does the Nile flow through Kenya?")
    assert (answer.text, {c.triples[0].head for c in answer.citations}) == ("no", {"Nile"})


def test_a_range_proves_the_value_too(films_auto):
    answer = films_auto.answer("Which films did Christopher Nolan direct after 2010?")
    assert entities(answer) < walk(films_auto.index.graph, NOLAN, *BY_NOLAN)
    assert all(c.triples[-1].relation == "release_year" for c in answer.citations)
    assert all(int(c.triples[-1].tail) > 2010 for c in answer.citations)


@pytest.mark.parametrize("question", ["", "\ud800 lone", "\u202ereversed", "word " * 299])
def test_odd_questions_abstain(films_auto, question):
    assert films_auto.answer(question).abstained is not None


def read_set(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.parametrize("name", ["countries", "companies"])
def test_development_questions_are_answered_or_left_alone(open_auto, name):
    auto, right, rows = open_auto(DATA / f"{name}.tsv"), 0, read_set(DATA / f"{name}_questions.jsonl")
    for row in rows:
        answer = auto.answer(row["question"])
        if "gold" in row:
            right += entities(answer) == set(row["gold"])
        else:
            allowed = (row["reason"], *row.get("also", ()))
            right += answer.abstained is not None and answer.abstained.reason in allowed
        prove(auto.index.graph, answer)
    assert right / len(rows) >= 0.75


def prove(graph, answer):
    """Every citation is triples of the graph that hang together and hold the answer; every answer has one."""
    for citation in answer.citations:
        named = [(t.head, t.relation, t.tail) for t in citation.triples]
        for triple, names in zip(citation.triple_ids, named, strict=True):
            head, relation, tail = graph.triple(triple)
            assert names == (graph.entities[head], graph.relations[relation], graph.entities[tail])
        reached = {named[0][0], named[0][2]}
        for _ in named:
            reached |= {n for h, _, t in named if {h, t} & reached for n in (h, t)}
        assert all(h in reached for h, _, _ in named)
        whole = citation.answer in ("yes", "no") or citation.answer.isdigit()
        assert whole or citation.answer in reached
        known = {n.name for n in answer.pattern.nodes if n.known} if answer.pattern else set()
        assert answer.text == "no" or not known or known & reached
    if "counted by the declared types" not in answer.notes:
        assert {a.entity for a in answer.answers} == {c.answer for c in answer.citations}


def test_every_answer_about_films_is_proved(films_auto):
    for row in read_set(DATA / "films_questions.jsonl")[::4]:
        prove(films_auto.index.graph, films_auto.answer(row["question"]))


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(DOMAINS.glob("*_questions.jsonl")), ids=lambda path: path.stem)
def test_every_answer_of_the_development_domains_is_proved(open_auto, path):
    name = path.stem.removesuffix("_questions")
    auto = open_auto(next(p for e in ("tsv", "ttl") if (p := DOMAINS / f"{name}.{e}").exists()))
    answers = [auto.answer(row["question"]) for row in read_set(path)]
    for answer in answers:
        assert bool(answer.answers) == (answer.abstained is None)
        proved = {c.answer for c in answer.citations if c.triples}
        # What has none of something has no triple that says so, and the notes tell it.
        absent = any("does not record" in note for note in answer.notes)
        assert absent or {a.entity for a in answer.answers} <= proved
    assert any(answer.answers for answer in answers)


RELATIONS = 3_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    path: Path = tmp_path_factory.mktemp("many") / "many.tsv"
    other = "".join(f"Part {i}\tconnector {i}\tPart {i * 7 % 911}\n" for i in range(RELATIONS))
    path.write_text("Heat\tdirected by\tMichael Mann\nHeat\trelease year\t1995\n" + other, "utf-8")
    return Clew.open(path, cache_dir=path.parent)


def test_a_graph_of_very_many_relations_is_asked(many: Clew) -> None:
    assert many.ask("Who directed Heat?").text == "Michael Mann"
    assert many.ask("Was Heat directed by Michael Mann?").text == "yes"


def test_what_it_leaves_open_is_said(many: Clew) -> None:
    left = many.ask("Who painted Heat?").abstained
    assert left is not None
    assert left.reason == "unplaced"


def test_no_store_is_made_of_more_relations_than_take_a_minute(
    many: Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "MOST_RELATIONS", RELATIONS)
    with pytest.raises(InputError, match=r"3,002 relations are too many: .* Ask with --method auto"):
        method.make_synaptiqa(many.opened, many.embedder, model=ScriptedModel(()))
