"""SimGRAG against a server whose words are random.

Every question and claim ends in a typed result that is grounded.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.llm.open import open_model
from clew.llm.run import run_sync
from clew.llm.settings import Settings as ModelSettings
from clew.methods.simgrag import Settings, SimGRAG
from clew.methods.verify_llm import VerifyWithModel

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"
REASONS = {"no_entity", "ambiguous_entity", "no_relation", "empty_result", "not_in_evidence", "budget"}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def test_questions_and_claims_end_in_typed_results(films, tiny_url):
    model = open_model(ModelSettings("openai/tiny", base_url=tiny_url, api_key="none", timeout=120))
    shots = Settings(shots=0)
    method = SimGRAG(films.index, films.embedder, model=model, settings=shots)
    verifier = VerifyWithModel(films.index, films.embedder, model=model, settings=shots)
    try:
        for question in ("Who directed Memento?", "Which films did Christopher Nolan direct?"):
            answer = method.answer(question)
            grounded = {
                film for c in answer.citations for t in c.triples for film in (t.head, t.relation, t.tail)
            }
            assert {a.entity for a in answer.answers} <= grounded | {"yes", "no"}
            assert answer.answers or answer.abstained.reason in REASONS
        result = verifier.verify("Christopher Nolan directed Memento.")
        assert result.verdict in ("supported", "refuted", "not_enough_info")
    finally:
        run_sync(model.close())
