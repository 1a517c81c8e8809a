"""Options of methods: one definition for the command line, experiments and the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.cli.method_options import ClaimOptions, MethodOptions
from clew.errors import InputError, UsageError
from clew.evaluate.run.engine_ask import accepted
from clew.methods.registry import METHODS, settings_of
from clew.methods.settings import SimgragSettings, options_of, read_options

DOCS = Path(__file__).resolve().parents[2] / "docs" / "methods.md"


def table() -> str:
    """The options of all methods, as `docs/methods.md` shows them."""
    lines = ["| option | of methods, with the value where nothing is said |", "|---|---|"]
    for parameter in MethodOptions.parameters():
        shown = parameter.annotation.__metadata__[0]
        value = f" {shown.metavar}".replace("|", "\\|") if shown.metavar else ""
        lines.append(f"| `--{parameter.name.replace('_', '-')}{value}` | {shown.help} |")
    return "\n".join(lines)


def test_the_docs_show_the_options_that_there_are() -> None:
    assert table() in DOCS.read_text("utf-8"), f"write this in docs/methods.md:\n\n{table()}"


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if spec.settings])
def test_every_field_that_is_an_option_has_a_default_that_it_allows(method: str) -> None:
    kind = settings_of(method)
    assert kind is not None
    assert kind() == kind(**{name: default for name, (_, default) in options_of(kind).items()})
    assert set(options_of(kind)) <= accepted(method).options


@pytest.mark.parametrize(
    ("given", "told"),
    [({"k": 0}, "--k is 0"), ({"schema": "some"}, "--schema is 'some'"), ({"bound": -1.0}, "--bound is -1")],
)
def test_a_value_out_of_range_names_its_option(given: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        SimgragSettings(**given)  # pyright: ignore[reportArgumentType]


def test_a_seed_of_nothing_is_given_and_no_flag_is_not() -> None:
    options = MethodOptions({"seed": 0, "directed": False, "k": None})
    assert options.values == {"seed": 0}
    assert options.settings_of_each(["kg-rag", "kaping"])["kaping"] is None


def test_claims_have_options_of_their_own() -> None:
    assert isinstance(ClaimOptions({"k": 2}).settings("auto"), SimgragSettings)
    with pytest.raises(UsageError, match=r"--k: for .*, not for auto"):
        MethodOptions({"k": 2}).settings("auto")


def test_the_file_of_an_option_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_options(SimgragSettings, {"examples": str(tmp_path / "none.json")})
