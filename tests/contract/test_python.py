"""`Clew` from Python: what may be given, how it shows itself, and wrong uses that say what to do."""

import asyncio
import inspect
from dataclasses import replace
from typing import Any

import pytest
from doors import GRAPHS

from clew import Clew, ClewError
from clew.errors import UsageError

QUESTION = "Who directed Metropolis?"
WRONG = {
    "entities are a number": lambda c: c.ask(QUESTION, entities=5),
    "an unknown setting": lambda c: c.ask(QUESTION, settings={"speed": 1}),
    "a setting of another type": lambda c: c.ask(QUESTION, settings={"confidence": "high"}),
    "a setting that is no number": lambda c: c.ask(QUESTION, settings={"confidence": float("nan")}),
    "settings are a number": lambda c: c.ask(QUESTION, settings=3),
    "no question": lambda c: c.ask(None),
    "several questions": lambda c: c.ask([QUESTION]),
    "no method": lambda c: c.ask(QUESTION, method=None),
    "an unknown method": lambda c: c.ask(QUESTION, method="guess"),
    "a model is a number": lambda c: c.ask(QUESTION, model=5),
    "a model without a provider": lambda c: c.ask(QUESTION, model="gpt-4"),
    "a reading is a text": lambda c: c.ask(QUESTION, reading="first"),
    "partial is a text": lambda c: c.ask(QUESTION, partial="no"),
    "no claim": lambda c: c.verify(None),
    "a closed world is a text": lambda c: c.verify("Fritz Lang directed M.", closed_world="no"),
    "a method that checks no claims": lambda c: c.verify("Fritz Lang directed M.", method="kg-rag"),
    "no query": lambda c: c.query(None),
    "no rows": lambda c: c.query("MATCH (n) RETURN n", rows=0),
    "seconds are a text": lambda c: c.query("MATCH (n) RETURN n", seconds="ten"),
    "a pattern is a text": lambda c: c.match("films by Lang"),
    "no matches": lambda c: c.match({"triples": [["M", "directed_by", "UNKNOWN 1"]]}, k=0),
    "no entity": lambda c: c.neighbours(None),
    "an unknown relation": lambda c: c.neighbours("M", relation="filmed_by"),
    "an unknown direction": lambda c: c.neighbours("M", direction="up"),
    "no name": lambda c: c.find_entities(None),
    "no source": lambda c: Clew.open(None),
    "a source is a number": lambda c: Clew.open(5),
    "an empty source": lambda c: Clew.open([]),
    "a file that is not there": lambda c: Clew.open("/nowhere/films.tsv"),
    "no triples": lambda c: Clew.from_triples(None),
    "triples of two": lambda c: Clew.from_triples([("M", "directed_by")]),
}


@pytest.fixture(scope="module")
def films(python):
    return python.opened["films"]


@pytest.mark.parametrize("use", WRONG.values(), ids=WRONG)
def test_a_wrong_use_is_an_error_of_clew(films, use):
    with pytest.raises(ClewError) as raised:
        use(films)
    assert 20 < len(str(raised.value)) < 400


def test_what_is_closed_is_not_asked():
    with Clew.from_triples([("Metropolis", "directed_by", "Fritz Lang")]) as films:
        assert films.ask(QUESTION).text == "Fritz Lang"
    for use in (
        lambda: films.ask(QUESTION),
        lambda: films.verify("Fritz Lang directed Metropolis."),
        films.info,
        lambda: films.opened,
    ):
        with pytest.raises(UsageError, match=r"closed>\. Make it again"):
            use()
    films.close()


def test_an_entity_is_a_text_or_several(films):
    for entities in ("Metropolis", ["Metropolis"], ("Metropolis",)):
        assert films.ask("Who directed it?", entities=entities).text == "Fritz Lang"


def test_settings_are_a_dict(films):
    assert films.ask(QUESTION, settings={"confidence": 0.1}).text == "Fritz Lang"
    assert films.ask(QUESTION, settings={"confidence": 1}).abstained is not None


def test_what_is_awaited_is_the_same(films):
    async def both() -> Any:
        return await asyncio.gather(films.ask_async(QUESTION), films.verify_async("Fritz Lang directed M."))

    answer, verdict = asyncio.run(both())
    assert (answer.text, verdict.verdict) == ("Fritz Lang", "supported")


def test_results_show_themselves_in_a_line(films):
    answer, verdict = films.ask(QUESTION), films.verify("Fritz Lang directed M.")
    assert repr(answer) == "<Answer 'Who directed Metropolis?': Fritz Lang>"
    assert repr(films.ask("Who directed Casablanca?")).endswith("abstained: no_entity>")
    assert repr(verdict) == "<Verification 'Fritz Lang directed M.': supported>"
    long = replace(answer, text="x" * 9_000)
    for shown in (
        answer, verdict, long, films, films.info(), films.match({"triples": [["M", "genre", "UNKNOWN 1"]]}),
    ):  # fmt: skip
        assert len(repr(shown)) < 300, type(shown)
    assert "Index graph files" in inspect.getdoc(Clew.index)
    assert "out" in inspect.signature(Clew.index).parameters


def test_data_frames_are_a_source():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install 'clew[frames]')")
    frames = {path.stem: pandas.read_csv(path) for path in sorted((GRAPHS / "depots").glob("*.csv"))}
    for source in (frames, list(frames.values())):
        with Clew.open(source) as clew:
            assert clew.ask("Who manages North Depot?").text == "Eva Brandt"
            assert clew.ask("What is the capacity of Hill Depot?").text == "170"
    triples = pandas.DataFrame({"head": ["M"], "relation": ["directed_by"], "tail": ["Fritz Lang"]})
    with Clew.open(triples) as clew:
        assert clew.ask("Who directed M?").text == "Fritz Lang"


def test_a_graph_of_networkx_is_a_source():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.MultiDiGraph()
    graph.add_edge("M", "Fritz Lang", relation="directed_by")
    graph.add_edge("Fury", "Fritz Lang", relation="directed_by")
    with Clew.open(graph) as clew:
        assert {a.label for a in clew.ask("Which films did Fritz Lang direct?").answers} == {"M", "Fury"}
