"""Terms: words with a query graph, parsed, kept in an index, derived, and what answers by them rest on.

A term that begins with a step (`.hasFather .hasFather`) is a relation: it leads from one thing to others. Any
other (`person[gender = "Female"]`) is a type: the set of what it is true of. Both may use other terms, in no
circle. What a term means is derived once, when the vocabulary is set and after each update, and stored as
triples and types of their own source; a citation of such a triple is replaced by what it stands for. So is
what a relation holds that `mirrors` another one, or itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rapidfuzz import process

from clew.errors import InputError
from clew.foundation.arrays import Int64
from clew.foundation.forms import fields_json
from clew.graph.edit import GraphEdit, edited, triple_slots
from clew.graph.graph import DERIVED, Graph, ValueKind, listed_places, triple_text
from clew.graph.steps import End, head_end, opposite
from clew.index.store.directory import Index
from clew.index.vectors.backends import VectorAccess
from clew.query.execute import Executor, Nodes, OverBudget
from clew.query.notation import NameLookup, NotationError, lookup_of, read_set
from clew.query.prove import prove
from clew.query.tree import Anchor, Both, Compared, Counted, Either, OfType, Part, Walk, Without
from clew.query.vocabulary import words_of_label
from clew.text.embedders import Embedder
from clew.text.inflection import plural
from clew.types import Answer, AnswerEntity, Citation, ClaimPart, Verification
from clew.vocabulary.file import OF_RELATIONS, Naming, TeamVocabulary, raise_problems, read_vocabulary

MOST_DERIVED = 5_000_000
"""Triples, or nodes of a type, that one term may stand for."""
MOST_FOLLOWED = 100_000_000
"""Edges that may be followed to find what all terms stand for."""
NEAR = 3
"""Names that are offered for one that is unknown."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word with its query graph, whose `part` begins at `OfType(-1, end)`, and the terms that it `uses`."""

    word: str
    query: str
    part: Part
    is_relation: bool
    uses: frozenset[str] = frozenset()


def _near(name: str, known: Iterable[str]) -> str:
    """Advice for an unknown name: the nearest known ones."""
    near = ", ".join(hit[0] for hit in process.extract(name, list(known), limit=NEAR))
    return f". It has {near}" if near else ""


def _leads_on(part: Part) -> bool:
    """Whether a part begins with a step: it is a relation."""
    leaf: Part | None = part
    while not (leaf is None or isinstance(leaf, OfType)):
        leaf = getattr(leaf, "source", None) or getattr(leaf, "left", None)
    return leaf is not None and leaf.type < 0


Pairs = tuple[Nodes, Nodes]
"""Where a relation begins and where it leads: int64 [n] each."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What terms stand for: pairs by the word of a relation, nodes by that of a type."""

    relations: dict[str, Pairs]
    types: dict[str, Nodes]


def pairs_of(executor: Executor, part: Part) -> Pairs:
    """All pairs that a relation's part leads between, ascending; nothing leads to itself over several steps.

    Raises InputError: more than `MOST_DERIVED`; OverBudget.
    """
    heads, tails = _pairs(executor, part)
    if not isinstance(part, OfType):
        heads, tails = heads[heads != tails], tails[heads != tails]
    pairs = np.unique(heads * executor.graph.nodes + tails)
    if len(pairs) > MOST_DERIVED:
        raise InputError(f"it stands for {len(pairs):,} triples, and at most {MOST_DERIVED:,} are kept")
    return pairs // executor.graph.nodes, pairs % executor.graph.nodes


def _pairs(executor: Executor, part: Part) -> Pairs:
    match part:
        case OfType(-1, end):
            heads = executor.members(OfType(-1, opposite(end)))
            place, tails = executor.edges(heads, opposite(end))
            return heads[place], tails
        case Walk(source, step):
            heads, middle = _pairs(executor, source)
            nodes, middle = np.unique(middle, return_inverse=True)
            place, tails = executor.edges(nodes, step)  # of which the places ascend
            low = np.searchsorted(place, middle)
            count = np.searchsorted(place, middle, "right") - low
            if int(count.sum()) > MOST_DERIVED * 4:
                raise InputError(f"it stands for more than {MOST_DERIVED:,} triples")
            return np.repeat(heads, count), tails[listed_places(low, count)]
        case Both(left, right) | Without(left, right):
            kept = executor.members(right)
            return _kept(_pairs(executor, left), kept, inside=isinstance(part, Both))
        case Either(left, right):
            one, other = _pairs(executor, left), _pairs(executor, right)
            return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
        case Compared(source) | Counted(source):
            heads, tails = _pairs(executor, source)
            condition = replace(part, source=OfType(-1, _last_end(source)))
            return _kept((heads, tails), executor.members(condition), inside=True)
        case _:
            raise InputError("a relation is made of steps, conditions, &, | and -")


def _kept(pairs: Pairs, members: Nodes, *, inside: bool) -> Pairs:
    keep = np.isin(pairs[1], members) == inside
    return pairs[0][keep], pairs[1][keep]


def _last_end(part: Part) -> End:
    """The end at which what a relation leads to stands."""
    match part:
        case OfType(_, end):
            return end
        case Walk(_, step):
            return opposite(step)
        case Both(left) | Without(left):
            return _last_end(left)
        case Compared(source) | Counted(source):
            return _last_end(source)
        case _:
            raise InputError("conditions stand behind a step, not behind |")


def mirrored(graph: Graph, team: TeamVocabulary) -> dict[str, Pairs]:
    """The pairs of relations that mirror others: stated triples reversed, but values. Raises InputError."""
    pairs: dict[str, Pairs] = {}
    for name, other in _mirrors(graph, team):
        slots = np.flatnonzero((graph.out.relation == other) & (np.asarray(graph.source) != DERIVED))
        if len(slots) > MOST_DERIVED:
            raise InputError(f"{name} mirrors {len(slots):,} triples, and at most {MOST_DERIVED:,} are kept")
        heads, tails = graph.out.owners(slots).astype(np.int64), graph.out.neighbour[slots].astype(np.int64)
        are_things = (graph.values.kind[tails] == ValueKind.NONE) & (graph.values.datatype[tails] < 0)
        pairs[name] = tails[are_things], heads[are_things]
    return pairs


def _mirrors(graph: Graph, team: TeamVocabulary) -> Iterator[tuple[str, int]]:
    """Each mirror, with the number of what it mirrors: *taught* for *taught by*, and the other way round."""
    numbers = {name: number for number, name in enumerate(graph.relations)}
    named = {(name, naming.mirrors) for name, naming in team.relations.items() if naming.mirrors}
    for name, other in sorted(named | {(other, name) for name, other in named}):
        yield name, numbers[other]


def continued(source: Part, part: Part) -> Part:
    """What a relation's part leads to from a source. Raises InputError if it cannot go on so."""
    match part:
        case OfType(_, end):
            return Walk(source, opposite(end))
        case Walk(before, step):
            return Walk(continued(source, before), step)
        case Both(left, right) | Without(left, right):
            return replace(part, left=continued(source, left), right=right)
        case Either(left, right):
            return Either(continued(source, left), continued(source, right))
        case Compared() | Counted():
            return replace(part, source=continued(source, part.source))
        case _:
            raise InputError("a relation is made of steps, conditions, &, | and -")


# The vocabulary that an index keeps: checked, set, and what its terms mean derived after every edit.

VOCABULARY, LABELS = "vocabulary", "vocabulary_labels"
"""The sections that hold the file, and the labels of the sources that it replaces."""


@dataclass(frozen=True, slots=True)
class VocabularyReport:
    """What a vocabulary names, and what its terms stand for."""

    named: int
    terms: int
    triples: int
    typed: int

    def as_json(self) -> dict[str, Any]:
        """`{"named", "terms", "triples", "typed"}`."""
        return fields_json(self, "named terms triples typed")


def team_vocabulary(index: Index) -> TeamVocabulary:
    """Read the vocabulary of an index; an empty one if none is set."""
    if VOCABULARY not in index.sections:
        return TeamVocabulary()
    return read_vocabulary(index.data(VOCABULARY).decode("utf-8"), str(index.path))


def terms_of(index: Index, team: TeamVocabulary, *, as_stored: bool = False) -> tuple[list[Term], list[str]]:
    """The terms of a vocabulary over the graph of an index, those that others use first; and problems.

    Of terms `as_stored`, others are the graph's own relations and types.
    """
    graph = index.graph
    relations, types = _numbers(graph, () if as_stored else team_vocabulary(index).terms)
    used = set[str]()

    def find(of_graph: Mapping[str, int], name: str) -> int | None:
        if name in of_graph or name not in team.terms:
            return of_graph.get(name)
        used.add(name)
        return max(len(graph.relations), len(graph.types.names))

    names = NameLookup(lookup_of(graph, index.names).entity, partial(find, relations), partial(find, types))
    parsed: dict[str, Term] = {}
    problems: list[str] = []
    for word, query in team.terms.items():
        used.clear()
        try:
            part = read_set(query, names)
            parsed[word] = Term(word, query, part, _leads_on(part), frozenset(used))
        except NotationError as error:
            _, is_relation, relation = str(error).partition("has no relation ")
            _, is_type, type_ = str(error).partition("has no type ")
            known = relations if is_relation else types if is_type else ()
            near = _near((relation or type_).strip("'\""), known)
            problems.append(f"[terms] {word} = {query!r}: {error}{near}")
    try:
        order = list(TopologicalSorter({word: term.uses for word, term in parsed.items()}).static_order())
    except CycleError as error:
        order = []
        problems.append(f"[terms] these terms use each other in a circle: {' → '.join(error.args[1])}")
    return [parsed[word] for word in order if word in parsed], problems


def _numbers(graph: Graph, left_out: Collection[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of relations, by label and by name, which comes first, and of types; but for some names."""
    named = enumerate(zip(graph.relations, graph.relation_labels, strict=True))
    relations = [(number, name, label) for number, (name, label) in named if name not in left_out]
    by_label = {label: number for number, _, label in relations}
    types = {name: number for number, name in enumerate(graph.types.names) if name not in left_out}
    return by_label | {name: number for number, name, _ in relations}, types


def check(index: Index, team: TeamVocabulary, file: str) -> list[Term]:
    """Check a vocabulary against a graph, and return its terms. Raises InputError, which names all."""
    graph, old_terms = index.graph, set(team_vocabulary(index).terms)
    relations = [name for name in graph.relations if name not in old_terms]
    types = [name for name in graph.types.names if name not in old_terms]
    terms, problems = terms_of(index, team)
    problems += _unknown("relations", team.relations, relations)
    problems += _unknown("types", team.types, types)
    for key in OF_RELATIONS:
        problems += [
            f"[relations.{name}] {key}: {problem}"
            for name, naming in team.relations.items()
            if (other := getattr(naming, key))
            for problem in _unknown_name(other, relations)
        ]
    problems += [*_clashes("relations", team.relations), *_clashes("types", team.types)]
    for word in team.terms:
        if word in relations or word in types:
            problems.append(f"[terms] {word}: the graph has a relation or type of this name already")
    raise_problems(file, problems)
    return terms


def _unknown(kind: str, namings: Mapping[str, Naming], names: Sequence[str]) -> list[str]:
    return [f"[{kind}.{name}]: {problem}" for name in namings for problem in _unknown_name(name, names)]


def _unknown_name(name: str, names: Sequence[str]) -> Iterator[str]:
    """What is wrong with a name that a graph does not have."""
    if name not in names:
        yield f"the graph has none of this name{_near(name, names)}"


def _clashes(kind: str, namings: Mapping[str, Naming]) -> list[str]:
    """Words that stand for two things of a kind."""
    owners: dict[str, str] = {}
    problems: list[str] = []
    for name, naming in namings.items():
        for word in dict.fromkeys(map(words_of_label, filter(None, (naming.label, *naming.words)))):
            if owners.setdefault(word, name) != name:
                problems.append(f"[{kind}] {word!r} is said for {owners[word]} and for {name}. Keep one")
    return problems


def set_vocabulary(
    path: Path,
    team: TeamVocabulary,
    *,
    embedder: Embedder,
    file: str = "vocabulary",
    access: VectorAccess | None = None,
) -> VocabularyReport:
    """Check a vocabulary and keep it in an index, with what its terms mean. Raises as `update_index`."""
    from clew.index.update.edits import Edits
    from clew.index.update.update import update_index

    reports: list[VocabularyReport] = []

    def further(index: Index, edit: GraphEdit) -> tuple[GraphEdit, Mapping[str, bytes]]:
        terms = check(index, team, file)
        derived = _all_derived(index, team, terms, edit, index.graph)
        relations = sum(len(heads) for heads, _ in derived.relations.values())
        typed = sum(map(len, derived.types.values()))
        named = len(team.relations) + len(team.types)
        reports.append(VocabularyReport(named, len(terms), relations, typed))
        relabelled, replaced = _relabelled(index, team)
        whole = _with_derived(index, replace(edit, relabelled=relabelled), index.graph, team.terms, derived)
        labels = json.dumps(replaced).encode("utf-8")
        return whole, {VOCABULARY: team.as_toml().encode("utf-8"), LABELS: labels}

    update_index(path, Edits(), embedder=embedder, access=access, further=further)
    return reports[-1]


def with_terms(index: Index, edit: GraphEdit) -> tuple[GraphEdit, Mapping[str, bytes]]:
    """An edit with what the terms of the index's vocabulary mean after it, and mean no more."""
    team = team_vocabulary(index)
    if not edit.size or not (team.terms or any(naming.mirrors for naming in team.relations.values())):
        return edit, {}
    terms, problems = terms_of(index, team)
    raise_problems(str(index.path), problems)
    after, _ = edited(index.graph, edit)
    return _with_derived(index, edit, after, team.terms, _all_derived(index, team, terms, edit, after)), {}


def _all_derived(
    index: Index, team: TeamVocabulary, terms: Sequence[Term], edit: GraphEdit, after: Graph
) -> Derived:
    """What mirrors and terms stand for in the graph after an edit, first those that others use.

    Raises InputError for a term that stands for too much, or takes too long.
    """
    derived, graph, edges_left = Derived(mirrored(after, team), {}), after, MOST_FOLLOWED
    mirrors, missing = set(derived.relations), set(derived.relations)
    gone, entity = (
        team_vocabulary(index).terms.keys() - team.terms,
        lookup_of(index.graph, index.names).entity,
    )
    for term in terms:
        if missing & (term.uses | mirrors):
            graph, _ = edited(index.graph, _with_derived(index, edit, after, team.terms, derived))
            missing.clear()
        relations, types = _numbers(graph, gone)
        part = read_set(term.query, NameLookup(entity, relations.get, types.get))
        executor = Executor(graph, edges_left)
        try:
            if term.is_relation:
                derived.relations[term.word] = pairs_of(executor, part)
            else:
                derived.types[term.word] = executor.members(part)
        except InputError as error:
            raise InputError(f"term {term.word!r}: {error}") from error
        except OverBudget as error:
            text = f"more than {MOST_FOLLOWED:,} edges are followed. State it as triples of its own"
            raise InputError(f"term {term.word!r}: {text}") from error
        missing.add(term.word)
        edges_left = executor.edges_left
    return derived


def _relabelled(index: Index, team: TeamVocabulary) -> tuple[list[tuple[int, str]], dict[str, str]]:
    """Relations whose label changes, with the new one; and the labels of the sources that are replaced."""
    of_sources: dict[str, str] = json.loads(index.data(LABELS)) if LABELS in index.sections else {}
    changes: list[tuple[int, str]] = []
    replaced: dict[str, str] = {}
    named = zip(index.graph.relations, index.graph.relation_labels, strict=True)
    for number, (name, now) in enumerate(named):
        source, new = of_sources.get(name, now), team.relations.get(name, Naming()).label
        if new:
            replaced[name] = source
        if (new or source) != now:
            changes.append((number, new or source))
    return changes, replaced


def _with_derived(
    index: Index, edit: GraphEdit, after: Graph, words: Iterable[str], derived: Derived
) -> GraphEdit:
    """An edit with what terms stand for in the graph after it; `words` are all terms."""
    before = index.graph
    numbers = {name: number for number, name in enumerate(after.relations)}
    new_words = [word for word in derived.relations if word not in numbers]
    numbers |= {word: len(after.relations) + at for at, word in enumerate(new_words)}
    columns = [
        np.stack([heads, np.full(len(heads), numbers[word]), tails], axis=1)
        for word, (heads, tails) in derived.relations.items()
    ]
    wanted = _sorted(np.concatenate([np.zeros((0, 3), np.int64), *columns]))
    slots = np.flatnonzero(before.source == DERIVED)
    triples = (before.out.owners(slots), before.out.relation[slots], before.out.neighbour[slots])
    present = _sorted(np.stack(triples, axis=1).astype(np.int64))
    present = _without(present, edit.removed)  # those whose ends go
    known = wanted[:, 1] < len(after.relations)
    known[known] = triple_slots(after, wanted[known]) >= 0
    added, gone = wanted[~known], _without(present, wanted)
    types_added, types_removed = _type_changes(index, after, words, derived)
    return replace(
        edit,
        added=_sorted(np.concatenate([edit.added, added])),
        removed=_sorted(np.concatenate([edit.removed, gone])),
        derived=added,
        relations=[*edit.relations, *new_words],
        relation_labels=[*edit.relation_labels, *new_words],
        types_added=[*edit.types_added, *types_added],
        types_removed=[*edit.types_removed, *types_removed],
    )


def _type_changes(
    index: Index, after: Graph, words: Iterable[str], derived: Derived
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Nodes that come to be of the type of a term, and that no longer are."""
    numbers = {name: number for number, name in enumerate(after.types.names)}
    added: list[tuple[int, str]] = []
    removed: list[tuple[int, str]] = []
    for word in dict.fromkeys([*team_vocabulary(index).terms, *words]):
        wanted = set(derived.types[word].tolist()) if word in derived.types else set[int]()
        number = numbers.get(word)
        present = set[int]() if number is None else set(np.flatnonzero(after.types.having(number)).tolist())
        added += [(node, word) for node in sorted(wanted - present)]
        removed += [(node, word) for node in sorted(present - wanted)]
    return added, removed


def _sorted(triples: Int64) -> Int64:
    return triples[np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))].astype(np.int64)


def _without(triples: Int64, others: Int64) -> Int64:
    """The triples that are not among others."""
    taken = set(map(tuple, others.tolist()))
    return triples[[tuple(row) not in taken for row in triples.tolist()]] if len(triples) else triples


# Citations of what terms stand for: a derived triple is replaced by the triples that it means.

_Cited = TypeVar("_Cited", Citation, ClaimPart)


def with_meanings(index: Index, result: Answer) -> Answer:
    """An answer that cites what its terms stand for, and says so in a note."""
    meanings = _Meanings.of(index)
    if meanings is None or result.abstained is not None:
        return result
    cited = {citation.answer: meanings.expanded(citation) for citation in result.citations}
    for answer in result.answers:
        shown = meanings.of_type(answer, cited.get(answer.entity), result.reading or "")
        if shown is not None:
            cited[answer.entity] = shown
    return replace(result, citations=tuple(cited.values()), notes=(*result.notes, *meanings.notes()))


def verified_with_meanings(index: Index, result: Verification) -> Verification:
    """A verdict whose parts show what their terms stand for, and say so in a note."""
    meanings = _Meanings.of(index)
    if meanings is None:
        return result
    parts = tuple(meanings.of_claim(meanings.expanded(part)) for part in result.parts)
    citations = tuple(meanings.expanded(citation) for citation in result.citations)
    return replace(result, parts=parts, citations=citations, notes=(*result.notes, *meanings.notes()))


class _Meanings:
    """What the terms of an index mean, and which of them were used."""

    def __init__(self, index: Index, terms: Sequence[Term], mirrors: Sequence[Term]) -> None:
        self._index, self._graph = index, index.graph
        self._terms = {term.word: term for term in (*mirrors, *terms)}
        self._mirrors = frozenset(term.word for term in mirrors)
        self._executor = Executor(index.graph)
        self._used: dict[str, Term] = {}

    @classmethod
    def of(cls, index: Index) -> _Meanings | None:
        """Those of an index; None where its vocabulary has no terms."""
        team = team_vocabulary(index)
        mirrors = [
            Term(name, index.graph.relations[other], OfType(-1, head_end(other)), is_relation=True)
            for name, other in _mirrors(index.graph, team)
        ]
        terms = terms_of(index, team, as_stored=True)[0] if team.terms else []
        return cls(index, terms, mirrors) if mirrors or terms else None

    def notes(self) -> list[str]:
        """What each term that was used stands for, and each relation that mirrors one."""
        return [
            f"{word} {'mirrors' if word in self._mirrors else 'stands for'} {term.query}"
            for word, term in self._used.items()
        ]

    def expanded(self, cited: _Cited) -> _Cited:
        """A citation with what a derived triple means in its place."""
        if not any(int(self._graph.source[triple]) == DERIVED for triple in cited.triple_ids):
            return cited
        triples = [meant for triple in cited.triple_ids for meant in self._meant(triple)]
        return self._with(cited, triples)

    def _with(self, cited: _Cited, triples: Sequence[int]) -> _Cited:
        distinct = tuple(dict.fromkeys(triples))
        texts = tuple(triple_text(self._graph, triple) for triple in distinct)
        return replace(cited, triples=texts, triple_ids=distinct)

    def _meant(self, triple: int) -> Sequence[int]:
        if int(self._graph.source[triple]) != DERIVED:
            return (triple,)
        head, relation, tail = self._graph.triple(triple)
        term = self._terms[self._graph.relations[relation]]
        self._used[term.word] = term
        return self._shown(Both(continued(Anchor(head), term.part), Anchor(tail)), tail)

    def _shown(self, part: Part, member: int) -> list[int]:
        """The triples that show why a node is in a set, without terms: those that it uses mean others."""
        proof = prove(self._executor, self._opened(part), member)
        return [meant for triple in proof for meant in self._meant(triple)]

    def _opened(self, part: Part) -> Part:
        """A part with the query graphs of types that are terms in their places."""
        if isinstance(part, OfType):
            name = self._graph.types.names[part.type] if part.type >= 0 else ""
            return self._opened(self._terms[name].part) if name in self._terms else part
        inner = {f.name: getattr(part, f.name) for f in fields(part)}
        changed = {name: self._opened(value) for name, value in inner.items() if isinstance(value, Part)}
        return replace(part, **changed)

    def of_claim(self, part: ClaimPart) -> ClaimPart:
        """A part that says of something, by its name at the beginning, that it is what a term means."""
        said = [term for term in self._terms.values() if not term.is_relation and _says(part.text, term.word)]
        if not said or part.triple_ids or part.verdict == "not_enough_info":
            return part
        words = part.text.split()
        names = (" ".join(words[:stop]) for stop in range(len(words), 0, -1))
        hits = next((found for name in names if (found := self._index.names.exact(name))), [])
        self._used |= {term.word: term for term in said}
        found = [
            self._shown(term.part, hit.entity)
            for term in said
            for hit in hits
            if np.isin(hit.entity, self._executor.members(term.part))
        ]
        return self._with(part, found[0]) if found else part

    def of_type(self, answer: AnswerEntity, citation: Citation | None, reading: str) -> Citation | None:
        """Why an answer is of a type that is a term, where the reading says the term, behind its citation."""
        used = [term for term in self._terms.values() if not term.is_relation and _says(reading, term.word)]
        hits = [hit for hit in self._index.names.exact(answer.entity) if hit.exact]
        hits = [hit for hit in hits if self._graph.labels[hit.entity] == answer.label]
        if not hits:  # a number, yes or no
            self._used |= {term.word: term for term in used}
        for term in used:
            members = self._executor.members(term.part)
            nodes = [hit.entity for hit in hits if np.isin(hit.entity, members)]
            if nodes:
                self._used[term.word] = term
                shown = [
                    t for triple in prove(self._executor, term.part, nodes[0]) for t in self._meant(triple)
                ]
                before = citation or Citation(answer.entity, (), (), answer.label)
                citation = self._with(before, [*before.triple_ids, *shown])
        return citation


def _says(reading: str, word: str) -> bool:
    """Whether a reading in English says a word, in the singular or plural."""
    said = f" {reading.casefold()} "
    return any(f" {form} " in said for form in (word.casefold(), plural(word.casefold())))
