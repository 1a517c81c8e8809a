"""`Clew` from Python: open, ask, match, look into."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from clew import (
    Clew,
    ClewError,
    EmbedderMismatch,
    InputError,
    Pattern,
    PatternEdge,
    PatternNode,
    TripleText,
    UsageError,
)
from clew.methods import registry
from clew.opening.graph_view import index_sources
from clew.types import Answer


class Echo:
    """A method that hands back what it was given."""

    made = 0

    def __init__(self, index, embedder):
        Echo.made += 1

    def answer(self, question, *, id=None, entities=()):
        return Answer(question, id=id, text=" ".join(entities))


class Letters:
    """An embedder of two dimensions."""

    name, dimension, fingerprint = "letters", 2, "v1"

    def embed(self, texts):
        return np.array([[len(text) % 2, 1 - len(text) % 2] for text in texts], np.float32)


@pytest.fixture
def films(tmp_path):
    path = tmp_path / "films.tsv"
    path.write_text(
        "Memento\tdirected_by\tChristopher Nolan\nMemento\tyear\t2000\nHeat\tdirected_by\tMichael Mann\n"
        "Heat\tyear\t1995\nHeat\tactor\tAl Pacino\n"
    )
    (tmp_path / "films.types.tsv").write_text(
        "Memento\tfilm\nHeat\tfilm\nAl Pacino\tperson\nMichael Mann\tperson\n"
    )
    return path


@pytest.fixture
def clew(films, tmp_path, monkeypatch):
    monkeypatch.setitem(registry.METHODS, "auto", registry.MethodSpec(f"{__name__}:Echo"))
    with Clew.open(films, cache_dir=tmp_path / "cache") as opened:
        yield opened


def test_an_index_is_opened_with_the_embedder_that_made_it(films, tmp_path):
    letters = Letters()
    index_sources([films], tmp_path / "a.clew", embedder=letters)
    assert Clew.open(tmp_path / "a.clew", embedder=letters).embedder is letters
    with pytest.raises(EmbedderMismatch, match="letters"):
        Clew.open(tmp_path / "a.clew", embedder="clew-static")
    with pytest.raises(UsageError, match="no embedder 'letters'"):
        Clew.open(tmp_path / "a.clew")


def test_what_is_asked_reaches_the_method(clew):
    answer = clew.ask(" who\n?", id="7", entities=["A\tB", " "])
    assert (answer.question, answer.id, answer.text) == ("who ?", "7", "A B")


def test_match_takes_json_and_patterns(clew):
    as_json = clew.match({"triples": [["Heat", "directed by", "UNKNOWN 1"]]}, k=1)
    nodes = (PatternNode("Heat", known=True), PatternNode("UNKNOWN 1", known=False))
    assert clew.match(Pattern(nodes, (PatternEdge(0, "directed by", 1),)), k=1) == as_json
    assert clew.triple(as_json.matches[0].triples[0]) == TripleText("Heat", "directed_by", "Michael Mann")


@pytest.mark.parametrize("type_", ["person", "Persons", "PERSON"])
def test_a_typed_unknown_is_of_that_declared_type_or_a_close_one(clew, type_):
    result = clew.match({"triples": [["Heat", "UNKNOWN relation", f"UNKNOWN {type_} 1"]]}, all=True)
    found = {clew.opened.graph.entities[match.nodes[1]] for match in result.matches}
    assert found == {"Michael Mann", "Al Pacino"}


def test_a_type_may_be_asked_for_by_a_word_like_it_and_one_like_no_other_matches_nothing(clew):
    result = clew.match({"triples": [["UNKNOWN movie 1", "UNKNOWN relation", "Al Pacino"]]}, all=True)
    assert [clew.opened.graph.entities[match.nodes[0]] for match in result.matches] == ["Heat"]
    result = clew.match({"triples": [["Heat", "UNKNOWN relation", "UNKNOWN volcano 1"]]}, all=True)
    assert (result.matches, result.complete) == ((), True)


def test_info_counts_and_signs_relations(clew):
    info = clew.info()
    assert (info.counts["triples"], info.counts["entities"], info.counts["relations"]) == (5, 7, 3)
    assert info.types == {"film": 2, "person": 2}
    directed = next(r for r in info.relations if r.name == "directed_by")
    assert [(t.type, t.share, t.declared) for t in directed.head_types] == [("film", 1.0, True)]
    assert [(t.type, t.share) for t in directed.tail_types] == [("person", 0.5)]
    year = next(r for r in info.relations if r.name == "year")
    assert [(t.type, t.share, t.declared) for t in year.tail_types] == [("number", 1.0, False)]
    assert [source.role for source in info.sources] == ["source", "types"]


def test_triples_are_embedded_once_and_the_index_keeps_it(films, tmp_path):
    done = []
    with Clew.open(films, cache_dir=tmp_path / "vectors") as clew:
        for _ in range(2):
            clew.embed_triples(lambda *told: done.append(told))
        assert done == [("triples", 5, 5)]
        assert "triple_vectors.q" in clew.opened.sections
    with Clew.open(films, cache_dir=tmp_path / "vectors") as again:
        assert "triple_vectors.q" in again.opened.sections


def test_a_graph_of_triples_in_memory():
    triples = [
        ("head", "relation", "tail"),
        ("a\tb", "says", "x\\n\ny"),
        ("Memento", "year", 2000),
        ("Memento", "by", "Nolan"),
    ]
    clew = Clew.from_triples(iter(triples), types={"Memento": ["film"]}, aliases={"Memento": ["M", "Me"]})
    with clew:
        assert [(t.head, t.relation, t.tail) for t in clew] == [
            ("head", "relation", "tail"),
            ("a\tb", "says", "x\\n\ny"),
            ("Memento", "year", "2000"),
            ("Memento", "by", "Nolan"),
        ]
        films = [entity for entity in clew.entities() if entity.types]
        assert [(e.name, e.label, e.types) for e in films] == [("Memento", "Memento", ("film",))]
        assert {hit.kind for hit in clew.opened.names.exact("M")} == {"alias"}
        folder = clew.path.parent
        assert folder.is_dir()
        assert clew.ask("Who is the by of Memento?") is not None
    assert not folder.exists()


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([("a", "b")], r"triple 1 is \('a', 'b'\)"),
        (["abc"], "triple 1 is 'abc'"),
        ([("a", "b", "c"), ("a", None, "c")], "triple 2, .*None is no name"),
        ([("a", "b", " ")], "triple 1, .*' ' is no name"),
    ],
)
def test_what_is_no_triple_is_named(triples, message):
    with pytest.raises(UsageError, match=message):
        Clew.from_triples(triples)


def test_types_are_lists_and_a_graph_has_triples():
    with pytest.raises(UsageError, match=r"Give a list: \{'a': \['film'\]\}"):
        Clew.from_triples([("a", "b", "c")], types={"a": "film"})
    with pytest.raises(InputError, match="no triples"):
        Clew.from_triples([])


def test_labels_stand_for_iris_in_what_is_iterated_and_matched(tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text(
        "@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'e:m a e:Film ; rdfs:label "Memento" ; e:directedBy e:n . e:n rdfs:label "Nolan" .\n'
    )
    with Clew.open(path, cache_dir=tmp_path / "cache") as clew:
        assert list(clew) == [TripleText("Memento", "directedBy", "Nolan")]
        assert next(clew.triples()).by_id[0] == "http://e.org/m"
        found = clew.match({"triples": [["UNKNOWN film", "directedBy", "Nolan"]]}).matches[0]
        assert found.labels == ("Memento", "Nolan")
        assert found.texts == (TripleText("Memento", "directedBy", "Nolan"),)


def test_several_files_are_opened_as_one_graph(films, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("from,to,type\nTenet,Christopher Nolan,directed_by\n")
    cache = tmp_path / "cache"
    with Clew.open([films, str(more)], cache_dir=cache) as clew:
        assert clew.opened.graph.triples == 6
        assert clew.built
    assert not Clew.open([films, more], cache_dir=cache).built
    index_sources([films], tmp_path / "a.clew")
    with pytest.raises(UsageError, match=r"a\.clew is an index, and one is opened alone"):
        Clew.open([films, tmp_path / "a.clew"])
    with pytest.raises(UsageError, match="source is empty"):
        Clew.open([])


def test_an_index_is_called_after_its_source_where_nobody_says(films, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Clew.index(films) as clew:
        assert clew.path == Path(f"{films.stem}.clew")


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda clew: clew.table(type="ship"), r'no type "ship"\. There are: '),
        (lambda clew: clew.ask(5), "not a text"),
        (lambda clew: clew.query(5), "not a text"),
        (lambda clew: clew.neighbours("Zzyzx"), "Look for it by a part of its name"),
        (lambda clew: clew.query("SELECT name FROM film"), "SQL is not run"),
        (lambda clew: Clew.open(pandas.DataFrame()), "table1 has no rows"),
        (lambda clew: Clew.index("a film that is no file"), r"no such file or directory\. Check the path"),
        (lambda clew: Clew.index([]), "The name of the source is empty"),
        (lambda clew: Clew.index("films.tsv", ""), "The name of the index is empty"),
    ],
)
def test_a_wrong_use_is_told_what_to_do(films, tmp_path, wrong, advice):
    with Clew.open(films, cache_dir=tmp_path / "cache") as clew, pytest.raises(ClewError, match=advice):
        wrong(clew)


def test_hints_are_no_dict(films):
    with pytest.raises(UsageError, match="`hints` is a Hints, as in Hints"):
        Clew.open(films, hints={"columns": {"head": "from"}})


def test_a_model_is_opened_by_its_spec(films, tmp_path, monkeypatch):
    pytest.importorskip("openai", reason="the extra openai is not installed")
    from servers.fake_server import Answer as Reply
    from servers.fake_server import completion, serving

    reply = Reply(completion("Answer: Christopher Nolan"))
    with serving(reply) as (fake, url), Clew.open(films, cache_dir=tmp_path / "cache") as clew:
        monkeypatch.setenv("OLLAMA_HOST", url)
        for _ in range(2):
            answer = clew.ask("Who directed Memento?", method="llm", model="ollama/llama3.1")
            assert "Christopher Nolan" in answer.text
        assert answer.model == "ollama/llama3.1"
        assert [seen.body["model"] for seen in fake.seen] == ["llama3.1"] * 2
        with pytest.raises(UsageError, match="nonsense"):
            clew.ask("Who?", method="llm", model="nonsense")


def test_an_index_is_made_and_updated_where_it_is_open(films, tmp_path):
    more = tmp_path / "more.tsv"
    more.write_text("Tenet\tdirected_by\tChristopher Nolan\n")
    with Clew.index(films, tmp_path / "films.clew") as clew:
        assert clew.ask("Who directed Tenet?").abstained is not None
        updated = clew.update([more, ("Tenet", "year", "2020")], [("Heat", "actor", "Al Pacino")])
        assert (updated.report.added, updated.report.removed) == (2, 1)
        assert clew.ask("Who directed Tenet?").text == "Christopher Nolan"
        assert (clew.generation, clew.info().counts["triples"]) == (2, 6)
        assert Clew.open(tmp_path / "films.clew").opened.graph.triples == 6
        with pytest.raises(ClewError, match=r"gone\.tsv: no such file"):
            clew.update("gone.tsv")
        for wrong in (pandas.DataFrame({"head": ["a"]}), {"head": "a"}, 5):
            with pytest.raises(UsageError, match="'remove' is a file, several, or triples"):
                clew.update(remove=wrong)
        with pytest.raises(UsageError, match="'format' is for files"):
            clew.update([("a", "b", "c")], format="csv")
        with pytest.raises(ClewError, match="not in the index: no such triple"):
            clew.update(remove=[("no", "such", "triple")])


def test_triples_in_memory_are_updated():
    with Clew.from_triples([("Memento", "directed_by", "Christopher Nolan")]) as clew:
        clew.update([("Memento", "shown_at", "Venice")])
        assert clew.ask("Where was Memento shown?").text == "Venice"


def test_the_cache_of_a_graph_file_is_not_updated(clew):
    with pytest.raises(UsageError, match=r"Clew\.index"):
        clew.update([("a", "b", "c")])


def test_another_reading_is_chosen_by_its_number(films, tmp_path):
    with Clew.open(films, cache_dir=tmp_path / "cache") as clew:
        question = "Who made Heat?"
        told = clew.ask(question)
        assert told.alternatives
        texts = set()
        for number, other in enumerate(told.alternatives, 1):
            answer = clew.ask(question, reading=number)
            assert (answer.reading, answer.alternatives) == (other.reading, told.alternatives)
            assert (answer.abstained is None) == bool(answer.citations)
            texts.add(answer.text)
        assert texts != {told.text}
        with pytest.raises(UsageError, match="There is no reading 9"):
            clew.ask(question, reading=9)
        with pytest.raises(UsageError, match="Leave out one"):
            clew.ask(question, reading=1, method="kaping")
