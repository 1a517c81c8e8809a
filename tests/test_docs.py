"""What the README shows is what happens."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from servers.fake_server import Answer, completion, serving

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def consoles():
    """Commands of the README's consoles with what they print."""
    for block in re.findall(r"```console\n(.*?)```", README, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def comparable(text):
    """Without times, and with lines as they are when nothing is wrapped at a terminal's width."""
    text = re.sub(r"\((.*?)[\d,]+ ms\)", r"(\1 ms)", text)
    return re.sub(r"\s+", " ", text.replace(" · ", " ")).strip()


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return lambda arguments: CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(("command", "printed"), list(consoles()), ids=lambda text: text[:40])
def test_consoles_of_the_readme(run, command, printed):
    program, *arguments = shlex.split(command)
    assert program == "clew"
    assert comparable(run(arguments).stdout) == comparable(printed)


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
    ],
)
def test_what_the_readme_says_is_read_without_a_model(films, question, some):
    assert some in {answer.label for answer in films.ask(question).answers}


@pytest.mark.parametrize(
    "question",
    [
        "Wer hat Memento gedreht?",
        "Why did Christopher Nolan direct Memento?",
        "How are Memento and Inception related?",
        "What percentage of films by Christopher Nolan are dramas?",
        "Who directed Memento and when was it released?",
        "Who directed it?",
        "Name the first three films of Christopher Nolan",
        "Which is the second longest film?",
        "How many films does each director have?",
        "How much longer is Inception than Memento?",
        "Who directed every film starring Leonardo DiCaprio?",
        "Which films of Christopher Nolan begin with the letter M?",
        "How many animated films are there?",
        "Which films by Christopher Nolan are longer than the average film?",
        "Which directors have more films than Christopher Nolan?",
        "Which films are twice as long as Memento?",
        "Which American directed Memento?",
    ],
)
def test_what_auto_cannot_read_is_left_open(films, question):
    """Of the list in docs/methods.md."""
    answer = films.ask(question)
    assert answer.abstained is not None
    assert answer.answers == ()
