"""Relations that hold both ways, though a graph records each pair one way only: *knows*, *borders*."""

from __future__ import annotations

from dataclasses import fields, replace

from clew.graph.steps import opposite, relation_of
from clew.query.execute import Executor
from clew.query.tree import Anchor, Both, Either, Part, Query, Walk
from clew.query.vocabulary import Vocabulary
from clew.reading.english import OF_ONE_SEX, mutual_words
from clew.reading.which_way import goes_both_ways, name_of


def either_way(vocabulary: Vocabulary, executor: Executor, query: Query) -> Query:
    """A question whether two names are related, the other way round where what is mutual is recorded so."""
    part = query.part
    if query.ask != "yes" or not isinstance(part, Both) or not isinstance(part.left, Walk):
        return query
    if not isinstance(part.right, Anchor) or not isinstance(part.left.source, Anchor):
        return query
    name = name_of(vocabulary.relations[relation_of(part.left.step)])
    back = replace(query, part=replace(part, left=replace(part.left, step=opposite(part.left.step))))
    if name is None or not name.mutual or len(executor.members(part)):
        return query
    return back if len(executor.members(back.part)) else query


def both_ways(vocabulary: Vocabulary, query: Query) -> Query:
    """A question for things, or how many, whose steps over what is mutual lead both ways."""
    if query.ask not in ("list", "count"):
        return query
    return replace(query, part=_both_ways(vocabulary, query.part))


def _both_ways(vocabulary: Vocabulary, part: Part) -> Part:
    inner = {f.name: getattr(part, f.name) for f in fields(part)}
    changed = replace(part, **{n: _both_ways(vocabulary, p) for n, p in inner.items() if isinstance(p, Part)})
    if not isinstance(changed, Walk) or not _is_mutual(vocabulary, relation_of(changed.step)):
        return changed
    return Either(changed, replace(changed, step=opposite(changed.step)))


def _is_mutual(vocabulary: Vocabulary, relation: int) -> bool:
    """Whether a relation by its name holds both ways, of anyone (a wife's wife is another)."""
    label = vocabulary.relations[relation]
    is_named_so = bool(mutual_words(label) - OF_ONE_SEX) and "by" not in label.split()
    return is_named_so and goes_both_ways(vocabulary, relation)
