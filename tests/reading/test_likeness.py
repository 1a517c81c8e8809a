"""Words of a question compared with those of the graph: with all that may be like them, no others."""

import random

import pytest

from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.query.vocabulary import Vocabulary
from clew.reading.likeness import WordMatcher
from clew.text.embedders import StaticEmbedder
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon

EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()


def made_up(count: int) -> list[str]:
    """Words that are not English, some of which share a stem."""
    draw = random.Random(7)
    stems = ["".join(draw.choice("bcdfgklmoprtuvz") for _ in range(7)) for _ in range(count // 2)]
    return [stem + ending for stem in stems for ending in ("ing", "ed")]


def matcher(relations: list[str], lexicon: Lexicon) -> WordMatcher:
    graph = graph_of([("a", relation, f"b{i}") for i, relation in enumerate(relations)])
    return WordMatcher(Vocabulary.of(graph, schema_of(graph)), EMBEDDER, lexicon)


def test_words_are_compared_with_all_of_a_graph_that_may_be_like_them() -> None:
    words = ["direct", "director", "dying", "writes", *made_up(200)]
    compare = matcher(words, LEXICON).compare
    for word in ("die", "directed", "writer", words[10], words[11].removesuffix("ed"), "stranger"):
        row = compare(word).exact_relations[0]
        assert row == pytest.approx([LEXICON.similarity(singular(word), singular(w)) for w in words])
