"""SimGRAG against a server whose words are random.

Every question and claim ends in a typed result that is grounded.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.llm.open import open_model
from clew.llm.run import run_sync
from clew.llm.settings import Settings as ModelSettings
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.verify import VerifyWithModel

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"
REASONS = {"no_entity", "ambiguous_entity", "no_relation", "empty_result", "not_in_evidence", "budget"}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


QUESTIONS = ("Which films did Christopher Nolan direct?", "Did Zorblax direct Memento?")
CLAIMS = ("Christopher Nolan directed Memento.", "Zorblax is a film.")


def grounded(answer):
    """Whether an answer is proved by its triples, or is an abstention with a known reason."""
    if answer.abstained is not None:
        return not answer.answers and answer.abstained.reason in REASONS
    names = {n for c in answer.citations for t in c.triples for n in (t.head, t.relation, t.tail)}
    return all(a.entity in names | {"yes", "no"} or a.entity.isdigit() for a in answer.answers)


@pytest.mark.parametrize("options", [{}, {"candidates": 16}, {"schema": "none"}], ids=str)
def test_every_way_of_asking_ends_in_a_typed_result(films, tiny_url, options):
    model = open_model(ModelSettings("openai/tiny", base_url=tiny_url, api_key="none", timeout=120))
    settings = SimgragSettings(shots=0, **options)
    try:
        for method, question in zip(("simgrag", "auto"), QUESTIONS, strict=True):
            given = settings if method == "simgrag" else None
            assert grounded(films.ask(question, method=method, model=model, settings=given)), question
        result = films.verify(CLAIMS[1], model=model, settings=settings, closed_world=True)
        assert result.verdict in ("supported", "refuted", "not_enough_info")
    finally:
        run_sync(model.close())


def test_claims_asked_of_the_model_alone_end_in_typed_results(films, tiny_url):
    model = open_model(ModelSettings("openai/tiny", base_url=tiny_url, api_key="none", timeout=120))
    verifier = VerifyWithModel(films.index, films.embedder, model=model, settings=SimgragSettings(shots=0))
    try:
        for claim in CLAIMS:
            assert verifier.verify(claim).verdict in ("supported", "refuted", "not_enough_info"), claim
    finally:
        run_sync(model.close())
