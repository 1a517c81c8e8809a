"""How sure a reading is, and a file of trees that cannot be read."""

from pathlib import Path

import numpy as np
import pytest

from clew import Clew
from clew.errors import EmbedderError
from clew.reading.certainty import OF_MEANING
from clew.reading.fitted import Trees


@pytest.mark.parametrize("damage", [b"", b"not trees"])
def test_a_damaged_file_says_what_to_do(damage: bytes, tmp_path: Path):
    (tmp_path / "certainty.npz").write_bytes(damage)
    with pytest.raises(EmbedderError, match="Install clew again"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_trees_of_other_features_are_refused(tmp_path: Path):
    np.savez(tmp_path / "certainty.npz", names=np.array(["share"]))
    with pytest.raises(EmbedderError, match="another version"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_what_signs_tell_against_does_not_come_before_the_likeliest(films: Clew):
    answer = films.ask("How many science fiction films were released in the 1980s?")
    assert "the 1980s" in (answer.reading or answer.alternatives[0].reading)


def test_a_graph_that_lacks_the_relation_is_no_answer(tmp_path: Path):
    triples = [(f"Film {n}", "directed_by", f"Person {n % 7}") for n in range(40)]
    with Clew.from_triples(triples) as graph:
        assert graph.ask("Who directed Film 3?").text == "Person 3"
        assert not graph.ask("Which studio paid for Film 3?").answers
