"""What the README and the pages of docs/ show is what happens."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from clew.llm.budget import read_prices
from clew.llm.providers import EXTRAS, SERVERS
from clew.methods.simgrag.write_pattern import shots_from
from servers.fake_server import Answer, completion, serving

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADVISERS = "from,relation,to,since,role\nAnna Keller,advises,Harbour crane,2019,sponsor\n"


def consoles():
    """Commands of the consoles of the documents with what they print, those that print nothing left out."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.S):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, printed = part.partition("\n")
                if printed.strip():
                    yield pytest.param(command, printed, id=f"{page.stem}: {command[:60]}")


def comparable(text):
    """Without times, and with lines as they are when nothing is wrapped at a terminal's width."""
    text = re.sub(r"\((.*?)[\d,]+ ms\)", r"(\1 ms)", text)
    return re.sub(r"\s+", " ", text.replace(" · ", " ")).strip()


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return lambda arguments: CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the example graphs, and with the files that the tutorial has made when it asks."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "words.toml").write_text('[terms]\nboss = ".manager"\n')
    (folder / "advisers.csv").write_text(ADVISERS)
    out = folder / "shop.clew"
    assert CliRunner().invoke(app, ["index", str(ROOT / "examples/shop"), "-o", str(out)]).exit_code == 0
    assert (
        CliRunner().invoke(app, ["vocabulary", str(out), "--set", str(folder / "words.toml")]).exit_code == 0
    )
    return folder


@pytest.mark.parametrize(("command", "printed"), list(consoles()))
def test_consoles_of_the_documents(place, monkeypatch, command, printed):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(place / "cache"))
    monkeypatch.chdir(place)
    program, *arguments = shlex.split(command)
    assert program == "clew"
    real, shown = comparable(CliRunner().invoke(app, arguments).stdout), comparable(printed)
    if shown.endswith(" …"):
        assert real.startswith(shown.removesuffix("…"))
    else:
        assert real == shown


def test_python_of_the_readme(run, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert "Christopher Nolan (TripleText('Memento'" in capsys.readouterr().out


def test_the_answer_of_the_json_page_has_the_keys_of_an_answer(run):
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    shown = json.loads(re.findall(r"```json\n(.*?)```", page, re.S)[0])
    real = json.loads(run(["ask", "examples/films.tsv", shown["question"], "--json"]).stdout)
    assert list(real) == list(shown)
    assert real["answers"] == shown["answers"]
    assert real["citations"] == shown["citations"]


def test_links_of_the_documents_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_python_of_the_notation_page_runs(run, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "notation.md").read_text("utf-8"), re.S)
    exec(compile(code, "docs/notation.md", "exec"), {})  # noqa: S102
    assert "Seven Samurai" in capsys.readouterr().out


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M))
    assert named == {page.name for page in (ROOT / "docs").glob("*.md")}


def python_page():
    """Blocks of docs/python.md: (language, text)."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return re.findall(r"```(python|sh)\n(.*?)```", page, re.S)


@pytest.fixture
def workplace(monkeypatch, tmp_path):
    """A folder with the example graph, the files that the page shows, and an index."""
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for language, text in python_page():
        if language == "python" and text.startswith("# "):
            (tmp_path / text.split()[1]).write_text(text)
    (tmp_path / "my" / "quiz").mkdir(parents=True)
    for name in ("my/graph.tsv", "my/quiz/kb.tsv"):
        shutil.copy(ROOT / "examples" / "films.tsv", tmp_path / name)
    question = {"question": "Who directed it?", "gold": ["Christopher Nolan"], "entities": ["Memento"]}
    (tmp_path / "my" / "questions.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "my" / "quiz" / "quiz.tsv").write_text("Who directed Memento?\tChristopher Nolan\n")
    return tmp_path


def test_the_python_page_runs(workplace, capsys, monkeypatch):
    with serving(Answer(completion("Nolan"))) as (_, url):
        monkeypatch.setenv("OLLAMA_HOST", url)
        for language, text in python_page():
            if language == "python" and not text.startswith("# "):
                exec(compile(text, "docs/python.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert "Christopher Nolan None" in printed
    assert "refuted [('Christopher Nolan directed Memento', 'supported')" in printed
    assert "Venice" in printed
    assert printed.endswith("Nolan\n")


def test_a_method_and_a_data_set_of_ones_own_run(workplace):
    commands = [
        shlex.split(line)
        for language, text in python_page()
        if language == "sh"
        for line in text.splitlines()
    ]
    runner = CliRunner()
    runner.invoke(app, ["index", "examples/films.tsv", "-o", "films.clew", "--quiet"])
    asked, compared, quiz = (runner.invoke(app, command[1:]) for command in commands)
    assert "Christopher Nolan" in asked.stdout
    assert "directed_by" in asked.stdout
    assert re.search(r"nearest:Nearest +1 +100\.0", compared.stdout)
    assert re.search(r"quiz +auto +1 +100\.0", quiz.stdout)
    again = workplace / "nearest.py"
    again.write_text(again.read_text() + "\n# another version\n")
    refused = runner.invoke(app, commands[1][1:])
    assert refused.exit_code == 2
    assert "another configuration" in refused.stderr


@pytest.mark.parametrize(
    ("question", "some"),
    [
        ("Which actors star in more than five films?", "Robert De Niro"),
        ("Which is longer, Memento or Insomnia?", "Insomnia"),
        ("films directed by Christopher Nolan that are not written by Jonathan Nolan", "Insomnia"),
        ("Which five films are the longest?", "Lagaan"),
        ("Which is the second longest film?", "Ben-Hur"),
        ("How much longer is Inception than Memento?", "35"),
        ("How many films does each director have?", "Christopher Nolan: 11"),
    ],
)
def test_what_the_documents_say_is_read_without_a_model(films, question, some):
    answer = films.ask(question)
    assert some in {each.label for each in answer.answers} | set(answer.text.split(" · "))


def blocks(page, language="json"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.S)


def test_the_verdict_of_the_json_page(films):
    (shown,) = (told for told in map(json.loads, blocks("json.md")) if "verdict" in told)
    real = films.verify(shown["claim"]).as_json()
    assert list(real) == list(shown)
    assert real | {"timings_ms": None} == shown | {"timings_ms": None}


def test_the_examples_of_the_simgrag_page():
    (shown,) = map(json.loads, blocks("simgrag.md"))
    assert len(shots_from(shown, "page").questions) == 1


@pytest.mark.parametrize("page", ["cli.md", "simgrag.md"])
def test_options_of_the_pages_are_there(page):
    helps = "".join(
        CliRunner().invoke(app, [*c.split(), option], terminal_width=200).stdout
        for c in ("ask", "verify", "index", "update", "match", "info", "cypher fix", "query", "serve")
        for option in ("--help", "--help-all")
    )
    told = set(re.findall(r"`(--[a-z-]+)", (ROOT / "docs" / page).read_text("utf-8")))
    assert {o for o in told if o not in helps and o not in ("--", "--debug")} == set()


def test_the_python_and_the_prices_of_the_page_of_models(tmp_path):
    (code,), (text,) = blocks("llm.md", "python"), blocks("llm.md", "toml")
    exec(compile(code, "docs/llm.md", "exec"), {})  # noqa: S102
    (tmp_path / "prices.toml").write_text(text)
    assert read_prices(tmp_path / "prices.toml").find("ollama/llama3.1:8b") is not None


def test_every_server_is_in_the_page_of_models():
    page = (ROOT / "docs" / "llm.md").read_text("utf-8")
    assert [name for name in (*SERVERS, *EXTRAS) if f"`{name}" not in page] == []
