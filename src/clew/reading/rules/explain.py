"""What a reading explains of its question, and what it leaves open; the ground for abstaining."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clew.reading.rules.comparison import Comparison, Float
from clew.reading.rules.direction import BEING, DOING
from clew.reading.rules.question import Word
from clew.reading.rules.reading import Anchor, Reading
from clew.reading.rules.typed_words import CALLED
from clew.reading.rules.vocabulary import is_noun

EXPLAINED = 0.27
"""From this share on a word counts as explained by a step."""
FIRM = 0.42
"""The same for the noun in *the … of X*, which alone says what is asked for."""
MODIFIER = 0.12
"""The same for a word that stands right before an explained noun (*jersey number*)."""
DETERMINED = 0.5
"""Evidence for the first step of an entity that has edges of one kind only, or to one kind of node."""
SURELY = 0.8
"""From this share on it surely says so; a verb beside it may then stay open (*missions that flew to X*)."""
TYPED = 0.5
"""From this share on a word says of what type the nodes are to which a step leads."""
APART = 0.2
"""By this much it says so less of the nodes to which the entity's other steps lead."""
NAMED = 0.5
"""Evidence for every step from which the noun after *which* may stay open."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is explained of the content words, and how well the steps are named.

    `open_words`: those that nothing in the reading explains; `open_names`: those among them that are
    written like names or unknown to the lexicon; `weak_words`: those hardly explained. `share`: explained
    share of their weight; `worst`: open share of the worst explained one. `weakest`, `mean`: evidence for
    the steps, but for returns that a word like *share* asks for; `unnamed`: the steps that no word names.
    """

    open_words: tuple[str, ...]
    open_names: tuple[str, ...]
    weak_words: tuple[str, ...]
    share: float
    worst: float
    weakest: float
    mean: float
    unnamed: tuple[int, ...]


def explain(comparison: Comparison, reading: Reading, *, extra: frozenset[int] = frozenset()) -> Explanation:
    """Compare every content word with all steps and nodes of a reading.

    Words that start at the characters `extra` are explained by an operator.
    """
    steps = list(dict.fromkeys(reading.steps))
    outside = [i for i, w in enumerate(comparison.words) if _is_outside(w, reading)]
    returns = {s for a, s in pairwise(reading.steps) if s == a ^ 1}
    evidence = {s: _evidence(comparison, outside, s, second=s in returns) for s in steps}
    for anchor, branch in zip(reading.anchors, reading.branches, strict=True):
        if _is_determined(comparison, anchor, branch[0], outside):
            evidence[branch[0]] = max(evidence[branch[0]], DETERMINED)
    typed = _typed_steps(comparison, reading, outside)
    for step in typed:
        evidence[step] = max(evidence[step], DETERMINED)
    asked_back = any(w.share for w in comparison.words)
    counted = {s: e for s, e in evidence.items() if not (s in returns and asked_back)}
    weakest = min(counted.values(), default=1.0)
    told = _told(comparison, steps)
    content = [
        i
        for i in outside
        if not comparison.words[i].share
        and comparison.words[i].weight >= 0.9
        and comparison.words[i].start not in extra
    ]
    left = _open(comparison, content, told, weakest)
    spare = [i for i in left if _is_verb(comparison, comparison.words[i])][: len(typed)]
    if weakest >= DETERMINED:
        content = [i for i in content if i not in spare]
        left = [i for i in left if i not in spare]
    open_words = [comparison.words[i] for i in left]
    weight = sum(comparison.words[i].weight for i in content)
    explained = sum(comparison.words[i].weight * told[i] for i in content)
    known = comparison.vocabulary.lexicon.known
    return Explanation(
        open_words=tuple(w.text for w in open_words),
        open_names=tuple(w.text for w in open_words if w.capital or not known(w.norm.split("|")[0])),
        weak_words=tuple(comparison.words[i].text for i in content if told[i] < FIRM),
        share=explained / weight if weight else 1.0,
        worst=max((1 - float(told[i]) for i in content), default=0.0),
        weakest=weakest,
        mean=sum(counted.values()) / len(counted) if counted else 1.0,
        unnamed=tuple(s for s, e in counted.items() if e < EXPLAINED),
    )


def _evidence(comparison: Comparison, words: list[int], step: int, *, second: bool) -> float:
    """The most that a word names a step; for a way back, that another word than the first names it."""
    ranked = sorted((float(comparison.step[i, step]) for i in words), reverse=True)
    at = 1 if second else 0
    return ranked[at] if len(ranked) > at else 0.0


def _is_determined(comparison: Comparison, anchor: Anchor, step: int, words: list[int]) -> bool:
    """Whether no other step of the entity is possible, or leads to the type of nodes that a word names."""
    inverse = int(comparison.vocabulary.inverse[step // 2])
    others = [w for w in anchor.ways if w != step and (inverse < 0 or w != 2 * inverse + 1 - step % 2)]
    if step not in anchor.ways or not others:
        return not others
    typed = comparison.node[words]
    return any(
        row[step] >= TYPED and row[others].max() <= row[step] - APART
        for row, word in zip(typed, words, strict=True)
        if comparison.words[word].weight >= 0.9
    )


def _typed_steps(comparison: Comparison, reading: Reading, words: list[int]) -> list[int]:
    """The steps that alone lead from a node of the reading to nodes of the type that a word surely names."""
    ways = [
        (anchor.ways, branch[0]) for anchor, branch in zip(reading.anchors, reading.branches, strict=True)
    ]
    ways += [(_leaving(comparison, s ^ 1), after) for path in reading.branches for s, after in pairwise(path)]
    if reading.trunk:
        ways.append((_leaving(comparison, reading.branches[0][-1] ^ 1), reading.trunk[0]))
        ways += [(_leaving(comparison, s ^ 1), after) for s, after in pairwise(reading.trunk)]
    content = [i for i in words if comparison.words[i].weight >= 0.9]
    found: list[int] = []
    for possible, step in ways:
        inverse = int(comparison.vocabulary.inverse[step // 2])
        others = [w for w in possible if w != step and (inverse < 0 or w != 2 * inverse + 1 - step % 2)]
        row = comparison.node[content]
        rivals = row[:, others].max(axis=1, initial=0.0)
        surely = (row[:, step] >= SURELY) & (rivals <= row[:, step] - APART)
        if surely.any() or any(_alone(comparison, i, step, others) for i in content):
            found.append(step)
    return found


def _alone(comparison: Comparison, word: int, step: int, others: list[int]) -> bool:
    """Whether of all steps one alone leads to nodes of the declared type that a word names."""
    vocabulary = comparison.vocabulary
    types = vocabulary.types_named(comparison.words[word].norm)
    if not types:
        return False
    share = vocabulary.type_share[[s ^ 1 for s in (step, *others)]][:, types].max(axis=1)
    return bool(share[0] > 0 and share[1:].max(initial=0.0) == 0)


def _leaving(comparison: Comparison, end: int) -> list[int]:
    """The steps that nodes of an end can take."""
    vocabulary = comparison.vocabulary
    forward, backward = np.flatnonzero(vocabulary.heads[end]), np.flatnonzero(vocabulary.role[end])
    return [*(2 * forward).tolist(), *(2 * backward + 1).tolist()]


def _is_verb(comparison: Comparison, word: Word) -> bool:
    """Whether a word can only be a verb where it stands: *decided*, *flew*, *did … fly*."""
    lexicon = comparison.vocabulary.lexicon
    if word.capital or not lexicon.verb(word.norm):
        return False
    before = [w.norm for w in comparison.question.words if w.stop <= word.start]
    if before[-1:] and before[-1] in BEING and word.stop >= comparison.question.words[-1].stop:
        return False  # *which films are animated* says what they are
    past = lexicon.lemmas(word.norm)[0] != word.norm and not word.norm.endswith("s")
    return past or not is_noun(lexicon, word.norm) or not DOING.isdisjoint(before)


def _is_outside(word: Word, reading: Reading) -> bool:
    return all(word.stop <= a.span.start or word.start >= a.span.stop for a in reading.anchors)


def _told(comparison: Comparison, steps: list[int]) -> Float:
    """[W]: how far the steps and the types of their nodes explain each word."""
    if not comparison.words or not steps:
        return np.zeros(len(comparison.words))
    node = np.maximum(comparison.node[:, steps].max(axis=1), comparison.kind[:, steps].max(axis=1))
    step = comparison.step[:, steps].max(axis=1)
    vocabulary = comparison.vocabulary
    ends = [*steps, *(s ^ 1 for s in steps)]
    for row, word in enumerate(comparison.words if vocabulary.type_words else ()):
        named = vocabulary.types_named(word.norm)
        if named and vocabulary.type_share[ends][:, named].max() == 0:
            # It says a declared type that the path does not touch.
            node[row], step[row] = 0.0, step[row] * (step[row] >= CALLED)
    return np.maximum(step, node)


def _open(comparison: Comparison, content: list[int], told: Float, weakest: float) -> list[int]:
    words = comparison.question.words
    before = {b.start: a for a, b in pairwise(words)}
    after = {a.start: b for a, b in pairwise(words)}
    firm = {comparison.words[i].start for i in range(len(comparison.words)) if told[i] >= 2 * EXPLAINED}
    found: list[int] = []
    for i in content:
        word = comparison.words[i]
        follows = before.get(word.start)
        heads = after.get(word.start)
        least = MODIFIER if heads is not None and heads.start in firm else EXPLAINED
        asked = follows is not None and follows.norm in ("which", "what", "same", "how")
        asked = asked and not comparison.vocabulary.types_named(word.norm)
        # The noun after *which* says of what type something is; where every step is named it may stay open.
        if told[i] < least and not (asked and not word.capital and weakest >= NAMED):
            found.append(i)
    return found
