"""SimGRAG against a server whose words are random.

Every question and claim ends in a typed result that is grounded.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.llm.managed import run_sync
from clew.llm.open import open_model
from clew.llm.providers import Settings as ModelSettings
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.verify import VerifyWithModel

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


CLAIMS = ("Christopher Nolan directed Memento.", "Zorblax is a film.")


def test_claims_asked_of_the_model_alone_end_in_typed_results(films, tiny_url):
    model = open_model(ModelSettings("openai/tiny", base_url=tiny_url, api_key="none", timeout=120))
    verifier = VerifyWithModel(films.index, films.embedder, model=model, settings=SimgragSettings(shots=0))
    try:
        for claim in CLAIMS:
            assert verifier.verify(claim).verdict in ("supported", "refuted", "not_enough_info"), claim
    finally:
        run_sync(model.close())
