"""Which condition of a query the words that deny stand with: *not on loan*, *no lift*, *do not treat fever*.

A word that denies belongs to the nearest condition behind it in its clause; of *and*, *that*, *are* and the
like another clause begins. Where nothing stands behind it but a verb, to what the verb says: *did Ida not
write*. A query that denies something else is none of its readings; the same query with its denials where the
words have them is one. Exceptions (*except*, *other than*) and what *both* or *every* deny are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.steps import Step, backward, opposite, relation_of
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Value,
    Walk,
    Without,
    contents_of,
    key_of,
    mapped,
)
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading import english
from clew.reading.candidates import Option
from clew.reading.comparisons import sign_beside
from clew.reading.denial import DENYING_PREFIX, denial_spans, excepts, has_denying_word
from clew.reading.likeness import SPELT, Likeness
from clew.reading.mentions import NORMAL, Mention
from clew.reading.signs import IGNORED
from clew.reading.which_way import LEAST_SCORE
from clew.text.normalise import tokens

AS_NEAR = 0.95
"""Words of at least this share of the likeness of the nearest one say a label as well."""
_BEGINS_CLAUSE = (
    english.BEING
    | english.DOING
    | english.RELATIVE
    | english.HAVING
    | frozenset("whose where when and but".split())
)
_BESIDE_VERB = re.compile(r"not|never|.*n['’]?t", re.I)
_OF_SEVERAL = frozenset("both all every each any".split())
_PARTS_CLAUSES = re.compile(r"[,;:()]")
_DENIES_OTHERWISE = re.compile(
    r"\b(?:excluding|excludes?|besides|apart|aside|others?|else|missing|outside|rather|avoid\w*)\b"
    rf"|{english.FREE}",
    re.I,
)
"""Words by which a query may leave something out, beside those that deny."""


@dataclass(frozen=True, slots=True)
class _Denial:
    """A word that denies, and its clause behind it: characters [start, stop).

    `subject`: the mention of a name before it, -1 for none; `alone`: it denies what it says itself.
    """

    start: int
    stop: int
    subject: int = -1
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition that a query sets: a set, or `Compared` or `Counted` around any; whether it is affirmed.

    `together`: of those that are denied as one, the number, -1 for what stands alone.
    """

    part: Part
    affirmed: bool = True
    together: int = -1


_Say = tuple[int, float]
"""Where a question says a condition, and how like its words are to it."""


@dataclass(frozen=True, eq=False)
class Scope:
    """What the denials of one question deny."""

    vocabulary: Vocabulary
    question: str
    mentions: Sequence[Mention]
    likeness: Likeness

    def as_said(self, query: Query) -> Query | None:
        """The query with its denials where the words have them; None where they cannot stand there."""
        if query.ask in ("yes", "every", "share", "difference"):
            return query
        if not self.denials:
            part = mapped(query.part, self._affirmed) if self.affirmed_flags else query.part
            return query if part == query.part else replace(query, part=part)
        placing = _Placing(self, query)
        part = placing.put(query.part)
        if part is None or placing.is_ignored():
            return None
        return query if part == query.part else replace(query, part=part)

    def further(self, options: Sequence[Option]) -> Iterator[Option]:
        """Candidates with their denials where the words have them, of those that have them elsewhere."""
        if not self.says_which:
            return
        known = {key_of(option.query) for option in options}
        for option in options:
            query = self.as_said(option.query)
            if query is not None and query is not option.query and (key := key_of(query)) not in known:
                known.add(key)
                yield Option(query, option.worth)

    def with_what_is_said(self, options: Sequence[Option], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of some candidates and of what denies as the words do in their place, ascending."""
        if not self.says_which:
            return places
        known = {key_of(option.query): i for i, option in enumerate(options)}
        said = (self.as_said(options[i].query) for i in places.tolist())
        further = {known[key] for query in said if query is not None and (key := key_of(query)) in known}
        return np.array(sorted({*places.tolist(), *further}), np.int64)

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give the score of what denies something else to what denies as the words do.

        `scores` float32 [n + 1], that of none last, are changed.
        """
        if not self.says_which:
            return
        places = {key_of(option.query): i for i, option in enumerate(options)}
        for i, option in enumerate(options):
            query = self.as_said(option.query)
            if query is option.query:
                continue
            target = None if query is None else places.get(key_of(query))
            if target is None:
                scores[i] += np.log(IGNORED)
            else:
                scores[target] = np.logaddexp(scores[target], scores[i])
                scores[i] = LEAST_SCORE

    # the words

    @cached_property
    def says_which(self) -> bool:
        """Whether the words say of some condition whether it is affirmed or denied."""
        return bool(self.denials or self.affirmed_flags)

    @cached_property
    def affirmed_flags(self) -> frozenset[int]:
        """What is recorded as yes or no and said as it is called, where no word denies: *step-free*."""
        flags = self.vocabulary.flags
        if self._leaves_out_otherwise or any(denial_spans(self.question, self.mentions)):
            return frozenset()
        labels = {flag: self.vocabulary.relations[flag] for flag in flags}
        said = list(pairwise(token.norm for token in tokens(self.question)))
        return frozenset(
            flag
            for flag, label in labels.items()
            if self._said.issuperset(label.split()) or tuple(label.split()[:2]) in said
        )

    def _affirmed(self, part: Part) -> Part:
        match part:
            case Walk(Anchor(node, -1), step) if relation_of(step) in self.affirmed_flags:
                true, false = self.vocabulary.flags[relation_of(step)]
                return replace(part, source=Anchor(true)) if node == false and true >= 0 else part
            case _:
                return part

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(token.norm for token in tokens(self.question))

    @cached_property
    def _leaves_out_otherwise(self) -> bool:
        """Whether words leave something out as *except* does, which are none of a label that is said."""
        if excepts(self.question, self.mentions):
            return True
        for match in _DENIES_OTHERWISE.finditer(self.question):
            word = match[0].lower()
            labels = [label for label in self.vocabulary.relations if word in label.split()]
            before = "".join(token.norm for token in tokens(self.question[: match.start()])[-1:])
            is_part = any((before, word) in pairwise(label.split()) for label in labels)  # *step free*
            if not is_part and not any(self._said.issuperset(label.split()) for label in labels):
                return True
        return False

    @cached_property
    def denials(self) -> tuple[_Denial, ...]:
        """The words that deny; none where other words leave something out too, or they deny of several."""
        if self._leaves_out_otherwise:
            return ()
        denials = tuple(self._denial(*span) for span in sorted(denial_spans(self.question, self.mentions)))
        words = (self.question[d.start : d.stop].split()[:1] for d in denials)
        if any(first and first[0].lower() in _OF_SEVERAL for first in words):
            return ()
        return (*denials, *self._denying_words())

    def _denying_words(self) -> Iterator[_Denial]:
        """Words that deny by their beginning what is recorded as yes or no: *uninsured*, of `insured`."""
        flags = {self.vocabulary.relations[relation] for relation in self.vocabulary.flags}
        for token in tokens(self.question):
            match = DENYING_PREFIX.match(token.norm)
            if match is not None and token.norm not in flags and token.norm[match.end() :] in flags:
                yield _Denial(token.start, token.stop, alone=True)

    def _denial(self, start: int, stop: int) -> _Denial:
        """A denial with its clause: up to what begins another one behind the first word with a meaning."""
        last, is_begun = stop, False
        for token in tokens(self.question):
            if token.start < stop:
                continue
            is_name = any(m.start <= token.start < m.stop for m in self._names)
            if is_begun and not is_name and token.norm in _BEGINS_CLAUSE:
                break
            if is_begun and _PARTS_CLAUSES.search(self.question, last, token.start):
                break
            is_begun |= is_name or token.norm not in english.FUNCTION
            last = token.stop
        is_of_verb = _BESIDE_VERB.fullmatch(self.question, start, stop)
        return _Denial(stop, last, self._subject_before(start) if is_of_verb else -1)

    def _subject_before(self, start: int) -> int:
        """The mention of the subject of what is denied, -1 for none: *did Ida not*, *that Ida did not*."""
        before = re.compile(r"\s+(?:(?:do|does|did|can|could|has|have|had|would|will)\s*)?")
        for i, mention in enumerate(self.mentions):
            if mention.candidates and before.fullmatch(self.question, mention.stop, start):
                words = self.question[: mention.start].split()[-1:]
                return -1 if words and words[0].lower() in english.PREPOSITIONS | {"and", "or"} else i
        return -1

    @cached_property
    def _names(self) -> list[Mention]:
        return [m for m in self.mentions if m.stop > m.start and (m.candidates or m.values)]

    def says_something(self, denial: _Denial) -> bool:
        """Whether the graph knows what is denied: a name or a value, or a word of a label."""
        if denial.alone or any(denial.start <= m.start < denial.stop for m in self._names):
            return True
        like = self.likeness
        return any(
            max(like.exact_relations[row].max(initial=0.0), like.exact_types[row].max(initial=0.0)) >= SPELT
            for row, (start, _, _) in enumerate(like.words)
            if denial.start <= start < denial.stop
        )


class _Placing:
    """Puts the denials of a question on the conditions of one query."""

    def __init__(self, scope: Scope, query: Query) -> None:
        self.scope, self.vocabulary, self.query = scope, scope.vocabulary, query
        self.conditions = [c for conjunction in _conjunctions(query.part) for c in _conditions(conjunction)]
        mentions = {m for c in self.conditions for m in contents_of(c.part).mentions}
        self.spans = [(m.start, m.stop) for m in (scope.mentions[i] for i in mentions)]
        named = [c.part for c in self.conditions if contents_of(c.part).mentions]
        self.named_relations = {relation_of(step) for part in named for step in contents_of(part).steps}
        self.types = {c.part.type for c in self.conditions if isinstance(c.part, OfType)} - {-1}
        self.says = {c.part: tuple(self._says(c.part)) for c in self.conditions}
        self.denied = {denial: self._denied(denial) for denial in scope.denials}

    def is_ignored(self) -> bool:
        """Whether the query says nothing of what a denial denies, though the graph knows it."""
        return any(not parts and self.scope.says_something(d) for d, parts in self.denied.items())

    # where the question says a condition

    def _says(self, part: Part) -> Iterator[_Say]:
        """Where a question says a condition: at its names and values, else where a word is most like it."""
        mentions = self._own_mentions(part)
        if mentions:
            yield from ((self.scope.mentions[i].start, 1.0) for i in mentions)
            return
        steps = _own_steps(part)
        is_named = not self.named_relations.isdisjoint(relation_of(step) for step in steps)
        if is_named and _is_all(part):
            return  # what speaks, beside what speaks German
        best = self._nearest_word(steps, *self._types(part))[1]
        for start, stop, _ in self.scope.likeness.words if best >= UNEXPLAINED else ():
            near = self._nearest_word(steps, *self._types(part), within=(start, stop))[1]
            if near >= AS_NEAR * best:
                yield start, near

    def _own_mentions(self, part: Part) -> list[int]:
        inner = _base(part)
        if isinstance(inner, Compared):
            return [inner.value.mention] if isinstance(inner.value, Value) else list(_mentions(inner.value))
        if isinstance(inner, Counted):
            return [inner.mention] if inner.mention >= 0 else []
        return list(_mentions(inner)) if isinstance(inner, Anchor | Either) else []

    def _types(self, part: Part) -> tuple[int, ...]:
        """The types that say a condition: its own, or that of what it has or has none of."""
        inner = _base(part)
        if isinstance(inner, OfType) and inner.type >= 0:
            return (inner.type,)
        step = inner.step if isinstance(inner, Counted) else inner.end if isinstance(inner, OfType) else -1
        type_ = self.vocabulary.types_reached[step] if step >= 0 else -1
        return (type_,) if type_ >= 0 else ()

    def _nearest_word(
        self, steps: Sequence[Step], *types: int, within: tuple[int, int] | None = None
    ) -> _Say:
        """The content word that is most like a label, by its row, and how like it is.

        None of those inside of names, nor of those that spell a type of which the query has all.
        """
        like, best = self.scope.likeness, (-1, 0.0)
        start, stop = within or (0, len(self.scope.question))
        relations, other_types = [relation_of(step) for step in steps], sorted(self.types.difference(types))
        for row, (a, b, _) in enumerate(like.words):
            is_outside = not start <= a < stop or any(p < b and a < q for p, q in self.spans)
            if is_outside or like.exact_types[row, other_types].max(initial=0.0) >= SPELT:
                continue
            near = max(
                like.relations[row, relations].max(initial=0.0), like.types[row, list(types)].max(initial=0.0)
            )
            if near > best[1]:
                best = (row, float(near))
        return best

    # what is denied

    def _denied(self, denial: _Denial) -> list[Part]:
        """The conditions that a denial denies, and those that set the same property that is yes or no."""
        denied = self._denied_by_words(denial)
        flags = {self._flag(part) for part in denied} - {None}
        same = [c.part for c in self.conditions if self._flag(c.part) in flags]
        return list(dict.fromkeys([*denied, *same]))

    def _denied_by_words(self, denial: _Denial) -> list[Part]:
        """The condition nearest behind a denial, and those that *or* joins to it."""
        inside = sorted(
            (at, -near, i)
            for i, c in enumerate(self.conditions)
            for at, near in self.says[c.part]
            if denial.start <= at < denial.stop
        )
        if any(denial.start <= at < (inside[0][0] if inside else denial.stop) for at in self._unused_names()):
            return []
        if not inside:
            return self._denied_by_verb(denial)
        denied, last = [self.conditions[inside[0][2]].part], inside[0][0]
        for at, _, i in inside[1:]:
            between = self.scope.question[last:at].lower().split()
            if "or" in between or "nor" in between:
                denied.append(self.conditions[i].part)
            last = at
        return list(dict.fromkeys(denied))

    def _unused_names(self) -> Iterator[int]:
        """Where names begin that are written out and that the query does not speak of."""
        for m in self.scope.mentions:
            is_name = any(c.how <= NORMAL for c in m.candidates) and m.start < m.stop
            if is_name and not m.touches(self.spans):
                like = self.scope.likeness
                rows = [row for row, (a, b, _) in enumerate(like.words) if a < m.stop and m.start < b]
                if like.exact_relations[rows].max(initial=0.0) < SPELT:
                    yield m.start

    def _denied_by_verb(self, denial: _Denial) -> list[Part]:
        """What a verb says of a name before it: *which books did Ida not write*."""
        near = [
            (self._nearest_word(_own_steps(c.part), within=(denial.start, denial.stop))[1], i)
            for i, c in enumerate(self.conditions)
            if self.says[c.part] and self._own_mentions(c.part)
        ]
        best = max((n for n, _ in near), default=0.0)
        said = [self.conditions[i].part for n, i in near if n == best >= UNEXPLAINED]
        if not said:
            said = [c.part for c in self.conditions if denial.subject in self._own_mentions(c.part)]
        said = list(dict.fromkeys(said))
        before = {
            part: max((at for at, _ in self.says[part] if at < denial.start), default=-1) for part in said
        }
        return sorted(said, key=lambda part: -before[part])[:1]

    def _is_affirmed(self, condition: _Condition) -> bool | None:
        """Whether the words affirm a condition; None where that cannot be told."""
        part = condition.part
        times = sum(part in denied for denied in self.denied.values())
        if times:
            return times == 2  # not uninsured
        for denial, denied in self.denied.items():
            inside = [denial.start <= at < denial.stop for at, _ in self.says[part]]
            if inside and any(inside) and isinstance(part, Compared) and part.sign not in ("=", "!="):
                return None
            if any(self._is_joined(other, part) for other in denied):
                return None
        is_said = bool(self.says[part]) and not isinstance(part, Anchor)
        return True if is_said and not self._has_sign(part) else None

    def _is_joined(self, part: Part, other: Part) -> bool:
        """Whether *and* joins a name to one of the same relation that is denied: *not in Oslo and Turku*."""
        if _own_steps(part) != _own_steps(other) or type(part) is not type(other):
            return False
        mentions = [self.scope.mentions[i] for p in (part, other) for i in self._own_mentions(p)]
        between = self.scope.question[mentions[0].stop : mentions[-1].start] if len(mentions) == 2 else ""
        return bool(
            re.fullmatch(r"\s*(?:,|,?\s*and)\s+(?:(?:in|of|at|by|from|to|on|the|a)\s+)*", between, re.I)
        )

    def _has_sign(self, part: Part) -> bool:
        """Whether a symbol says how a value is compared: *colour != red*."""
        mentions = [self.scope.mentions[i] for i in self._own_mentions(part)]
        return isinstance(part, Compared) and any(
            sign_beside(self.scope.question, m) == "!=" for m in mentions
        )

    # the query

    def put(self, part: Part) -> Part | None:
        """A part with its denials where the words have them; None where they cannot stand there."""
        inner = _inner_conjunction(part)
        if inner is None:
            return part
        if inner is not part:
            changed = self.put(inner)
            return None if changed is None else _with_inner(part, inner, changed)
        conditions = _conditions(part)
        wanted = [self._is_affirmed(c) for c in conditions]
        levels = [self._level(c.part) for c in conditions]
        groups = {
            c.together
            for c in conditions
            if c.together >= 0
            and self._are_denied_together([d for d in conditions if d.together == c.together])
        }
        said = list(wanted)
        own_denials = [has_denying_word(self._label(c.part)) for c in conditions]
        for i, c in enumerate(conditions):
            if wanted[i] is None or c.together in groups or own_denials[i]:
                wanted[i] = c.affirmed
        if any(
            denies and c.affirmed == want
            for c, want, denies in zip(conditions, said, own_denials, strict=True)
        ):
            return None
        are_right = all(
            c.affirmed == want and (want or level == len(_own_steps(c.part)) or c.together in groups)
            for c, want, level in zip(conditions, wanted, levels, strict=True)
        )
        if not are_right and (any(own_denials) or self._split(conditions, levels)):
            return None
        changed = [new for c in conditions if (new := self._put_inside(c.part)) is not None]
        if len(changed) < len(conditions):
            return None
        if are_right and all(new is c.part for new, c in zip(changed, conditions, strict=True)):
            return part
        new = [self._as_wanted(*each) for each in zip(changed, map(bool, wanted), levels, strict=True)]
        conditions = [part for part in new if part is not None]
        return self._joined(conditions) if len(conditions) == len(new) else None

    def _split(self, conditions: Sequence[_Condition], levels: Sequence[int]) -> bool:
        """Whether one denial is of several chains, of each within: *by people not born in Oslo or Turku*."""
        inner = {c.part for c, n in zip(conditions, levels, strict=True) if n < len(_own_steps(c.part))}
        return any(len(inner.intersection(denied)) > 1 for denied in self.denied.values())

    def _put_inside(self, part: Part) -> Part | None:
        """A condition with the denials inside of it where the words have them."""
        inner = _inner_conjunction(part, below=True)
        if inner is None:
            return part
        changed = self.put(inner)
        return part if changed is inner else None if changed is None else _with_inner(part, inner, changed)

    def _are_denied_together(self, conditions: Sequence[_Condition]) -> bool:
        """Whether conditions that are denied as one all stand in the clause of one denial."""
        return any(
            all(any(d.start <= at < d.stop for at, _ in self.says[c.part]) for c in conditions)
            and any(c.part in denied for c in conditions)
            for d, denied in self.denied.items()
        )

    def _label(self, part: Part) -> str:
        return " ".join(self.vocabulary.relations[relation_of(step)] for step in _own_steps(part))

    def _level(self, part: Part) -> int:
        """How many steps from a name the words deny: two of *schools that have no player of Rome*.

        One of *schools of players not from Rome*: what that one leads to is said between *schools* and *not*.
        """
        steps = _own_steps(part)
        denial = next((d for d, denied in self.denied.items() if part in denied), None)
        if denial is None or len(steps) < 2:
            return len(steps)
        stop = max((at for at, _ in self.says[part]), default=denial.stop)
        for level, (step, further) in enumerate(pairwise(steps), 1):
            type_ = self.vocabulary.types_reached[step]
            row, near = self._nearest_word([further], within=(0, denial.start))
            start = self.scope.likeness.words[row][0] if near >= UNEXPLAINED else -1
            behind = self._nearest_word([further], within=(stop, len(self.scope.question)))[1]
            is_said = start >= 0 or (type_ >= 0 and behind >= UNEXPLAINED)
            if is_said and self._says_between(start, denial.start, type_):
                return level
        return len(steps)

    def _says_between(self, start: int, stop: int, type_: int) -> bool:
        """Whether a word behind one place and before another says a type, or with -1 anything."""
        like = self.scope.likeness
        return any(
            start < a < stop and (type_ < 0 or like.types[row, type_] >= UNEXPLAINED)
            for row, (a, b, _) in enumerate(like.words)
            if not any(p < b and a < q for p, q in self.spans)
        )

    def _as_wanted(self, part: Part, is_affirmed: bool, level: int) -> Part | None:
        """A condition affirmed or denied: a set, or what is put around `_NOTHING`; None if it cannot be."""
        flag = self._flag(part)
        if flag is not None:
            node = self.vocabulary.flags[flag][not is_affirmed]
            return Walk(Anchor(node), backward(flag)) if node >= 0 else None
        match part:
            case Compared(_, _, "=" | "!=", _):
                return replace(part, sign="=" if is_affirmed else "!=")
            case Counted(_, step, _, 0, _, _) if is_affirmed:
                return OfType(-1, step)
            case Counted(_, _, _, 0, _, _):
                return part
            case _ if is_affirmed:
                return part
            case Compared() | Counted():
                return None
            case OfType(type_, end) if type_ < 0:
                return Counted(_NOTHING, end, "=", 0)
            case _ if level < len(_own_steps(part)):
                return self._without_level(part, level)
            case _:
                return Without(_NOTHING, part)

    def _joined(self, conditions: Sequence[Part]) -> Part | None:
        """A set with all conditions; None where there is nothing that they are of."""
        filters = [c for c in conditions if isinstance(c, Compared | Counted)]
        denied = [c.right for c in conditions if isinstance(c, Without)]
        sets = [c for c in conditions if not isinstance(c, Compared | Counted | Without)]
        wholes = [self._all_like(part) for part in sets]
        sets = [part for part in sets if not (_is_type(part) and part in wholes)]
        if not sets:
            sets = [whole for part in (*denied, *filters) if (whole := self._all_like(part)) is not None][:1]
        lacked = {c.step for c in filters if isinstance(c, Counted) and not c.number}
        types = {self._type(part) for part in sets}
        if not sets or any(OfType(-1, step) in sets for step in lacked):
            return None  # all that have an award, less those that have one
        if any(_is_type(part) and self._type(part) in types for part in denied):
            return None  # films that are no films
        part = reduce(Both, dict.fromkeys(sets))
        for condition in dict.fromkeys(filters):
            part = replace(condition, source=part)
        return reduce(Without, dict.fromkeys(denied), part)

    def _flag(self, part: Part) -> int | None:
        """The relation that says yes or no by which a condition is set, None for none."""
        steps = _own_steps(part)
        relation = relation_of(steps[-1]) if steps else -1
        return relation if relation in self.vocabulary.flags and not _mentions(part) else None

    def _without_level(self, part: Part, level: int) -> Part | None:
        """A chain of steps from a name that denies so many of them, and affirms the others."""
        chain: list[int] = []
        while isinstance(part, Walk) and len(_own_steps(part)) > level:
            chain.append(part.step)
            part = part.source
        whole = self._all_like(part)
        if whole is None:
            return None
        return reduce(Walk, reversed(chain), Without(whole, part))

    def _type(self, part: Part) -> int:
        """The type of what a set is of, -1 for none."""
        match part:
            case OfType(type_, end):
                return type_ if type_ >= 0 else self.vocabulary.end_types[end]
            case Walk(_, step) | Qualified(_, step, _):
                return self.vocabulary.types_reached[step]
            case _:
                return -1

    def _all_like(self, part: Part) -> Part | None:
        """All things of the kind that a step leads to."""
        if isinstance(part, Compared):
            end = part.steps[0]
        elif isinstance(part, Counted):
            end = part.step
            if self.vocabulary.end_types[end] < 0:
                return None
        elif isinstance(part, Walk | Qualified):
            end = opposite(part.step)
        else:
            return None
        type_ = self.vocabulary.end_types[end]
        return OfType(type_) if type_ >= 0 else OfType(-1, end)


_NOTHING = OfType(-1, -1)
"""What stands for the set that `Compared` and `Counted` are of, where they are a condition alone."""


def _conditions(part: Part, affirmed: bool = True, together: int = -1) -> list[_Condition]:
    """The conditions of a set, each with whether it is affirmed."""
    match part:
        case Both(left, right):
            return _conditions(left, affirmed, together) + _conditions(right, affirmed, together)
        case Without(left, right):
            number = id(right) if together < 0 and isinstance(right, Both) else together
            return _conditions(left, affirmed, together) + _conditions(right, not affirmed, number)
        case Compared(source, _, sign, _):
            own = _Condition(replace(part, source=_NOTHING, sign="=" if sign == "!=" else sign))
            is_affirmed = affirmed == (sign != "!=")
            return [*_conditions(source, affirmed, together), replace(own, affirmed=is_affirmed)]
        case Counted(source, _, sign, number, _, _):
            own = _Condition(replace(part, source=_NOTHING), affirmed == ((sign, number) != ("=", 0)))
            return [*_conditions(source, affirmed, together), own]
        case _:
            return [] if part == _NOTHING else [_Condition(part, affirmed, together)]


def _conjunctions(part: Part) -> Iterator[Part]:
    """The sets of a query that have conditions: itself, and those that steps go on from."""
    inner = _inner_conjunction(part)
    while inner is not None:
        yield inner
        following = [_inner_conjunction(c.part, below=True) for c in _conditions(inner)]
        rest = [p for p in following if p is not None]
        for further in rest[1:]:
            yield from _conjunctions(further)
        inner = rest[0] if rest else None


def _inner_conjunction(part: Part, *, below: bool = False) -> Part | None:
    """The set with conditions that a part is, or is made of by steps and ranks; `below`: one inside of it."""
    while True:
        match part:
            case Extreme(source):
                part, below = source, False
            case Walk(source) | Qualified(source) if below or not _is_chain(part):
                part, below = source, False
                if _is_chain(part):
                    return None
            case Either() | Related():
                return None
            case _:
                return None if below else part


def _is_chain(part: Part) -> bool:
    """Whether a set is a name or all of a type, or what steps alone lead to from there."""
    return isinstance(_base(part), Anchor | OfType | Either)


def _base(part: Part) -> Part:
    while isinstance(part, Walk | Qualified):
        part = part.source
    return part


def _with_inner(part: Part, inner: Part, changed: Part) -> Part:
    """A part with a set that it is made of by steps and ranks changed."""
    if part is inner:
        return changed
    if isinstance(part, Walk | Qualified | Extreme):
        return replace(part, source=_with_inner(part.source, inner, changed))
    return part


def _own_steps(part: Part) -> tuple[Step, ...]:
    """The steps of a condition, from a name or a set on."""
    match part:
        case Walk(source, step) | Qualified(source, step, _):
            return (*_own_steps(source), step)
        case Compared(_, steps, _, _):
            return steps
        case Counted(_, step, _, _, _, _):
            return (step,)
        case OfType(type_, end) if type_ < 0 <= end:
            return (end,)
        case Either(left, _):
            return _own_steps(left)
        case _:
            return ()


def _is_type(part: Part) -> bool:
    return isinstance(part, OfType) and part.type >= 0


def _mentions(part: object) -> tuple[int, ...]:
    return contents_of(part).mentions if isinstance(part, Part) else ()


def _is_all(part: Part) -> bool:
    """Whether a condition is of all that has a relation."""
    return isinstance(_base(part), OfType) and not isinstance(part, Compared | Counted)
