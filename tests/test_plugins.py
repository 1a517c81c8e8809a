"""Methods of a user's own, by name and as a class."""

import pytest

from clew.engine import Clew
from clew.errors import UsageError
from clew.evaluate.datasets.registry import dataset_named
from clew.types import Abstention, Answer


class Silent:
    """Says nothing."""

    name = "silent"

    def __init__(self, index, embedder):
        pass

    def answer(self, question, *, id=None, entities=()):
        reason = Abstention("not_in_evidence", "silence")
        return Answer(question, id=id, method=self.name, abstained=reason)


@pytest.fixture
def films(tmp_path):
    source = tmp_path / "films.tsv"
    source.write_text("Memento\tdirected_by\tNolan\n")
    with Clew.open(source, cache_dir=tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("method", [Silent, "test_plugins:Silent"])
def test_a_class_is_a_method(films, method):
    assert films.ask("Who directed Memento?", method=method).method == "silent"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_module:Silent", "ModuleNotFoundError"),
        ("test_plugins:Loud", "no 'Loud'"),
        ("broken:Silent", "SyntaxError"),
    ],
)
def test_what_cannot_be_imported_says_why(films, tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken.py").write_text("class Silent(:\n")
    with pytest.raises(UsageError, match=reason):
        films.ask("Who directed Memento?", method=name)
    with pytest.raises(UsageError, match=reason):
        dataset_named(name)
