"""Names that may be meant by one that a graph lacks."""

from clew.engine import Clew
from clew.index.build import build_index
from clew.index.update.edits import EditFiles
from clew.opening.graph_view import update_index_files
from clew.text.embedders import StaticEmbedder


def test_a_question_is_not_told_of_what_was_removed(tmp_path):
    (tmp_path / "firms.tsv").write_text("Globex\tled_by\tHank\nGlobix\tled_by\tBill\n")
    (tmp_path / "gone.tsv").write_text("Globex\tled_by\tHank\n")
    path = tmp_path / "firms.clew"
    build_index([tmp_path / "firms.tsv"], path, embedder=StaticEmbedder.load())
    update_index_files(path, EditFiles(remove=[tmp_path / "gone.tsv"]))
    with Clew.open(path) as clew:
        for given in ({"entities": ["Globexx"]}, {}):
            answer = clew.ask("Who leads Globexx?", **given)
            assert answer.abstained is not None
            assert "Globex" not in answer.abstained.candidates
            assert "Globix" in answer.abstained.candidates


def test_a_name_that_was_removed_is_no_typo_of_another(tmp_path):
    (tmp_path / "firms.tsv").write_text("Globex\tled_by\tHank\nGlobix\tled_by\tBill\n")
    (tmp_path / "gone.tsv").write_text("Globex\tled_by\tHank\n")
    path = tmp_path / "firms.clew"
    build_index([tmp_path / "firms.tsv"], path, embedder=StaticEmbedder.load())
    update_index_files(path, EditFiles(remove=[tmp_path / "gone.tsv"]))
    with Clew.open(path) as clew:
        answer = clew.ask("Who leads Globex?")
        assert answer.answers == ()
        assert clew.ask("Who leads Globyx?").answers[0].entity == "Bill"
