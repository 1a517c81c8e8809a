"""An index of sources holds their graph, names and vectors, and says what it was made from."""

from pathlib import Path

import pytest

from clew.errors import InputError, ParseError
from clew.index.build import build_index
from clew.index.store.directory import open_index
from clew.text.embedders import embedder as embedder_of

METAQA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "metaqa" / "kb.txt.gz"


@pytest.fixture
def films(tmp_path):
    file = tmp_path / "films.tsv"
    file.write_text("Memento\tdirected_by\tChristopher Nolan\nMemento\treleaseYear\t2000\n")
    (tmp_path / "t.tsv").write_text("Memento\tfilm\n")
    (tmp_path / "a.tsv").write_text("Christopher Nolan\tKit\n")
    return file


def test_an_index_of_files(films, tmp_path, letters):
    out, stages = tmp_path / "films.clew", []
    built = build_index(
        [films],
        out,
        embedder=letters,
        types=tmp_path / "t.tsv",
        aliases=tmp_path / "a.tsv",
        progress=lambda *step: stages.append(step),
    )
    index = open_index(out, verify=True)
    assert index.manifest.to_json() == built.manifest.to_json()
    assert index.manifest.about.counts == {
        "entities": 3,
        "literals": 0,
        "relations": 2,
        "triples": 2,
        "types": 1,
        "aliases": 1,
    }
    assert [(Path(s.path).name, s.role) for s in index.manifest.about.sources] == [
        ("films.tsv", "source"),
        ("t.tsv", "types"),
        ("a.tsv", "aliases"),
    ]
    assert index.manifest.about.report["triples_read"] == 2
    assert index.names.exact("kit")[0].entity == index.names.exact("Christopher Nolan")[0].entity == 1
    assert stages[0][0] == "read"
    assert [s for s in stages if s[0] == "vectors"][-1] == ("vectors", 3, 3)


def test_an_error_in_a_source_leaves_the_old_index(films, tmp_path, letters):
    out = tmp_path / "films.clew"
    build_index([films], out, embedder=letters)
    films.write_text("only two\tfields\n")
    with pytest.raises(ParseError, match=r"films\.tsv:1"):
        build_index([films], out, embedder=letters)
    assert open_index(out, verify=True).graph.triples == 2
    with pytest.raises(InputError, match=r"absent\.tsv"):
        build_index([tmp_path / "absent.tsv"], tmp_path / "new.clew", embedder=letters)
    assert not (tmp_path / "new.clew").exists()


def test_the_same_sources_give_the_same_files(films, tmp_path, letters):
    builds = [build_index([films], tmp_path / name, embedder=letters) for name in ("a.clew", "b.clew")]
    assert builds[0].manifest.files == builds[1].manifest.files


def test_metaqa_is_small_and_its_names_are_found(tmp_path):
    if not METAQA.exists():
        pytest.skip("the MetaQA graph is not beside the repository")
    out = tmp_path / "metaqa.clew"
    built = build_index([METAQA], out, embedder=embedder_of())
    assert built.manifest.about.counts["entities"] == 43_234
    assert built.manifest.about.counts["triples"] == 133_582
    assert sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) < 60_000_000
    index = open_index(out)
    assert [index.graph.entities[h.entity] for h in index.names.exact("ted danson")] == [
        "ted danson",
        "Ted Danson",
    ]
    assert "The Shawshank Redemption" in {
        index.graph.entities[h.entity] for h in index.names.fuzzy("shawshank redemptoin, the")
    } | {index.graph.entities[h.entity] for h in index.names.fuzzy("the shawshenk redemptoin")}
