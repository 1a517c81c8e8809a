"""The words of a graph: its relations and types as text, and what stands at their ends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clew.foundation.forms import local_name
from clew.graph.graph import Adjacency, Graph, counted_offsets
from clew.graph.schema import TYPING, Schema
from clew.graph.steps import TAILS, End, Step, backward, forward, is_tail, opposite, relation_of
from clew.graph.values import CURRENCIES, FALSE, MOST_WRITTEN, TRUE, unit_in, unit_of_numbers
from clew.query.execute import SetCache
from clew.text.inflection import (
    PREPOSITIONS,
    Shape,
    indefinite,
    is_participle,
    is_person,
    is_quality,
    nouns_of,
    plural,
    shape_of,
    singular_noun,
)
from clew.text.lexicon import NOUN, Lexicon
from clew.types import TripleText

# Short forms in the names of columns and relations, written out: *dept_mgr* → *department manager*.
#
# Graphs that were tables have such names. What is usual in them is a table here; a word that is none, of
# *wrd_in_cncl*, may still be short for one of the question (`is_short_for`).

_TABLE = """
    acct=account acq=acquired addr=address affil=affiliation agmt=agreement amt=amount
    approx=approximate appt=appointment arr=arrival assoc=association asst=assistant
    attr=attribute atty=attorney auth=author avg=average bal=balance bday=birthday beg=begin
    bldg=building bldr=builder calc=calculated capt=captain cert=certificate chk=check cls=class
    cnt=count cntry=country coll=collected comm=commission cond=condition conf=conference contr=contract
    coord=coordinates ctr=center ctrl=control ctry=country curr=current cust=customer deg=degree
    deliv=delivery dep=departure dept=department desc=description descr=description dest=destination
    det=determined diag=diagnosis diff=difference dir=director disc=discount dist=distance
    distr=district div=division dlv=delivery dob=birth_date dod=death_date dt=date dup=duplicate
    dur=duration elev=elevation emp=employee eng=engine env=environment equip=equipment evt=event
    exec=executive exped=expedition facil=facility fav=favourite freq=frequency govt=government
    grp=group hosp=hospital hq=headquarters hr=hour hrs=hours ht=height ident=identified img=image
    ind=industry inhab=inhabitants init=initial insp=inspection inst=institution instr=instrument
    intl=international inv=invoice kts=knots lang=language lat=latitude len=length lic=license
    lng=longitude loc=location lon=longitude lvl=level maint=maintenance manuf=manufacturer max=maximum
    mbr=member mdl=model meas=measured med=medication memb=member mfg=manufacturer mfr=manufacturer
    mgmt=management mgr=manager mins=minutes misc=miscellaneous mkr=maker mkt=market
    mnth=month msg=message mtg=meeting mth=month nat=nationality natl=national nbr=number
    neighb=neighbour nm=name num=number obs=observed occ=occupation op=operator opp=opposing
    opr=operator org=organization orig=origin ownr=owner pat=patient pct=percent perf=performance
    pkg=package plyr=player pmt=payment pos=position pref=preferred prereq=prerequisite pres=president
    prev=previous princ=principal prio=priority prod=product prof=professor prog=programme proj=project
    prov=province pts=points publ=publisher purch=purchase pwr=power qtr=quarter qty=quantity
    rcv=receive recd=received refurb=refurbished reg=registration rel=related repl=replacement
    req=required resp=responsible resv=reservation rm=room rnd=round rte=route rwy=runway sched=schedule
    seg=segment sess=session sev=severity spec=specification spkr=speaker spons=sponsor sq=square
    src=source stat=status std=standard stf=staff stn=station stu=student stud=student
    subj=subject supp=supplier suppl=supplier supv=supervisor surg=surgeon svc=service sys=system
    tchr=teacher tech=technician tel=telephone temp=temperature terr=territory tkt=ticket tm=time
    tot=total tourn=tournament trans=transaction trn=train twn=town txn=transaction uni=university
    univ=university upd=updated usr=user val=value vehic=vehicle ven=venue vend=vendor ver=version
    vlv=valve vnd=vendor vol=volume vsl=vessel wgt=weight whs=warehouse wk=week wt=weight yr=year
    yrs=years zn=zone
    """
"""Usual short forms of the names of columns; two words are joined by `_`."""
WRITTEN_OUT = {short: full.replace("_", " ") for short, full in (p.split("=") for p in _TABLE.split())}
_NUMBER = frozenset(("no", "nr"))
LEAST_LETTERS = 3
"""Letters that may be short for a word; of two, too many words have both."""


def written_out(label: str) -> str:
    """A label in words without its usual short forms, of which each stays that is a word of its own alone."""
    words = label.split()
    if len(words) == 1 and words[0] in Lexicon.load():
        return words[0]
    for at in (0, -1) if len(words) > 1 else ():
        if words[at] in _NUMBER and (at or words[1] == "of"):
            words[at] = "number"  # *flight no* denies nothing
    return " ".join(WRITTEN_OUT.get(word, word) for word in words)


def initials_of(labels: Iterable[str]) -> dict[str, str]:
    """The labels of several words by their first letters, where one alone has these: *dob*, *gdp*."""
    labels_by_initials: dict[str, str] = {}
    for label in dict.fromkeys(labels):
        words = label.split()
        if len(words) > 1 and all(word.isalpha() for word in words):
            initials = "".join(word[0] for word in words)
            labels_by_initials[initials] = "" if initials in labels_by_initials else label
    return {initials: label for initials, label in labels_by_initials.items() if label}


def is_short_for(short: str, word: str) -> bool:
    """Whether letters that are no word may stand for one: its first letter and more of it, in order.

    *cncl* may stand for *council*, *surg* for *surgery*; *stn* not for *step*.
    """
    if not LEAST_LETTERS <= len(short) < len(word) or short[0] != word[0] or not short.isalpha():
        return False
    letters = iter(word)
    if not all(letter in letters for letter in short):
        return False
    # Of a word that does not begin so, at most two letters are left out behind the last one.
    return word.startswith(short) or short[-1] in word[-3:]


_KEYS = frozenset("id code number no nr num key ref reference".split())
"""Words with which the name of a column ends that refers to rows of another table."""


def words_of_reference(label: str, type_: str) -> str:
    """What leads to things of a type, without its words for a key: of `lift no` *lift*, of `iid` the type."""
    words, noun, lexicon = label.split(), singular_noun(type_), Lexicon.load()
    initials, kind = "".join(word[0] for word in noun.split()), noun.split()[-1]
    if words and words[-1] in {initials + key for key in _KEYS}:
        words[-1:] = [kind, "id"] if words[1:] else ["id"]  # *bid* of buyers
    has_key = bool(words) and words[-1] in _KEYS
    while words and words[-1] in _KEYS:
        words.pop()
    if not words:
        return noun
    *before, own = words
    is_short = (has_key or own not in lexicon) and is_short_for(own, kind)
    is_key = has_key and (is_short or singular_noun(own) == kind)
    if is_key and before and lexicon.classes(before[-1]).get("person", 0.0) > MOSTLY:
        return " ".join(before)
    return " ".join([*before, kind] if is_short else words)


THING, NUMBER, DATE, LEAF = range(4)
"""What the nodes at an end are: things, numbers, dates, or plain texts that no relation leaves."""
UNEXPLAINED = 0.45
"""A word that no relation or type of a candidate is so like is not said by it."""
MOSTLY = 0.5
MOST_READ = 200
"""Labels of which is read how they are written."""
TRUTH = {word: word in TRUE for word in (*TRUE, *FALSE)}
"""How values are written that say whether something is so."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_WRITTEN_AS = re.compile(
    r"\s*\((?:(?:yes|y|true)\s*/\s*(?:no|n|false)|[dmy]{1,4}([-./ ])[dmy]{1,4}(?:\1[dmy]{1,4})?"
    r"|hh:mm(?::ss)?)\)",
    re.I,
)
"""What says of a column how its values are written: *Portable (yes/no)*, *Opened (dd/mm/yyyy)*."""
_RATE = re.compile(
    r"(?<=[$€£\w])/(h|hr|hour|d|day|kg|km|m|month|week|year|unit|litre|l|kWh|tonne|t)\b(?![/.])"
)
_SHORT_UNITS = {"h": "hour", "d": "day", "l": "litre", "t": "tonne"}
"""Rates of a column: *rate £/h*."""
INVERTED = frozenset("inverse inverted inv reverse reversed".split())
"""Words in the name of a relation that only say of which other one it is the inverse."""
_HAVING = frozenset(("has", "is", "was", "have"))
_CODE = re.compile(r"(?:[A-Za-z]{1,6}[-_/. ])?[A-Za-z]{0,6}[-_/. ]?[\d/_.-]*\d[\w/_.-]*")
_FULL_NAME = re.compile(r"[^\W\d_a-z]\w+(?: [^\W\d_a-z][\w.]*)+")
MOSTLY_CODES, FULL_NAMES = 0.8, 0.05
"""Shares of the names at an end that are codes, and of all that are of several words in capitals."""
_DEEPEST = 2
"""Parts of a dotted name that are read, from its end."""


def words_of_label(label: str) -> str:
    """A label as words: *film.film.directed_by* → *film directed by*, *inCountry* → *in country*.

    *publicPCs* → *public pcs*. Of an address the last part: *http://a.org/in#country* → *country*, but
    *in/out* → *in out*.
    """
    label = _WRITTEN_AS.sub("", label) or label
    label = _RATE.sub(lambda rate: f" per {_SHORT_UNITS.get(rate[1], rate[1])}", label)
    is_path = label.startswith("/") or "://" in label
    last = re.split(r"[/#]", label.rstrip("/#"))[-1] if is_path else label
    parts = [p for p in last.split(".") if p]
    text = " ".join(dict.fromkeys(parts[-_DEEPEST:])) if len(parts) > 1 else last
    text = re.sub(r"[_\W]+", " ", _CAMEL.sub(" ", text))
    return " ".join(text.lower().split()) or label


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Texts of relations and types, and kinds of ends, of one graph."""

    graph: Graph
    schema: Schema
    relations: tuple[str, ...]
    types: tuple[str, ...]
    ends: tuple[int, ...]
    """THING, NUMBER, DATE or LEAF, by end."""
    end_types: tuple[int, ...]
    """The declared type of most nodes of each end, -1 where none is."""
    short_relations: tuple[str, ...]
    short_types: tuple[str, ...]
    """Relations and types in words as they are; `relations` and `types` have short forms written out."""
    further: tuple[tuple[int, str], ...] = ()
    """What a team also says for a relation or type: its number, types behind relations, and the words."""
    denies: Mapping[int, int] = field(default_factory=dict[int, int])
    """For each relation of which a team says so, the one that it denies."""
    cached_sets: SetCache = field(init=False, default_factory=SetCache)
    """Sets that are the same for all questions."""
    cached_neighbours: SetCache = field(init=False, default_factory=partial(SetCache, 1_000_000))
    """What lies around those sets."""
    units: dict[int, str] = field(default_factory=dict[int, str])
    """The units of relations: those that a team says, and those that were looked up."""
    _coded: dict[int, bool] = field(default_factory=dict[int, bool])

    @classmethod
    def of(
        cls,
        graph: Graph,
        schema: Schema,
        further: Sequence[tuple[int, str]] = (),
        type_labels: Mapping[str, str] | None = None,
        terms: Collection[str] = (),
        denies: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        """Read the words of a graph, with a team's further words, labels of types by name, and terms.

        `denies` are relations by name with those that they deny.
        """
        relations, shown = tuple(map(words_of_label, graph.relation_labels)), type_labels or {}
        numbers = {name: number for number, name in enumerate(graph.relations)} if denies else {}
        types = tuple(words_of_label(shown.get(name, name)) for name in graph.types.names)
        # What a thing is called is its own type, and no term that is true of it.
        is_term = np.array([name in terms for name in graph.types.names], np.bool_)
        end_types = _end_types(schema, is_term)
        full_types = tuple(map(written_out, types))
        full_relations = [
            words_of_reference(label, full_types[type_]) if type_ >= 0 else label
            for label, type_ in zip(map(written_out, relations), end_types[TAILS], strict=True)
        ]
        return cls(
            graph,
            schema,
            tuple(full_relations),
            full_types,
            _kinds(graph, schema, end_types),
            end_types,
            relations,
            types,
            tuple((number, words_of_label(words)) for number, words in further),
            {numbers[one]: numbers[other] for one, other in (denies or {}).items()},
        )

    def may_meet(self, end: End, other_end: End) -> bool:
        """Whether some node stands at both of two ends; an end of -1 - type is all of a type."""
        if end < 0 and other_end < 0:
            return True
        if end >= 0 and other_end >= 0:
            return self.schema.together.meet(end, other_end)
        return bool(self.schema.typed[max(end, other_end), -1 - min(end, other_end)])

    def types_of(self, node: int) -> NDArray[np.int32]:
        """The declared types of a node."""
        types = self.graph.types
        none = node + 1 >= len(types.offsets)
        return types.type[:0] if none else types.type[types.offsets[node] : types.offsets[node + 1]]

    def type_of(self, node: int) -> int:
        """The first declared type of a node, -1 where it has none."""
        types = self.types_of(node)
        return int(types[0]) if len(types) else -1

    def all_of_type(self, end: End, type_: int) -> bool:
        """Whether all nodes at an end are of a declared type."""
        return bool(self.schema.typed[end, type_] == self.schema.nodes[end])

    @cached_property
    def kinds_reached(self) -> tuple[int, ...]:
        """The kind of the end at which each step arrives."""
        return tuple(self.ends[opposite(step)] for step in range(len(self.ends)))

    @cached_property
    def types_reached(self) -> tuple[int, ...]:
        """The type of the end at which each step arrives, -1 for none."""
        return tuple(self.end_types[opposite(step)] for step in range(len(self.end_types)))

    @cached_property
    def types_at_ends(self) -> NDArray[np.int64]:
        """`end_types`, int64 [ends]: of 100,000 relations too many to go over in each question."""
        return np.array(self.end_types, np.int64)

    @cached_property
    def canonical(self) -> NDArray[np.int64]:
        """The step that stands for each, int64 [steps]: another where a relation has an inverse.

        One way of a symmetric relation stands for both; what is only named as an inverse is left out.
        """
        same = np.arange(2 * len(self.relations))
        for relation, inverse in enumerate(self.schema.inverse.tolist()):
            if inverse < 0 or self.schema.inverse[inverse] != relation:
                continue
            if self._is_inverse_name(inverse, relation):
                same[forward(inverse)], same[backward(inverse)] = backward(relation), forward(relation)
            elif not self._is_inverse_name(relation, inverse):
                same[backward(relation)] = forward(inverse)
        return same

    def _is_inverse_name(self, relation: int, inverse: int) -> bool:
        """Whether a relation is named as the inverse of another."""
        words, other_words = set(self.relations[relation].split()), set(self.relations[inverse].split())
        return other_words < words and words - other_words <= INVERTED

    def is_of_time(self, end: End) -> bool:
        """Whether the values of an end are dates, times or years."""
        return self.ends[end] == DATE or bool(self.schema.years[end])

    def back_over(self, step: Step) -> Step:
        """The step that leads back over another."""
        return self._back[step]

    @cached_property
    def _back(self) -> tuple[int, ...]:
        return tuple(self.canonical[opposite(np.arange(len(self.canonical)))].tolist())

    @cached_property
    def value_steps(self) -> dict[Step, int]:
        """The steps to numbers and dates, with their kind."""
        kinds = enumerate(self.ends[TAILS])
        return {forward(relation): kind for relation, kind in kinds if kind in (NUMBER, DATE)}

    @cached_property
    def flags(self) -> dict[int, tuple[int, int]]:
        """Relations whose values say yes or no, with the node of each, -1 where no head has it."""
        relations = np.flatnonzero(self.schema.nodes[TAILS] <= len(TRUTH)).tolist()
        flag_by_relation = {r: self._flag(self.some_tails(r)) for r in relations}
        return {r: flag for r, flag in flag_by_relation.items() if flag is not None}

    @cached_property
    def type_nodes(self) -> frozenset[int]:
        """The nodes that do nothing but name a type: `drug` of `Serenta, is a, drug`; they are no things."""
        typing = [r for r, label in enumerate(self.relations) if label in TYPING]
        if not typing or not self.types:
            return frozenset()
        into, out, types = self.graph.into, self.graph.out, set(self.graph.types.names)
        tails = {int(node) for relation in typing for node in self.some_tails(relation)}
        return frozenset(
            node
            for node in tails
            if self.graph.labels[node] in types
            and out.starts[node] == out.stops[node]
            and np.isin(into.relation[slice(*into.span(node))], typing).all()
        )

    def some_tails(self, relation: int) -> NDArray[np.int32]:
        """The tails of a relation, of some triples where there are many."""
        return self._tails_by_relation.at(relation)

    @cached_property
    def rates(self) -> frozenset[str]:
        """*Per* and the words behind it in the names of relations: *per copy* of `price per copy`."""
        texts = (label.partition(" per ")[2] for label in self.relations)
        return frozenset(f"per {text.split()[0]}" for text in texts if text)

    @cached_property
    def ways(self) -> dict[int, list[str]]:
        """The words of relations that begin with *from* or *to*: `from club`."""
        labels = {r: label.split() for r, label in enumerate(self.relations)}
        return {r: words for r, words in labels.items() if words[0] in ("from", "to") and len(words) > 1}

    def unit_of(self, relation: int) -> str:
        """The unit of the values of a relation, as a team, its name or the values say; empty without one."""
        if relation not in self.units:
            tails = self.some_tails(relation)[:MOST_WRITTEN].tolist()
            written = ((self.graph.labels[t], float(self.graph.values.value[t])) for t in tails)
            self.units[relation] = unit_in(self.relations[relation].split()) or unit_of_numbers(written)
        return self.units[relation]

    def measured(self, relation: int) -> str:
        """The name of a relation, and behind it the unit of its values."""
        return f"{self.relations[relation]} {self.unit_of(relation)}".strip()

    def texts_of_few(self, most: int) -> NDArray[np.int32]:
        """The plain texts to which relations lead that have at most so many: int32, ascending."""
        is_of_few = (self.schema.nodes[TAILS] <= most) & (np.array(self.ends[TAILS]) == LEAF)
        tails = self._tails_by_relation
        relations = np.repeat(np.arange(len(is_of_few)), np.diff(tails.offsets))
        return np.unique(tails.nodes[is_of_few[relations]])

    @cached_property
    def _tails_by_relation(self) -> _ByRelation:
        return self._by_relation(self.graph.out)

    @cached_property
    def _heads_by_relation(self) -> _ByRelation:
        return self._by_relation(self.graph.into)

    def _by_relation(self, side: Adjacency) -> _ByRelation:
        relation, nodes = _sampled(side)
        offsets = counted_offsets(relation, len(self.relations))
        return _ByRelation(nodes[np.argsort(relation, kind="stable")], offsets)

    def are_words(self, end: End) -> bool:
        """Whether an end is written in small letters, where things are not: *Exam* is nobody with `exam`."""
        if not is_tail(end) or not self._has_capitals:
            return False
        nodes = dict.fromkeys(self.some_tails(relation_of(end))[:MOST_READ].tolist())
        return len(nodes) > 1 and all(self.graph.labels[node].islower() for node in nodes)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """What the types, the relations and what these lead to are called, types in the singular."""
        of_relations = (noun for label in self.relations for noun in nouns_of(label))
        return frozenset((*map(singular_noun, self.types), *of_relations))

    def are_codes(self, end: End) -> bool:
        """Whether an end has codes for names (*RES-007*), where others have full ones."""
        if not self._has_full_names or self.ends[end] in (NUMBER, DATE):
            return False
        if end not in self._coded:
            side = self._tails_by_relation if is_tail(end) else self._heads_by_relation
            nodes = dict.fromkeys(side.at(relation_of(end))[:MOST_READ].tolist())
            coded = [bool(_CODE.fullmatch(self.graph.labels[node])) for node in nodes]
            self._coded[end] = sum(coded) > MOSTLY_CODES * len(coded)
        return self._coded[end]

    def are_called_by_codes(self, nodes: Sequence[int]) -> bool:
        """Whether some things have codes for names, where others have full ones."""
        labels = self.graph.labels
        return bool(nodes) and self._has_full_names and all(_CODE.fullmatch(labels[n]) for n in nodes)

    @cached_property
    def _has_full_names(self) -> bool:
        labels = list(islice(self.graph.labels, MOST_READ))
        return sum(bool(_FULL_NAME.fullmatch(label)) for label in labels) > FULL_NAMES * len(labels)

    @cached_property
    def _has_capitals(self) -> bool:
        initials = [label[:1] for label in islice(self.graph.labels, MOST_READ)]
        letters = sum(initial.isalpha() for initial in initials)
        return sum(initial.isupper() for initial in initials) >= MOSTLY * letters > 0

    def _flag(self, tails: NDArray[np.int32]) -> tuple[int, int] | None:
        nodes = [-1, -1]
        for node in sorted(set(tails.tolist())):
            word = self.graph.labels[node].lower()
            truth, other = TRUTH.get(word), nodes[not TRUTH.get(word)]
            if truth is None or (other >= 0 and self.graph.labels[other].lower() != word):
                return None  # *x* and *y* are no two ways to say yes
            nodes[not truth] = node
        return None if nodes == [-1, -1] else (nodes[0], nodes[1])

    @cached_property
    def truths(self) -> dict[int, bool]:
        """The nodes that say yes or no for some relation."""
        return {
            node: truth
            for flag in self.flags.values()
            for node, truth in zip(flag, (True, False), strict=True)
            if node >= 0
        }

    @cached_property
    def relations_by_words(self) -> dict[tuple[str, ...], list[int]]:
        """Relations by the words of their labels, as they are and written out, and by what a team says."""
        return self._by_words(self.relations, self.short_relations, 0)

    @cached_property
    def types_by_words(self) -> dict[tuple[str, ...], list[int]]:
        """Types by the words of their labels, as they are and written out, and by what a team says."""
        return self._by_words(self.types, self.short_types, len(self.relations))

    def _by_words(
        self, texts: Sequence[str], short: Sequence[str], first: int
    ) -> dict[tuple[str, ...], list[int]]:
        """Labels by their words, also without *has* or *is*; the team numbers the first of them `first`."""
        by_words: dict[tuple[str, ...], list[int]] = {}
        for at, label_forms in enumerate(zip(texts, short, strict=True)):
            written = {tuple(text.split()) for text in label_forms}
            forms = {words[1:] for words in written if len(words) > 1 and words[0] in _HAVING} | written
            for form in forms:
                by_words.setdefault(form, []).append(at)
        for number, words in self.further:
            if first <= number < first + len(texts):
                by_words.setdefault(tuple(words.split()), []).append(number - first)
        return by_words

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of relations and types, as they are and written out."""
        texts = (*self.relations, *self.types, *self.short_relations, *self.short_types)
        texts += tuple(words for _, words in self.further)
        return frozenset(w for text in texts for w in text.split())


def _kinds(graph: Graph, schema: Schema, end_types: tuple[int, ...]) -> tuple[int, ...]:
    ends, count = np.arange(len(end_types)), len(graph.relations)
    relation, tail = _sampled(graph.out)
    # Relations whose tails nearly all lead nowhere.
    leaves = np.bincount(relation, graph.out.starts[tail] == graph.out.stops[tail], minlength=count)
    only_leaves = leaves > 0.9 * np.bincount(relation, minlength=count)
    is_typed = np.array(end_types, np.int64) >= 0
    leads_nowhere = is_tail(ends) & only_leaves[relation_of(ends)]
    # Orders that are called by their numbers are things: they are of a type, and lead on.
    is_value = ~is_typed | leads_nowhere
    chosen = [
        is_value & (schema.dates >= MOSTLY),
        is_value & (schema.numbers >= MOSTLY),
        leads_nowhere & ~is_typed,
    ]
    return tuple(np.select(chosen, [DATE, NUMBER, LEAF], THING).tolist())


_SAMPLE = 200_000


@dataclass(frozen=True)
class _ByRelation:
    """Some nodes at one end: those of relation r are `offsets[r]` to `offsets[r + 1]`."""

    nodes: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def at(self, relation: int) -> NDArray[np.int32]:
        """The nodes of a relation."""
        return self.nodes[self.offsets[relation] : self.offsets[relation + 1]]


def _sampled(side: Adjacency) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Relations and neighbours of the triples, of some of them where there are many."""
    slots = np.arange(0, side.edges, max(1, side.edges // _SAMPLE))
    return side.relation[slots], side.neighbour[slots]


def _end_types(schema: Schema, left_out: NDArray[np.bool_]) -> tuple[int, ...]:
    typed = np.where(left_out, 0, schema.typed)
    if not typed.shape[1]:
        return (-1,) * len(schema.nodes)
    best = typed.argmax(axis=1)
    share = typed[np.arange(len(best)), best] / np.maximum(schema.nodes, 1)
    return tuple(int(b) if s >= MOSTLY else -1 for b, s in zip(best, share, strict=True))


_NO_MEASURE = PREPOSITIONS | frozenset(
    "of per the a an and or is are was has have many every maximum minimum max min average avg mean".split()
)
"""Words after which a unit measures nothing, or is what is measured: *open every day*, *maximum kmh*."""


def measure_of(label: str) -> tuple[str, str]:
    """What numbers measure, and their unit or "": `runtime minutes`, `length m`, `salary eur`."""
    *words, last = label.split()
    unit = CURRENCIES.get(last) or unit_in([last])
    if not words or not unit:
        return label, ""
    if words[-1] in ("in", "of") and len(words) > 1:
        words.pop()
    return (" ".join(words), unit) if words[-1] not in _NO_MEASURE else (label, "")


# Questions that a person would type about a triple, by how the name of its relation is used.
#
#     questions_about(TripleText("Memento", "directed_by", "Christopher Nolan"), "film", "person")
#     # ("Who directed Memento?", "Christopher Nolan"), ("Who is the director of Memento?", …), …
#
# A name that is no English (*cgo_main*) has none.


def questions_about(triple: TripleText, head_type: str = "", tail_type: str = "") -> list[tuple[str, str]]:
    """(question, label of a right answer) about a triple, the plainest first.

    `head_type` and `tail_type` are what most nodes are there: a type, `number`, `date`, a datatype, or empty.
    """
    return list(_questions(triple, words_of_label(head_type) if head_type else "", _kind_of(tail_type)))


_KINDS_OF_COLUMNS = {
    **{"date": "date", "dateTime": "date", "year": "date", "integer": "number", "decimal": "number"},
    **{"time": "", "boolean": "boolean", "text": "", "id": ""},
}
"""Kinds by how `ColumnType.in_words` begins."""


def _kind_of(type_: str) -> str:
    """A type in words; of a datatype of values `date`, `number`, `boolean`, or nothing where it is text."""
    name = local_name(type_)
    if "XMLSchema#" not in type_ and name != "langString":
        # *decimal, USD*: a column of a table
        column = _KINDS_OF_COLUMNS.get(type_.partition(",")[0])
        return (words_of_label(type_) if type_ else "") if column is None else column
    if name.startswith(("date", "gYear")):
        return "date"
    return {"string": "", "langString": "", "boolean": "boolean"}.get(name, "number")


def _questions(triple: TripleText, head_type: str, tail_type: str) -> Iterator[tuple[str, str]]:
    words, head, tail = words_of_label(triple.relation), triple.head, triple.tail
    if tail_type == "date" and " " not in words and is_quality(words) and not is_participle(words):
        yield f"When is {head} {words}?", tail  # *due*
        return
    if tail_type == "boolean":
        return  # *is active: yes*
    shape = shape_of(words, of_values=tail_type in ("number", "date"))
    match shape.form:
        case "noun":  # *genre*, *spouse*, *runtime minutes*
            noun = words.removeprefix("has ").removeprefix("have ")
            verb = "is" if shape.one == noun else "are"
            if tail_type == "number":
                noun = measure_of(noun)[0]  # *length m*
            if Lexicon.load().uses(singular_noun(noun).split()[-1], NOUN):
                who = "Who" if is_person(noun) else "What"
                yield f"{who} {verb} the {noun} of {head}?", tail
        case "role":  # *member of*, *capital of*
            yield f"What is {head} {indefinite(shape.one)} of?", tail
            yield f"Which {plural(head_type) or 'ones'} are {shape.many} of {tail}?", head
        case "post":
            yield from _of_participle(triple, shape, head_type, tail_type)
        case "verb":  # *works at*, *manages*, *treats*, *shows symptom*
            object_ = f"the {shape.noun} {tail}" if shape.noun else tail
            if head_type and is_person(head_type):
                yield f"Who {shape.one} {object_}?", head
            elif head_type:
                yield f"Which {plural(head_type)} {shape.many} {object_}?", head
            if shape.one != shape.many:
                of = f"Which {shape.noun}" if shape.noun else "What"
                yield f"{of} does {head} {shape.many}?", tail


def _of_participle(
    triple: TripleText, shape: Shape, head_type: str, tail_type: str
) -> Iterator[tuple[str, str]]:
    """*Directed by*, *written by*, *filmed in*, *starring*, *founded* (of a date)."""
    said, _, rest = shape.one.partition(" ")
    if rest == "by":
        if said.endswith("ed"):
            yield f"Who {said} {triple.head}?", triple.tail
        if shape.noun:
            yield f"Who is the {shape.noun} of {triple.head}?", triple.tail
        yield f"Who was {triple.head} {shape.one}?", triple.tail
    elif tail_type == "date" and not rest:
        yield f"When was {triple.head} {said}?", triple.tail
    elif rest and tail_type != "number":
        of = f"Which {tail_type}" if tail_type not in ("", "date") else "What"
        yield f"{of} is {triple.head} {shape.one}?", triple.tail
    elif said.endswith("ing"):
        yield f"Who is {said} in {triple.head}?", triple.tail
    if head_type and rest:
        yield f"Which {plural(head_type)} are {shape.many} {triple.tail}?", triple.head
