"""Settings of methods: one definition for the command line, experiments and the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from clew.cli.options import ClaimOptions, MethodOptions
from clew.errors import InputError, UsageError
from clew.evaluate.run.asking import accepted
from clew.methods.registry import METHODS, settings_of
from clew.methods.settings import SimgragSettings, options_of, read_options


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if spec.settings])
def test_every_field_that_is_an_option_has_a_default_that_it_allows(method: str) -> None:
    kind = settings_of(method)
    assert kind is not None
    assert kind() == kind(**{name: default for name, (_, default) in options_of(kind).items()})
    assert set(options_of(kind)) <= accepted(method).options


@pytest.mark.parametrize(
    ("given", "told"),
    [({"k": 0}, "k is 0"), ({"schema": "some"}, "schema is 'some'"), ({"bound": -1.0}, "bound is -1")],
)
def test_a_value_out_of_range_names_its_option(given: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        SimgragSettings(**given)  # pyright: ignore[reportArgumentType]


def test_each_method_gets_the_settings_that_it_takes() -> None:
    made = MethodOptions(["seed=0"]).settings_of_each(["kg-rag", "kaping"])
    assert (getattr(made["kg-rag"], "seed", None), made["kaping"]) == (0, None)


def test_claims_have_settings_of_their_own() -> None:
    assert isinstance(ClaimOptions(["k=2"]).settings("auto"), SimgragSettings)
    with pytest.raises(UsageError, match="auto has no such setting"):
        MethodOptions(["k=2"]).settings("auto")


@pytest.mark.parametrize("text", ["k", "k=many", "k=0", "nothing=1", "=3"])
def test_what_sets_nothing_is_said(text: str) -> None:
    with pytest.raises(UsageError):
        MethodOptions([text]).settings("kg-rag")


def test_the_methods_are_listed_with_their_settings() -> None:
    told = CliRunner().invoke(app, ["methods", "--json"])
    rows = {row["name"]: row for row in json.loads(told.stdout)["methods"]}
    assert list(rows) == list(METHODS)
    k = next(setting for setting in rows["kg-rag"]["settings"] if setting["name"] == "k")
    assert (k["type"], k["default"]) == ("int", 30)
    assert "kg-rag" in CliRunner().invoke(app, ["methods", "kg-rag"]).stdout
    assert CliRunner().invoke(app, ["methods", "none"]).exit_code == 2


def test_the_file_of_an_option_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_options(SimgragSettings, {"examples": str(tmp_path / "none.json")})
