"""Reports and experiments: what is in the page, beside the paper's figures, and in the files."""

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made import ROOT

from clew.errors import InputError
from clew.evaluate.report.build import Section, page
from clew.evaluate.report.views import (
    Chart,
    ChartTable,
    TableCell,
    inline_svg,
)
from clew.evaluate.run.asking import option_names
from clew.evaluate.run.plans import experiment_of, read_experiment
from clew.methods.registry import METHODS

EXPERIMENTS = sorted((ROOT / "experiments").glob("*.toml"))
MINE = (ROOT / "tests" / "data" / "evaluate" / "experiment.toml").read_text("utf-8")


@pytest.fixture
def made(run, plain, tmp_path):
    run("eval", plain, "--method", "knows,broken", "--out", tmp_path / "r")
    result = run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html")
    assert result.exit_code == 0, result.stderr
    return tmp_path / "r" / "report.html"


def test_the_page_needs_nothing_else(made):
    text = made.read_text()
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    assert "@import" not in text
    assert text.count("<html") == text.count("</html>") == 1


def test_the_page_has_tables_charts_and_questions(made):
    text = made.read_text()
    for title in ("Hits@1", "Truthfulness", "Risk and coverage", "Notes on the data"):  # fmt: skip
        assert title in text
    (data,) = re.findall(r'<script id="questions" type="application/json">(.*?)</script>', text, re.S)
    entries = json.loads(data)
    assert len(entries) == 10
    first = entries[0]
    assert (first["q"], first["state"], first["gold"]) == (
        "Who directed Memento?",
        "right",
        ["Christopher Nolan"],
    )
    assert first["citations"][0][1] == [["Memento", "directed_by", "Christopher Nolan"]]
    assert {e["state"] for e in entries} == {"right", "abstained", "failed"}


def test_hits_are_told_by_kind_and_by_the_shape_of_gold_paths(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "graph.tsv").write_text("Heat\tdirected_by\tMichael Mann\nMichael Mann\tborn_in\tChicago\n")
    rows = [
        {"question": "Who directed Heat?", "gold": ["Michael Mann"], "paths": [["Heat", "directed_by"]]},
        {
            "question": "Where was the director of Heat born?",
            "gold": ["Chicago"],
            "paths": [["Heat", "directed_by", "born_in"]],
        },
    ]
    (data / "questions.jsonl").write_text("".join(json.dumps(row | {"kind": "film"}) + "\n" for row in rows))
    assert run("eval", data, "--method", "auto", "--out", tmp_path / "r").exit_code == 0
    assert run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html").exit_code == 0
    tables = {path.stem: path.read_text() for path in (tmp_path / "r" / "report").glob("*.csv")}
    kinds = next(text for name, text in tables.items() if name.endswith("kinds"))
    shapes = next(text for name, text in tables.items() if name.endswith("shapes"))
    assert [line.split(",")[1] for line in kinds.splitlines()[1:]] == ["film"]
    assert sorted(line.split(",")[1] for line in shapes.splitlines()[1:]) == ["1-hop path", "2-hop path"]


def test_questions_cannot_break_out_of_the_page(run, plain, tmp_path):
    evil = {
        "id": "x",
        "question": "</script><script>alert(1)</script> <b>Heat",
        "gold": ["<i>"],
        "kind": "<u>",
    }
    (plain / "questions.jsonl").write_text(json.dumps(evil) + "\n")
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html")
    text = (tmp_path / "r" / "report.html").read_text()
    assert "<script>alert" not in text
    assert "<u>" not in text
    assert "&lt;u&gt;" in text


def test_tables_and_charts_come_as_csv(made):
    folder = made.with_suffix("")
    with (folder / "charts-risk-plain-films.csv").open() as file:
        assert {row["series"] for row in csv.DictReader(file)} == {"knows", "broken"}
    with (folder / "figures-answers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["method"], r["Hits@1 ↑"].split()[0]) for r in rows] == [("knows", "80.0"), ("broken", "40.0")]


def test_several_runs_are_one_page(run, plain, tmp_path):
    for name in ("one", "two"):
        run("eval", plain, "--method", "knows", "--out", tmp_path / name)
    result = run("eval", tmp_path / "one", tmp_path / "two", "--report", tmp_path / "both.html")
    assert result.exit_code == 0, result.stderr
    assert "Figures (one)" in (tmp_path / "both.html").read_text()


def test_an_experiment_is_laid_out_as_the_paper_prints_it(run, plain, tmp_path):
    (tmp_path / "x.toml").write_text(MINE.format(view="table"))
    result = run("eval", tmp_path / "x.toml", "--data", f"plain={plain}", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.stderr
    assert "absent: left out, as this version has no method absent" in result.stderr
    run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html")
    folder = tmp_path / "r" / "report"
    (table,) = folder.glob("paper-paper*.csv")
    rows = list(csv.reader(table.read_text().splitlines()))
    assert rows[0] == ["", "Films", "Time"]
    assert ["Theirs", "97.5", "–"] in rows
    assert ["Knows", "80.0 (paper 98.0)", "5.2 (paper 3.5)"] in rows
    assert "another model" in (tmp_path / "r" / "report.html").read_text()


def test_options_reach_the_method(run, plain, tmp_path):
    (tmp_path / "x.toml").write_text(MINE.format(view="table"))
    run("eval", tmp_path / "x.toml", "--data", f"plain={plain}", "--out", tmp_path / "r")
    records = [json.loads(line) for line in (tmp_path / "r" / "records.jsonl").read_text().splitlines()]
    counts = {r["method"]: len(r["answer"]["answers"]) for r in records if r["id"] == "c"}
    assert counts == {"knows": 2, "knows(most=1)": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "not TOML"),
        ("title = 'x'", "missing required field `columns`"),
        (MINE.format(view="pie"), "Invalid enum value 'pie'"),
        (MINE.format(view="table").replace("hits_at_1", "bogus"), "no metric 'bogus'"),
        (
            MINE.format(view="table").replace("[97.5, nan]", "[97.5]"),
            "'Theirs' has 1 figures of the paper for 2",
        ),
    ],
)
def test_malformed_experiments(text, message):
    with pytest.raises(InputError, match=message):
        experiment_of(text, "x.toml")


def test_an_experiment_without_its_data_says_so(run, tmp_path):
    (tmp_path / "x.toml").write_text(MINE.format(view="table"))
    result = run("eval", tmp_path / "x.toml")
    assert result.exit_code == 2
    assert "none of its data is there. Name it: --data" in result.stderr


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda p: p.stem)
def test_the_experiments_that_come_with_clew_can_be_read(path):
    experiment = read_experiment(path)
    assert experiment.columns
    for with_model in (False, True):
        known = [m for m in experiment.methods(with_model=with_model) if m.method in METHODS]
        wrong = [m for m in known if set(m.options) - option_names(m.method)]
        assert known
        assert not wrong
    # One at least works without a model.
    assert {m.method for m in experiment.methods(with_model=False)} - {"simgrag", "llm", "llm-qd"}


def test_a_row_has_a_built_in_form_where_no_model_is_named(run, plain, tmp_path):
    row = '[[rows]]\nname = "Theirs"\nmethod = "llm"\nbuilt_in = "knows"\npaper = [1.0, 2.0]\n'
    head = MINE.format(view="table").split("[[rows]]")[0]
    (tmp_path / "x.toml").write_text(head + row)
    result = run("eval", tmp_path / "x.toml", "--data", f"plain={plain}", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.stderr
    run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html")
    table = (tmp_path / "r" / "report" / "paper-paper.csv").read_text()
    assert "Theirs,80.0 (paper 1.0)" in table


def test_walks_of_a_row_are_stored_in_an_index_of_its_own(run, plain, tmp_path):
    rows = "".join(
        f'[[rows]]\nname = "{n}"\nmethod = "{method}"\ncorpus = {{ kind = "{kind}", depth = 2 }}\n'
        for n, (method, kind) in enumerate((("knows", "bfs"), ("walks", "random"), ("walks", "bfs")))
    )
    head = MINE.format(view="table").split("[[rows]]")[0]
    (tmp_path / "x.toml").write_text(head + rows)
    result = run("eval", tmp_path / "x.toml", "--data", f"plain={plain}", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.stderr
    records = [json.loads(line) for line in (tmp_path / "r" / "records.jsonl").read_text().splitlines()]
    walks = {r["method"]: r["answer"]["text"] for r in records}
    assert walks["walks(kind=random, depth=2)"] == "random 2"
    assert walks["walks(kind=bfs, depth=2)"] == "bfs 2"


@pytest.mark.parametrize("kind", ["bogus", 3])
def test_walks_that_there_are_not(kind):
    text = MINE.format(view="table") + f'corpus = {{ kind = "{kind}" }}\n'
    with pytest.raises(InputError, match="There is no corpus"):
        experiment_of(text, "x.toml")


def hostile():
    """A table and a chart with markup in every text."""
    x = "</script><u>&"
    table = ChartTable(x, x, (x, x), ((x, TableCell(x, x, best=True)), (x,)), x)
    return x, (table, Chart(x, x, x, x, ((x, ((1.0, 1.0),)),), x))


def test_names_are_text_and_no_markup_in_the_page():
    x, items = hostile()
    text = page(x, x, [Section(x, x, items)], [{"q": x}], x)
    assert "<u>" not in text
    assert text.count("</script>") == 2
    assert text.count("&lt;u&gt;") > 15
    (data,) = re.findall(r'<script id="questions" type="application/json">(.*?)</script>', text, re.S)
    assert json.loads(data) == [{"q": x}]


def test_formulas_and_signs_that_xml_lacks_stay_text():
    text = inline_svg(Chart("n", "$x^2$ a\x00b\udc80c", "x", "y", ()))
    assert "$x^2$ a\ufffdb\ufffdc" in text
    ElementTree.fromstring(text)  # noqa: S314


def test_clew_datasets_lists_them(run):
    result = run("eval", "--datasets")
    assert "metaqa: MetaQA" in result.stdout
    assert "licence  CC BY 3.0" in result.stdout
    listed = json.loads(run("eval", "--datasets", "--json").stdout)
    assert {"name", "source", "licence", "splits"} <= listed[0].keys()


def test_pages_mention_every_data_set_and_metric():
    from clew.evaluate.datasets.registry import DATASETS
    from clew.evaluate.metrics import METRICS

    text = Path(ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    for name in (*(reader.about.name for reader in DATASETS), *METRICS):
        assert f"`{name}`" in text, name
