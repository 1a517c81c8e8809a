"""Exact, span and typo look-ups equal a search through all names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from clew.index import names as names_module
from clew.index.names import NameHit, NamesIndex, edits_allowed
from clew.text.normalise import POSSESSIVE, normalise, tokens

WORDS = st.lists(
    st.sampled_from(["The", "the", "King", "king's", "S", "s", "fall", "É", "e", "12", "❤", "O'Neil", "a_b"]),
    min_size=1,
    max_size=4,
).map(" ".join)
LETTERS = st.text("abcé A'", min_size=1, max_size=14)
LONGER = st.text("abcdefgh", min_size=9, max_size=20)


@pytest.fixture(scope="session")
def index_of(graph_of):
    def make(names, aliases=()):
        return NamesIndex.of(graph_of(list(names), aliases=list(aliases)))

    return make


def called(names, aliases):
    """All (string, entity, kind number)."""
    return [(n, i, 0) for i, n in enumerate(names)] + [(a, e, 2) for a, e in aliases]


def slow_exact(names, aliases, norm, is_written):
    best = {}
    for string, entity, kind in called(names, aliases):
        if norm and normalise(string) == norm:
            rank = (not is_written(string), kind)
            best[entity] = min(rank, best.get(entity, rank))
    ranked = sorted((*rank, entity) for entity, rank in best.items())
    return tuple(NameHit(e, ("name", "label", "alias")[kind], not other) for other, kind, e in ranked)


def slow_fuzzy(names, aliases, text):
    best, norm = {}, normalise(text)
    for string, entity, _ in called(names, aliases):
        name = normalise(string)
        edits = OSA.distance(norm, name)
        if edits <= edits_allowed(min(len(norm), len(name))) and norm:
            rank = (edits, edits / max(len(norm), len(name)))
            best[entity] = min(rank, best.get(entity, rank))
    return [(e, edits) for edits, _, e in sorted((*rank, e) for e, rank in best.items())]


@settings(max_examples=80)
@given(st.lists(WORDS, unique=True, min_size=1, max_size=12), st.lists(WORDS, max_size=4), WORDS)
def test_exact_is_a_search_through_all_names(index_of, names, others, text):
    aliases = [(alias, i % len(names)) for i, alias in enumerate(others)]
    index = index_of(names, aliases)
    for query in (text, *names):
        written = query.replace("_", " ")
        expected = slow_exact(names, aliases, normalise(query), lambda n, w=written: n.replace("_", " ") == w)
        assert index.exact(query) == expected


@settings(max_examples=80)
@given(st.lists(WORDS, unique=True, min_size=1, max_size=12), st.lists(WORDS, max_size=4))
def test_spans_are_all_spans_that_name_an_entity(index_of, names, words):
    question = " ".join(words)
    split, index = tokens(question), index_of(names)
    expected = []
    for i, token in enumerate(split):
        if token.norm == POSSESSIVE and i and split[i - 1].stop == token.start:
            continue
        for j in range(i + 1, min(i + 3, len(split)) + 1):
            norm = normalise(question[token.start : split[j - 1].stop])
            entities = {e for n, e, _ in called(names, ()) if normalise(n) == norm}
            if entities:
                expected.append((i, j, entities))
    found = index.spans(question, split, longest=3)
    assert [(s.start, s.stop, {h.entity for h in s.hits}) for s in found] == expected


@settings(max_examples=150)
@given(st.lists(st.one_of(LETTERS, LONGER), unique=True, min_size=1, max_size=25), st.data())
def test_fuzzy_finds_every_name_within_the_edits(index_of, names, data):
    query = list(data.draw(st.sampled_from(names)))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(query)))
        query[at : at + data.draw(st.integers(0, 1))] = data.draw(st.sampled_from(["", "a", "z", "c"]))
    text = "".join(query)
    aliases = [("abcdefgh", 0)]
    hits = index_of(names, aliases).fuzzy(text, limit=100)
    assert [(h.entity, h.edits) for h in hits] == slow_fuzzy(names, aliases, text)


def test_twins_by_letter_case_are_both_found_and_the_written_one_is_first(index_of):
    index = index_of(["ted danson", "Ted Danson"])
    question = "who is Ted Danson's friend"
    span = next(s for s in index.spans(question, tokens(question)) if s.stop - s.start == 2)
    assert span.hits == (NameHit(1, "name", True), NameHit(0, "name", False))


def test_a_span_is_exact_with_the_punctuation_around_it(index_of):
    index = index_of(["Airplane!", "airplane", "Christopher_Nolan"])
    for question, entity, exact in [
        ("who made Airplane!", 0, True),
        ("who made airplane?", 1, True),
        ("is Christopher Nolan here", 2, True),
        ("is christopher nolan here", 2, False),
    ]:
        (span,) = index.spans(question, tokens(question))
        assert (span.hits[0].entity, span.hits[0].exact) == (entity, exact)


def test_labels_and_aliases_name_the_entity_and_typos_are_sought_in_labels(graph_of):
    graph = graph_of(["http://x.org/Q1", "plain"], ["Christopher Nolan", "plain"], [("Kit Nolan", 0)])
    index = NamesIndex.of(graph)
    assert index.exact("Christopher Nolan") == (NameHit(0, "label", True),)
    assert index.exact("kit nolan") == (NameHit(0, "alias", False),)
    assert index.exact("http://x.org/Q1") == (NameHit(0, "name", True),)
    assert [h.entity for h in index.fuzzy("Kristopher Nolan")] == [0]
    assert index.fuzzy("http://x.org/Q2") == []


def test_a_hash_collision_is_no_answer(index_of, monkeypatch):
    def one_hash(norms):
        return np.zeros(len(norms), np.uint64)

    monkeypatch.setattr(names_module, "hash_norms", one_hash)
    index = index_of(["Alpha", "Beta", "Gamma"])
    assert [h.entity for h in index.exact("beta")] == [1]
    assert index.exact("delta") == ()
    assert [s.hits[0].entity for s in index.spans("is Gamma it", tokens("is Gamma it"))] == [2]


@pytest.mark.parametrize("name", ["", "!!!", "🎬", "x" * 5000, "-v", "--help", "\x00", "a\tb", "שלום"])
def test_strange_names_are_found_by_themselves(index_of, name):
    index = index_of(["other", name])
    hits = index.exact(name)
    assert [h.entity for h in hits] == ([1] if normalise(name) else [])
    assert all(h.exact for h in hits)
