"""Claims on the example graph, verified without a model."""

import json
import subprocess
import sys

import pytest

from clew import Clew, UsageError

KEYS = "id claim verdict abstained parts citations method model complete usage timings_ms notes"


def test_the_json_has_the_keys_of_the_contract(films):
    result = json.loads(json.dumps(films.verify("Memento is a film.", id="7").as_json()))
    assert list(result) == KEYS.split()
    assert list(result["parts"][0]) == ["text", "verdict", "triples"]
    assert (result["id"], result["method"], result["model"]) == ("7", "auto", None)
    assert result["usage"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize(
    "text",
    [
        *("?", "not", "2000", "\U0001f600", "and and and", "before", "it", "Memento", "a " * 300, "(((("),
        *("Memento " * 40, "Memento is longer than", "between 3 and", "\u202eNolan"),
        "Christopher Nolan directed 99999999999999999999999 films",
    ],
)
def test_any_text_gets_a_verdict_and_one_that_claims_nothing_is_not_supported(films, text):
    verdict = films.verify(text).verdict
    assert verdict in ("supported", "refuted", "not_enough_info")
    assert len(text.split()) > 2 or verdict == "not_enough_info"


def test_what_cannot_be_verified_is_said(films):
    with pytest.raises(UsageError, match="claim is empty"):
        films.verify("  ")
    with pytest.raises(UsageError, match="simgrag"):
        films.verify("Memento is a film.", method="other")
    with pytest.raises(UsageError, match="--llm"):
        films.verify("Memento is a film.", method="simgrag")


def test_a_name_before_a_verb_begins_a_clause_of_its_own():
    """*Research and Cy works in* is no list of what Bo works in."""
    staff = Clew.from_triples(
        [("Bo", "works in", "Research"), ("Cy", "works in", "Sales"), ("Bo", "reports to", "Ada Stone")]
    )
    said = staff.verify("Bo works in Research and Cy works in Research.")
    assert [part.verdict for part in said.parts] == ["supported", "refuted"]
    assert staff.verify("Bo works in Research and Cy works in Sales.").verdict == "supported"


def test_none_of_very_many_is_so_only_if_something_else_is_recorded_of_each() -> None:
    triples = [(f"Grant {n}", "type", "Grant") for n in range(1_200)]
    triples += [(f"Grant {n}", "status", "closed") for n in range(1_000)]
    triples += [("Trust", "type", "Fund"), ("Trust", "status", "active")]
    with Clew.from_triples(triples) as clew:
        assert clew.verify("No grants are active.").verdict == "not_enough_info"


def test_without_a_model_verify_imports_nothing_of_llm():
    code = (
        "import sys; from clew import Clew\n"
        "with Clew.from_triples([('Heat', 'directed_by', 'Michael Mann')]) as clew:\n"
        "    assert clew.verify('Michael Mann directed Heat.').verdict == 'supported'\n"
        "print([name for name in sys.modules if name.startswith('clew.llm')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
