"""Citations of what terms stand for: a derived triple is replaced by the triples that it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from clew.graph.graph import DERIVED, triple_text
from clew.index.store.directory import Index
from clew.query.execute import Executor
from clew.query.prove import prove
from clew.query.tree import Anchor, Both, OfType, Part
from clew.text.inflection import plural
from clew.types import Answer, AnswerEntity, Citation, ClaimPart, Verification
from clew.vocabulary.stored import team_vocabulary, terms_of
from clew.vocabulary.terms import Term, continued

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
    parts = tuple(meanings.expanded(part) for part in result.parts)
    citations = tuple(meanings.expanded(citation) for citation in result.citations)
    return replace(result, parts=parts, citations=citations, notes=(*result.notes, *meanings.notes()))


class _Meanings:
    """What the terms of an index mean, and which of them were used."""

    def __init__(self, index: Index, terms: Sequence[Term]) -> None:
        self._index, self._graph = index, index.graph
        self._terms = {term.word: term for term in terms}
        self._executor = Executor(index.graph)
        self._used: dict[str, Term] = {}

    @classmethod
    def of(cls, index: Index) -> _Meanings | None:
        """Those of an index; None where its vocabulary has no terms."""
        team = team_vocabulary(index)
        return cls(index, terms_of(index, team, as_stored=True).terms) if team.terms else None

    def notes(self) -> list[str]:
        """What each term that was used stands for."""
        return [f"{word} stands for {term.query}" for word, term in self._used.items()]

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

    def of_type(self, answer: AnswerEntity, citation: Citation | None, reading: str) -> Citation | None:
        """Why an answer is of a type that is a term, where the reading says the term, behind its citation."""
        used = [term for term in self._terms.values() if not term.is_relation and _says(reading, term.word)]
        hits = [hit for hit in self._index.names.exact(answer.entity) if hit.exact] if used else []
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
