"""When a reading is not answered from: ordinary words taken for names, and words that matter left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

import numpy as np

from clew.graph.graph import Graph
from clew.reading.rules.comparison import Comparison, is_asked
from clew.reading.rules.confidence import Trust, confidence
from clew.reading.rules.direction import BEING
from clew.reading.rules.english import ARITHMETIC, INTERROGATIVE, WH_CLASSES
from clew.reading.rules.explain import Explanation, explain
from clew.reading.rules.operators import Operator
from clew.reading.rules.question import Question, Word
from clew.reading.rules.reading import Anchor, Reading
from clew.reading.rules.vocabulary import class_fit, class_row, is_noun
from clew.text.lexicon import CLASSES
from clew.types import Abstention

FAR = 1.0
"""So much dearer is a reading that is not preferred only because it takes no ordinary word for a name."""
ENOUGH = 0.5
"""Least confidence in a reading that is answered from."""
NAMED = 0.4
"""Evidence from which a step or a node counts as named by a word."""
SURE = 0.6
"""The same where the question word says otherwise (*who is the gender of …*)."""
KNOWN_CLASS = 0.8
"""From this on it is known of what class the nodes of an end are."""
TELLING = ("person", "location", "time")
"""Classes of nouns that tell what is asked for."""
LEAST_FIT = 0.2
"""Below this they are not what *who*, *when* or *where* asks for."""
NEGATING = frozenset(
    """not never without except excluding neither nor isnt arent wasnt werent dont doesnt didnt hasnt
    havent""".split()
)
"""Words that turn what they stand with into its opposite, which no reading does."""
COMPARING = frozenset("before after than between".split())
"""Words that compare; left open, the question is not understood."""


def credible(comparison: Comparison, reading: Reading, readings: Sequence[Reading]) -> bool:
    """Whether every ordinary word that the reading takes for a name stands where a name would.

    That is right before the noun that it describes (*horror films*), after *is* or *are*, or beside a word
    that names its relation; after an article, if all readings without such a word are much dearer; anywhere,
    if there is none.
    """
    if not reading.doubtful or all(r.doubtful for r in readings):
        return True
    far = min(r.cost for r in readings if not r.doubtful) >= reading.cost + FAR
    return all(
        not a.ordinary or stands_as_name(comparison, reading, a, branch) or (far and _is_thing(comparison, a))
        for a, branch in zip(reading.anchors, reading.branches, strict=True)
    )


def _is_thing(comparison: Comparison, anchor: Anchor) -> bool:
    """Whether a name is a noun after an article (*use the euro*)."""
    before = [w.norm for w in comparison.question.words if w.stop <= anchor.span.start]
    return before[-1:] in (["the"], ["a"], ["an"]) and is_noun(
        comparison.vocabulary.lexicon, anchor.text.lower()
    )


def stands_as_name(comparison: Comparison, reading: Reading, anchor: Anchor, branch: Sequence[int]) -> bool:
    """Whether an ordinary word stands where a name would; `branch`: the steps from it."""
    words = comparison.question.words
    if anchor.how == "plural" or any(
        w.capital for w in words if anchor.span.start <= w.start < anchor.span.stop
    ):
        return True
    outside = [
        i
        for i, w in enumerate(comparison.words)
        if w.weight > 0 and all(w.stop <= a.span.start or w.start >= a.span.stop for a in reading.anchors)
    ]
    if any(comparison.step[i, branch[0]] >= NAMED for i in outside):
        return True
    after = next((w for w in words if w.start >= anchor.span.stop and w.norm != "-"), None)
    if before_asked(comparison, reading, anchor):
        return True
    before = [w for w in words if w.stop <= anchor.span.start]
    predicate = bool(before) and before[-1].norm in BEING
    if after is not None and not (predicate and not after.weight):
        return any(
            comparison.words[i] is after and comparison.node[i, list(reading.steps)].max() >= NAMED
            for i in outside
        )
    return predicate


def before_asked(comparison: Comparison, reading: Reading, anchor: Anchor) -> bool:
    """Whether only names stand between a name and the noun that is asked for (*easy Italian dishes*)."""
    spans = [a.span for a in reading.anchors]
    for word in comparison.question.words:
        if word.start < anchor.span.stop or any(s.start <= word.start < s.stop for s in spans):
            continue
        return is_asked(comparison.question, word)
    return False


def confident(comparison: Comparison, reading: Reading, operator: Operator, trust: Trust) -> bool:
    """Whether a reading explains enough to be answered from."""
    told = explain(comparison, reading, extra=operator.used)
    return confidence(reading, told, trust) >= ENOUGH


def compares(question: Question, told: Explanation) -> bool:
    """Whether a word that compares is left open."""
    return any(w.norm in COMPARING for w in question.words if w.text in told.open_words)


def doubt(
    question: Question,
    comparison: Comparison,
    reading: Reading,
    told: Explanation,
    operator: Operator,
    trust: Trust,
    near_names: Callable[[str], tuple[str, ...]],
) -> Abstention | None:
    """Why not to trust a reading: a name or a word that matters is left open. None if it may be trusted.

    `near_names` gives names of the graph that are written like a text.
    """
    negated = [w.text for w in question.words if w.norm in NEGATING and _is_outside(w, reading)]
    if negated:
        return Abstention("no_relation", f'it cannot be asked for what is "{negated[0]}" so')
    if any(w.norm == "or" and _is_between(w, reading) for w in question.words):
        names = " or ".join(a.text for a in reading.anchors)
        return Abstention("no_relation", f'it cannot be asked for either: "{names}"')
    if question.superlative is not None and operator.kind == "none":
        word = question.words[question.superlative[2]].text
        return Abstention("no_relation", f'it has no number or date that "{word}" could mean')
    reckoning = [w.text for w in question.words if _asks_to_reckon(comparison, w, reading)]
    if reckoning:
        return Abstention("no_relation", f'it does not calculate: no relation says "{reckoning[0]}"')
    if question.counting is not None and operator.kind == "none":
        words = " ".join(w.text for w in question.counting.nouns)
        return Abstention("no_relation", f'it has no relation by which to count "{words}"')
    owned = _owns_open(question, told)
    if told.open_names and not owned:
        names = " ".join(told.open_names)
        return Abstention("no_entity", f'it has no entity like "{names}"', near_names(names))
    asked = _asks_elsewhere(comparison, reading)
    if asked:
        return Abstention("no_relation", f'it has no relation that says "{asked}"')
    if _only_who(comparison, reading):
        return Abstention("no_relation", f'it has no relation like "{_phrase(comparison, reading, told)}"')
    if compares(question, told):
        return Abstention("no_relation", f'it does not compare by "{" ".join(told.open_words)}"')
    if confidence(reading, told, trust) < ENOUGH or owned:
        return Abstention("no_relation", f'it has no relation like "{_phrase(comparison, reading, told)}"')
    return None


def _only_who(comparison: Comparison, reading: Reading) -> bool:
    """Whether nothing but *who* tells the further step at which the answer stands (*who recorded X*)."""
    if len(reading.anchors) > 1 or len(reading.steps) < 2 or "person" not in comparison.question.classes:
        return False
    rows = [
        i
        for i, w in enumerate(comparison.words)
        if w.norm not in WH_CLASSES and _is_outside(w, reading) and w.weight > 0
    ]
    told = np.maximum(comparison.step[rows, reading.last], comparison.node[rows, reading.last])
    return bool(told.max(initial=0.0) < HARDLY)


HARDLY = 0.15
"""Below this a word does not tell a step."""


def _asks_to_reckon(comparison: Comparison, word: Word, reading: Reading) -> bool:
    """Whether a word asks for a calculation, and no relation of the reading is called so."""
    if word.norm not in ARITHMETIC or not _is_outside(word, reading):
        return False
    labels = comparison.vocabulary.labels
    return not any(word.norm in labels[step // 2] for step in reading.steps)


def _is_between(word: Word, reading: Reading) -> bool:
    """Whether a word stands between two names of the reading."""
    spans = [a.span for a in reading.anchors]
    return any(s.stop <= word.start for s in spans) and any(s.start >= word.stop for s in spans)


def _is_outside(word: Word, reading: Reading) -> bool:
    return all(word.stop <= a.span.start or word.start >= a.span.stop for a in reading.anchors)


def _phrase(comparison: Comparison, reading: Reading, told: Explanation) -> str:
    """The words that the graph has no relation for: the least explained ones, else all outside the names."""
    outside = [
        w.text
        for w in comparison.words
        if w.weight >= LIGHTEST
        and all(w.stop <= a.span.start or w.start >= a.span.stop for a in reading.anchors)
    ]
    words = told.open_words or told.weak_words or outside or content(comparison)
    return shorten(" ".join(words), LONGEST_PHRASE, placeholder=" …")


LIGHTEST, LONGEST_PHRASE = 0.9, 80
MOST_RECORDED = 5
"""Relations of an entity that an abstention lists."""


def with_recorded(
    graph: Graph, comparison: Comparison, reading: Reading, abstained: Abstention
) -> Abstention:
    """The abstention for a missing relation with what the graph records of the entities of a reading.

    The relations that are nearest to the words come first.
    """
    near = comparison.relation.max(axis=0, initial=0.0)
    parts: list[str] = []
    for anchor in {a.entity: a for a in reading.anchors}.values():
        relations = sorted({way // 2 for way in anchor.ways}, key=lambda r: (-near[r], r))
        names = list(dict.fromkeys(graph.relation_labels[r] for r in relations))
        more = f" and {left} more" if (left := len(names) - MOST_RECORDED) > 0 else ""
        parts.append(
            f'of "{graph.labels[anchor.entity]}" it records {", ".join(names[:MOST_RECORDED])}{more}'
        )
    return replace(abstained, detail="; ".join([abstained.detail, *parts]))


def content(comparison: Comparison) -> list[str]:
    """The content words of a question."""
    return [w.text for w in comparison.words if w.weight >= 0.9 and not w.share]


def _asks_elsewhere(comparison: Comparison, reading: Reading) -> str:
    """*Who*, *when* or *where*, if the reading ends at something else and no word says so; else nothing."""
    question, classes = comparison.question, comparison.vocabulary.classes
    wanted, word = _wanted_class(comparison)
    if not wanted:
        return ""
    end = reading.last ^ 1
    if question.count and classes[end, CLASSES.index("quantity")] >= KNOWN_CLASS:
        return ""
    told = [
        float(comparison.step[i, reading.last])
        for i, w in enumerate(comparison.words)
        if w.norm not in WH_CLASSES
        and is_noun(comparison.vocabulary.lexicon, w.norm)
        and word in ("", w.text)
    ]
    if max(told, default=0.0) >= SURE or classes[end].max() < KNOWN_CLASS:
        return ""
    fits = class_fit(classes, wanted)[end]
    if fits >= LEAST_FIT:
        return ""
    return word or next(w.norm for w in question.words if w.norm in INTERROGATIVE)


def ending_as_asked(comparison: Comparison, readings: list[Reading]) -> list[Reading]:
    """The readings from the first on that ends at what is asked for, if one nearly as good does."""
    for at, reading in enumerate(readings):
        if reading.cost > readings[0].cost + NEARLY:
            break
        if not _asks_elsewhere(comparison, reading):
            return readings[at:]
    return readings


NEARLY = 0.35
"""How much dearer a reading may be."""


def _wanted_class(comparison: Comparison) -> tuple[Mapping[str, float], str]:
    """What *who*, *when* or *where* asks for; else the class of the noun after *which*, if it is clear."""
    if comparison.question.classes:
        return comparison.question.classes, ""
    for word in comparison.words:
        asked = is_asked(comparison.question, word) and not word.capital
        if asked and is_noun(comparison.vocabulary.lexicon, word.norm):
            row = class_row(comparison.vocabulary.lexicon, word.norm)
            sure = {c: 1.0 for c in TELLING if row[CLASSES.index(c)] >= KNOWN_CLASS}
            others = {c: 1.0 for c in CLASSES if row[CLASSES.index(c)] >= LEAST_FIT}
            return (others, word.text) if sure else ({}, "")
    return {}, ""


def _owns_open(question: Question, told: Explanation) -> bool:
    """Whether an open word is what something is asked for: *the … of X*, *the … for X*, *X's …*."""
    before, after = (["", *(w.norm for w in question.words)], [*(w.norm for w in question.words[1:]), ""])
    return any(
        (word.text in told.weak_words and (before[at] == "'s" or after[at] == "of"))
        or (word.text in told.open_words and after[at] == "for")
        for at, word in enumerate(question.words)
    )
