"""The vocabulary that an index keeps: checked, set, and what its terms mean derived after every edit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import process

from clew.foundation.arrays import Int64
from clew.foundation.json_form import fields_json
from clew.graph.edit import GraphEdit, edited, triple_slots
from clew.graph.graph import DERIVED, Graph
from clew.index.store.directory import Index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.index.vectors.registry import VectorAccess
from clew.query.lookup import lookup_of
from clew.query.vocabulary import words_of_label
from clew.text.embedder import Embedder
from clew.vocabulary.file import Naming, TeamVocabulary, raise_problems, read_vocabulary
from clew.vocabulary.terms import Derived, GraphNames, Term, derive, parse_terms

VOCABULARY, LABELS = "vocabulary", "vocabulary_labels"
"""The sections that hold the file, and the labels of the sources that it replaces."""
NEAR = 3
"""Names that are offered for one that the graph lacks."""


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


@dataclass(frozen=True, slots=True)
class TeamTerms:
    """The terms of a vocabulary over a graph, those that others use first; and what is wrong with others."""

    terms: Sequence[Term]
    problems: list[str]
    names: GraphNames
    words: Sequence[str]

    def derive(self, graph: Graph) -> Derived:
        """Find what they stand for; raises InputError as `terms.derive`."""
        return derive(graph, self.terms, self.names, self.words)


def terms_of(index: Index, team: TeamVocabulary, *, as_stored: bool = False) -> TeamTerms:
    """Parse the terms of a vocabulary over the graph of an index.

    In terms `as_stored`, others are the relations and types of the graph that stand for them.
    """
    graph = index.graph
    derived = set[str]() if as_stored else set(team_vocabulary(index).terms)
    relations = _numbers(list(graph.relation_labels), list(graph.relations), derived)
    types = _numbers([], list(graph.types.names), derived)
    counts = len(graph.relations), len(graph.types.names)
    names = GraphNames(lookup_of(graph, index.names).entity, relations, types, *counts)
    return TeamTerms(*parse_terms(team.terms, names), names, list(team.terms))


def _numbers(labels: Sequence[str], names: Sequence[str], left_out: set[str]) -> dict[str, int]:
    """Numbers by label and by name, which comes first, but for some names."""
    by_label = {label: number for number, label in enumerate(labels) if names[number] not in left_out}
    return by_label | {name: number for number, name in enumerate(names) if name not in left_out}


def check(index: Index, team: TeamVocabulary, file: str) -> TeamTerms:
    """Check a vocabulary against a graph, and return its terms.

    Raises:
        InputError: names that the graph lacks, words that two things have, terms that cannot be used; all
            are named, unknown names with those nearest.

    """
    graph, old_terms = index.graph, set(team_vocabulary(index).terms)
    relations = [name for name in graph.relations if name not in old_terms]
    types = [name for name in graph.types.names if name not in old_terms]
    parsed = terms_of(index, team)
    problems = [*parsed.problems, *_unknown("relations", team.relations, relations)]
    problems += _unknown("types", team.types, types)
    problems += [*_clashes("relations", team.relations), *_clashes("types", team.types)]
    for word in team.terms:
        if word in relations or word in types:
            problems.append(f"[terms] {word}: the graph has a relation or type of this name already")
    raise_problems(file, problems)
    return parsed


def _unknown(kind: str, namings: Mapping[str, Naming], names: Sequence[str]) -> list[str]:
    known = set(names)
    problems: list[str] = []
    for name in namings:
        if name not in known:
            near = ", ".join(hit[0] for hit in process.extract(name, names, limit=NEAR))
            advice = f". It has {near}" if near else ""
            problems.append(f"[{kind}.{name}]: the graph has none of this name{advice}")
    return problems


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
    """Check a vocabulary and keep it in an index, with what its terms mean, as one new generation.

    Raises InputError as `check` and `derive`, and as `update_index`.
    """
    reports: list[VocabularyReport] = []

    def further(index: Index, edit: GraphEdit) -> tuple[GraphEdit, Mapping[str, bytes]]:
        terms = check(index, team, file)
        derived = terms.derive(index.graph)
        relations = sum(len(heads) for heads, _ in derived.relations.values())
        typed = sum(map(len, derived.types.values()))
        named = len(team.relations) + len(team.types)
        reports.append(VocabularyReport(named, len(terms.terms), relations, typed))
        relabelled, replaced = _relabelled(index, team)
        whole = _with_derived(index, replace(edit, relabelled=relabelled), index.graph, team.terms, derived)
        labels = json.dumps(replaced).encode("utf-8")
        return whole, {VOCABULARY: team.as_toml().encode("utf-8"), LABELS: labels}

    update_index(path, Edits(), embedder=embedder, access=access, further=further)
    return reports[-1]


def with_terms(index: Index, edit: GraphEdit) -> tuple[GraphEdit, Mapping[str, bytes]]:
    """An edit with what the terms of the index's vocabulary mean after it, and mean no more."""
    team = team_vocabulary(index)
    if not team.terms or not edit.size:
        return edit, {}
    terms = terms_of(index, team)
    raise_problems(str(index.path), terms.problems)
    after, _ = edited(index.graph, edit)
    # Ids of entities, relations and types stay, so that terms mean after the edit what they meant before.
    return _with_derived(index, edit, after, team.terms, terms.derive(after)), {}


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
    index: Index, edit: GraphEdit, after: Graph, words: Mapping[str, str], derived: Derived
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
    stated = triple_slots(after, wanted[wanted[:, 1] < len(after.relations)])
    known = np.zeros(len(wanted), np.bool_)
    known[wanted[:, 1] < len(after.relations)] = stated >= 0
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
    index: Index, after: Graph, words: Mapping[str, str], derived: Derived
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
