"""What a source is, and what is refused before anything is read or changed."""

from pathlib import Path

import pytest

from clew import Clew, UsageError
from clew.opening.graph_view import is_index, local_paths, refuse_options, update_index_by

TRIPLES = [("Memento", "directed_by", "Nolan"), ("Heat", "directed_by", "Mann")]


def test_an_index_is_told_by_its_name_or_its_manifest(tmp_path):
    (tmp_path / "manifest.json").touch()
    assert is_index(tmp_path / "later.clew")
    assert is_index(tmp_path)
    assert not is_index(tmp_path / "films.tsv")


def test_addresses_and_nothing_are_refused():
    assert local_paths(["films.tsv"]) == [Path("films.tsv")]
    for sources in (["neo4j://localhost"], ["s3://bucket/kb.clew"], []):
        with pytest.raises(UsageError):
            local_paths(sources)


def test_an_option_for_files_is_refused_for_an_index(tmp_path):
    refuse_options(tmp_path, {"types": None, "format": None})
    with pytest.raises(UsageError, match="'format' is for graph files"):
        refuse_options(tmp_path, {"types": None, "format": "csv"})


def test_triples_and_files_change_an_index_together(tmp_path):
    (tmp_path / "more.tsv").write_text("Tenet\tdirected_by\tNolan\n")
    with Clew.from_triples(TRIPLES) as films:
        updated = films.update([tmp_path / "more.tsv", ("Insomnia", "directed_by", "Nolan")], [TRIPLES[1]])
        assert (updated.report.added, updated.report.removed) == (2, 1)
        assert {t.head for t in films.triples()} == {"Memento", "Tenet", "Insomnia"}


@pytest.mark.parametrize("option", ["format", "hints"])
def test_how_files_are_read_is_not_said_of_triples(tmp_path, option):
    with Clew.from_triples(TRIPLES) as films, pytest.raises(UsageError, match=f"'{option}' is for files"):
        update_index_by(films.path, TRIPLES, (), embedder=films.embedder, **{option: None})
