"""What is recorded as yes or no: the value says whether *there is a lift*, and which *articles are paid*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import is_backward, opposite, relation_of
from clew.query.execute import Nodes
from clew.query.tree import Anchor, Both, Counted, OfType, Part, Query, Walk, key_of
from clew.query.vocabulary import NUMBER, Vocabulary
from clew.reading import english
from clew.reading.candidates import Option
from clew.reading.which_way import LEAST_SCORE

_HOW_MUCH_OF_ALL = re.compile(
    rf"{english.HOW_MANY_OF.pattern}|\W*\bhow\s+much\b(?!\s+(?:more|less|is|are|does|do)\b)", re.I
)


def leads_to_flag(vocabulary: Vocabulary, query: Query) -> bool:
    """Whether what a query leads to says yes or no."""
    part = query.part
    if not isinstance(part, Walk) or is_backward(part.step):
        return False
    return relation_of(part.step) in vocabulary.flags


def as_asked(vocabulary: Vocabulary, question: str, query: Query) -> Query:
    """A query for the value itself, which says yes or no, as one whether it is so, where that is asked.

    How many there are of what several have numbers of are those of all: *how many tickets were sold on the
    tour*.
    """
    if query.ask == "list" and leads_to_flag(vocabulary, query) and english.YES_NO.search(question):
        return replace(query, ask="yes")
    match query:
        case Query("list", Walk(source, step), key="") if not isinstance(source, Anchor):
            is_number = not is_backward(step) and vocabulary.kinds_reached[step] == NUMBER
            if is_number and _HOW_MUCH_OF_ALL.match(question):
                return replace(query, ask="sum")
        case _:
            pass
    return query


def that_decides(vocabulary: Vocabulary, query: Query, members: Nodes) -> tuple[bool, int]:
    """Whether it is so, and the member of a query that says it; there is one at least."""
    if not leads_to_flag(vocabulary, query):
        return True, int(members[0])
    true = [node for node in members.tolist() if vocabulary.truths.get(node)]
    return bool(true), true[0] if true else int(members[0])


def put_flags_right(
    vocabulary: Vocabulary, question: str, options: Sequence[Option], scores: Float32
) -> None:
    """Give the score of what lists *yes* and *no*, or has none of them, to what lists the things that are so.

    `scores` float32 [n + 1] are changed. Not where a question asks whether something is so.
    """
    if not vocabulary.flags or english.YES_NO.search(question):
        return
    places = {key_of(option.query): i for i, option in enumerate(options)}
    for i, option in enumerate(options):
        parts = _of_which_it_is_so(vocabulary, option.query)
        keys = (key_of(replace(option.query, part=part)) for part in parts)
        target = next((places[key] for key in keys if key in places), None)
        if target is not None:
            scores[target] = np.logaddexp(scores[target], scores[i])
            scores[i] = LEAST_SCORE


def _of_which_it_is_so(vocabulary: Vocabulary, query: Query) -> tuple[Part, ...]:
    """The things for whose values a query asks, where these say yes, or those without: where they say no."""
    match query.part:
        case Walk(source, step) if query.ask == "list" and leads_to_flag(vocabulary, query):
            is_so = True
        case Counted(source, step, "=", 0, _) if relation_of(step) in vocabulary.flags:
            is_so = False
        case _:
            return ()
    so = Walk(Anchor(vocabulary.flags[relation_of(step)][not is_so]), opposite(step))
    return (Both(source, so), so) if isinstance(source, OfType) else (Both(source, so),)
