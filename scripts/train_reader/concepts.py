"""Questions in which a word is one of another concept of the thesaurus, near that which it carries.

*What is the nationality of Ann* where the qualification was asked for, *who proofread* where *edited* stood:
the hardest neighbours of a question, for which the encoder and the lexicon are no help.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np

from clew.reading.likeness import SPELT
from clew.reading.thesaurus import shipped_thesaurus, thesaurus_lines
from clew.text.embedders import StaticEmbedder
from clew.text.inflection import plural
from clew.text.lexicon import ADJECTIVE, NOUN, VERB, Lexicon

NEAREST, EACH = 60, 14
"""Concepts near a label from which words are drawn, and words from which one is."""
_HOW = re.compile(r"\bhow\s+$", re.I)


class Concepts:
    """The words of the thesaurus by part of speech, with vectors of the concepts."""

    def __init__(self) -> None:
        self.embedder, self.thesaurus = StaticEmbedder.load(), shipped_thesaurus()
        lines = [[e for e in line.split(", ") if e.isalpha()] for line in thesaurus_lines()]
        self.words = [{part: [w for w in line if _part(w) == part] for part in "nva"} for line in lines]
        self.vectors = self.embedder.embed([", ".join(line[:4]) or "?" for line in lines])

    def others(
        self, text: str, span: tuple[int, int], labels: Sequence[str], rng: random.Random, number: int
    ) -> list[str]:
        """The text with other words in the place of one, which are near some labels and say none of them."""
        start, stop = span
        word = text[start:stop].lower()
        part = "a" if _HOW.search(text[:start]) else _part(Lexicon.load().lemmas(word)[0])
        own = frozenset().union(*map(self.thesaurus.label_concepts, labels))
        own |= self.thesaurus.concepts([word], 0)
        if not own or not part:
            return []
        near = (self.vectors @ self.embedder.embed(list(labels)).T).max(1)
        drawn: list[str] = []
        for concept in np.argsort(-near)[:NEAREST].tolist():
            if concept not in own:
                drawn += [w for w in self.words[concept][part] if not own & self.thesaurus.concepts([w], 0)][
                    :2
                ]
        drawn = [w for w in dict.fromkeys(drawn) if w != word][:EACH]
        chosen = rng.sample(drawn, min(number, len(drawn)))
        return [text[:start] + _as(word, w, part) + text[stop:] for w in chosen]


def carries(exact: float, sense_own: float) -> bool:
    """Whether a word says a label, by its form or by the thesaurus."""
    return exact >= SPELT or sense_own > 0


def _part(word: str) -> str:
    """Noun, verb or adjective, whichever a word is mostly; empty for another."""
    lexicon = Lexicon.load()
    uses = {"n": lexicon.uses(word, NOUN), "v": lexicon.uses(word, VERB), "a": lexicon.uses(word, ADJECTIVE)}
    best = max(uses, key=lambda part: uses[part])
    return best if uses[best] > 0 else ""


def _as(model: str, word: str, part: str) -> str:
    """A word in the form that another has: plural, past, with *-ing*."""
    base = Lexicon.load().lemmas(model)[0]
    if part == "n":
        return plural(word) if model != base and model.endswith("s") else word
    if part == "a" or model == base:
        return word
    stem = word[:-1] if word.endswith("e") else word
    if model.endswith("ing"):
        return f"{stem}ing"
    if model.endswith("s"):
        return f"{word}s"
    return f"{word[:-1]}ied" if re.search(r"[^aeiou]y$", word) else f"{stem}ed"
