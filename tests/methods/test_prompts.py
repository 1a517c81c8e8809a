"""What prompts show of a graph: the relation that a question needs, what it names, and one notation."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from opaque_ships import FILLER_COLUMNS, NEEDED, write
from replies import method_with

from clew.engine import Clew
from clew.errors import ClewError
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request

MOST_CHARACTERS = 12_200
"""Of a whole prompt; the whole schema alone would be more."""


@pytest.fixture(scope="module")
def ships(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    folder = tmp_path_factory.mktemp("ships")
    graph, types = write(folder)
    return Clew.open(graph, types=types, cache_dir=folder / "cache")


def open_of(folder: Path, name: str, text: str, types: str = "") -> Clew:
    (folder / name).write_text(text, "utf-8")
    (folder / "types.tsv").write_text(types, "utf-8")
    given = {"types": folder / "types.tsv"} if types else {}
    return Clew.open(folder / name, cache_dir=folder / "cache", **given)


def prompts_of(clew: Clew, method: str, question: str, *replies: str) -> list[str]:
    """The prompts of a question: the text of each request."""
    model = ScriptedModel([*(replies or ("Query: none",)), *["none"] * 6])
    with suppress(ClewError):
        method_with(clew, method, model).answer(question)
    return ["\n".join(message.text for message in request.messages) for request in model.requests]


@pytest.mark.parametrize("question", NEEDED)
@pytest.mark.parametrize("method", ["auto", "simgrag", "kg-rag", "synaptiqa"])
def test_the_relation_that_a_question_needs_is_in_the_prompt(ships: Clew, method: str, question: str):
    if method == "synaptiqa":
        pytest.importorskip("ladybug")
    prompts = prompts_of(ships, method, question)
    if not prompts:
        assert method == "auto"  # which answers what it is sure of
        return
    schema = re.search(r"<(graph|schema)>\n(.*?)\n</\1>", prompts[0], re.S)[2]
    shown = [line for line in schema.splitlines() if "more: " not in line or line.startswith("(:")]
    needed = NEEDED[question]
    assert any(re.search(rf"(?:^|\W){needed}\b.*(?:→|\)|\}})", line) for line in shown), schema
    assert " more: " in schema
    assert len(prompts[0]) < MOST_CHARACTERS


def test_what_is_left_out_is_named_and_may_be_asked_for_once(ships: Clew):
    prompts = prompts_of(
        ships, "auto", "Where is the ship that Anna Berg steers at present?", "Show: ktab 07", "Query: none"
    )
    assert "k07_fld_05 → number" not in prompts[0]
    assert re.search(r"^ktab 07:(.*\d+ more|\n)", prompts[0], re.M)
    second_look = prompts[1].rpartition("Show: ktab 07")[2]
    assert all(f"k07_fld_{column:02} → " in second_look for column in range(FILLER_COLUMNS))
    assert len(prompts) == 2


def test_synaptiqa_may_look_twice(ships: Clew):
    pytest.importorskip("ladybug")
    look = ("SHOW: ktab 07", "MATCH (n:`ktab 07`) WHERE n.k07_fld_05 = 7 RETURN n.name AS answer")
    prompts = prompts_of(ships, "synaptiqa", "Which vessel is the oldest?", *look)
    assert "k07_fld_05: whole number" not in prompts[0]
    assert "k07_fld_05: whole number" in prompts[1].rpartition("SHOW: ktab 07")[2]
    assert "K07/0" in prompts[2]  # the rows of the query are read


EDGES = """from,to,relationship,since,place
Ann,Bob,knows,2001,Oslo
Ann,Cid,knows,2015,Rome
Bob,Cid,married_to,2010,Rome
Cid,Bob,married_to,2010,Rome
Bob,Ann,knows,2003,Oslo
"""


def test_properties_of_edges_are_shown_and_may_be_asked_by(tmp_path: Path):
    clew = open_of(tmp_path, "edges.csv", EDGES)
    query = "Query: {Ann} .knows[@since > 2010]"
    model = insisting(query)
    answer = method_with(clew, "auto", model).answer("Whom did Ann come across lately?")
    assert [a.label for a in answer.answers] == ["Cid"]
    request = model.requests[0]
    schema = next(line for line in request.messages[1].text.splitlines() if line.strip().startswith("knows"))
    assert "[@place, such as Oslo]" in schema
    assert "[@since, such as 20" in schema
    assert re.search(r"married_to .*→ .*\[@place, .*, mutual", request.messages[1].text)


LAKES = "".join(
    f"{head}\t{relation}\t{tail}\n"
    for head, relation, tail in [
        ("Mississippi (river)", "length_km", "3766"),
        ("Mississippi (river)", "flows_into", "Gulf of Mexico"),
        ("Mississippi (state)", "capital", "Jackson"),
        ("Mississippi (state)", "founded_on", "10/12/1817"),
        ("Ohio (river)", "length_km", "1579"),
        ("Dangerous Goods Handling", "taught_in", "Jackson"),
        *((f"Case {n}", "last_outcome", o) for n, o in enumerate(
            ["Unable to prosecute suspect", "Local resolution", "Under investigation"] * 4)),
    ]
)  # fmt: skip
LAKE_TYPES = "".join(
    f"{name}\t{type_}\n"
    for name, type_ in [
        ("Mississippi (river)", "river"), ("Mississippi (state)", "state"), ("Ohio (river)", "river"),
        ("Dangerous Goods Handling", "course"), *((f"Case {n}", "case") for n in range(12)),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    return open_of(tmp_path_factory.mktemp("lakes"), "lakes.tsv", LAKES, LAKE_TYPES)


def insisting(query: str) -> ScriptedModel:
    """A model that writes a query, and chooses it by its number where it is among the readings."""
    first: list[str] = []

    def reply(request: Request) -> str:
        shown = re.findall(r"^(\d+)\. (.*?)(?: — .*| \(\d+ answers?\))?$", request.messages[1].text, re.M)
        own = [number for number, text in shown if first and text not in first]
        first.extend(text for _, text in shown)
        return f"Query: {own[0]}" if own else query

    return ScriptedModel(reply)


def names_of(clew: Clew, question: str) -> str:
    (first, *_) = prompts_of(clew, "auto", question)
    return re.search(r"<names>\n(.*?)\n</names>", first, re.S)[1]


def test_a_name_is_shown_with_its_types_and_a_value_as_a_reply_writes_it(lakes: Clew):
    names = names_of(lakes, "Which of them moved beyond the Ohio (river)?")
    assert "= {Ohio (river)} (river)" in names
    names = names_of(lakes, "What were police unable to prosecute, say?")
    assert '"unable to prosecute" may be [.last_outcome = "Unable to prosecute suspect"]' in names


def test_a_common_word_is_no_name(lakes: Clew):
    assert "Dangerous" not in names_of(lakes, "What goods go down to Jackson at last?")


def test_a_query_by_a_shown_value_runs(lakes: Clew):
    reply = 'Query: case[.last_outcome = "Unable to prosecute suspect"]'
    model = insisting(reply)
    answer = method_with(lakes, "auto", model).answer("What were police unable to prosecute, say?")
    assert len(answer.answers) == 4


def test_readings_say_how_many_answers_they_have_in_the_notation(lakes: Clew):
    (prompt, *_) = prompts_of(lakes, "auto", "What is up with the Ohio (river) in miles?")
    readings = re.search(r"<readings>\n(.*?)\n</readings>", prompt, re.S)[1].splitlines()
    assert any(re.fullmatch(r"\d+\. \{Ohio \(river\)\} \.length_km \(1 answer\)", line) for line in readings)
    assert len({line.partition(". ")[2] for line in readings}) == len(readings)


def test_relations_with_an_iri_are_shown_and_written_by_their_labels(tmp_path: Path):
    part = '<https://x.example/{}> <https://x.example/ns#{}> "{}" .\n'.format
    text = part("a", "towerHt", "31") + part("b", "towerHt", "12") + part("a", "colour", "red")
    clew = open_of(tmp_path, "towers.nt", text + part("b", "colour", "white"))
    prompt = prompts_of(clew, "auto", "How far up does a go, then?")[0]
    readings = re.search(r"<readings>\n(.*?)\n</readings>", prompt, re.S)[1]
    assert ".towerHt" in readings
    assert "x.example" not in prompt
    answer = method_with(clew, "auto", insisting("Query: {a} .towerHt")).answer("How far up does a go, then?")
    assert [a.label for a in answer.answers] == ["31"]


def test_a_brief_schema_says_all_of_the_likeliest_relations_alone(tmp_path: Path):
    """The rest of twenty columns has neither range nor a long list; a model may still ask by it."""
    towns = [f"Market Town Number {n}" for n in range(6)]
    rows = [[f"F{n}", towns[n % 6], *(str(100 * column + n) for column in range(20))] for n in range(12)]
    heads = ["name", "town", *(f"k{column:02}" for column in range(20))]
    clew = open_of(tmp_path, "farms.csv", "".join(",".join(row) + "\n" for row in [heads, *rows]))
    schema = prompts_of(clew, "auto", "F3 k07, k08 and k11, what are they put at?")[0]
    assert re.search(r"k07 → number 700 to 711$", schema, re.M)
    assert len(re.findall(r"^  \S+ → number$", schema, re.M)) == 8
    assert re.search(r"town → (one of )?Market Town Number 0; ", schema, re.M)


def test_a_value_that_is_missing_is_an_abstention_without_a_second_call(lakes: Clew):
    model = ScriptedModel(["Query: missing {Mississippi (state)} .length_km"])
    answer = method_with(lakes, "auto", model).answer("How far does that state reach?")
    assert answer.abstained is not None
    assert answer.abstained.reason == "empty_result"
    assert len(model.requests) == 1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    """Two books of one name, whose days of loan are written in numbers."""
    folder = tmp_path_factory.mktemp("library")
    books = "b1,The Ford,1961,Ann Lee\nb2,The Ford,2024,Bo Ek\nb3,Children's Songs,1980,Cy Orr\n"
    (folder / "book.csv").write_text(f"id,name,year,author\n{books}", "utf-8")
    loans = "l1,b1,13/08/2023,1\nl2,b2,12/08/2023,2\nl3,b3,01/01/2024,3\n"
    (folder / "loan.csv").write_text(f"id,copy_of,day,shelf\n{loans}", "utf-8")
    (folder / "genre.csv").write_text("id,name\ng1,Children's\ng2,Songs\n", "utf-8")
    return Clew.open(folder, cache_dir=folder / "cache")


def test_names_that_several_have_are_told_apart_and_taken_back(library: Clew):
    pytest.importorskip("ladybug")
    question = "Who wrote the book The Ford?"
    (prompt, *_) = prompts_of(library, "synaptiqa", question)
    shown = [f"({{name: 'The Ford', year: {year}}}) (book)" for year in (1961, 2024)]
    assert all(form in prompt for form in shown)
    (prompt, *_) = prompts_of(library, "simgrag", question)
    assert "The Ford (b1) (book; year 1961)" in prompt
    for name in ("The Ford (b1)", "The Ford, book", "The Ford"):
        reply = {"divided": [], "triples": [[name, "author", "UNKNOWN person 1"], [name, "year", "1961"]]}
        reply |= {"answer": "UNKNOWN person 1", "operations": [{"op": "count", "node": "UNKNOWN person 1"}]}
        answer = library.ask("How many?", method="simgrag", model=ScriptedModel([json.dumps(reply)]))
        assert answer.text == "1"
        assert {t.tail for t in answer.citations[0].triples} - {"1961"} == {"Ann Lee"}


def test_no_id_of_a_query_is_lost(library: Clew):
    pytest.importorskip("ladybug")
    query = "MATCH (b:book {name: 'The Ford (b1)'}) RETURN b.author AS answer"
    question = "Who is the author of The Ford (b1)?"
    _, repair, *_ = prompts_of(library, "synaptiqa", question, query, "NOT IN THIS GRAPH")
    assert "The graph has no value 'The Ford (b1)'" in repair
    assert "\"The Ford (b1)\" = ({name: 'The Ford', year: 1961}) (book)" in repair


def test_a_day_in_numbers_is_shown_in_an_order_that_is_known(library: Clew):
    for method in ("simgrag", "kg-rag", "synaptiqa"):
        (prompt, *_) = prompts_of(library, method, "Which loans are there?")
        assert "date such as 2023-08-13" in prompt or "day: date 2023-08-13" in prompt
        assert "13/08/2023" not in prompt


def test_a_part_of_a_name_or_of_a_date_is_no_name(library: Clew):
    (prompt, *_) = prompts_of(library, "simgrag", "Was the book Children's Songs lent on 1 January 2024?")
    names = prompt.partition("<names>\n")[2].partition("\n</names>")[0]
    assert names == "\"Children's Songs\" = Children's Songs (book)"


def test_a_second_try_sees_the_whole_first_one(library: Clew):
    triples = [["The Ford (b1)", "author", f"UNKNOWN person {n}"] for n in range(6)]
    reply = json.dumps({"divided": [], "triples": triples, "answer": "UNKNOWN person 1", "operations": [
        {"op": "keep", "node": "UNKNOWN person 1", "test": ">", "than": "Zed"}]})  # fmt: skip
    _, second, *_ = prompts_of(library, "simgrag", "Who is it?", reply)
    assert f"A first try was {reply}\nIt did not work" in second
