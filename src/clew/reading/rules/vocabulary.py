"""How a graph would be spoken of: the words of its relations, of its node types, and their classes.

Made once per open index from the schema; a question is then compared with it by a few array operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.implied_types import class_relations, relation_path, typing_relations
from clew.graph.schema import Schema
from clew.reading.rules.english import ASKING_TYPES, FORMER, FUNCTION
from clew.reading.rules.thesaurus import ALIKE, groups_of
from clew.text.embedder import Embedder
from clew.text.lexicon import CLASSES, Lexicon
from clew.text.normalise import normalise

Float = NDArray[np.float64]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_GLUED = re.compile(r"\b([a-z]{3,}(?:ed|en|wn))(by|in|at|from)\b")


def label_words(label: str) -> list[str]:
    """Words of a relation's or type's name: `has_imdbRating` → has, imdb, rating.

    Of a path (`film.film.directed_by`) those of the last part; `containedby` is contained, by.
    """
    words = normalise(_CAMEL.sub(" ", relation_path(label)[-1]))
    return _GLUED.sub(r"\1 \2", words).split()


def content_words(words: Sequence[str]) -> list[str]:
    """Those that are not function words; all of them if there are no others."""
    return [w for w in words if w not in FUNCTION] or list(words)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of a graph with R relations and S = 2R steps.

    `labels[r]`: the words of the label, `relation_words[r]`: those with content. `relation_vectors` [R,
    d]. `word_index`: content word → row of `word_vectors` [V, d] and of `word_relation` [V, R], which is 1
    / sqrt(number of relations with the word) where the relation has it, else 0. `end_vectors` [S, d]: of
    the type of the end's nodes; `richness` [S]: how much their relations tell of it. `type_words`: of the
    T declared types; `type_share` [S, T]: share of the end's nodes of that type. `role` [S, R]: share of
    the end's nodes that are tails of each relation, `heads` [S, R]: that are heads of it; `acts` [S, R]:
    the same where its name is a verb (`active` [R]). `inverse` [R]: as in the schema. `classes` [S, C]: how
    likely the end's nodes are of each of the lexicon's noun classes. `typing`: the relations from things to
    their types and from types to wider ones, which lead nowhere; `domains`: words by which relations are
    grouped (`music.album.artist`).
    """

    labels: tuple[tuple[str, ...], ...]
    relation_words: tuple[tuple[str, ...], ...]
    relation_vectors: Float
    word_index: dict[str, int]
    word_vectors: Float
    word_relation: Float
    end_vectors: Float
    richness: Float
    type_words: tuple[tuple[str, ...], ...]
    type_share: Float
    classes: Float
    role: Float
    heads: Float
    acts: Float
    active: NDArray[np.bool_]
    inverse: NDArray[np.int64]
    embedder: Embedder
    lexicon: Lexicon
    typing: tuple[int, ...] = ()
    domains: frozenset[str] = frozenset()

    def types_named(self, word: str) -> list[int]:
        """The declared types whose name, or the noun at its end (*agency*: `SpaceAgency`), a word is."""
        if not self.type_words:
            return []
        forms = {word, *self.lexicon.lemmas(word)}
        whole = sorted({t for form in forms for t in self.type_forms.get(form, ())})
        return whole or sorted({t for form in forms for t in self.type_heads.get(form, ())})

    @cached_property
    def type_forms(self) -> dict[str, list[int]]:
        """The declared types with a name of one word, by its forms."""
        return self._forms([names if len(names) == 1 else () for names in self.type_words])

    @cached_property
    def type_heads(self) -> dict[str, list[int]]:
        """The declared types with a longer name, by the forms of its last word."""
        heads = [
            names if len(names) > 1 and names[-1] not in ASKING_TYPES else () for names in self.type_words
        ]
        return self._forms(heads)

    def _forms(self, names: Sequence[Sequence[str]]) -> dict[str, list[int]]:
        forms: dict[str, list[int]] = {}
        for t, words in enumerate(names):
            if words:
                for form in {words[-1], *self.lexicon.lemmas(words[-1])}:
                    forms.setdefault(form, []).append(t)
        return forms

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The words of relations and types, in alphabetical order."""
        return tuple(sorted({*self.word_index, *(w for words in self.type_words for w in words)}))

    @cached_property
    def past(self) -> NDArray[np.bool_]:
        """Bool [R]: relations that hold no longer (`former_club`)."""
        return np.array([bool(FORMER & set(label)) for label in self.labels], bool)

    def near(self, word: str, other: str) -> float:
        """Lexical similarity of two words: the lexicon's, or that of one group of the thesaurus."""
        lemmas = self.lexicon.lemmas
        alike = ALIKE if groups_of(word, lemmas) & groups_of(other, lemmas) else 0.0
        return max(alike, self.lexicon.similarity(word, other))


def _unit(rows: Float) -> Float:
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norm > 0, norm, 1.0)


def class_row(lexicon: Lexicon, word: str) -> Float:
    """[C]: the noun classes of a word, twice their share of its senses, at most 1."""
    row = np.zeros(len(CLASSES))
    if word in HUMANS:
        row[CLASSES.index("person")] = 1.0
        return row
    for name, share in lexicon.classes(word).items():
        row[CLASSES.index(name)] = share
    return np.minimum(2 * row, 1.0)


HUMANS = frozenset("human humans".split())
"""Persons, whom WordNet takes for animals."""


def is_noun(lexicon: Lexicon, word: str) -> bool:
    """Whether the word as it stands can be a noun; *starred* and *directing* are forms of verbs."""
    inflected = word.endswith(("ed", "ing")) and lexicon.lemmas(word)[:1] != (word,)
    return not inflected and bool(lexicon.classes(word))


RICH = 1.5
"""Mean number of further ends from which a node's relations say what type it is."""
LEAST_COMPANY = 0.5
"""Weight of other ends of known class from which they say of what class a node is."""
PARTICLES = frozenset("in at near to from through into onto on with for over under about as".split())
"""After one of these, the word before is what is done (`flows_through`), not what the tail is."""
INVERTED = frozenset("inverse inv reverse reversed".split())
"""With one of these in its name a relation runs the other way than the rest of the name says."""
ACTING, PLACED = 0.4, 0.6
"""How likely who acts is a person, and what stands after *in* a place."""


def names_tail(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a relation's name says what person its tails are: before *by*, or a noun (`starred_actors`)."""
    if INVERTED & set(words):
        return False
    person = CLASSES.index("person")
    nouns = any(is_noun(lexicon, w) and class_row(lexicon, w)[person] > 0.5 for w in words)
    return bool(words) and words[-1] != "of" and (words[-1] == "by" or nouns)


def acts(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether the name of a relation says what its heads do: a verb (`plays_in_club`, `influenced`).

    Not before *by*, nor a participle before a particle (`founded_in`): there the heads are acted on.
    """
    if not words or names_tail(words, lexicon) or INVERTED & set(words):
        return False
    placed = words[-1] in PARTICLES
    return any(
        lexicon.agent(w)
        and not w.endswith("ing")
        and (w.endswith("s") or (not placed and not is_noun(lexicon, w)))
        for w in words
        if w not in FUNCTION
    )


def class_fit(classes: Float, wanted: Mapping[str, float]) -> Float:
    """[S]: how well each end's nodes fit the wanted classes, each with its weight."""
    return np.stack([weight * classes[:, CLASSES.index(c)] for c, weight in wanted.items()]).max(axis=0)


def _end_classes(
    schema: Schema,
    words: Sequence[Sequence[str]],
    full: Sequence[Sequence[str]],
    types: Sequence[Sequence[str]],
    share: Float,
    lexicon: Lexicon,
) -> Float:
    """Class of each end's nodes: from the relation's own words, from parsed values, then from its company.

    The noun in a relation's name says what its tails are (*place of birth*: the first of an *of* phrase, else
    the last); a verb says who acts: its heads, or its tails before *by*.
    """
    own = np.zeros((2 * len(words), len(CLASSES)))
    for r, (content, every) in enumerate(zip(words, full, strict=True)):
        # What is done says nothing of whom it is done to.
        nouns = [
            w for w in content if lexicon.classes(w) and not (len(every) == 1 and lexicon.mostly_verb(w))
        ]
        if every and every[-1] == "by":
            own[2 * r + 1, CLASSES.index("person")] = 0.8
        elif acts(every, lexicon):
            own[2 * r, CLASSES.index("person")] = ACTING
        if every and every[-1] in ("in", "at", "near") and schema.numbers[2 * r + 1] < 0.5:
            own[2 * r + 1, CLASSES.index("location")] = PLACED
        if nouns and every[-1] not in PARTICLES and every[-1] != "by":
            named = len(nouns) > 1 and nouns[-1] == "name"  # `contactName` holds contacts
            noun = nouns[0] if "of" in every and every[-1] != "of" else nouns[-2] if named else nouns[-1]
            end = 2 * r if every[-1] == "of" else 2 * r + 1
            own[end] = np.maximum(own[end], class_row(lexicon, noun))
    if share.shape[1]:
        # Declared types say it, not names: what a law is `replaced_by` is no person.
        own[share.max(axis=1) >= WHOLLY] = 0.0
    for t, names in enumerate(types):
        row = (
            class_row(lexicon, names[-1]) if names and is_noun(lexicon, names[-1]) else np.zeros(len(CLASSES))
        )
        own = np.maximum(own, share[:, t : t + 1] * row[None])
    quantity, time = CLASSES.index("quantity"), CLASSES.index("time")
    years = schema.numbers * schema.years
    own[:, quantity] = np.maximum(own[:, quantity], schema.numbers)
    own[:, time] = np.maximum(own[:, time], np.maximum(schema.dates, years))
    company = schema.cooccur / np.maximum(schema.nodes[:, None], 1)
    telling = company * (own.max(axis=1) > 0)[None]
    spread = telling @ own / np.maximum(telling.sum(axis=1, keepdims=True), LEAST_COMPANY)
    return np.clip(np.maximum(own, spread), 0, 1)


def vocabulary_of(graph: Graph, schema: Schema, embedder: Embedder, lexicon: Lexicon) -> Vocabulary:
    """Read the words of a graph."""
    company = schema.cooccur / np.maximum(schema.nodes[:, None], 1)
    full = [label_words(label) for label in graph.relation_labels]
    words = [tuple(content_words(f)) for f in full]
    index = {w: i for i, w in enumerate(sorted({w for ws in words for w in ws}))}
    counts = np.zeros(len(index))
    for ws in words:
        for w in set(ws):
            counts[index[w]] += 1
    word_relation = np.zeros((len(index), len(words)))
    for r, ws in enumerate(words):
        for w in ws:
            word_relation[index[w], r] = 1.0 / np.sqrt(counts[index[w]])
    relation_vectors = embedder.embed([" ".join(ws) for ws in words]).astype(np.float64)
    ends = np.repeat(relation_vectors, 2, axis=0)
    end_vectors = _unit(company @ ends)
    richness = np.clip((company.sum(axis=1) - 1) / RICH, 0.0, 1.0)
    types = [tuple(content_words(label_words(name))) for name in graph.types.names]
    share = schema.typed / np.maximum(schema.nodes[:, None], 1)
    active = np.array([acts(f, lexicon) for f in full], float)
    return Vocabulary(
        tuple(tuple(f) for f in full),
        tuple(words),
        relation_vectors,
        index,
        embedder.embed(list(index)).astype(np.float64) if index else np.zeros((0, embedder.dimension)),
        word_relation,
        end_vectors,
        richness,
        tuple(types),
        share,
        _end_classes(schema, words, full, types, share, lexicon),
        company[:, 1::2],
        company[:, 0::2],
        company[:, 0::2] * active,
        active.astype(bool),
        schema.inverse,
        embedder,
        lexicon,
        (*typing_relations(graph), *class_relations(graph)),
        _domains(graph.relation_labels),
    )


def of_other_types(vocabulary: Vocabulary, word: str) -> NDArray[np.bool_]:
    """[S]: whether a step arrives at nodes of other declared types than the one that a word names.

    Nodes without a type are of another one where those of other ends are all of the type.
    """
    named = vocabulary.types_named(word)
    share = vocabulary.type_share[np.arange(len(vocabulary.type_share)) ^ 1]
    if not named:
        return np.zeros(len(share), bool)
    own = share[:, named].max(axis=1)
    return ((share.max(axis=1) >= WHOLLY) | (own.max() >= WHOLLY)) & (own == 0)


def _domains(labels: Iterable[str]) -> frozenset[str]:
    """The words before the type in names of relations that are paths (`music.album.artist`: music)."""
    parts = {part for label in labels for part in relation_path(label)[:-2]}
    return frozenset(word for part in parts for word in label_words(part))


WHOLLY = 0.95
"""From this share on the nodes of an end are all of a type."""


def same_label(vocabulary: Vocabulary, first: str, second: str) -> bool:
    """Whether two words name two different words of one relation (*place*, *birth*: `place_of_birth`)."""
    near = vocabulary.near
    return any(
        i != j and near(first, i) >= SAME and near(second, j) >= SAME
        for words in vocabulary.relation_words
        for i in words
        for j in words
    )


SAME = 0.55
"""Lexical similarity from which two words may stand for each other in a name."""
