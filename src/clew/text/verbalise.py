"""Walks as sentences by templates: the built-in form of Walk&Retrieve's `verbalise` step (section 2.1).

A relation's name becomes a phrase for each direction: `directed_by` is *is directed by* and *directed*,
`has_genre` is *has genre* and *is genre of*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.graph.schema import words_apart
from clew.graph.steps import Step, forward, is_backward, relation_of
from clew.text.lexicon import Lexicon

# Labels of entities and relations as texts that are read and embedded.


def readable(label: str) -> str:
    """Give the text of a label that is embedded: underscores are spaces, and a long literal is cut."""
    return label[:1000].replace("_", " ")


def relation_text(label: str) -> str:
    """Give the text of a relation's label that is embedded: `readable`, with its words apart."""
    return words_apart(readable(label))


VERB_PREPOSITIONS = frozenset("at by for from in into of on over through to under with".split())
FINITE = frozenset("is are was were has have had can does did".split())
PARTITIVE = frozenset("part member piece".split())
"""What is *part of a line* is no more than that; a *date of birth* is had."""
POSSESSING = frozenset("has have had".split())
_PAST = re.compile(r"[a-z]{2}(ed|[aou]wn|orn|ade|aught|ought|itten)$")
_THIRD_PERSON = re.compile(r"[a-z][^aius\W]s$")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of a relation from head to tail, and from tail to head."""

    forward: str
    inverse: str


def phrases_of(label: str) -> Phrases:
    """Phrase a relation by the form of its name alone."""
    words = relation_text(label).split()
    if not words:
        return Phrases("is related to", "is related to")
    text, other_words = " ".join(words), " ".join(words[1:])
    first, last = words[0].casefold(), words[-1].casefold()
    if first in POSSESSING and other_words:
        return Phrases(text, f"is {other_words} of")
    if first in FINITE and len(words) > 2 and last in VERB_PREPOSITIONS:
        return _preposition_phrases(words[1:], text)
    if last in VERB_PREPOSITIONS and len(words) > 1 and first not in FINITE:
        return _preposition_phrases(words, "")
    if first in VERB_PREPOSITIONS and other_words:
        return Phrases(f"is {text}", f"is {other_words} of")
    if first in FINITE or last in VERB_PREPOSITIONS or _is_verb(first, alone=len(words) == 1):
        return Phrases(text, f"has as one that {text} it")
    if len(words) > 1 and _PAST.search(first):
        return Phrases(text, f"is {other_words} that {first} it")
    if "of" in words[1:-1] and first in PARTITIVE:
        return Phrases(f"is {text}", f"is {other_words.partition('of ')[2]} that has as {first}")
    if len(words) == 1 and _PAST.search(first):
        return Phrases(text, f"is {text} by")
    return Phrases(f"has {text}", f"is {text} of")


def _is_verb(word: str, *, alone: bool) -> bool:
    """Whether a word is a verb in the third person: *knows*, not *parents*; *shows symptom*."""
    if not _THIRD_PERSON.search(word):
        return False
    lexicon = Lexicon.load()
    return lexicon.mostly_verb(word) or (not alone and lexicon.verb(word))


def _preposition_phrases(words: Sequence[str], forward: str) -> Phrases:
    """Phrase a name that ends with a preposition: *written by*, *capital of*, *born in*."""
    text, body, last = " ".join(words), " ".join(words[:-1]), words[-1]
    if last.casefold() == "by":
        return Phrases(forward or f"is {text}", body)
    if last.casefold() == "of":
        return Phrases(forward or f"is {text}", f"has {body}")
    return Phrases(forward or text, f"has {text} it")


class Templates:
    """Sentences over one graph; names are the labels that people read."""

    def __init__(self, graph: Graph) -> None:
        self._labels = graph.labels
        phrase_pairs = [phrases_of(label) for label in graph.relation_labels]
        self._phrases = [phrase for p in phrase_pairs for phrase in (p.forward, p.inverse)]
        self._later_phrases = [f", which {phrase}" for phrase in self._phrases]

    def name(self, node: int) -> str:
        """Name of a node as people read it."""
        return readable(self._labels[node])

    @property
    def phrases(self) -> tuple[Sequence[str], Sequence[str]]:
        """The phrase of each step as the first of a walk, and as a later one."""
        return self._phrases, self._later_phrases

    def sentence(self, root: int, steps: Sequence[Step], nodes: Sequence[int]) -> str:
        """Say one walk; a negative step is behind its end."""
        parts = [self.name(root)]
        for at, (step, node) in enumerate(zip(steps, nodes, strict=True)):
            if step < 0:
                break
            parts.append(
                f"{self._later_phrases[step] if at else f' {self._phrases[step]}'} {self.name(node)}"
            )
        return "".join(parts)

    def clauses(self, root: int, steps: Sequence[Step], nodes: Sequence[int]) -> str:
        """Say one walk as people read it: each triple the right way round, from head to tail."""
        text = ""
        current, was_forward = root, False
        for step, node in zip(steps, nodes, strict=True):
            if step < 0:
                break
            is_forward = not is_backward(step)
            phrase = self._phrases[forward(relation_of(step))]
            if text and is_forward and was_forward:
                text += f", which {phrase} {self.name(node)}"
            else:
                head, tail = (current, node) if is_forward else (node, current)
                text += f"{', and ' if text else ''}{self.name(head)} {phrase} {self.name(tail)}"
            current, was_forward = node, is_forward
        return text or self.name(root)

    def outline(self, root: int, steps: Sequence[Step]) -> str:
        """Say a walk without the names of the nodes behind its root."""
        phrases = (self._phrases[step] for step in steps if step >= 0)
        return f"{self.name(root)} {', which '.join(phrases)}"
