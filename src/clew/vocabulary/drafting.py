"""A draft of a vocabulary by a chat model: labels, words, units and descriptions of opaque names, and terms.

    drafted = model_draft(index, words, team, model)
    draft(words, team, "kb.clew", drafted=drafted.team, note=drafted.note)

What a model says is data. Names that the graph lacks, words of two things and terms that cannot be read are
left out and counted. What is left is marked as a draft, and stands behind # until a person takes that away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import numpy as np
from msgspec import Meta

from clew.index.store.directory import Index
from clew.llm.managed import as_data, data_lines, prompt_named, run_sync
from clew.llm.reply import ChatModel
from clew.llm.types import Request
from clew.query.vocabulary import Vocabulary, words_of_label
from clew.vocabulary.file import (
    LONGEST_DESCRIPTION,
    LONGEST_WORD,
    Naming,
    TeamVocabulary,
    relation_note,
)
from clew.vocabulary.terms import terms_of

NAMES_A_CALL = 60
MOST_DRAFTED = 300
"""The most relations, and the most types, that a model is asked about: those with the most triples."""
MOST_WORDS, MOST_TERMS = 4, 5
LONGEST_REPLY = 8_000
"""Tokens of one reply."""
SHOWN_NAMES = 4
"""Names of a type that a prompt shows."""


@dataclass(frozen=True, slots=True)
class DraftedName:
    """What a model says of a relation or a type."""

    name: str
    label: str = ""
    words: tuple[str, ...] = ()
    unit: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class DraftedTerm:
    """A word, and the query that a model says for it."""

    word: str
    query: str


@dataclass(frozen=True, slots=True)
class VocabularyReply:
    """What a model says of some relations and types, and terms."""

    relations: Annotated[tuple[DraftedName, ...], Meta(max_length=1_000)] = ()
    types: Annotated[tuple[DraftedName, ...], Meta(max_length=1_000)] = ()
    terms: Annotated[tuple[DraftedTerm, ...], Meta(max_length=100)] = ()


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """What a model drafted and fits the graph; `left_out` counts what does not, by reason."""

    model: str
    team: TeamVocabulary
    left_out: Counter[str]

    @property
    def note(self) -> str:
        """Lines of a file that say whose drafts are in it, and what was left out."""
        lines = [f'# Lines that end with "# draft" are what {self.model} says. Nobody has checked them.']
        lines += [f"# Left out: {reason} ({number:,})" for reason, number in sorted((+self.left_out).items())]
        return "\n".join(lines) + "\n"


def model_draft(index: Index, words: Vocabulary, team: TeamVocabulary, model: ChatModel) -> ModelDraft:
    """Ask a model about what the team has no label for, `NAMES_A_CALL` names a call. Raises LlmError."""
    graph = words.graph
    by_triples = np.argsort(-words.schema.triples, kind="stable").tolist()
    relations = (at for at in by_triples if _is_open(graph.relations[at], team.relations, team))
    types = (at for at, name in enumerate(graph.types.names) if _is_open(name, team.types, team))
    lines = [
        *(
            ("relations", graph.relations[at], relation_note(words, at))
            for at in islice(relations, MOST_DRAFTED)
        ),
        *(("types", graph.types.names[at], _type_note(words, at)) for at in islice(types, MOST_DRAFTED)),
    ]
    draft = _Draft(words, team)
    for at in range(0, len(lines), NAMES_A_CALL):
        draft.take(_ask(model, lines[at : at + NAMES_A_CALL]))
    return ModelDraft(model.name, draft.fitting(index), draft.left_out)


def _is_open(name: str, named: Iterable[str], team: TeamVocabulary) -> bool:
    return name not in team.terms and name not in named


def _type_note(words: Vocabulary, number: int) -> str:
    members = np.flatnonzero(words.graph.types.having(number))
    names = ", ".join(repr(words.graph.labels[node]) for node in members[:SHOWN_NAMES].tolist())
    return f"{len(members):,}: {names}"


def _ask(model: ChatModel, asked: Sequence[tuple[str, str, str]]) -> VocabularyReply:
    def lines(wanted: str) -> str:
        shown = (f"{name}: {note.removeprefix('# ')}" for kind, name, note in asked if kind == wanted)
        return data_lines(shown) or "(none)"

    prompt = prompt_named("clew.vocabulary", "draft").with_values(TERMS=str(MOST_TERMS))
    messages = prompt.messages(RELATIONS=lines("relations"), TYPES=lines("types"), TERMS=str(MOST_TERMS))
    request = Request(messages, temperature=0.0, max_tokens=LONGEST_REPLY)
    return run_sync(model.complete_as(request, VocabularyReply)).value


class _Draft:
    """Gathers what a model says, and leaves out what does not fit."""

    def __init__(self, words: Vocabulary, team: TeamVocabulary) -> None:
        self._team = team
        graph = words.graph
        self._names = {"relations": set(graph.relations), "types": set(graph.types.names)}
        self._namings: dict[str, dict[str, Naming]] = {"relations": {}, "types": {}}
        self._read = {
            "relations": dict(zip(graph.relations, words.relations, strict=True)),
            "types": dict(zip(graph.types.names, words.types, strict=True)),
        }
        self._owners = {
            kind: {text: name for name, text in read.items()} for kind, read in self._read.items()
        }
        for kind, namings in (("relations", team.relations), ("types", team.types)):
            for name, naming in namings.items():
                for word in filter(None, (naming.label, *naming.words)):
                    self._owners[kind][words_of_label(word)] = name
        self._terms: dict[str, str] = {}
        self.left_out = Counter[str]()

    def take(self, reply: VocabularyReply) -> None:
        """Take what a reply says of names that the graph has and the team does not name."""
        for kind, said in (("relations", reply.relations), ("types", reply.types)):
            self.left_out["names that the graph does not have"] += sum(
                one.name not in self._names[kind] for one in said
            )
            known = self._names[kind] - self._namings[kind].keys()  # that the draft has not named yet
            named = self._team.relations if kind == "relations" else self._team.types
            open_ = {o.name: o for o in said if o.name in known and _is_open(o.name, named, self._team)}
            # A label goes before what is said of another name too.
            labels = {name: self._own(kind, name, [one.label]) for name, one in open_.items()}
            for name, one in open_.items():
                words = self._own(kind, name, one.words[:MOST_WORDS])
                naming = Naming(
                    "".join(labels[name]),
                    tuple(word for word in words if word not in labels[name]),
                    _line(one.unit, LONGEST_WORD),
                    _line(one.description, LONGEST_DESCRIPTION),
                )
                if naming != Naming():
                    self._namings[kind][name] = naming
        for term in reply.terms[:MOST_TERMS]:
            word = _line(term.word, LONGEST_WORD).lower()
            if word and word not in self._terms and word not in self._team.terms:
                self._terms[word] = term.query

    def _own(self, kind: str, name: str, said: Sequence[str]) -> list[str]:
        """The words that are said for this name alone."""
        own: dict[str, str] = {}
        for text in said:
            word = _line(text, LONGEST_WORD)
            if not word:
                continue
            key = words_of_label(word)
            if self._read[kind].get(name) == key:
                continue  # what its name says already
            if self._owners[kind].setdefault(key, name) == name:
                own.setdefault(key, word)
            else:
                self.left_out["words that another name has"] += 1
        return list(own.values())

    def fitting(self, index: Index) -> TeamVocabulary:
        """All that fits; terms that cannot be read over the graph are left out too."""
        taken = {*self._names["relations"], *self._names["types"]}
        terms = dict[str, str]()
        for word, query in self._terms.items():
            _, problems = terms_of(index, TeamVocabulary(terms={**self._team.terms, **terms, word: query}))
            if word in taken or problems or "\n" in query:
                self.left_out["terms that cannot be read"] += 1
            else:
                terms[word] = query
        return TeamVocabulary(self._namings["relations"], self._namings["types"], terms)


def _line(text: str, longest: int) -> str:
    """One line of a model's text; empty where it is too long to be meant so."""
    line = as_data(text)
    return line if len(line) <= longest else ""
