"""Where a type is asked for, candidates whose answers are of it take the scores of others."""

from __future__ import annotations

from collections.abc import Sequence

from clew.foundation.arrays import Float32
from clew.query.tree import Both, Either, OfType, Part, Query, Walk, key_of
from clew.query.vocabulary import Vocabulary
from clew.reading.candidates import Option
from clew.reading.which_way import LEAST_SCORE


def answer_with_type(
    vocabulary: Vocabulary,
    options: Sequence[Option],
    scores: Float32,
    type_asked_for: int,
    type_signs: Sequence[float],
) -> None:
    """Give scores to what answers with the type that is asked for; `scores` float32 [n + 1] are changed.

    `type_signs` is what the type of each candidate's answers tells against it, which is added to all. A walk
    to nodes of several types, or either of two, gives its score to the candidate that keeps those of this
    type; one to nodes of which none is of it, to the only candidate that goes on from there to some that are:
    *which animals are endangered*, where the species are.
    """
    places = {key_of(option.query): i for i, option in enumerate(options)}
    onward: dict[tuple[object, ...], list[int]] = {}
    for i, option in enumerate(options):
        part = option.query.part
        back = isinstance(part, Walk) and isinstance(part.source, Walk) and part.step == part.source.step ^ 1
        if isinstance(part, Walk) and not back and vocabulary.end_types[part.step ^ 1] == type_asked_for:
            onward.setdefault(key_of(Query(option.query.ask, part.source)), []).append(i)
    for i, option in enumerate(options):
        query = option.query
        ends = _ends_of(query.part)
        target = (
            places.get(key_of(Query(query.ask, Both(query.part, OfType(type_asked_for))))) if ends else None
        )
        score = scores[i]
        if len(ends) == 1 and not vocabulary.schema.typed[ends[0], type_asked_for]:
            further = onward.get(key_of(query), [])
            target = further[0] if len(further) == 1 else None
            score += type_signs[i]
        if target is not None and not all(vocabulary.all_of_type(end, type_asked_for) for end in ends):
            scores[target] = max(scores[target], score)
            scores[i] = LEAST_SCORE
    scores[:-1] += type_signs


def _ends_of(part: Part) -> tuple[int, ...]:
    """The ends at which what one walk leads to stands, or what either of two does; none of another part."""
    match part:
        case Walk(_, step):
            return (step ^ 1,)
        case Either(Walk(_, first_step), Walk(_, second_step)):
            return (first_step ^ 1, second_step ^ 1)
        case _:
            return ()
