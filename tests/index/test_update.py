"""An updated index equals one of the changed graph, and is whole or as it was."""

import random

import numpy as np
import pytest
from film_corpus import EMBEDDER, FILMS, assert_same_corpus, said_by_a_model

from clew.graph.build import graph_of
from clew.graph.edit import GraphEdit, edited
from clew.index.build import build_corpus, build_index
from clew.index.corpus import CorpusSettings
from clew.index.names import NamesIndex
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index, updated_corpus
from clew.llm.testing import ScriptedModel
from clew.methods.walk_retrieve.verbalise import ModelVerbaliser


@pytest.fixture
def films(tmp_path):
    source = tmp_path / "films.tsv"
    source.write_text(FILMS)
    path = tmp_path / "films.clew"
    build_index([source], path, embedder=EMBEDDER, corpus=CorpusSettings("bfs", 3, max_walks=6))
    return path


@pytest.mark.parametrize("seed", range(8))
def test_a_corpus_after_edits_equals_one_of_the_changed_graph(seed, tmp_path):
    rng, said = random.Random(seed), seed >= 6

    def verbaliser(name):
        return ModelVerbaliser(ScriptedModel(said_by_a_model), tmp_path / name) if said else None

    size = rng.choice([5, 12, 30, 60])
    names, hub = [f"n{i}" for i in range(size)], rng.random() < 0.5

    def tail():
        return names[0] if hub and rng.random() < 0.3 else rng.choice(names)

    triples = {
        (rng.choice(names), rng.choice("rs"), tail()) for _ in range(int(size * rng.choice([1, 1.5, 3])))
    }
    graph = graph_of(sorted(triples))
    options = CorpusSettings(
        rng.choice(["bfs", "bfs", "random"]), rng.randint(1, 5), rng.choice([3, 10]), rng.choice([3, 8, 20]),
        rng.random() < 0.3, seed, seed % 4 == 3,
    )  # fmt: skip
    held = {graph.triple(i) for i in range(graph.triples)}
    corpus = build_corpus(graph, EMBEDDER, options, verbaliser=verbaliser("built"))
    for step in range(4):
        removed = rng.sample(sorted(held), min(rng.choice([0, 1, 1, 3]), len(held) - 1))
        new = [f"new{graph.nodes}"] if rng.random() < 0.3 else []
        count = graph.nodes + len(new)
        draws = [
            (rng.randrange(count), rng.randrange(len(graph.relations)), rng.randrange(count))
            for _ in range(2)
        ]
        added = sorted({draw for draw in draws if rng.random() < 0.7} - held)
        edit = GraphEdit(rows(added), rows(sorted(removed)), new, new, [None] * len(new))
        before, ((graph, _), held) = graph, (edited(graph, edit), (held - set(removed)) | set(added))
        corpus, _ = updated_corpus(
            corpus, before, graph, edit, EMBEDDER, verbaliser=verbaliser(f"updated {step}")
        )
        assert_same_corpus(
            corpus, build_corpus(graph, EMBEDDER, options, verbaliser=verbaliser(f"built {step}"))
        )


def rows(triples):
    return np.array(triples, np.int64).reshape(-1, 3)


@pytest.mark.parametrize("seed", range(3))
def test_names_after_aliases_came_and_went_are_those_of_the_graph(films, seed):
    rng, names, held = random.Random(seed), ["Memento", "Tenet", "Heat", "Nolan", "Mann"], []
    for step in range(4):
        new, gone = f"new {step}", rng.sample(held, min(len(held), rng.randrange(3)))
        added = [(rng.choice(names), f"also {step}"), (new, "young")]
        held = [alias for alias in held if alias not in gone] + added
        edits = Edits(
            add=[(new, "near", rng.choice(names))], add_aliases=added, remove_aliases=gone,
            add_types=[(rng.choice(names), f"kind {step}")],
        )  # fmt: skip
        update_index(films, edits, embedder=EMBEDDER)
        index = open_index(films, verify=True)
        graph, aliases = index.graph, index.graph.aliases
        for name, array in NamesIndex.of(graph).sections().items():
            np.testing.assert_array_equal(index.names.sections()[name], array, name)
        called = zip(aliases.entity, aliases.names, strict=True)
        assert sorted((graph.entities[int(e)], n) for e, n in called) == sorted(held)


def test_a_duplicate_is_counted_and_an_update_of_nothing_is_no_generation(films):
    edits = Edits(add=[("Heat", "year", "1995")])
    done = update_index(films, edits, embedder=EMBEDDER)
    assert (done.report.added, done.report.duplicates, done.manifest.generation) == (0, 1, 1)


def test_an_entity_that_is_removed_loses_all_and_keeps_its_id(films):
    before = open_index(films)
    update_index(films, Edits(remove_entities=["Nolan"]), embedder=EMBEDDER)
    after = open_index(films)
    assert after.graph.triples == before.graph.triples - 2
    assert list(after.graph.entities) == list(before.graph.entities)
