"""Kinship: *mother* is never read as the nearest relation, `parent`, but as a parent who is female.

Which words are kin terms, and which of them is the broader, WordNet's hierarchy says (`Lexicon.kin_terms`).
A term is named by a relation that is called so, or narrower, or that means the same told backwards
(`child` of `parent`). By a broader one it is told where the graph records sexes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Literal

from clew.graph.steps import backward, forward
from clew.query.tree import Either, Part, Walk
from clew.query.vocabulary import Vocabulary
from clew.text.inflection import singular
from clew.text.lexicon import NOUN, Lexicon

_OPPOSITES = (
    ("parent", "child"),
    ("ancestor", "descendant"),
    ("grandparent", "grandchild"),
    ("husband", "wife"),
    *((elder, younger) for elder in ("aunt", "uncle") for younger in ("niece", "nephew")),
)
_BACK = {
    word: [b for a, b in (*_OPPOSITES, *(pair[::-1] for pair in _OPPOSITES)) if a == word]
    for pair in _OPPOSITES
    for word in pair
}
_OF_SEX = {
    "female": frozenset(
        "mother wife daughter sister aunt niece grandmother granddaughter bride widow female woman".split()
    ),
    "male": frozenset(
        "father husband son brother uncle nephew grandfather grandson groom widower male man".split()
    ),
}
"""What is said of one sex; WordNet's hierarchy has it of some alone."""
_SEXES = {"female": frozenset(("female", "woman", "f")), "male": frozenset(("male", "man", "m"))}
_SAID = {
    "female": frozenset("woman women female females girl girls".split()),
    "male": frozenset("man men male males boy boys".split()),
}
_SAYS_SEX = frozenset(("gender", "sex"))
Naming = Literal["named", "broader", "other"]


_LINEAGE: dict[str, tuple[str, tuple[str, ...]]] = {
    "parent": ("up", ("parent",)),
    "grandparent": ("up", ("parent", "parent")),
    "grandmother": ("up", ("parent", "mother")),
    "grandfather": ("up", ("parent", "father")),
    "child": ("down", ("parent",)),
    "offspring": ("down", ("parent",)),
    "kid": ("down", ("parent",)),
    "grandchild": ("down", ("parent", "parent")),
}
"""Kin terms by what `mother` and `father` lead to, one after the other, or lead back from."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A kin term where mothers and fathers are recorded: `levels` of relations, up to elders or back down."""

    levels: tuple[tuple[int, ...], ...]
    is_up: bool
    relations: tuple[int, ...]
    """Of mothers, and of fathers."""

    def walked(self, source: Part, *, back: bool) -> Part:
        """Where the term leads from a set, or back from it."""
        is_up = self.is_up != back
        for relations in self.levels if is_up else reversed(self.levels):
            steps = [(forward if is_up else backward)(relation) for relation in relations]
            source = reduce(Either, [Walk(source, step) for step in steps])
        return source


def lineage(vocabulary: Vocabulary, word: str) -> Lineage | None:
    """What a kin term means where mothers or fathers are recorded and parents are not; else None."""
    told = _LINEAGE.get(singular(word))
    if told is None:
        return None
    named = {
        term: [r for r, label in enumerate(vocabulary.relations) if naming(term, label) == "named"]
        for term in ("mother", "father", "parent")
    }
    mothers, fathers = named["mother"], named["father"]
    way, levels = told
    # *Grandmother* is one, too, where mothers alone are recorded.
    of_sex = levels[-1] if levels[-1] != "parent" else ""
    both = (*mothers, *fathers)
    is_known = len(mothers) == len(fathers) == 1 and mothers != fathers
    if not is_known and not (of_sex and both == tuple(named[of_sex]) and len(both) == 1):
        return None
    words = {singular(w) for label in vocabulary.relations for w in label.split()}
    if named["parent"] or singular(word) in words:
        return None
    relations = {"parent": both, "mother": tuple(mothers), "father": tuple(fathers)}
    return Lineage(tuple(relations[level] for level in levels), way == "up", both)


def kin_terms(word: str) -> tuple[frozenset[str], ...]:
    """The words of a kin term's meaning, then of each broader one; empty for other words."""
    return Lexicon.load().kin_terms(word)


def naming(word: str, label: str) -> Naming | None:
    """How a relation names a kin term: by its name, by a broader one, or by another; None if by no kin.

    `father` alone is another than *parents*: it is one of two.
    """
    terms, direct = kin_terms(word), _roles(label)
    if not direct:
        return None
    roles = [*direct, *_backwards(direct)]
    if any(terms[0] & role[0] for role in roles):
        return "named"
    if any(terms[0] & names for role in roles for names in role):
        return "other" if any(map(sex_of, label.split())) else "named"
    if not any(role[0] & names for role in roles for names in terms[1:]):
        return "other"
    is_of_sex = any(sex_of(w) == sex_of(word) != "" for w in label.split())
    return "named" if is_of_sex else "broader"


def broader_word(word: str, label: str) -> tuple[str, bool]:
    """The word by which a relation names a kin term of any sex, and whether it is the relation's own.

    Not where it is told backwards: *daughter* is a `child`, of which `parent` is the opposite.
    """
    direct = _roles(label)
    for role, is_direct in ((r, roles is direct) for roles in (direct, _backwards(direct)) for r in roles):
        shared = next((role[0] & names for names in kin_terms(word)[1:] if role[0] & names), frozenset())
        if shared:
            return max(shared, key=lambda w: Lexicon.load().uses(w, NOUN)), is_direct
    return "", False


def _roles(label: str) -> list[tuple[frozenset[str], ...]]:
    return [terms for w in label.split() if (terms := kin_terms(singular(w)))]


def _backwards(roles: list[tuple[frozenset[str], ...]]) -> list[tuple[frozenset[str], ...]]:
    return [kin_terms(b) for role in roles for w in sorted(frozenset.union(*role)) for b in _BACK.get(w, ())]


def sex_of(word: str) -> str:
    """The sex that a kin term is said of; empty if of both."""
    said = frozenset[str]().union(*kin_terms(word))
    return next((sex for sex, words in _OF_SEX.items() if words & said), "")


def sex_said(word: str) -> str:
    """The sex that a word says of people by itself, *women*, *male*; empty for other words and for kin."""
    return next((sex for sex, words in _SAID.items() if word in words), "")


def recorded_sex(vocabulary: Vocabulary, sex: str) -> tuple[int, int] | None:
    """The relation that records sexes, and the node that says this one; None if the graph records none."""
    for relation, label in enumerate(vocabulary.relations):
        if _SAYS_SEX.intersection(label.split()):
            for node in dict.fromkeys(vocabulary.some_tails(relation).tolist()):
                if vocabulary.graph.labels[node].lower() in _SEXES[sex]:
                    return relation, int(node)
    return None
