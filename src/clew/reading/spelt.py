"""What words spell in a schema, by their stems and the thesaurus: types, and ways from one to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.graph.steps import Step, is_backward, relation_of
from clew.query.vocabulary import Vocabulary
from clew.reading.english import FUNCTION, LIGHT
from clew.reading.likeness import Likeness
from clew.reading.thesaurus import shipped_thesaurus
from clew.text.inflection import nouns_of, singular_noun
from clew.text.lexicon import Lexicon
from clew.text.normalise import tokens

MEANS = 0.75
"""How like a label a word is that the thesaurus knows for the same, or more."""


def type_spelt(likeness: Likeness, start: int, stop: int) -> int:
    """The one declared type that each word of a question between two places names or means; -1 for none."""
    words = [w for w, (begin, end, _) in enumerate(likeness.words) if start <= begin and end <= stop]
    if not words or not likeness.types.shape[1]:
        return -1
    scores = likeness.types[words].min(0)
    found = np.flatnonzero(scores >= max(MEANS, float(scores.max()))).tolist()
    return found[0] if len(found) == 1 else -1


def content_of(text: str) -> list[str]:
    """The words of a text that say something by themselves."""
    words, lemmas = (token.norm for token in tokens(text)), Lexicon.load().lemmas
    return [word for word in words if word not in FUNCTION and LIGHT.isdisjoint((word, *lemmas(word)))]


def says(vocabulary: Vocabulary, text: str, way: Sequence[Step]) -> int:
    """How plainly a text says a way: 2 with its labels and types, 1 where a word of these means a word of it.

    0 where a word says none of them, or none says anything by itself.
    """
    lexicon, thesaurus = Lexicon.load(), shipped_thesaurus()
    words, unsaid, is_meant = content_of(text), set(range(len(content_of(text)))), False
    for step in way:
        type_ = vocabulary.types_reached[step]
        spelt = vocabulary.relations[relation_of(step)]
        spelt = f"{spelt} {vocabulary.types[type_].lower()}" if type_ >= 0 else spelt
        stems, concepts = set(map(lexicon.stem, spelt.split())), thesaurus.label_concepts(spelt)
        plainly = {at for at, word in enumerate(words) if not stems.isdisjoint(_stems(word))}
        said = plainly | {at for at in unsaid if concepts & thesaurus.concepts(words, at)}
        if not said:
            return 0
        unsaid, is_meant = unsaid - said, is_meant or bool((said & unsaid) - plainly)
    return 0 if unsaid else 1 if is_meant else 2


def _stems(word: str) -> set[str]:
    """The stems of a word and of who does it: *led*, of `leader`."""
    lexicon = Lexicon.load()
    lemmas = (word, *lexicon.lemmas(word))
    return {
        lexicon.stem(form)
        for lemma in lemmas
        for form in (lemma, f"{lemma.removesuffix('e')}er", f"{lemma}or")
    }


def steps_from(vocabulary: Vocabulary, type_: int) -> list[Step]:
    """The steps from the things of a type, by what the ends of relations are declared to be."""
    return [step for step in range(2 * len(vocabulary.relations)) if vocabulary.end_types[step] == type_]


def is_called(vocabulary: Vocabulary, step: Step, noun: str) -> bool:
    """Whether a noun is what a step leads to: its type, or its relation from the head."""
    type_ = vocabulary.types_reached[step]
    if type_ >= 0 and singular_noun(vocabulary.types[type_]) == noun:
        return True
    return not is_backward(step) and noun in nouns_of(vocabulary.relations[relation_of(step)])
