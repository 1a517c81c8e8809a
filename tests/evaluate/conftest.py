"""A small plain data set."""

import json

import pytest

QUESTIONS = [
    {
        "id": "a",
        "question": "Who directed Memento?",
        "gold": ["Christopher Nolan"],
        "entities": ["Memento"],
        "paths": [["Memento", "directed_by"]],
        "kind": "one",
    },
    {"id": "b", "question": "Who directed Heat?", "gold": [["Michael Mann", "M. Mann"]], "kind": "one"},
    {
        "id": "c",
        "question": "Which films did Christopher Nolan direct?",
        "gold": ["Memento", "Inception", "Dunkirk"],
    },
    {"id": "d", "question": "Who composed the music of Heat?", "gold": []},
]
TRIPLES = [
    ("Memento", "directed_by", "Christopher Nolan"),
    ("Inception", "directed_by", "Christopher Nolan"),
    ("Heat", "directed_by", "Michael Mann"),
    ("Heat", "year", "1995"),
]


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """A directory in the plain format; gold of c is in the graph only in part."""
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "graph.tsv").write_text("".join("\t".join(t) + "\n" for t in TRIPLES))
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    return folder
