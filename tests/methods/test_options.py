"""Settings of methods: one definition for the command line, experiments and the server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from clew.cli.options import MethodOptions
from clew.errors import InputError, UsageError
from clew.evaluate.run.asking import option_names
from clew.llm.testing import ScriptedModel
from clew.methods.registry import METHODS, settings_of
from clew.methods.settings import SimgragSettings, options_of


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if spec.settings])
def test_every_field_that_is_an_option_has_a_default_that_it_allows(method: str) -> None:
    kind = settings_of(method)
    assert kind is not None
    assert kind() == kind(**{name: default for name, (_, default) in options_of(kind).items()})
    assert set(options_of(kind)) <= option_names(method)


def test_claims_have_the_settings_of_a_method_that_asks_a_model() -> None:
    assert isinstance(MethodOptions(["k=2"]).settings("simgrag", claims=True), SimgragSettings)
    for given in ("k=2", "confidence=0.7"):
        with pytest.raises(UsageError, match="auto has no such setting"):
            MethodOptions([given]).settings("auto", claims=True)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        *(
            ("kg-rag", text)
            for text in "k k=many k=0 nothing=1 =3 temperature=3 letter=all directed=yes records=no".split()
        ),
        *((method, "k=0") for method in ("kaping", "triple-rag", "vector-rag", "kg-gpt", "walk-retrieve")),
        *(("simgrag", text) for text in ("shots=-1", "candidates=0", "candidate_types=4")),
        *(("synaptiqa", text) for text in ("repairs=-1", "clean=never", "without=names,rules")),
    ],
)
def test_what_sets_nothing_is_said(method: str, text: str) -> None:
    with pytest.raises(UsageError):
        MethodOptions([text]).settings(method)


def test_the_methods_are_listed_with_their_settings() -> None:
    told = CliRunner().invoke(app, ["methods", "--json"])
    rows = {row["name"]: row for row in json.loads(told.stdout)["methods"]}
    assert list(rows) == list(METHODS)
    k = next(setting for setting in rows["kg-rag"]["settings"] if setting["name"] == "k")
    assert (k["type"], k["default"]) == ("int", 30)
    assert "kg-rag" in CliRunner().invoke(app, ["methods", "kg-rag"]).stdout
    assert CliRunner().invoke(app, ["methods", "none"]).exit_code == 2


OWN = {"query": "who keeps it", "divided": ["a"], "triples": [["a", "b", "c"]], "answers": ["a"]}


@pytest.mark.parametrize(
    ("method", "value"),
    [
        *(("simgrag", text) for text in ("", "{", "\x00", "[" * 100_000)),
        *(("simgrag", value) for value in ([], {"other": []}, {"questions": {}}, {"questions": [1]})),
        *(
            ("simgrag", {"questions": [OWN | wrong]})
            for wrong in ({"triples": []}, {"triples": [["a"]]}, {"answers": "a"}, {"divided": [1]})
        ),
        ("simgrag", {"claims": [OWN | {"verdict": "maybe"}]}),
        ("simgrag", {"claims": [OWN]}),
        ("simgrag", {"questions": [OWN] * 65}),
        *(("kg-rag", value) for value in ([], {"decompositions": {}})),
        ("kg-rag", {"decompositions": [{"question": "q", "reasoning": "r", "sub_questions": []}]}),
        ("kg-rag", {"decompositions": [{"question": 1, "reasoning": "r", "sub_questions": ["a"]}]}),
    ],
)  # fmt: skip
def test_examples_that_are_none_are_named(tmp_path: Path, method: str, value: object) -> None:
    (tmp_path / "own.json").write_text(value if isinstance(value, str) else json.dumps(value))
    for name in ("own.json", "none.json"):
        with pytest.raises(InputError, match=name):
            MethodOptions([f"examples={tmp_path / name}"]).settings(method)


def test_a_user_gives_examples_for_a_graph(films: Clew, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps({"questions": [OWN]}))
    settings = MethodOptions([f"examples={tmp_path / 'own.json'}"]).settings("simgrag")
    model = ScriptedModel(lambda _: "none")
    films.ask("Who?", method="simgrag", model=model, settings=settings)
    assert 'question: "who keeps it"' in model.requests[0].messages[0].text
