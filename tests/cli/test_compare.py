"""Several methods side by side, and the reasoning chain: `clew ask`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from servers.fake_server import Answer, Seen, completion, serving

pytest.importorskip("openai")
LINES = "Alien|directed by|Ridley Scott\nBlade Runner|directed by|Ridley Scott\nAlien|genre|Horror\n"
WHO = "Who directed Alien?"


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "films.txt"
    path.write_text(LINES, "utf-8")
    return str(path)


def read(seen: Seen) -> Answer:
    """A model that takes a question for its only step, and answers with all that it is shown of it."""
    system, user = (message["content"] for message in seen.body["messages"][:2])
    if "You split questions" in system:
        question = user.rpartition("Question: ")[2].strip()
        return Answer(completion(f"Reasoning: one step.\nSub-questions:\n1. {question}"))
    if "Which films" in user:
        names = [name for name in ("Alien", "Blade Runner") if name in user]
        return Answer(completion(f"Facts: 1-9\nAnswer: {'; '.join(names)}"))
    return Answer(completion("Facts: 1\nAnswer: Ridley Scott"))


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving(by=read) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield


def run(*words: str, llm: bool = True):
    named = ("--llm", "vllm/m") if llm and words[0] != "index" else ()
    return CliRunner().invoke(app, [*words, *named, "--quiet"])


def test_a_row_for_each_method_with_what_it_cost(films: str):
    result = run("ask", films, WHO, "--method", "kg-rag,kaping, kaping", "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)["rows"]
    assert [(r["method"], r["answer"]["text"], r["evidence"], r["cited"]) for r in rows] == [
        ("kg-rag", "Ridley Scott", 3, 1),
        ("kaping", "Ridley Scott", 2, 1),
    ]


def test_each_method_gets_the_options_that_it_takes(films: str):
    result = run("ask", films, WHO, "--method", "auto,kg-rag,kaping,kg-retrieval", "--set", "k=1", "--json")
    rows = json.loads(result.stdout)["rows"]
    assert [r["error"] for r in rows] == [None] * 4
    assert [r["evidence"] for r in rows[2:]] == [1, 1]


@pytest.mark.parametrize(
    "words",
    [
        ("--method", "llm,triple-rag", "--set", "hops=2"),
        ("--method", "kaping", "--set", "letter=yes"),
        ("--method", "kg-rag", "--set", "letter=both"),
        ("--method", "kg-rag", "--set", "hops=0"),
    ],
)
def test_options_that_nothing_takes_are_wrong_usage(films: str, words: tuple[str, ...]):
    assert run("ask", films, WHO, *words).exit_code == 2


def test_a_seed_changes_what_is_drawn(films: str):
    def drawn(seed: str) -> set[str]:
        question = "Which films did Ridley Scott direct?"
        words = ("--method", "triple-rag", "--set", "k=1", "--set", f"seed={seed}", "--json")
        return {a["entity"] for a in json.loads(run("ask", films, question, *words).stdout)["answers"]}

    assert drawn("0") == drawn("0")
    assert {frozenset(drawn(str(seed))) for seed in range(8)} == {
        frozenset(["Alien"]),
        frozenset(["Blade Runner"]),
    }


def test_a_batch_takes_the_options_of_its_method(films: str, tmp_path: Path):
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "Which films did Ridley Scott direct?"}), "utf-8")
    words = ("--questions", str(path), "--method", "kaping", "--set", "k=1")
    result = run("ask", films, *words)
    answer = json.loads(result.stdout)
    assert (answer["id"], len(answer["answers"]), answer["complete"]) == ("a", 1, False)


def test_a_method_that_fails_has_its_error_in_its_row(films: str):
    result = run("ask", films, WHO, "--method", "auto,llm", llm=False)
    assert result.exit_code == 0
    assert "error" in result.stdout


def test_all_methods_failing_is_a_failure(films: str):
    assert run("ask", films, WHO, "--method", "llm,kaping", llm=False).exit_code == 1


@pytest.mark.parametrize("methods", ["nonsense", ",", "kaping,nonsense"])
def test_an_unknown_method_is_wrong_usage(films: str, methods: str):
    assert run("ask", films, WHO, "--method", methods).exit_code == 2


def test_the_chain_is_shown_and_whole_with_explain(films: str):
    plain = run("ask", films, WHO, "--method", "kg-rag").stdout
    whole = run("ask", films, WHO, "--method", "kg-rag", "--explain").stdout
    assert f"1. {WHO}" in plain
    assert "given" not in plain
    assert "given 3 triples" in whole


def test_the_chain_is_in_the_json(films: str):
    result = run("ask", films, WHO, "--method", "kg-rag", "--json")
    link = json.loads(result.stdout)["chain"]["links"][0]
    assert link["answers"] == ["Ridley Scott"]
    assert ["Alien", "directed by", "Ridley Scott"] in link["evidence"]


def test_triple_vectors_are_made_with_the_index(films: str, tmp_path: Path):
    out = str(tmp_path / "films.clew")
    assert run("index", films, "-o", out, "--triple-vectors").exit_code == 0
    assert (Path(out) / "gen-000001" / "triple_vectors.q.npy").exists()
    assert run("ask", out, WHO, "--method", "kg-rag").exit_code == 0


def test_one_method_of_several_that_are_the_same_is_asked_alone(films: str):
    for names in ("auto,", "auto, auto"):
        result = run("ask", films, "around Alien", "--method", names, "--json", llm=False)
        assert json.loads(result.stdout)["text"].startswith("Ridley Scott")


def test_a_comparison_has_the_form_that_is_chosen(films: str):
    form = ("--method", "llm,kaping", "--as", "json")
    assert len(json.loads(run("ask", films, WHO, *form).stdout)["rows"]) == 2
