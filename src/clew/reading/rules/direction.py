"""Which way a relation is walked from a mention, read off the grammar around the mention.

Where the graph allows both (*who reports to X*, *whom does X report to*). A relation's name says who does
what: a verb (`influences`) has its agent at the head; before *by* (`founded_by`) at the tail; a noun
(`parent`) says what the tail is to the head, before *of* (`capital_of`) what the head is to the tail.
"""

from __future__ import annotations

from typing import Literal

from clew.reading.rules.comparison import ITSELF, Comparison, Span
from clew.reading.rules.english import AUXILIARY
from clew.reading.rules.question import Word
from clew.reading.rules.similarity import is_comparative
from clew.reading.rules.vocabulary import Vocabulary, is_noun

Part = Literal["agent", "patient", "owner", "owned"]
"""What the mention is: who acts, who is acted on, whose *noun* it is, or that *noun* itself."""

BEING = frozenset("is are was were be been being".split())
DOING = frozenset("do does did".split())
DETERMINERS = frozenset("the a an 's his her its their whose which what any all".split())
NOUN_AND_THAN = 3
"""Words after a comparative among which *than* stands, or *of*: *a broader subject term than*."""
PLAIN = 0.4
"""Evidence from which a word names a relation."""


def forward_part(vocabulary: Vocabulary, relation: int) -> Part:
    """The part of a relation's head."""
    words = vocabulary.labels[relation]
    while len(words) > 1 and words[0] in AUXILIARY:
        words = words[1:]
    last = words[-1] if words else ""
    if last == "by":
        return "patient"
    if last == "of":
        return "owned"
    lexicon = vocabulary.lexicon
    if words and not is_noun(lexicon, words[0]) and lexicon.known(words[0]):
        return "agent"
    verb = bool(words) and words[0].endswith("s") and bool(lexicon.agent(words[0])) and len(words) > 1
    return "agent" if verb else "owner"


def part_of_mention(comparison: Comparison, span: Span, relation: int) -> Part | None:
    """The part that a mention plays for the word that names `relation`.

    None where no word names it, or the grammar does not tell.
    """
    best = _naming_word(comparison, span, relation)
    if best is None:
        return None
    words = comparison.question.words
    at = words.index(best)
    before = [w.norm for w in words if w.stop <= span.start]
    if before[-1:] and before[-1] in DOING and best.start >= span.stop:
        return "agent"
    if _is_noun_here(comparison, words, at):
        between = _between(words, best, span)
        if best.stop <= span.start:
            return "owner" if between[:1] == ["of"] else None
        if between[:1] == ["'s"] or not between:
            return "owner"
        return "owned" if between and between[0] in BEING else None
    if before[-1:] == ["by"]:
        return "agent"
    if best.stop <= span.start:
        return "patient"
    if before and before[-1] in AUXILIARY and before[-1] not in BEING:
        return "agent"
    passive = any(w in BEING for w in _between(words, best, span)) or (before and before[-1] in BEING)
    return "patient" if passive and not best.norm.endswith("ing") else "agent"


def preferred_step(comparison: Comparison, span: Span, relation: int, *, stated: bool = False) -> int | None:
    """The step (see `graph.schema`) that leads from the mention along the relation as the question has it.

    If it must be `stated`, only where the name and the words are of one form: two verbs, or two nouns.
    """
    if (compared := _compared(comparison, span, relation)) is not None:
        return compared
    part = part_of_mention(comparison, span, relation)
    if part is None:
        return None
    head = forward_part(comparison.vocabulary, relation)
    if head == "owner" and part in ("agent", "patient") and _is_its_verb(comparison, span, relation):
        head = "agent"
    if {part, head} <= {"agent", "patient"} or {part, head} <= {"owner", "owned"}:
        return 2 * relation + (part != head)
    if stated:
        return None
    # *X's founder* for `founded_by`, *the influence of X* for `influences`: X is who is acted on.
    acting = {"owner": "patient", "owned": "agent"}.get(part, part)
    wanted = {"owner": "patient", "owned": "agent"}.get(head, head)
    return 2 * relation + (acting != wanted)


def compared_step(comparison: Comparison, span: Span) -> int | None:
    """The step from X to Y in *X is a broader term than Y* by a relation that says no more than that.

    Of Y it is recorded what is `broader`; of X what it `is broader than`.
    """
    words, vocabulary = comparison.question.words, comparison.vocabulary
    for at, word in enumerate(words):
        than = any(w.norm in ("than", "of") for w in words[at + 1 : at + 1 + NOUN_AND_THAN])
        if not than or not is_comparative(vocabulary.lexicon, word.norm):
            continue
        for relation, label in enumerate(vocabulary.labels):
            if word.norm in label and {word.norm, "than"}.issuperset(set(label) - BEING):
                return 2 * relation + ((span.stop <= word.start) != ("than" in label))
    return None


def _compared(comparison: Comparison, span: Span, relation: int) -> int | None:
    """The step of a comparison by a relation, or by the one that is its inverse."""
    step = compared_step(comparison, span)
    if step is None or step // 2 == relation:
        return step
    return 2 * relation + 1 - step % 2 if comparison.vocabulary.inverse[relation] == step // 2 else None


def _is_its_verb(comparison: Comparison, span: Span, relation: int) -> bool:
    """Whether a name (`knows`, `cites work`), which could be a noun, is the verb of the question."""
    named, words = _naming_word(comparison, span, relation), comparison.vocabulary.labels[relation]
    if named is None or not words or not words[0].endswith("s"):
        return False
    lexicon = comparison.vocabulary.lexicon
    return lexicon.verb(words[0]) and lexicon.similarity(named.norm, words[0]) >= ITSELF


def _naming_word(comparison: Comparison, span: Span, relation: int) -> Word | None:
    """The word that names the relation best; the nearest to the mention among equals."""
    best: tuple[float, float, Word] | None = None
    for row, word in enumerate(comparison.words):
        evidence = float(comparison.relation[row, relation])
        if evidence < PLAIN or (word.start < span.stop and span.start < word.stop):
            continue
        distance = min(abs(word.start - span.stop), abs(span.start - word.stop))
        if best is None or (evidence, -distance) > best[:2]:
            best = (evidence, -distance, word)
    return None if best is None else best[2]


def _between(words: tuple[Word, ...], word: Word, span: Span) -> list[str]:
    low, high = (word.stop, span.start) if word.stop <= span.start else (span.stop, word.start)
    return [w.norm for w in words if w.start >= low and w.stop <= high]


def _is_noun_here(comparison: Comparison, words: tuple[Word, ...], at: int) -> bool:
    if not is_noun(comparison.vocabulary.lexicon, words[at].norm):
        return False
    before = words[at - 1].norm if at else ""
    after = words[at + 1].norm if at + 1 < len(words) else ""
    if before in DETERMINERS or after == "of":
        return True
    verbs = bool(comparison.vocabulary.lexicon.agent(words[at].norm))
    return not verbs
