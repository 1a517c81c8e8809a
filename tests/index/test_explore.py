"""Looking around: names by their beginnings, paths, neighbourhoods, held against an obvious reference."""

import tempfile
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Clew, UsageError
from clew.graph.graph import Names
from clew.index.explore import Prefixes
from clew.index.update.edits import EditFiles
from clew.opening.graph_view import index_sources, update_index_files
from clew.query.vocabulary import questions_about
from clew.types import TripleText

NAMES = st.lists(st.text("aAbB _-é1", min_size=1, max_size=14), max_size=12)


def begins(name, text):
    return name.lower().replace("_", " ").startswith(text)


@settings(max_examples=100)
@given(NAMES, st.text("abAB 1", min_size=1, max_size=11))
def test_names_are_found_by_their_beginnings(names, text):
    wanted = " ".join(text.lower().split())
    found, inside = Prefixes.of(Names.of(names)).find(text)
    ascii_names = [i for i, name in enumerate(names) if name.isascii()]
    right = {i for i in ascii_names if wanted and begins(names[i], wanted)}
    assert {i for i in found.tolist() if i in ascii_names} == right
    assert not set(found.tolist()) & set(inside.tolist())


def test_words_within_names_are_found():
    names = ["Christopher Nolan", "Jonathan_Nolan", "Nolan's film", "Anolan", ""]
    found, inside = Prefixes.of(Names.of(names)).find("nol")
    assert (found.tolist(), inside.tolist()) == ([2], [0, 1])
    found, inside = Prefixes.of(Names.of(names)).find("nolan's fi")
    assert (found.tolist(), inside.tolist()) == ([2], [])


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1), st.integers(0, 7)), min_size=1, max_size=16)


def shortest(edges, start, end, longest):
    """All shortest paths between two nodes, by trying all ways."""
    done, queue = set(), deque([(start, ())])
    best = None
    while queue:
        node, path = queue.popleft()
        if best is not None and len(path) > best:
            break
        if node == end and path:
            best = len(path)
            done.add(path)
            continue
        if len(path) == longest:
            continue
        seen = {start} | {n for head, _, tail in path for n in (head, tail)}
        for edge in edges:
            head, _, tail = edge
            for here, there in ((head, tail), (tail, head)):
                if here == node and there not in seen:
                    queue.append((there, (*path, edge)))
    return done


@settings(max_examples=12)
@given(EDGES, st.integers(1, 4))
def test_paths_are_the_shortest(edges, longest):
    edges = list(dict.fromkeys((f"n{h}", f"r{r}", f"n{t}") for h, r, t in edges))
    names = sorted({node for head, _, tail in edges for node in (head, tail)})
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "g.tsv"
        source.write_text("".join("\t".join(edge) + "\n" for edge in edges))
        index_sources([source], Path(folder) / "g.clew")
        with Clew.open(Path(folder) / "g.clew") as clew:
            told = clew.paths(names[0], names[-1], limit=10_000, longest=longest)
    if names[0] == names[-1]:
        return
    found = {tuple((t.head, t.relation, t.tail) for t in path) for path in told.paths}
    assert told.complete
    assert found == shortest(edges, names[0], names[-1], longest)
    assert len(found) == len(told.paths)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    source = folder / "hub.tsv"
    source.write_text(
        "".join(f"hub\thas\tthing {i}\nitem {i}\tof\thub\n" for i in range(3_000)) + "hub\tis\tbig\n"
    )
    index_sources([source], folder / "hub.clew")
    with Clew.open(folder / "hub.clew") as clew:
        yield clew


def test_a_hub_comes_in_pages(hub):
    around = hub.neighbours("hub", limit=5)
    assert [(g.relation, g.direction, g.count, len(g.nodes)) for g in around.groups] == [
        ("is", "out", 1, 1),
        ("has", "out", 3_000, 5),
        ("of", "in", 3_000, 5),
    ]
    assert around.triples == 6_001
    (last,) = hub.neighbours("hub", relation="has", offset=2_998, limit=5).groups
    assert (len(last.nodes), last.as_json()["next"]) == (2, None)
    assert hub.neighbours("hub", relation="has", offset=9_999).groups[0].nodes == ()


def test_what_is_not_there_is_said(hub):
    with pytest.raises(UsageError, match='no relation "owns"'):
        hub.neighbours("hub", relation="owns")
    with pytest.raises(UsageError, match='no entity "nobody"'):
        hub.neighbours("nobody")
    with pytest.raises(UsageError, match="1 to 6"):
        hub.paths("hub", "big", longest=9)


def test_what_an_update_brings_is_found(tmp_path):
    (tmp_path / "g.tsv").write_text("Ada Stone\tknows\tBo\n")
    index_sources([tmp_path / "g.tsv"], tmp_path / "g.clew")
    (tmp_path / "more.tsv").write_text("Adam West\tknows\tBo\n")
    update_index_files(tmp_path / "g.clew", EditFiles([tmp_path / "more.tsv"]))
    with Clew.open(tmp_path / "g.clew") as clew:
        assert [hit.label for hit in clew.find_entities("ada")] == ["Ada Stone", "Adam West"]
        assert [len(path) for path in clew.paths("Ada Stone", "Adam West").paths] == [2]


@pytest.mark.parametrize(
    ("relation", "question"),
    [
        ("directed_by", "Who directed Memento?"),
        ("written_by", "Who is the writer of Memento?"),
        ("starring", "Who is starring in Memento?"),
        ("release_year", "What is the release year of Memento?"),
        ("runtime_minutes", "What are the runtime minutes of Memento?"),
        ("spouse", "Who is the spouse of Memento?"),
        ("filmed in", "What is Memento filmed in?"),
        ("worksAt", "What does Memento work at?"),
    ],
)
def test_examples_are_in_plain_words(relation, question):
    made = questions_about(TripleText("Memento", relation, "X"))
    assert made[0] == (question, "X")


def test_examples_are_of_english_words_and_of_dates():
    assert questions_about(TripleText("MS Anna", "cgo_main", "grain")) == []
    opened = questions_about(TripleText("North Depot", "opened", "2001-04-12"), "depot", "date")
    assert opened == [("When was North Depot opened?", "2001-04-12")]
    works = questions_about(TripleText("Ann", "works at", "North Depot"), "employee", "depot")
    assert works[0] == ("Who works at North Depot?", "Ann")
