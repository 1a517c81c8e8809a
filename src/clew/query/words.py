"""A query graph as a person would say it: "films directed by Christopher Nolan that are longer than Tenet".

A set is a noun phrase: a noun (its type, or what its relation calls it), and what narrows it. How a relation
is used, and what is said of one thing or of many, `text.inflection.shape_of` tells by the form of its name.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from clew.graph.naming import language_of
from clew.graph.steps import (
    End,
    Step,
    backward,
    forward,
    is_backward,
    is_tail,
    opposite,
    relation_of,
    step_of,
    tail_end,
)
from clew.graph.values import year_of
from clew.query.tree import (
    Amount,
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Qualified,
    Query,
    Related,
    Sign,
    Value,
    Walk,
    Without,
)
from clew.query.values import ORDINALS, SMALL_NUMBERS
from clew.query.vocabulary import DATE, NUMBER, THING, Vocabulary, measure_of, words_of_label
from clew.text.inflection import (
    Shape,
    indefinite,
    is_participle,
    is_person,
    is_quality,
    negated,
    plural,
    present,
    shape_of,
    singular_noun,
)

_NUMBER_SIGNS: dict[Sign, str] = {
    "=": "", "!=": "not ", ">": "more than ", ">=": "at least ", "<": "less than ", "<=": "at most ",
}  # fmt: skip
_TIME_SIGNS: dict[Sign, str] = {
    "=": "", "!=": "not ", ">": "after ", ">=": "since ", "<": "before ", "<=": "until ",
}  # fmt: skip
_COUNT_SIGNS: dict[Sign, str] = {
    "=": "exactly ", "!=": "other than ", ">": "more than ", ">=": "at least ", "<": "fewer than ",
    "<=": "at most ",
}  # fmt: skip
_MEASURES: dict[str, tuple[str, str, str, str]] = {
    "age": ("older", "younger", "oldest", "youngest"),
    **dict.fromkeys(("length", "duration", "runtime"), ("longer", "shorter", "longest", "shortest")),
    "height": ("taller", "shorter", "tallest", "shortest"),
    **dict.fromkeys(("elevation", "altitude"), ("higher", "lower", "highest", "lowest")),
    **dict.fromkeys(("weight", "mass"), ("heavier", "lighter", "heaviest", "lightest")),
    **dict.fromkeys(("price", "cost"), ("more expensive", "cheaper", "most expensive", "cheapest")),
    "speed": ("faster", "slower", "fastest", "slowest"),
    "depth": ("deeper", "shallower", "deepest", "shallowest"),
    "width": ("wider", "narrower", "widest", "narrowest"),
    **dict.fromkeys(("size", "area"), ("larger", "smaller", "largest", "smallest")),
}  # fmt: skip
"""What is said of a thing with more and with less of a measure, and with most and least."""
_TIME_WORDS = frozenset("year date day time month since until".split())
NEARLY_ALL = 0.95
"""Share of the nodes of an end that are of a type, from which they are called by it."""

SPELT_OUT = 12
"""The largest number of things that is said in letters."""
GROUPED = 10_000
"""Numbers from which thousands are set apart: no years."""

Kind = Literal["of", "post", "with", "whose", "object", "that", "edge"]
_KINDS: tuple[Kind, ...] = ("of", "post", "with", "whose", "object", "that", "edge")
"""Ways to narrow a noun, in their order behind it; *object*: "cities *that Ann likes*"."""


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """What narrows a noun, said of one and of many: "directed by X" (post), "treats X", "treat X" (that)."""

    kind: Kind
    one: str
    many: str
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A noun phrase: a noun for one and for many with what narrows it, or a name (`one` alone)."""

    one: str
    many: str = ""
    is_many: bool = False
    narrowed: tuple[_Narrowed, ...] = ()
    before: str = ""
    is_implied: bool = False
    """Whether the noun says no more than what narrows it: "films" of "films directed by X"."""

    @property
    def is_name(self) -> bool:
        return not self.many

    def narrow(self, *more: _Narrowed) -> _Phrase:
        return replace(self, narrowed=(*self.narrowed, *more))

    @property
    def bare(self) -> str:
        """Without an article: "films directed by X", "longest film"."""
        parts = [self.before, self.many if self.is_many and self.many else self.one, self.tail]
        return " ".join(part for part in parts if part)

    @property
    def tail(self) -> str:
        """What narrows it, by kind: "directed by X and written by Y that are longer than Z"."""
        that = "who" if is_person(self.one) and not self.is_name else "that"
        texts: list[str] = []
        for kind in _KINDS:
            said = [n.many if self.is_many else n.one for n in self.narrowed if n.kind == kind]
            if said:
                joined = " and ".join(dict.fromkeys(said))
                before = {"that": f"{that} ", "object": "that "}.get(kind, "")
                texts.append(before + joined)
        return " ".join(texts)

    @property
    def text(self) -> str:
        """As it stands in a sentence: "films directed by X", "the longest film", "Tenet"."""
        is_definite = not self.is_name and (not self.is_many or self.before[:1].isdigit())
        return f"the {self.bare}" if is_definite else self.bare


def say(query: Query, vocabulary: Vocabulary) -> str:
    """A query in one line of plain English: "the director of Memento", "the number of …", "whether …"."""
    words = _Words(vocabulary)
    part, other = query.part, query.part if query.other is None else query.other
    if query.by:
        group = f"{query.period} of {words.group(query.by)}" if query.period else words.group(query.by)
        return f"{say(replace(query, by=(), period=''), vocabulary)}, by {group}"
    if query.ask in ("names", "called"):
        return words.names(query, part)
    if query.key:
        return words.on_edges(query.ask, query.key, part)
    match query.ask:
        case "list":
            return words.phrase(part).text
        case "share":
            return words.share(words.many(part), words.many(other))
        case "difference":
            return words.difference(part, other)
        case "every":
            return f"whether {words.all_are(part, other)}"
        case "count":
            return f"the number of {words.many(part).bare}"
        case "yes":
            return f"whether {words.statement(part)}"
        case "sum" | "average" | "largest" | "smallest":
            return words.amount(query.ask, part)


def column_of(steps: Sequence[Step], vocabulary: Vocabulary) -> str:
    """What stands at the end of steps from a thing, as the head of a column: *team*, *release date*."""
    return _Words(vocabulary).group(steps)


def head_of(step: Step, vocabulary: Vocabulary) -> str:
    """One step as the head of a column or a list: *directed by*, against it *films directed by …*."""
    if is_backward(step):
        return _Words(vocabulary).led_back(step)
    label = vocabulary.graph.relation_labels[relation_of(step)]
    measure, unit = (
        measure_of(words_of_label(label)) if vocabulary.kinds_reached[step] == NUMBER else ("", "")
    )
    return f"{measure} ({unit})" if unit else label


class _Words:
    """Says parts over one graph."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def names(self, query: Query, part: Part) -> str:
        """What things are called: "the German name of Cologne", "whether Naples is also called Napoli"."""
        language, phrase = language_of(query.key) if query.key else "", self.phrase(part)
        if query.ask == "called":
            also, behind = ("", f" in {language}") if language else (" also", "")
            being = "are" if phrase.is_many else "is"
            return f'whether {phrase.text} {being}{also} called "{query.name}"{behind}'
        besides = f' besides "{query.name}"' if query.name else ""
        return f"the {f'{language} name' if language else 'other names'} of {phrase.text}{besides}"

    # sets

    def phrase(self, part: Part) -> _Phrase:
        """A set as a noun phrase."""
        match part:
            case Anchor(node, _):
                return _Phrase(self._vocabulary.graph.label(node))
            case OfType(type_, end):
                return self._all(type_, end)
            case Walk(source, step):
                return self._walk(source, step)
            case Qualified(source, step, conditions):
                said = _interval(conditions) or " and ".join(map(_on_edge, conditions))
                return self._walk(source, step).narrow(_alike("edge", f"({said})"))
            case Related(source, step, how, targets):
                return self.phrase(source).narrow(self._only_or_all(step, how, targets))
            case Both(left, right):
                return self._both(left, right)
            case Either(left, right):
                return self._either(left, right)
            case Without(left, right):
                return self._without(left, right)
            case Compared():
                return self._bounded(part)
            case Counted(source, step, sign, number, _, among):
                return self.phrase(source).narrow(self._counted(step, sign, number, among))
            case Extreme(source):
                return self._extreme(self.phrase(source), part)

    def many(self, part: Part) -> _Phrase:
        """A set as several things, also where it has one member."""
        phrase = self.phrase(part)
        if phrase.is_name:
            what, said = phrase.one.startswith("what "), phrase.one.removeprefix("what ")
            return replace(phrase, one=f"things that {said}") if what else phrase
        return replace(phrase, is_many=True)

    def _noun(self, end: End) -> str:
        """What the nodes of an end are called: their type, or *thing*."""
        type_ = self._vocabulary.end_types[end]
        schema = self._vocabulary.schema
        if type_ >= 0 and schema.typed[end, type_] >= NEARLY_ALL * schema.nodes[end]:
            return singular_noun(self._vocabulary.types[type_])
        return "thing"

    def _label(self, step: Step) -> str:
        """The words of a step's relation."""
        return self._vocabulary.relations[relation_of(step)]

    def _shape(self, step: Step) -> Shape:
        label, kind = self._label(step), self._kind(step)
        if kind == DATE and " " not in label and is_quality(label):
            return Shape("post", label, label)  # *due*
        label = measure_of(label)[0] if kind == NUMBER else label
        head, tail = (self._noun(step_of(relation_of(step), back)) for back in (False, True))
        # It leads from persons to things that its name does not name.
        by_persons = is_person(head) and not is_person(tail) and tail != singular_noun(self._label(step))
        return shape_of(label, kind in (NUMBER, DATE), by_persons)

    def _unit(self, step: Step) -> str:
        """The unit of the numbers of a relation: "minutes" of `runtime minutes`."""
        if self._kind(step) != NUMBER:
            return ""
        return measure_of(self._label(step))[1] or self._vocabulary.unit_of(relation_of(step))

    def _kind(self, step: Step) -> int:
        return int(self._vocabulary.ends[tail_end(relation_of(step))])

    def _all(self, type_: int, end: End) -> _Phrase:
        if type_ >= 0:
            noun = singular_noun(self._vocabulary.types[type_])
            return _Phrase(noun, plural(noun), is_many=True)
        shape, other = self._shape(end), self._noun(opposite(end))
        own = _value_noun(shape) if is_tail(end) else shape.one if shape.form == "role" else ""
        if own:
            phrase = _Phrase(own, plural(own), is_many=True)
            return phrase if other == "thing" else phrase.narrow(_of(plural(other)))
        things, is_valued = _things(self._noun(end)), self._vocabulary.kinds_reached[end] in (NUMBER, DATE)
        if is_valued and not is_tail(end) and shape.form == "verb":
            return things.narrow(_that(shape.one, shape.many))
        return things.narrow(self._counted(end, ">=", 1))

    def _walk(self, source: Part, step: Step) -> _Phrase:
        """What a step leads to from a set."""
        match source:
            case Walk(Anchor() as first, back) if back == opposite(step) and is_backward(step):
                if same := _value_noun(self._shape(back)):
                    other = _things(self._noun(back), before="other")
                    return other.narrow(_alike("with", f"with the same {same} as {self.phrase(first).text}"))
            case _:
                pass
        truth = self._truth(source, step) if is_backward(step) else None
        if truth is not None:
            return _things(self._noun(opposite(step))).narrow(truth)
        return self._stepped(self._source(source, step), step, is_many=not self._leads_to_one(source, step))

    def _stepped(self, of: _Phrase, step: Step, *, is_many: bool) -> _Phrase:
        """What a step leads to: "members of X", "directors of X"; "films directed by X"."""
        shape, noun = self._shape(step), self._noun(opposite(step))
        if is_backward(step):
            if shape.form == "role":
                return _Phrase(shape.one, shape.many, is_many).narrow(_of(of.text))
            return _things(noun).narrow(self._has(step, of))
        if value := _value_noun(shape):
            return _Phrase(value, plural(value), is_many).narrow(_of(of.text))
        return self._reached(of, shape, step, noun, is_many)

    def led_back(self, step: Step) -> str:
        """What a step against its direction leads to from anything: *films directed by …*."""
        return self._stepped(_Phrase("…"), step, is_many=True).bare

    def _reached(self, of: _Phrase, shape: Shape, step: Step, noun: str, is_many: bool) -> _Phrase:
        """What a relation that is no noun leads to: "cities that Ann lives in", "when Acme was founded"."""
        said, are = (of.is_many, "are" if of.is_many else "is")
        kind, text = self._vocabulary.kinds_reached[step], shape.many if said else shape.one
        if shape.form == "role":
            is_only = not self._vocabulary.schema.repeated[opposite(step)]
            role = shape.many if said else f"the {shape.one}" if is_only else indefinite(shape.one)
            text = f"{are} {role} of"
        elif shape.form == "post" and any(present(shape.one)):
            text = present(shape.one)[said]
        elif shape.form == "post":
            was = kind == DATE or self._is_year(step) or text.startswith("born")
            are = {"is": "was", "are": "were"}[are] if was else are
            text = f"{are} {text}"
        body, _, last = text.rpartition(" ")
        if last in ("in", "at", "on") and body and (noun == "thing" or kind != THING):
            word = "when" if kind == DATE or self._is_year(step) else "where"
            return _Phrase(f"{word} {of.text} {body}")
        if kind == DATE or self._is_year(step):
            return _Phrase(f"when {of.text} {text}")
        if noun == "thing" and shape.form == "verb" and shape.noun:
            noun = singular_noun(shape.noun)
        if noun == "thing":
            return _Phrase(f"what {of.text} {text}")
        return _Phrase(noun, plural(noun), is_many).narrow(_alike("object", f"{of.text} {text}"))

    def _source(self, source: Part, step: Step) -> _Phrase:
        """Where a step begins; of all from which it leads somewhere, only what they are."""
        if isinstance(source, OfType) and source.type < 0 and source.end == step:
            return _things(self._noun(step))
        phrase, noun = self.phrase(source), self._noun(step)
        if (phrase.one, phrase.many) == ("thing", "things") and noun != "thing":
            return replace(phrase, one=noun, many=plural(noun))  # the step itself says what they are
        return phrase

    def _leads_to_one(self, source: Part, step: Step) -> bool:
        """Whether a step leads from one thing to at most one."""
        schema = self._vocabulary.schema
        if self._is_plural(step) or 2 * schema.repeated[step] >= schema.nodes[step]:
            return False
        if not isinstance(source, Anchor):
            return isinstance(source, Extreme) and source.number == 1
        side = self._vocabulary.graph.side(step)
        first, stop = side.relation_span(source.node, relation_of(step))
        return stop - first <= 1

    def _is_plural(self, step: Step) -> bool:
        """Whether a relation is named in the plural, from head to tail: *starred actors*."""
        shape, label = self._shape(step), self._label(step)
        is_noun = shape.form == "noun" and shape.one != shape.many
        return is_noun and not is_backward(step) and label.endswith(shape.many)

    def _has(self, step: Step, of: _Phrase) -> _Narrowed:
        """What is said of a thing that a relation leads from to something; `step` leads back."""
        shape, text = self._shape(step), of.text
        kind = self._vocabulary.ends[step]
        match shape.form:
            case "verb":
                text = f"the {shape.noun} {text}" if shape.noun and of.is_name and not of.is_many else text
                return _that(f"{shape.one} {text}", f"{shape.many} {text}")
            case "post":
                preposition = ""
                if kind != THING and " " not in shape.one and is_participle(shape.one):
                    preposition = "in " if kind in (NUMBER, DATE) else "as "
                return _post(f"{shape.one} {preposition}{text}", is_past=shape.one.startswith("born"))
            case "role":
                return _that(f"is {indefinite(shape.one)} of {text}", f"are {shape.many} of {text}")
            case "noun":
                return self._whose(step, of)

    def _whose(self, step: Step, of: _Phrase) -> _Narrowed:
        """*Whose genre is Drama*, *whose genres include Drama*."""
        shape = self._shape(step)
        text = f"one of the {of.bare}" if of.is_many and not of.is_name else of.text
        said = f"{shape.many} include" if self._is_plural(forward(relation_of(step))) else f"{shape.one} is"
        return _alike("whose", f"whose {said} {text}")

    def _truth(self, source: Part, step: Step) -> _Narrowed | None:
        """What is said of things by a relation whose values are yes and no."""
        if not isinstance(source, Anchor) or relation_of(step) not in self._vocabulary.flags:
            return None
        truth = self._vocabulary.truths.get(source.node)
        if truth is None:
            return None
        label = self._label(step)
        shape, first = self._shape(step), label.split()[0]
        no = "" if truth else "not "
        if first in ("is", "are", "was"):
            label = label.partition(" ")[2]
            return _that(f"is {no}{label}", f"are {no}{label}")
        if shape.form in ("noun", "role") and first not in ("can", "does") and not is_quality(label):
            noun = label.partition(" ")[2] if first in ("has", "have") else label
            return _alike("with", f"{'with' if truth else 'without'} {noun}")
        if shape.form == "verb":
            verb = _that(shape.one, shape.many)
            return verb if truth else _not(verb)
        return _that(f"is {no}{label}", f"are {no}{label}")

    # several sets

    def _both(self, left: Part, right: Part) -> _Phrase:
        if isinstance(right, Anchor):
            left, right = right, left
        both = self._joined("both {} and {}", left, right)
        if both is not None:
            return both
        first, second = self.phrase(left), self.phrase(right)
        if not first.is_name:
            if isinstance(right, OfType) and (first.is_implied or first.one == second.one):
                return replace(first, one=second.one, many=second.many)
            if second.is_implied and not second.before:
                return first.narrow(*second.narrowed)
            if first.is_implied and not first.before:
                return second.narrow(*first.narrowed)
        return first.narrow(_that(*self._being(second)))

    def _being(self, phrase: _Phrase) -> tuple[str, str]:
        """*Is an engineer* and *are engineers*."""
        if phrase.is_name:
            return f"is {phrase.text}", f"are {phrase.text}"
        one = replace(phrase, is_many=False)
        article = f"the {one.bare}" if phrase.before or not phrase.is_many else indefinite(one.bare)
        return f"is {article}", f"are {replace(phrase, is_many=True).bare}"

    def _joined(self, pattern: str, left: Part, right: Part) -> _Phrase | None:
        """One step from two things at once: "films directed by Ann or Ben"; None of any others."""
        match left, right:
            case (Walk(a, step), Walk(b, other)) if step == other and self._truth(a, step) is None:
                first, second = self.phrase(a), self.phrase(b)
                if first.is_name and second.is_name:
                    name = _Phrase(pattern.format(first.text, second.text), is_many=True)
                    return self._stepped(name, step, is_many=True)
            case _:
                pass
        return None

    def _either(self, left: Part, right: Part) -> _Phrase:
        either = self._joined("{} or {}", left, right)
        if either is not None:
            return either
        match left, right:
            case Walk(one, step), Walk(other, back) if one == other and back == opposite(step):
                return self.phrase(right if is_backward(back) else left)  # what holds both ways is said once
            case (Compared(a, steps, sign, value), Compared(b, others, other_sign, other_value)) if (
                a == b and steps == others
            ):
                first = self._compared(steps, sign, value)
                second = self._compared(others, other_sign, other_value)
                said = _Narrowed(first.kind, f"{first.one} or {second.one}", f"{first.many} or {second.many}")
                return self.phrase(a).narrow(said)
            case _:
                return _Phrase(f"{self.phrase(left).text} or {self.phrase(right).text}", is_many=True)

    def _without(self, left: Part, right: Part) -> _Phrase:
        first, second = self.phrase(left), self.phrase(right)
        if second.is_name:
            return first.narrow(_alike("with", f"other than {second.text}"))
        if second.is_implied and len(second.narrowed) == 1 and not second.before:
            return first.narrow(_not(second.narrowed[0]))
        return first.narrow(_not(_that(*self._being(second))))

    # conditions

    def _bounded(self, part: Compared) -> _Phrase:
        match part:
            case Compared(Compared(source, same, ">=", Value() as first), steps, "<=", Value() as last) if (
                same == steps
            ):
                return self.phrase(source).narrow(self._compared(steps, "=", first, last))
            case Compared(source, steps, sign, value):
                return self.phrase(source).narrow(self._compared(steps, sign, value))

    def _compared(
        self, steps: Sequence[Step], sign: Sign, value: Value | Part | Amount, last: Value | None = None
    ) -> _Narrowed:
        """*Longer than Tenet*, *released after 2000*, *(over 7)*; with `last` from a value to that one."""
        if not steps:
            to = "" if last is None else f" to {self._bound(-1, last)[0]}"
            return _alike("edge", f"({_NUMBER_SIGNS[sign]}{self._bound(-1, value)[0]}{to})")
        if len(steps) > 1:
            noun = self._noun(opposite(steps[0]))
            inner = _Phrase(noun, plural(noun), is_many=True).narrow(
                self._compared(steps[1:], sign, value, last)
            )
            return self._related(steps[0], inner)
        step, shape = steps[0], self._shape(steps[0])
        measure = _MEASURES.get(shape.one.split()[-1]) if shape.form == "noun" else None
        bound, same = self._bound(step, value)
        if measure is not None and sign in (">", "<") and not self._is_time(step, shape):
            word = measure[0 if sign == ">" else 1]
            return _that(f"is {word} than {bound}", f"are {word} than {bound}")
        bound = f"that of {bound}" if same else bound
        if last is not None:
            unit = self._unit(step)
            bound = (
                f"from {bound.removesuffix(f' {unit}') if unit else bound} to {self._bound(step, last)[0]}"
            )
        if shape.form in ("post", "verb") and self._is_time(step, shape):
            event, event_many = _without_preposition(shape.one), _without_preposition(shape.many)
            signed = f"{_TIME_SIGNS[sign]}{bound}"
            if sign in ("=", "!=") and last is None:
                is_day = isinstance(value, Value) and value.date and not value.width
                clock = isinstance(value, Value) and value.is_time
                signed = f"{_TIME_SIGNS[sign]}{'at' if clock else 'on' if is_day else 'in'} {bound}"
            if shape.form == "verb":
                return _that(f"{event} {signed}", f"{event_many} {signed}")
            return _post(f"{event} {signed}", is_past=True)
        signs = _TIME_SIGNS if self._is_time(step, shape) else _NUMBER_SIGNS
        noun, be = self._label(step), "is"
        if is_backward(step):
            noun = self._noun(opposite(step))
        elif shape.form == "noun":
            noun, be = (shape.many, "are") if self._is_plural(step) else (shape.one, "is")
        said = f"{signs[sign]}{bound}"
        if signs is _TIME_SIGNS and sign in (">=", "<="):
            said = f"{bound} or {'later' if sign == '>=' else 'earlier'}"
        elif signs is _TIME_SIGNS and sign in ("=", "!=") and last is None and getattr(value, "width", 0):
            said = f"{signs[sign]}in {bound}"
        return _alike("whose", f"whose {noun} {be} {said}")

    def _bound(self, step: Step, value: Value | Part | Amount) -> tuple[str, bool]:
        """What a value is compared with, and whether it is what the same relation says of another."""
        if isinstance(value, Value):
            unit = self._unit(step) if step >= 0 and not value.date and not value.unit else ""
            return f"{_value_text(value)} {unit}".strip(), False
        if isinstance(value, Amount) and value.ask == "own":
            return f"their {' of the '.join(map(self._label, reversed(value.way)))}", False
        if isinstance(value, Amount):
            return self.amount(value.ask, value.part), False
        if isinstance(value, Walk) and value.step == step:
            return self.phrase(value.source).text, True
        return self.phrase(value).text, False

    def _is_year(self, step: Step) -> bool:
        leads_to_years = bool(self._vocabulary.schema.years[opposite(step)])
        return leads_to_years and self._shape(step).form in ("post", "verb")

    def _is_time(self, step: Step, shape: Shape) -> bool:
        """Whether values of a relation are dates, times or years."""
        end = opposite(step)
        if self._vocabulary.ends[end] == DATE:
            return True
        words = _TIME_WORDS.intersection(self._label(step).split())
        return bool(self._vocabulary.schema.years[end]) and (bool(words) or shape.form in ("post", "verb"))

    def _counted(self, step: Step, sign: Sign, number: int, among: Part | None = None) -> _Narrowed:
        """*With at least two directors*, *that treat no disease*."""
        single = number == 1 and sign in ("=", ">=", ">")
        if number == 0 and sign == "=":
            has_no_noun = not self._own_noun(step) and self._noun(opposite(step)) == "thing"
            if among is None and has_no_noun and not is_backward(step):
                return _alike("with", f'with no "{self._label(step)}"')
            many_text = "no "
        elif sign == ">=" and number == 1:
            many_text = "a "
        else:
            many_text = f"{_COUNT_SIGNS[sign]}{_count(number)} "
        return self._related(step, self._among(among, is_many=not single), many_text)

    def _among(self, among: Part | None, *, is_many: bool) -> _Phrase:
        """What is counted: all that a step leads to (without a word), or what is in a set."""
        if among is None:
            return _Phrase("", "-", is_many)
        return replace(self.phrase(among), is_many=is_many)

    def _related(self, step: Step, things: _Phrase, quantity: str = "") -> _Narrowed:
        """What is said of a thing that a step leads from, to some things or to so many of them."""
        shape = self._shape(step)
        things = things if things.one else self._counted_noun(step, shape, things.is_many)
        said = f"{quantity}{things.bare}" if quantity else things.text
        said = indefinite(things.bare) if quantity == "a " else said
        if not is_backward(step):
            if quantity and _value_noun(shape):
                return _alike("with", f"with {said}")
            if shape.form == "noun":
                return self._whose(backward(relation_of(step)), things)
            return self._has(backward(relation_of(step)), _Phrase(said, is_many=True))
        match shape.form:
            case "role":
                if not quantity:
                    return _that(f"has {said} as {shape.one}", f"have {said} as {shape.one}")
                return _alike("with", f"with {said}")
            case "post":
                it = "them" if is_person(self._noun(step)) else "it"
                return _Narrowed("with", f"with {said} {shape.many} {it}", f"with {said} {shape.many} them")
            case "verb":
                verb = shape.many if things.is_many else shape.one
                return _that(f"{said} {verb}", f"{said} {verb}")
            case "noun":
                return _that(f"is the {shape.one} of {said}", f"are the {shape.one} of {said}")

    def _own_noun(self, step: Step) -> str:
        """What the name of a relation calls what a step leads to: *genre*, *member*; or empty."""
        shape = self._shape(step)
        if is_backward(step):
            return shape.one if shape.form == "role" else ""
        return shape.one if shape.form == "noun" else shape.noun

    def _counted_noun(self, step: Step, shape: Shape, is_many: bool) -> _Phrase:
        noun = self._noun(opposite(step))
        if noun == "thing" and shape.form == "verb" and shape.noun:
            noun = shape.noun
        noun = self._own_noun(step) or noun
        return _Phrase(noun, plural(noun), is_many)

    def _only_or_all(self, step: Step, how: str, targets: Part) -> _Narrowed:
        """*That treat only diseases of the lung*, *that treat all of Flu or Cold*."""
        said = self.phrase(targets)
        before = "only " if how == "only" else "all of "
        text = said.text if said.is_name else replace(said, is_many=True).bare
        shape = self._shape(step)
        if not is_backward(step) and shape.form != "noun":
            return self._has(backward(relation_of(step)), _Phrase(before + text, is_many=True))
        return self._related(step, _Phrase(before + text, is_many=True))

    def _extreme(self, of: _Phrase, part: Extreme) -> _Phrase:
        """*The second longest film*, *the 3 films with the highest rating*."""
        steps, largest, number = part.steps, part.largest, part.number
        if of.text.startswith("when ") and not steps:
            said, _, verb = of.text.rpartition(" ")
            return _Phrase(f"{said} {'last' if largest else 'first'} {verb}")
        if of.is_name:
            of = _Phrase("one", "ones").narrow(_of(of.text))
        rank = f"{_nth(number)} " if part.nth and number > 1 else ""
        if part.key:
            noun = words_of_label(part.key)
            first, last = _ends(bool(_TIME_WORDS.intersection(noun.split())), largest)
            said = f"with the {rank}{first} {noun}"
            chosen = replace(of, is_many=number != 1 and not part.nth)
            if not number:
                said = f"from the {first} to the {last} {noun}"
            return chosen.narrow(_alike("edge", said))
        if not steps:
            walk = part.source if isinstance(part.source, Walk) else None
            is_time = walk is not None and self._is_time(walk.step, self._shape(walk.step))
            before = f"{_ends(is_time, largest)[0]} {of.before}".strip()
            return replace(of, before=before, is_many=part.number != 1)
        shape, step = self._shape(steps[-1]), steps[-1]
        first, last = _ends(self._is_time(step, shape), largest)
        if not number:
            noun = shape.one if shape.form == "noun" else "date"
            return replace(of, is_many=True).narrow(_alike("edge", f"from the {first} to the {last} {noun}"))
        chosen = replace(of, is_many=number > 1 and not part.nth)
        count = f"{number} " if number > 1 and not part.nth else ""
        if part.counted:
            most = f"the {rank}{'most' if largest else 'fewest'} "
            return replace(chosen, before=f"{count}{of.before}".strip()).narrow(
                self._related(step, self._among(part.among, is_many=True), most)
            )
        measure = _MEASURES.get(shape.one.split()[-1]) if shape.form == "noun" and len(steps) == 1 else None
        if measure is not None and not self._is_time(step, shape):
            match part.source:
                case Either(Anchor() as one, Anchor() as other) if number == 1 and not part.nth:
                    word, of_two = (
                        measure[0 if largest else 1],
                        (self.phrase(one).text, self.phrase(other).text),
                    )
                    return _Phrase(f"the {word} of {of_two[0]} and {of_two[1]}")
                case _:
                    pass
            ranked = f"{count}{rank}{measure[2 if largest else 3]} {of.before}"
            return replace(chosen, before=ranked.strip())
        chosen = replace(chosen, before=f"{count}{of.before}".strip())
        if self._is_time(step, shape) and shape.form != "noun":
            last = f"{rank}last" if largest else rank.strip() or "first"
            said = f"{_without_preposition(shape.one)} {last}"
            return chosen.narrow(_that(said) if shape.form == "verb" else _post(said))
        noun = (
            self._total(steps)
            if part.summed
            else " of the ".join(self._shape(s).one for s in reversed(steps))
        )
        if (
            shape.form == "noun"
            and self._is_plural(step)
            and not self._is_time(step, shape)
            and not part.summed
        ):
            first, noun = "most" if largest else "fewest", noun.replace(shape.one, shape.many, 1)
        return chosen.narrow(_alike("with", f"with the {rank}{first} {noun}"))

    def _total(self, steps: tuple[Step, ...]) -> str:
        """*Total tickets sold of their screenings*."""
        type_ = self._vocabulary.types_reached[steps[0]]
        rows = plural(self._vocabulary.types[type_]) if type_ >= 0 else self._label(steps[0])
        return f"total {self._label(steps[-1])}" + (f" of their {rows}" if len(steps) > 1 else "")

    # what is asked

    def amount(self, ask: str, part: Part) -> str:
        """*The total price of orders by Ann*, *the average age of employees*."""
        word = {"sum": "total", "average": "average", "largest": "highest", "smallest": "lowest"}[ask]
        if isinstance(part, Walk) and not is_backward(part.step):
            shape = self._shape(part.step)
            noun = self._label(part.step)
            if shape.form == "noun":
                noun = shape.many if self._is_plural(part.step) else shape.one
            unit = f", in {self._unit(part.step)}" if self._unit(part.step) else ""
            return f"the {word} {noun} of {self.many(part.source).text}{unit}"
        return f"the {word} of {self.many(part).text}"

    def on_edges(self, ask: str, key: str, part: Part) -> str:
        """*The hours where Ann works at North Depot*, *the total hours of people who work at North Depot*."""
        noun = words_of_label(key)
        word = {"sum": "total ", "average": "average ", "largest": "highest ", "smallest": "lowest "}
        match part:
            case Both(_, Anchor()) | Both(Anchor(), _) if noun in ("since", "until", "from", "till"):
                return f"{noun} when {self.statement(part)}"
            case Both(_, Anchor()) | Both(Anchor(), _):
                return f"the {word.get(ask, '')}{noun} where {self.statement(part)}"
            case _:
                return f"the {word.get(ask, '')}{noun} for {self.phrase(part).text}"

    def share(self, some: _Phrase, of: _Phrase) -> str:
        """*The share of projects owned by Ann*, *the share of films by Nolan that are thrillers*."""
        if some.many == of.many and not of.narrowed and not some.before:
            return f"the share of {some.bare}"
        return f"the share of {of.bare} that are {some.bare}"

    def difference(self, part: Part, other: Part) -> str:
        """*The difference between the price of Desk and that of Lamp*."""
        first, second = self.phrase(part), self.phrase(other)
        match part, other:
            case (Walk(_, step), Walk(source, other_step)) if step == other_step and first.one == second.one:
                theirs = self.phrase(source).text
                if self._vocabulary.kinds_reached[step] in (NUMBER, DATE):
                    return f"the difference between {first.text} and that of {theirs}"
                return f"how many more there are of {self.many(part).bare} than of {theirs}"
            case _:
                return f"the difference between {first.text} and {second.text}"

    def group(self, steps: Sequence[Step]) -> str:
        """What a group is called: *department*, *manager*."""
        step = steps[-1]
        noun = self._noun(opposite(step))
        noun = noun if noun != "thing" else self._label(step)
        return self._own_noun(step) or noun

    def all_are(self, part: Part, other: Part) -> str:
        """*All members of Red are older than 30*, *Ann and Bob live in Oslo*, *only Ann wrote Tides*."""
        first, second = self.phrase(part), self.phrase(other)
        if second.is_name and not isinstance(other, Either):
            return f"{second.text} is the only one of {replace(first, is_many=True).bare}"
        names = first.text.replace(" or ", " and ") if first.is_name else f"all {self.many(part).bare}"
        said = second.narrowed[0] if second.is_implied and len(second.narrowed) == 1 else None
        if said is not None and said.kind == "that":
            return f"{names} {said.many}"
        if said is not None and said.kind == "whose" and first.is_name:
            return f"the {said.many.removeprefix('whose ').replace(' is ', f' of {names} is ', 1)}"
        if said is not None and said.kind == "post":
            return f"{names} {'were' if said.is_past else 'are'} {said.many}"
        return f"{names} are {self.many(other).bare}"

    def statement(self, part: Part) -> str:
        """What is true if a set has a member: *Tenet is longer than Memento*, *there are films by Nolan*."""
        match part:
            case Both(left, Anchor() as anchor) | Both(Anchor() as anchor, left):
                name, phrase = self.phrase(anchor).text, self.phrase(left)
                if phrase.is_name and phrase.one.startswith("what "):
                    return f"{phrase.one.removeprefix('what ')} {name}"
                if [said.kind for said in phrase.narrowed] == ["object"] and not phrase.before:
                    return f"{phrase.narrowed[0].one} {name}"
                if phrase.is_implied and len(phrase.narrowed) == 1 and not phrase.before:
                    return self._predicate(name, phrase.narrowed[0])
                return f"{name} {self._being(phrase)[0]}"
            case Compared(Anchor() as anchor, _, _, _) | Counted(Anchor() as anchor, _, _, _, _):
                return self._predicate(self.phrase(anchor).text, self.phrase(part).narrowed[-1])
            case _:
                phrase = self.many(part)
                are = "is" if phrase.is_name and not phrase.is_many else "are"
                return f"there {are} {phrase.bare}"

    def _predicate(self, name: str, said: _Narrowed) -> str:
        match said.kind:
            case "that":
                return f"{name} {said.one}"
            case "whose":
                return f"the {said.one.removeprefix('whose ').replace(' is ', f' of {name} is ', 1)}"
            case "with":
                return f"{name} has {said.one.removeprefix('with ')}"
            case "post" | "of" | "object" | "edge":
                return f"{name} {'was' if said.is_past else 'is'} {said.one}"


def _not(said: _Narrowed) -> _Narrowed:
    """What is said of things for which something does not hold."""
    match said.kind:
        case "that":
            many = negated(said.many)
            one = {"are": "is", "do": "does", "have": "has"}.get(many.split()[0], "") if many else ""
            return _that(f"{one} {many.partition(' ')[2]}" if one else many, many)
        case "post" | "of" | "object" | "edge":
            return _that(f"is not {said.one}", f"are not {said.many}")
        case "whose":
            word, new = (" include ", " do not include ") if " include " in said.one else (" is ", " is not ")
            return replace(said, one=said.one.replace(word, new, 1), many=said.many.replace(word, new, 1))
        case "with":
            return replace(said, one=f"not {said.one}", many=f"not {said.many}")


def _things(noun: str, before: str = "") -> _Phrase:
    """Several things; without a word `before` it, the noun adds nothing to what narrows it."""
    return _Phrase(noun, plural(noun), is_many=True, before=before, is_implied=not before)


def _value_noun(shape: Shape) -> str:
    """What the name of a relation calls its tails: *genre*, *director* (of *directed by*); or empty."""
    return shape.one if shape.form == "noun" else shape.noun if shape.form == "post" else ""


def _ends(is_time: bool, largest: bool) -> tuple[str, str]:
    """What the first and the last of ordered values are called: *latest*, *earliest*."""
    ends = ("latest", "earliest") if is_time else ("highest", "lowest")
    return ends if largest else (ends[1], ends[0])


def _post(text: str, *, is_past: bool = False) -> _Narrowed:
    return _Narrowed("post", text, text, is_past)


def _alike(kind: Kind, text: str) -> _Narrowed:
    return _Narrowed(kind, text, text)


def _of(name: str) -> _Narrowed:
    return _alike("of", f"of {name}")


def _that(one: str, many: str = "") -> _Narrowed:
    return _Narrowed("that", one, many or one)


def _without_preposition(event: str) -> str:
    return event.removesuffix(" in").removesuffix(" on").removesuffix(" at")


def _interval(conditions: Sequence[OnEdge]) -> str:
    """*In 2016* of what began until its end and did not end before it; empty for other conditions."""
    match conditions:
        case (OnEdge(_, "<=", Value() as last), OnEdge(_, ">=", Value() as first, True)) if (
            last.number >= first.number
        ):
            within = replace(first, width=last.number - first.number)
            return f"{'on' if within.date and not within.width else 'in'} {_value_text(within)}"
        case _:
            return ""


def _on_edge(condition: OnEdge) -> str:
    """*Date after 2023*, *status shipped*."""
    if isinstance(condition.value, str):
        return f"{words_of_label(condition.key)} {'not ' * (condition.sign == '!=')}{condition.value}"
    is_time = condition.value.date or _TIME_WORDS.intersection(words_of_label(condition.key).split())
    sign = (_TIME_SIGNS if is_time else _NUMBER_SIGNS)[condition.sign]
    none = " or none" if condition.or_none else ""
    said = f"{sign}{_value_text(condition.value)}"
    if is_time and condition.sign in (">=", "<="):
        said = f"{_value_text(condition.value)} or {'later' if condition.sign == '>=' else 'earlier'}"
    return f"{words_of_label(condition.key)} {said}{none}"


def _nth(number: int) -> str:
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ending = "th" if number % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _count(number: int) -> str:
    return SMALL_NUMBERS[number] if 0 < number <= SPELT_OUT else f"{number:,}"


def _value_text(value: Value) -> str:
    """A number or a date as people write it: *2.5*, *the 1980s*, *March 1988*, *1 March 1988*, *50 BC*."""
    if not value.date:
        return _number_text(value)
    if value.yearly:
        month, day = divmod(int(value.number), 100)
        return month_name[month] if value.width else f"{day} {month_name[month]}"
    if value.number < 0:
        ends = [f"{1 - year_of(days):.0f} BC" for days in (value.number, value.number + value.width)]
        return " to ".join(dict.fromkeys(ends))
    if value.is_time:
        minutes = round(value.number * 24 * 60)
        return f"{minutes // 60:02}:{minutes % 60:02}"
    start = date.fromordinal(int(value.number) + 1)
    stop = date.fromordinal(int(value.number + value.width) + 1)
    if start == stop:
        return f"{start.day} {month_name[start.month]} {start.year}"
    if (start.month, start.day, stop.month, stop.day) == (1, 1, 12, 31):
        return _years_text(start.year, stop.year)
    if start.day == 1 and value.width < 31 and date.fromordinal(stop.toordinal() + 1).day == 1:
        return f"{month_name[start.month]} {start.year}"
    first, last = (Value(float(day.toordinal() - 1), date=True) for day in (start, stop))
    return f"{_value_text(first)} to {_value_text(last)}"


def _number_text(value: Value) -> str:
    number = f"{value.number:,}" if abs(value.number) >= GROUPED else f"{value.number:.10g}"
    number = number.removesuffix(".0")
    if not value.width:
        return f"{number} {value.unit}".strip()
    first, last = float(value.number), float(value.number + value.width)
    if not (first.is_integer() and last.is_integer()):
        return f"{first:.10g} to {last:.10g}"
    return _years_text(int(first), int(last))


def _years_text(first: int, last: int) -> str:
    if first == last:
        return str(first) if first >= 1000 else f"AD {first}"
    return f"the {first}s" if first % 10 == 0 and last - first == 9 else f"{first} to {last}"
