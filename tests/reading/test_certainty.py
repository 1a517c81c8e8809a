"""How sure a reading is: the trees, what they are given, and a file that cannot be read."""

from pathlib import Path

import numpy as np
import pytest

from clew import Clew
from clew.errors import EmbedderError
from clew.methods.built_in import built_in_reader
from clew.query.execute import Executor
from clew.reading.answer import meanings_of
from clew.reading.certainty import OF_ANSWERED, OF_MEANING, how_sure, rows_of
from clew.reading.placing import PLACED
from clew.reading.trees import MODEL, Trees


def two_trees() -> Trees:
    """The first says 1 above 0.5 of the first feature, else -1; the second 2 above 3 of the second one."""
    return Trees(
        feature=np.array([[0, 0, 0], [1, 0, 0]], np.int32),
        least=np.array([[0.5, 0, 0], [3, 0, 0]], np.float32),
        low=np.array([[1, 1, 2], [1, 1, 2]], np.int32),
        high=np.array([[2, 1, 2], [2, 1, 2]], np.int32),
        value=np.array([[0, -1, 1], [0, 0, 2]], np.float32),
        start=0.5,
        depth=1,
        others={},
    )


def test_trees_add_what_their_leaves_say():
    sure = two_trees().of(np.array([[0.5, 3], [0.6, 3], [0.6, 4]], np.float32))
    assert sure == pytest.approx(1 / (1 + np.exp([0.5, -1.5, -3.5])))


@pytest.mark.parametrize(
    ("name", "features"),
    [("certainty.npz", OF_MEANING), ("answered.npz", OF_ANSWERED), ("placing.npz", PLACED)],
)
def test_the_shipped_trees_know_the_features_of_today(name: str, features: tuple[str, ...]):
    trees = Trees.open(MODEL / name, features)
    assert trees.feature.max() < len(features)
    rows = np.zeros((2, len(features)), np.float32)
    assert ((trees.of(rows) > 0) & (trees.of(rows) < 1)).all()


@pytest.mark.parametrize("damage", [b"", b"not trees"])
def test_a_damaged_file_says_what_to_do(damage: bytes, tmp_path: Path):
    (tmp_path / "certainty.npz").write_bytes(damage)
    with pytest.raises(EmbedderError, match="Install clew again"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_trees_of_other_features_are_refused(tmp_path: Path):
    np.savez(tmp_path / "certainty.npz", names=np.array(["share"]))
    with pytest.raises(EmbedderError, match="another version"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_meanings_are_known_by_a_row_each_and_it_is_told_how_sure_each_is(films: Clew):
    reader = built_in_reader(films.index, films.embedder).reader
    reading = reader.read("Who directed Memento?")
    meanings = meanings_of(Executor(reader.graph), reader.vocabulary, reading)
    rows = rows_of(reader.vocabulary, reading, meanings)
    assert rows.shape == (len(meanings), len(OF_MEANING))
    assert [m.share for m in meanings] == sorted((m.share for m in meanings), reverse=True)
    sure = how_sure(reader.vocabulary, reading, meanings)
    assert sure.argmax() == 0
    assert 0.5 < sure[0] < 1


def test_what_signs_tell_against_does_not_come_before_the_likeliest(films: Clew):
    answer = films.ask("How many science fiction films were released in the 1980s?")
    assert "the 1980s" in (answer.reading or answer.alternatives[0].reading)


def test_a_graph_that_lacks_the_relation_is_no_answer(tmp_path: Path):
    triples = [(f"Film {n}", "directed_by", f"Person {n % 7}") for n in range(40)]
    with Clew.from_triples(triples) as graph:
        assert graph.ask("Who directed Film 3?").text == "Person 3"
        assert not graph.ask("Which studio paid for Film 3?").answers
