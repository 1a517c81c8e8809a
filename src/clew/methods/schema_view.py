"""What a graph records, as a prompt shows it: the relations that a question may need, by type.

    Vessel:
      yr_built (year built) → number 1978 to 2021
      cgo_main (main cargo; goods) → one of Containers; Grain; Oil
      calls at → Port
      not shown: nm, imo_no
    Port: not shown: locode, nm

A schema is shown whole where it fits in twice the tokens. Else what the likeliest readings follow comes
first, then what named things have, what lies on the paths between what is named, numbers and dates of the
types that are asked of (superlatives need them), and then what is nearest to the words: by the label and its
short forms written out, by what a team says, by sample values. What is left out is named, and a model may ask
for it: `show: Vessel`. In a brief schema only the first relations say all of what they lead to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clew.foundation.arrays import Float32
from clew.foundation.forms import shorten
from clew.graph.graph import Graph, ValueKind
from clew.graph.steps import HEADS, End, head_end, is_tail, opposite, relation_of, step_of, tail_end
from clew.graph.values import plain_label
from clew.llm.managed import data_line
from clew.query.notation import stored_relation
from clew.query.tree import steps_of
from clew.query.vocabulary import DATE, LEAF, NUMBER, THING, words_of_label, written_out
from clew.reading.likeness import SPELT, Likeness
from clew.reading.reader import QuestionReader, Reading
from clew.text.embedders import Embedder
from clew.text.verbalise import relation_text
from clew.vocabulary.file import Naming

CHARACTERS = 3
"""Of a token: names are cut into shorter pieces than words of English are."""
LONGEST_SHORT_FORM = 24
LONGEST_NAME_IN_SCHEMA = 60
ALL_OF = 0.95
"""From this share of an end's nodes its commonest type says what it is."""
SAMPLES, MOST_SAMPLES = 16, 20_000
"""Values of one relation that are compared with a question, and of all."""
MOST_WHOLE, SHORT_LIST = 12, 30
"""Relations of a brief schema that are told whole, and characters of the lists of the others.

Of 131 questions of which the reader had a right reading, 123 needed none but the first 9.
"""
FOLLOWED, NAMED, BETWEEN, MEASURING, OF_TYPE = 16.0, 8.0, 4.0, 2.0, 1.0
"""What comes before the nearest, which have less than 1."""


@dataclass(frozen=True, slots=True)
class SchemaLine:
    """A line of a schema, under its owner (a type); `name` says it in short where it is left out."""

    owner: str
    name: str
    text: str
    brief: str = ""


def lines_that_fit(lines: Sequence[SchemaLine], ranks: Sequence[float], tokens: int) -> list[bool]:
    """Which lines fit in so many tokens, the highest ranks first; all, if they fit in twice as many."""
    room = tokens * CHARACTERS
    owners = {line.owner for line in lines}
    if sum(len(line.text) + 4 for line in lines) + sum(map(len, owners)) <= 2 * room:
        return [True] * len(lines)
    fits, shown_owners = [False] * len(lines), set[str]()
    for at in sorted(range(len(lines)), key=lambda at: -ranks[at]):
        line = lines[at]
        cost = len(line.text) + 4 + (0 if line.owner in shown_owners else len(line.owner) + 2)
        if cost <= room:
            fits[at] = True
            shown_owners.add(line.owner)
            room -= cost
    return fits


def left_out_names(
    lines: Sequence[SchemaLine], ranks: Sequence[float], fits: Sequence[bool]
) -> dict[str, str]:
    """What is left out, by owner, in short: *9 more: cgo_main, yr_built, …*; the highest ranks first."""
    room = 400 * CHARACTERS
    hidden: dict[str, list[str]] = {}
    for at in sorted((at for at, fit in enumerate(fits) if not fit), key=lambda at: -ranks[at]):
        hidden.setdefault(lines[at].owner, []).append(lines[at].name)
    names: dict[str, str] = {}
    for owner, names_of_owner in hidden.items():
        listed: list[str] = []
        share = max(room // 2, room // len(hidden))
        for name in dict.fromkeys(names_of_owner):
            text = name if len(name) <= LONGEST_SHORT_FORM else name[: LONGEST_SHORT_FORM - 1] + "…"
            if len(text) + 2 > min(room, share):
                break
            listed.append(text)
            room, share = room - len(text) - 2, share - len(text) - 2
        if listed and len(listed) < len(set(names_of_owner)):
            listed.append("…")
        names[owner] = f"{len(names_of_owner)} more" + (f": {', '.join(listed)}" if listed else "")
        room -= len(owner) + 12
        if room <= 0 and len(names) < len(hidden):
            rest = sum(len(hidden[other]) for other in hidden if other not in names)
            names[""] = f"({rest:,} more of {len(hidden) - len(names):,} other types are not shown)"
            break
    return names


@dataclass(eq=False)
class SchemaView:
    """The schema of one graph as prompts show it."""

    reader: QuestionReader

    def __post_init__(self) -> None:
        self.vocabulary = self.reader.vocabulary

    def text(self, reading: Reading, words: str = "", *, brief: bool = False) -> str:
        """What a question may need; `words` are more that the relations may be near to."""
        lines, ranks = self._lines, self.ranks(reading, words)
        if brief:
            whole = set(np.argsort(-np.array(ranks), kind="stable")[:MOST_WHOLE].tolist())
            lines = [line if at in whole else replace(line, text=line.brief) for at, line in enumerate(lines)]
        text = self._rendered(lines, ranks, 1_000 if brief else 1_500) or "(none)"
        types = [_line(name) for name in self.reader.graph.types.names if name in self._terms]
        return f"{text}\nTypes by other words: {'; '.join(types)}" if types else text

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(self.reader.team.terms)

    def of_types(self, names: Iterable[str], reading: Reading) -> str:
        """All that some types have: a second look. Empty where none of the names is a type's."""
        wanted = {words_of_label(name) for name in names} - {""}
        places: list[int] = []
        for at, line in enumerate(self._lines):
            # *Film or Series* is called by each of its types.
            types = line.owner.split(" or ")
            parts = (part for each in types for part in (each, *each.rstrip(")").split(" (")))
            places += [at] if wanted & set(map(words_of_label, parts)) else []
        ranks = self.ranks(reading, "")
        return self._rendered([self._lines[at] for at in places], [ranks[at] for at in places], 1_500)

    def _rendered(self, lines: Sequence[SchemaLine], ranks: Sequence[float], tokens: int) -> str:
        if not lines:
            return ""
        fits = lines_that_fit(lines, ranks, tokens)
        hidden = left_out_names(lines, ranks, fits)
        shown: dict[str, list[str]] = {}
        for line, fit in zip(lines, fits, strict=True):
            if fit:
                shown.setdefault(line.owner, []).append(f"  {line.text}")
        notes = {owner: f"not shown: {text}" for owner, text in hidden.items() if owner and text}
        for owner, note in notes.items():
            if owner in shown:
                shown[owner].append(f"  {note}")
        blocks = ["\n".join([f"{owner}:", *texts]) for owner, texts in shown.items()]
        blocks += [f"{owner}: {note}" for owner, note in notes.items() if owner not in shown]
        return "\n".join([*blocks, *filter(None, [hidden.get("", "")])])

    # how near

    def ranks(self, reading: Reading, words: str = "") -> list[float]:
        """How likely a question needs each relation, by their numbers: below 1 only by its words."""
        count = len(self.vocabulary.relations)
        if not count:
            return []
        likeness = self.reader.compare(f"{reading.original_question} {words}")
        ranks = np.minimum(np.maximum(self._nearness(likeness), self._sampled_nearness(likeness)), 0.99)
        readings = reading.ranking.ranked[:8]
        followed = {relation_of(step) for r in readings for step in steps_of(r.option.query)}
        near = [c.node for m in reading.mentions for c in m.candidates[:3]]
        named_ends = self._ends_of(near)
        types = np.flatnonzero(likeness.exact_types.max(axis=0, initial=0.0) >= SPELT).tolist()
        goals = set(np.argsort(-ranks, kind="stable")[:6].tolist()) | followed
        starts = named_ends | self._ends_of_types(types)
        types_near = (type_ for node in near for type_ in self.vocabulary.types_of(node).tolist())
        asked_types = {*types, *types_near, *self._head_types(followed)}
        tiers = np.zeros(count)
        for tier, relations in (
            (FOLLOWED, followed),
            (NAMED, {relation_of(end) for end in named_ends}),
            (BETWEEN, self._between(starts, goals, types, ranks)),
            (MEASURING, self._measuring(asked_types | self._head_types(goals))),
            (OF_TYPE, {relation_of(end) for end in self._ends_of_types(asked_types) if not is_tail(end)}),
        ):
            tiers[sorted(relations)] = np.maximum(tiers[sorted(relations)], tier)
        return (tiers + ranks).tolist()

    def _nearness(self, likeness: Likeness) -> Float32:
        """How near each relation, or a type at its ends, is to its nearest word: float32 [R]."""
        near = likeness.relations.max(axis=0, initial=0.0)
        ends = np.array(self.vocabulary.end_types, np.int64).reshape(-1, 2)
        types = np.append(likeness.types.max(axis=0, initial=0.0), 0.0)[ends].max(axis=1)
        return np.maximum(near, types / 2)

    @cached_property
    def _samples(self) -> tuple[Float32, np.ndarray]:
        """Vectors of sample values, and the relation of each."""
        vocabulary, graph = self.vocabulary, self.reader.graph
        count = len(vocabulary.relations)
        of_each = min(SAMPLES, MOST_SAMPLES // max(count, 1))
        relations, labels = list[int](), list[str]()
        for relation in range(count if of_each else 0):
            if vocabulary.ends[tail_end(relation)] in (NUMBER, DATE):
                continue
            nodes = dict.fromkeys(vocabulary.some_tails(relation)[: 8 * SAMPLES].tolist())
            for node in list(nodes)[:of_each]:
                relations.append(relation)
                labels.append(graph.labels[node][:LONGEST_NAME_IN_SCHEMA])
        vectors = self.reader.embedder.embed(labels) if labels else np.zeros((0, 1), np.float32)
        return vectors, np.array(relations, np.int64)

    def _sampled_nearness(self, likeness: Likeness) -> Float32:
        """How near the sample values of each relation are to a word: float32 [R]."""
        scores = np.zeros(len(self.vocabulary.relations), np.float32)
        vectors, relations = self._samples
        if len(vectors) and likeness.words:
            cosines = vectors @ self.reader.embedder.embed([word for _, _, word in likeness.words]).T
            np.maximum.at(scores, relations, cosines.max(axis=1))
        return scores

    def _ends_of(self, nodes: Iterable[int]) -> set[End]:
        graph = self.reader.graph
        sides = enumerate((graph.out, graph.into))
        spans = [(way, side, *side.span(node)) for way, side in sides for node in nodes]
        return {step_of(int(r), way) for way, side, a, b in spans for r in np.unique(side.relation[a:b])}

    def _ends_of_types(self, types: Collection[int]) -> set[End]:
        typed = self.reader.schema.typed
        return set(np.flatnonzero(typed[:, sorted(types)].any(axis=1)).tolist()) if types else set()

    def _head_types(self, relations: Iterable[int]) -> set[int]:
        ends = self.vocabulary.end_types
        return {ends[end] for r in relations for end in (head_end(r), tail_end(r))} - {-1}

    def _measuring(self, types: Collection[int]) -> set[int]:
        """The numbers and dates of some types; of a graph without types, all."""
        ends, schema = self.vocabulary.ends, self.reader.schema
        measuring = {r for r in range(len(schema.triples)) if ends[tail_end(r)] in (NUMBER, DATE)}
        if not schema.typed.shape[1]:
            return measuring
        return {r for r in measuring if schema.typed[head_end(r), sorted(types)].any()} if types else set()

    def _between(
        self, starts: Collection[int], goals: Collection[int], types: Sequence[int], ranks: Float32
    ) -> set[int]:
        """The relations of the shortest paths from ends to relations, and to what is of a type."""
        together, typed = self.reader.schema.together, self.reader.schema.typed
        came_from = dict.fromkeys(starts, -1)
        frontier, found, relations = list(starts), set[int](), set[int]()
        for _ in range(3):
            frontier = sorted(frontier, key=lambda end: -float(ranks[relation_of(end)]))[:64]
            reached: list[int] = []
            for end in frontier:
                targets = {relation_of(end)} & set(goals) | {-1 - t for t in types if typed[opposite(end), t]}
                if targets - found:
                    found |= targets
                    step = end
                    while step >= 0:
                        relations.add(relation_of(step))
                        step = came_from[step]
                for other in np.flatnonzero(together.row(opposite(end))).tolist():
                    if other not in came_from:
                        came_from[other] = end
                        reached.append(other)
            frontier = reached
        return relations

    # lines

    @cached_property
    def _lines(self) -> tuple[SchemaLine, ...]:
        return tuple(map(self._line, range(len(self.vocabulary.relations))))

    def relation_line(self, relation: int) -> str:
        """A relation by its stored name, with the readable form beside it: *yr_built (year built)*."""
        return f"{self.stored_name(relation)}{self._readable(relation)}"

    def is_code(self, relation: int) -> bool:
        """Whether a relation leads to a few texts or things, which stand there often: *OPEN*, *SHUT*."""
        return bool(self._short_list(tail_end(relation)))

    def _line(self, relation: int) -> SchemaLine:
        schema = self.reader.schema
        tail = self._end(tail_end(relation)) or f"such as {self._example(tail_end(relation))}"
        inverse = int(schema.inverse[relation])
        back = ""
        if inverse == relation:
            back = ", mutual"
        elif inverse >= 0:
            back = f", the other way of {self.stored_name(inverse)}"
        on_edges = self._edge_properties.get(relation, [])
        properties = "".join(f" [@{_line(key)}, such as {_line(value)}]" for key, value in on_edges)
        owner = self._end(head_end(relation)) or self._things(relation)
        name = self.stored_name(relation)
        relation_line = self.relation_line(relation)
        text = f"{relation_line} → {tail}{properties}{back}"
        brief = f"{relation_line} → {self._in_brief(tail_end(relation)) or tail}{properties}{back}"
        return SchemaLine(owner, name, text, brief)

    def stored_name(self, relation: int) -> str:
        """A relation as the source writes it; of one with an IRI its label."""
        return _line(stored_relation(self.reader.graph, relation))

    def _readable(self, relation: int) -> str:
        """What a relation is called beside its stored name: written out, and by a team."""
        vocabulary, graph = self.vocabulary, self.reader.graph
        words = written_out(vocabulary.short_relations[relation])
        said = self._said(relation, words, self.stored_name(relation))
        unit = self.reader.team.relations.get(graph.relations[relation], Naming()).unit
        return f" ({'; '.join(filter(None, [*said, _line(unit)]))})" if said or unit else ""

    def _said(self, number: int, label: str, stored: str) -> list[str]:
        """The words for a relation, or for a type behind all relations, that are not its stored name."""
        said = dict.fromkeys([label, *(words for at, words in self.vocabulary.further if at == number)])
        return [_line(words) for words in said if words != words_of_label(stored)]

    def _end(self, end: End) -> str:
        """What the nodes of an end are: a value with its range, declared types, or nothing that is known."""
        schema, kind = self.reader.schema, self.vocabulary.ends[end]
        if kind == NUMBER:
            return f"number {schema.low[end]:.15g} to {schema.high[end]:.15g}"
        if kind == DATE:
            dates = (n for n in self._nodes(end) if self.reader.graph.values.kind[n] == ValueKind.DATE)
            kind_name = "time" if schema.high[end] < 1 else "date"
            return f"{kind_name} such as {self._name(next(dates, self._nodes(end)[0]))}"
        label, names = self._types(end), self._short_list(end)
        if names:
            return f"{label}: one of {names}" if label else f"one of {names}"
        if not label and kind == LEAF and is_tail(end) and schema.nodes[end]:
            return f"text such as {self._example(end)}"
        return label

    def _in_brief(self, end: End) -> str:
        """What the nodes of an end are without range and example, and of a longer list its first names."""
        kind, label, names = self.vocabulary.ends[end], self._types(end), self._short_list(end)
        if kind in (NUMBER, DATE):
            return self._end(end).split(" ")[0]
        if label and kind == THING:
            return label
        if len(names) > SHORT_LIST:
            first = names[:SHORT_LIST].rpartition("; ")[0] or shorten(names, SHORT_LIST)
            return f"{label}: {first}; …" if label else f"{first}; …"
        return ""

    def _types(self, end: End) -> str:
        schema, graph = self.reader.schema, self.reader.graph
        counts = schema.typed[end] if schema.typed.shape[1] else np.zeros(0, np.int64)
        shares = counts / max(int(schema.nodes[end]), 1)
        order = np.argsort(-shares, kind="stable")[:3].tolist()
        type_ids = [t for t in order if shares[t] >= 0.05 and graph.types.names[t] not in self._terms]
        if type_ids and shares[type_ids[0]] >= ALL_OF:
            type_ids = type_ids[:1]
        names: list[str] = []
        for type_ in type_ids:
            stored = graph.types.names[type_]
            said = self._said(len(self.vocabulary.relations) + type_, self.vocabulary.types[type_], stored)
            names.append(_line(stored) + (f" ({'; '.join(said)})" if said else ""))
        return " or ".join(sorted(names))

    def _short_list(self, end: End) -> str:
        """All names of an end of values, where they are few and stand there often."""
        nodes, triples = int(self.reader.schema.nodes[end]), int(self.reader.schema.triples[relation_of(end)])
        least = nodes if self.vocabulary.ends[end] == LEAF else 2 * nodes
        if not is_tail(end) or not 1 < nodes <= 8 or triples <= least:
            return ""
        return "; ".join(map(self._name, self._nodes(end)))

    @cached_property
    def texts(self) -> dict[str, str]:
        """What relations lead to that lead to texts: *one of OPEN; SHUT*, *such as A1*."""
        told: dict[str, str] = {}
        for relation, name in enumerate(self.reader.graph.relations):
            end = tail_end(relation)
            if self.vocabulary.ends[end] == LEAF and self.reader.schema.nodes[end]:
                names = self._short_list(end)
                told[name] = f"one of {names}" if names else f"such as {self._example(end)}"
        return told

    def _nodes(self, end: End) -> list[int]:
        return self.reader.graph.side(end).nodes_with(relation_of(end)).tolist()

    def _example(self, end: End) -> str:
        """The name of a node of an end."""
        nodes = self.vocabulary.some_tails(relation_of(end)) if is_tail(end) else self._nodes(end)
        return self._name(int(nodes[len(nodes) // 2])) if len(nodes) else "something"

    def _things(self, relation: int) -> str:
        """The heads of a relation without a type, by one of the widest relation that they nearly all have."""
        end, schema = head_end(relation), self.reader.schema
        row = schema.together.row(end)
        shared = np.flatnonzero(row[HEADS] >= ALL_OF * max(int(schema.nodes[end]), 1))
        widest = head_end(int(shared[np.argmax(schema.nodes[HEADS][shared])])) if len(shared) else end
        return f"Things such as {self._example(widest)}"

    def _name(self, node: int) -> str:
        return _line(plain_label(self.reader.graph, node))

    @cached_property
    def _edge_properties(self) -> Mapping[int, list[tuple[str, str]]]:
        """Properties of the edges of each relation, each with a value."""
        edges = self.reader.graph.edge_properties
        relations = np.repeat(edges.triples[:, 1], np.diff(edges.offsets))
        pairs = np.stack([relations, edges.key], axis=1) if len(relations) else np.zeros((0, 2), np.int64)
        kinds, first = np.unique(pairs, axis=0, return_index=True)
        by_relation: dict[int, list[tuple[str, str]]] = {}
        for (relation, key), place in zip(kinds.tolist(), first.tolist(), strict=True):
            by_relation.setdefault(relation, []).append((edges.keys[key], edges.texts[place]))
        return by_relation


def _line(text: str) -> str:
    return data_line(text, LONGEST_NAME_IN_SCHEMA)


PATH_STEP_COST = 0.02
"""What a step more costs a path, so that of paths that say the same the shorter comes first."""
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, eq=False)
class RelationRanking:
    """The relations of one graph, embedded once."""

    graph: Graph
    embedder: Embedder

    @cached_property
    def _vectors(self) -> Float32:
        return self.embedder.embed([relation_text(label) for label in self.graph.relation_labels])

    def alike(self, text: str) -> Float32:
        """Words of a text by relations, float32 [words, R]: cosines above the word's mean with all."""
        words = list(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))
        if not words or not len(self._vectors):
            return np.zeros((1, len(self._vectors)), np.float32)
        cosines = self.embedder.embed(words) @ self._vectors.T
        return np.maximum(cosines - cosines.mean(axis=1, keepdims=True), 0)

    def order(self, text: str) -> list[int]:
        """Relations, those nearest to one of its words or to the whole text first; ties by id."""
        text_scores = self._vectors @ self.embedder.embed([text])[0]
        scores = np.maximum(self.alike(text).max(axis=0), text_scores)
        return np.argsort(-scores, kind="stable").tolist()


def path_scores(alike: Float32, paths: Sequence[tuple[int, ...]]) -> list[float]:
    """Score paths of steps: each word is explained by a step, and the worst step by a word."""
    scores: list[float] = []
    for steps in paths:
        likeness = alike[:, [relation_of(step) for step in steps]]
        words, worst_step = (likeness.max(axis=1) ** 2).mean(), likeness.max(axis=0).min() ** 2
        scores.append(float(words + worst_step) - PATH_STEP_COST * len(steps))
    return scores
