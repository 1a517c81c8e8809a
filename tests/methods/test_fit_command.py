"""`clew fit`: what a user's questions teach, what they cannot, and that the index is unharmed."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from clew.engine import Clew
from clew.index.store.directory import open_index
from clew.opening.index_files import index_sources
from clew.reading.adapter import open_adapter
from clew.reading.ranker import MODEL

pytest.importorskip("onnxruntime")
PLANTS = ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Yew"]
TRIPLES = [
    triple
    for i, name in enumerate(PLANTS)
    for triple in (
        (f"{name} Works", "rel_q", f"Person {chr(65 + i)}"),
        (f"{name} Works", "rel_x", f"Harbour {chr(65 + i)}"),
        (f"{name} Works", "rel_k", f"Metal {chr(65 + i)}"),
    )
]
ASKED = (("Who is the gaffer at {}?", "Person"), ("What do they churn out at {}?", "Metal"))
"""Words that no label is like: only questions with answers say what they ask for."""


def questions(names=PLANTS):
    return [
        {"question": text.format(f"{name} Works"), "answers": [f"{kind} {chr(65 + PLANTS.index(name))}"]}
        for name in names
        for text, kind in ASKED
    ]


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def write(tmp_path):
    def put(rows, name="asked.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    return put


@pytest.fixture(scope="module")
def _plants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plants")
    (folder / "plants.tsv").write_text("".join("\t".join(t) + "\n" for t in TRIPLES))
    index_sources([folder / "plants.tsv"], folder / "plants.clew")
    return folder / "plants.clew"


@pytest.fixture
def plants(_plants, tmp_path):
    return shutil.copytree(_plants, tmp_path / "plants.clew")


def learned(path):
    index = open_index(path)
    return open_adapter(index.path, index.graph, MODEL)


def test_it_learns_what_words_of_a_graph_mean_and_answers_by_it(run, plants, write):
    held_back = PLANTS[-2:]
    done = run("fit", plants, "--questions", write(questions(PLANTS[:-2])), "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["questions"], told["covered"]) == (20, 20)
    before, after = told["held_out"]["before"], told["held_out"]["after"]
    assert after["right"] > before["right"]
    assert after["likelihood"] > before["likelihood"]
    with Clew.open(plants) as clew:
        assert clew.note is None
        for row in questions(held_back):
            assert [a.label for a in clew.ask(row["question"]).answers] == row["answers"]
    open_index(plants, verify=True)
    assert json.loads(run("fit", plants, "--drop", "--json").stdout)["dropped"]
    assert learned(plants).adapter is None
    assert "nothing was learned" in run("fit", plants, "--drop").stdout


def test_the_same_seed_learns_the_same(run, plants, write):
    file = write(questions(PLANTS[:-2]))
    one, two = (json.loads(run("fit", plants, "--questions", file, "--json").stdout) for _ in range(2))
    assert one["held_out"] == two["held_out"]


def test_what_does_not_help_is_not_kept(run, tmp_path, write):
    lines = [f"{n} Works\tforeman\tPerson {n}\n{n} Works\tlocated in\tTown {n}\n" for n in PLANTS]
    (tmp_path / "clear.tsv").write_text("".join(lines))
    run("index", "clear.tsv")
    asked = (("Who is the foreman of {} Works?", "Person {}"), ("Where is {} Works located?", "Town {}"))
    rows = [{"question": q.format(n), "answers": [a.format(n)]} for n in PLANTS for q, a in asked]
    done = run("fit", "clear.clew", "--questions", write(rows), "--json")
    told = json.loads(done.stdout)
    assert told["held_out"]["before"]["right"] == len(rows)
    assert (done.exit_code, told["stored"]) == (3, None)
    assert not (tmp_path / "clear.clew" / "reader.fit").exists()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (questions(PLANTS[:3]), "at least 20 are needed"),
        ([{"question": "Who?"}], "neither answers, nor accepted or rejected"),
        ([{"question": "Who?", "answers": "Person A"}], "field 'answers' is not a list"),
        ([{"question": 3, "answers": []}], "field 'question' is missing"),
        ([], "no questions"),
    ],
)
def test_bad_questions_are_an_error_and_leave_the_index_as_it_is(run, plants, write, rows, said):
    before = {p.name: p.read_bytes() for p in plants.iterdir() if p.is_file()}
    done = run("fit", plants, "--questions", write(rows))
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert before == {p.name: p.read_bytes() for p in plants.iterdir() if p.is_file()}


def test_what_cannot_be_learned_from_is_counted(run, plants, write):
    first = questions()[0]
    bad = [
        first | {"answers": ["Person B"]},
        {"question": "Who is the gaffer at Nowhere?", "answers": ["Nobody Known"]},
        questions()[2],
    ]
    done = run("fit", plants, "--questions", write([*questions(), *bad]), "--json")
    told = json.loads(done.stdout)
    assert (told["contradicting"], told["unknown"], told["repeated"]) == ([1, 25], [26], [27])
    assert "2 lines that contradict each other (line 1, 25)" in done.stderr


def test_what_is_damaged_or_of_other_relations_is_not_used_and_said(run, plants, write):
    run("fit", plants, "--questions", write(questions()))
    whole = (plants / "reader.fit").read_bytes()
    assert learned(plants).adapter is not None
    for raw in (whole[:-9], whole[:20], b"", b"[]\n", whole.replace(b'"version": 1', b'"version": 9', 1)):
        (plants / "reader.fit").write_bytes(raw)
        opened = learned(plants)
        assert opened.adapter is None
        assert "is not used" in opened.problem
    (plants / "reader.fit").write_bytes(whole)
    plants.with_name("new.tsv").write_text("Oak Works\tburns\tCoal\n")
    assert run("update", plants, "--add", "new.tsv").exit_code == 0
    done = run("ask", plants, "Who is the gaffer at Oak Works?")
    assert "other relations or types" in " ".join(done.stderr.split())


def test_only_an_index_can_be_fitted(run, tmp_path, write):
    films = tmp_path / "films.tsv"
    films.write_text("Heat\tdirected by\tMann\n")
    assert "is no index" in run("fit", films, "--questions", write(questions())).stderr
    assert run("fit", "none.clew", "--drop").exit_code == 2
    assert run("fit", "none.clew").exit_code == 2
