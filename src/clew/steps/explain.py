"""What a reading explains of its question, and what it leaves open; the ground for abstaining."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.steps.comparison import Comparison, Float
from clew.steps.readings import Reading

EXPLAINED = 0.3
"""From this share on a word counts as explained by a step or a node."""


NAMED = 0.5
"""Evidence for every step from which the noun after *which* may stay open."""
MODIFIER = 0.12
"""The same for a word that stands right before an explained noun (*jersey number*)."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`open_words`: content words that nothing in the reading explains; `open_names`: those among them that are
    written like names; `unnamed`: steps that no word names; `weakest`: the least evidence for a step; `share`: explained weight of the content words."""

    open_words: tuple[str, ...]
    open_names: tuple[str, ...]
    unnamed: tuple[int, ...]
    weakest: float
    share: float


def explain(comparison: Comparison, reading: Reading, *, extra: frozenset[int] = frozenset()) -> Explanation:
    """Compare every content word with all steps and nodes of a reading; `extra` are word positions (characters at
    which they start) that an operator explains."""
    steps = list(dict.fromkeys(reading.steps))
    covered = np.zeros(len(comparison.words))
    evidence = np.zeros(len(steps))
    ends = [e for s in steps for e in (s,)]
    if len(comparison.words) and steps:
        covered = np.maximum(comparison.cover[:, steps].max(axis=1), comparison.node[:, steps].max(axis=1))
        covered = np.maximum(covered, comparison.kind[:, ends].max(axis=1))
        evidence = comparison.step[:, steps].max(axis=0)
    inside = [
        any(a.span.start < w.stop and w.start < a.span.stop for a in reading.anchors)
        for w in comparison.words
    ]
    returns = {s for a, s in zip(reading.steps, reading.steps[1:], strict=False) if s == a ^ 1}
    shares = any(w.share for w in comparison.words)
    weakest = min((float(e) for s, e in zip(steps, evidence, strict=True) if s not in returns), default=1.0)
    asked = _asked(comparison)
    modifiers = _modifiers(comparison, covered)
    open_words, open_names, total, told = [], [], 0.0, 0.0
    for word, taken, cover in zip(comparison.words, inside, covered, strict=True):
        if taken or word.share or word.weight < 0.9 or word.start in extra:
            continue
        if cover < EXPLAINED and word.start in asked and not word.capital and weakest >= NAMED:
            continue
        total += word.weight
        told += word.weight * min(1.0, float(cover))
        if cover < (MODIFIER if word.start in modifiers else EXPLAINED):
            open_words.append(word.text)
            if word.capital:
                open_names.append(word.text)
    unnamed = tuple(
        s for s, e in zip(steps, evidence, strict=True) if e < EXPLAINED and not (s in returns and shares)
    )
    return Explanation(tuple(open_words), tuple(open_names), unnamed, weakest, told / total if total else 1.0)


def _asked(comparison: Comparison) -> set[int]:
    """Where the nouns after *which*, *what* and *same* start: they say of what type something is."""
    words = comparison.question.words
    return {b.start for a, b in zip(words, words[1:], strict=False) if a.norm in ("which", "what", "same")}


def _modifiers(comparison: Comparison, covered: Float) -> set[int]:
    """Where the words start that stand right before a word that is explained."""
    starts = {w.start for w, c in zip(comparison.words, covered, strict=True) if c >= 2 * EXPLAINED}
    words = comparison.question.words
    return {a.start for a, b in zip(words, words[1:], strict=False) if b.start in starts}
