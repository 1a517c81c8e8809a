"""What a piece of a claim may say over one graph, as query graphs, and which of them is likeliest.

The shipped ranker scores the yes/no query graphs of each statement; those that say the same add up. Whether
the graph has it plays no part: *the graph says otherwise* is told from *nobody asked that*. Every word of a
piece must have its place in the statement (`reading/account.py`): *Christopher Nolan wrote a symphony* does
not say that he wrote something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.claims.claim_text import BESIDE, ONLY, TOGETHER, ClaimedValue, Item, Piece
from clew.graph.graph import Graph, ValueKind
from clew.graph.steps import Step, is_backward, opposite, relation_of, step_of, way_back
from clew.graph.values import (
    CURRENCIES,
    CURRENCY_NAMES,
    UNITS,
    ColumnType,
    currencies_beside,
    read_amount,
)
from clew.query.tree import (
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
    Sign,
    Value,
    Walk,
)
from clew.query.vocabulary import DATE, NUMBER, UNEXPLAINED, Vocabulary, words_of_label
from clew.reading.account import unplaced_phrases
from clew.reading.candidates import Option
from clew.reading.comparisons import EARLIER, FEWER, is_comparative, than_words
from clew.reading.denial import denied_words
from clew.reading.edge_words import SaidKey
from clew.reading.english import ANY_PEOPLE, FUNCTION, GOING, KIN_OF_ONE_SEX, LIGHT, THAN
from clew.reading.likeness import SPELT, content_share
from clew.reading.mentions import Mention
from clew.reading.paths import Base, by_worth
from clew.reading.placing import OF_WORD, shipped_placing
from clew.reading.reader import QuestionReader
from clew.reading.which_way import tail_told, verb_of_another_part
from clew.text.inflection import is_participle, singular
from clew.text.lexicon import ADJECTIVE, NOUN, Lexicon
from clew.types import PlacedWord

MOST_FIRST_STEPS, MOST_GROWN = 24, 10
"""Paths of two steps that are read, and first steps from which they go on."""
MOST_SINGLE_STEPS = 60
MOST_ITEM_NODES = 3
"""Nodes of one item that are tried."""
UNFIT = 0.1
"""What is left of the odds of a way there and back where no word says so, or of another where one does; and
of what leaves words unplaced beside what does not."""
RIVAL = 0.2
"""Share of a statement, beside that of the likeliest, from which its account of words is looked at."""
LEAST_PLACED = 0.7
"""Least probability that a label carries a word that is near none: of what is stated each word counts. Chosen
on claims made of triples of the development graphs: all 200 true ones are supported with it, and of 29 with
another verb and 29 with another noun none."""
KIN_OF_LABEL = 0.45
"""Likeness by spelling and word forms from which a word says the name of a relation."""
LEAST_OF_ROLE, LEAST_HEARD = 0.97, 0.55
"""What a verb or a role that is no such word needs: of a role the probability that a label carries it, of
both the share of its own relations among all that the encoder may hear in it. Without them 43 of 666 claims
of the development graphs with another verb or noun (*the lawyer of*, *was sold in*) were supported, by the
placing before this one. Of a claim that one thing has something, which names nothing beside it, each word
needs as much: *stayed within its budget* does not say that it has one."""
LEAST_OF_COMPARED = 0.85
"""What a word that compares needs: *cheaper* of a running time has 0.76, *bigger* of a head count 0.87."""
STATED, LEAST_OF_STATED = 0.7, 0.7
"""Likeness by spelling of a word that is the name of a relation; share of it from which the word may be of
another one."""
TIMED = frozenset("before after later earlier sooner recent".split())
"""Words that compare times and nothing else."""
_IS_A = re.compile(r"\s*(?:is|was|are|were)\s+(?:an?|one of the|the|also an?|both an?)\s", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the|its|his|her|their)\s+$", re.IGNORECASE)
_FOR_LONGER = re.compile(r"\bfor\s+longer\s+than\b", re.IGNORECASE)
_COMPARING = re.compile(rf"{THAN.pattern}|\b(?:exactly|precisely)\b", re.IGNORECASE)
_MORE_THAN = re.compile(r"\b(?:more|less|fewer|\w{2,}er)\s+than\s+$", re.IGNORECASE)
_BEGINS_OR_ENDS = re.compile(r"\b(?:since|from|until|till) $", re.IGNORECASE)
COUNTING = frozenset(("more", "fewer", "less"))
Kind = Literal["path", "edge", "value", "count", "compare", "more", "type", "exists"]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a piece may say: `steps` from one node to another, to a value, to so many nodes, or to any.

    An *edge* is a path of one step whose edge has a property that is so. Of kind *type*, `steps` is the one
    declared type; *compare* sets the values of two nodes side by side, *more* how many nodes a step leads to.
    """

    kind: Kind
    node: int
    steps: tuple[Step, ...]
    other: int = -1
    value: Value | None = None
    sign: Sign = "="
    edge_key: str = ""
    text: str = ""
    """Of an edge whose property is a text."""
    among: int = -1
    """The declared type of what is counted, of what one thing has; -1 where all of it is."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for statements that say the same of other things."""
        return self.kind, self.steps, self.sign, self.edge_key, self.among

    @property
    def relation_steps(self) -> tuple[Step, ...]:
        """The steps by relations, which a type has none of."""
        return () if self.kind == "type" else self.steps

    @property
    def is_there_and_back(self) -> bool:
        """Whether its two steps are one and its way back: *X and Y share a director*."""
        return len(self.steps) == 2 and self.steps[0] == opposite(self.steps[1])

    def walk(self, *, back: bool = False) -> Part:
        """What the steps lead to from its node, or, the other way round, from the other one."""
        steps = way_back(self.steps) if back else self.steps
        return walk(Anchor(self.other if back else self.node), steps)

    @property
    def said(self) -> Part:
        """The set that has members, or for *more* its node alone, where the graph has what is said."""
        first, second, step = Anchor(self.node), Anchor(self.other), self.steps[-1]
        among = OfType(self.among) if self.among >= 0 else None
        match self.kind:
            case "path":
                return Both(self.walk(), second)
            case "edge":
                condition = OnEdge(self.edge_key, self.sign, self.value or self.text)
                return Both(Qualified(first, step, (condition,)), second)
            case "value" if self.value is not None:
                return Compared(walk(first, self.steps[:-1]), (step,), self.sign, self.value)
            case "count" if self.value is not None:
                return Counted(first, step, self.sign, int(self.value.number), among=among)
            case "compare":
                return Compared(first, (step,), self.sign, Walk(second, step))
            case "more":
                return Extreme(Either(first, second), (step,), True, self.sign == ">")
            case "type":
                return Both(first, OfType(step))
            case _:
                return Counted(first, step, ">=", 1, among=among)


@dataclass(frozen=True, slots=True)
class PieceReading:
    """A piece with what it likeliest says, for each node that its names may stand for, the likeliest first.

    `probability` is its share among all statements, `none` that of none being right, `named` how like some
    word is to the relation or type; `unplaced` are the words that have no place in it.
    """

    piece: Piece
    statements: tuple[Statement, ...]
    probability: float
    none: float
    named: float
    unplaced: tuple[str, ...] = ()
    others: tuple[tuple[Statement, float], ...] = ()
    """The other statements with their share."""

    @property
    def statement(self) -> Statement:
        """The likeliest of the statements."""
        return self.statements[0]


def walk(part: Part, steps: Sequence[Step]) -> Part:
    """What steps lead to from a set."""
    for step in steps:
        part = Walk(part, step)
    return part


def says_ways(vocabulary: Vocabulary, steps: Sequence[Step], text: str) -> bool:
    """Whether a text says the *from* and *to* of relations: *is a stop on* does not say `to stop`."""
    words = set(text.lower().split())
    return all(vocabulary.ways[r][0] in words for r in map(relation_of, steps) if r in vocabulary.ways)


def recorded_currencies(graph: Graph, label: str, values: Sequence[int]) -> set[str]:
    """What currencies values may be in: by the label of a relation, their column, or how one is written."""
    codes = [CURRENCIES.get(word) or CURRENCY_NAMES.get(singular(word), "") for word in label.split()]
    for node in values[:1]:
        datatype, amount = int(graph.values.datatype[node]), read_amount(graph.labels[node])
        codes += [ColumnType.of(graph.values.datatypes[datatype]).unit] if datatype >= 0 else []
        codes += [amount.unit] if amount else []
    known = set(CURRENCIES.values())
    return next((set(c.split()) for c in codes if c and set(c.split()) <= known), set())


def read_piece(reader: QuestionReader, piece: Piece) -> PieceReading | None:
    """The likeliest statement of a piece; None where there is none."""
    reading = _Reading(reader, piece)
    if not reading.statements:
        return None
    ranking = reader.rank_options(reading.exploration, [Option(query, 0.0) for query in reading.statements])
    groups: dict[tuple[object, ...], dict[Statement, float]] = {}
    fits: dict[tuple[object, ...], bool] = {}
    for ranked in ranking.ranked:
        statement = reading.statements[ranked.option.query]
        group = groups.setdefault(statement.key, {})
        if statement.key not in fits:
            fits[statement.key] = reading.fits(statement)
        odds = 1.0 if fits[statement.key] else UNFIT
        group[statement] = group.get(statement, 0.0) + ranked.probability * odds
    best_share = max((sum(group.values()) for group in groups.values()), default=0.0)
    if best_share <= 0:
        return None
    unplaced = {
        key: reading.unplaced(max(group, key=lambda s: group[s]))
        for key, group in groups.items()
        if sum(group.values()) >= RIVAL * best_share
    }
    for key in [k for k, words in unplaced.items() if words and not all(unplaced.values())]:
        groups[key] = {statement: share * UNFIT for statement, share in groups[key].items()}
    total = sum(sum(group.values()) for group in groups.values())
    key = max(groups, key=lambda k: sum(groups[k].values()))
    best = groups.pop(key)
    order = tuple(sorted(best, key=lambda s: -best[s]))
    others = tuple((s, share / total) for group in groups.values() for s, share in group.items())
    share = sum(best.values()) / total
    open_words = unplaced[key] or reading.unplaced(order[0], is_meant=True)
    return PieceReading(piece, order, share, ranking.none, reading.named(order[0]), open_words, others)


class _Reading:
    """One piece, what lies around its items, and all that it may say."""

    def __init__(self, reader: QuestionReader, piece: Piece) -> None:
        self.reader, self.piece = reader, piece
        self.mentions = [_mention(i, p) for i, p in zip(piece.items, piece.places, strict=True)]
        self.exploration = reader.explore(piece.text, self.mentions)
        self.vocabulary, self.schema = self.exploration.vocabulary, self.exploration.schema
        self.statements: dict[Query, Statement] = dict(self._all())

    @cached_property
    def content_rows(self) -> list[int]:
        """The words outside of the items that may name a relation."""
        like = self.exploration.likeness
        outside = content_share(like, [(m.start, m.stop) for m in self.mentions]).tolist()
        return [i for i, is_outside in enumerate(outside) if is_outside and like.words[i][2] not in LIGHT]

    def fits(self, statement: Statement) -> bool:
        """Whether no word names another relation, and words say that things share something if they do."""
        if self._other(self.content_rows, statement):
            return False
        if TOGETHER.search(self.piece.text):
            return statement.is_there_and_back
        return not statement.is_there_and_back or BESIDE.search(self.piece.text) is not None

    def unplaced(self, statement: Statement, *, is_meant: bool = False) -> tuple[str, ...]:
        """The words of the piece that have no place in a statement; if it is meant, heads are weighed too."""
        if statement.kind == "path" and len(statement.steps) == 1 and not is_backward(statement.steps[0]):
            relation, likeness = relation_of(statement.steps[0]), self.exploration.likeness
            label, rows = self.vocabulary.relations[relation], self.content_rows
            verb = verb_of_another_part(self.piece.text, self.mentions, likeness, rows, relation, label)
            if verb is not None:
                return (verb,)
        if self._is_other_way(statement):
            return tuple(self.piece.words[:1]) or (self.piece.text,)
        if statement.kind == "value" and statement.steps[1:] and not all(map(self._says, statement.steps)):
            return tuple(item.text for item in self.piece.items if item.value is not None)
        recorded = set[str]()
        if statement.value:
            label = self.vocabulary.relations[relation_of(statement.steps[-1])]
            label = words_of_label(statement.edge_key) if statement.kind == "edge" else label
            values = self.exploration.members_of(statement.walk())[:1].tolist()
            recorded = recorded_currencies(self.vocabulary.graph, label, values)
        items = zip(self.piece.items, self.piece.places, strict=True)
        is_valued = statement.kind in ("value", "edge")
        places = [place for item, place in items if item.value and is_valued]
        money = [self._currency(*place, is_recorded=bool(recorded)) for place in places]
        for codes, (start, stop) in money:
            if codes and recorded.isdisjoint(codes.split()):
                return (self.piece.text[start:stop],)
        query = next(query for query, said in self.statements.items() if said == statement)
        patterns = [TOGETHER, BESIDE] if statement.is_there_and_back else []
        patterns += [_COMPARING] if statement.kind in ("value", "edge", "count", "compare") else []
        patterns += [ONLY] if statement.kind == "path" and len(self.piece.items) == 2 else []
        spans = self._of_property(statement) if statement.kind == "edge" else []
        spans += [span for _, span in money]
        said = (*spans, *(hit.span() for pattern in patterns for hit in pattern.finditer(self.piece.text)))
        likeness = self.exploration.likeness
        goes = not GOING.isdisjoint(word for _, _, word in likeness.words)
        least = LEAST_OF_ROLE if goes or statement.kind == "exists" else LEAST_PLACED
        account = self.reader.accountant.account(
            self.piece.text, self.mentions, likeness, replace(query, said=said), least
        )
        weak = self._weak_heads(statement, query) if is_meant else set[int]()
        weak |= self._of_other_edges(statement, account.words)
        words = [self._if_carried(word, statement) for word in account.words]
        words = [replace(w, as_="unplaced") if w.begin in weak and w.as_ != "operator" else w for w in words]
        words = [replace(w, as_="type") if self._is_kind(w, statement) else w for w in words]
        if statement.kind == "compare":
            longer = [hit.span() for hit in _FOR_LONGER.finditer(self.piece.text)]
            words = [
                replace(w, as_="frame") if any(a <= w.begin < b for a, b in longer) else w for w in words
            ]
        return tuple(unplaced_phrases(self.piece.text, words))

    def _currency(self, start: int, stop: int, *, is_recorded: bool) -> tuple[str, tuple[int, int]]:
        """The currencies that a value at [start, stop) may be in, and where that is said.

        A word that is something else too (*pounds*, *won*, *real*) is one where a currency is recorded.
        """
        codes, span = currencies_beside(self.piece.text, start, stop)
        word, lexicon = self.piece.text[slice(*span)].lower(), Lexicon.load()
        is_other = word in UNITS or lexicon.mostly_verb(word)
        is_other = is_other or lexicon.uses(word, ADJECTIVE) > lexicon.uses(word, NOUN)
        return (codes, span) if is_recorded or not is_other else ("", (stop, stop))

    def _weak_heads(self, statement: Statement, query: Query) -> set[int]:
        """Where verbs and roles of the piece begin that surely say no relation of a statement: *fired*."""
        if statement.kind in ("more", "type"):
            return set()
        if statement.kind == "exists":
            return self._verbs_of_other_words(statement)
        like, relations = self.exploration.likeness, [relation_of(s) for s in statement.relation_steps]
        known = self.reader.accountant.rows(
            self.piece.text, self.mentions, like, query, range(len(self.mentions))
        )
        others = set(range(len(self.vocabulary.types))).difference(self._types(statement))
        heard = known.rows[:, OF_WORD.index("heard_share")]
        carried = shipped_placing().of(known)
        weak = set[int]()
        for row, share, hears in zip(known.places, carried, heard, strict=True):
            if statement.kind == "compare" and is_comparative(like.words[row][2]):
                is_weak = share < LEAST_OF_COMPARED
            elif row not in self._heads:
                continue
            else:
                is_weak = self._says_opposite(row, relations) or (
                    not self._is_word_of(row, relations)
                    and (
                        hears < LEAST_HEARD
                        or ((self._heads[row] or statement.kind == "compare") and share < LEAST_OF_ROLE)
                        or any(like.exact_types[row, t] >= STATED for t in others)
                    )
                )
            weak |= {like.words[row][0]} if is_weak else set()
        return weak

    def _verbs_of_other_words(self, statement: Statement) -> set[int]:
        """Where verbs begin that a label has no form of: *did not sell* is of no place in a sale."""
        like, lexicon = self.exploration.likeness, Lexicon.load()
        labels = " ".join(self.vocabulary.relations[relation_of(s)] for s in statement.relation_steps)
        forms = {lemma for word in labels.split() for lemma in (word, *lexicon.lemmas(word))}
        verbs = (like.words[row] for row in self._heads if not self._heads[row])
        return {
            start
            for start, _, word in verbs
            if lexicon.mostly_verb(word) and forms.isdisjoint((word, *lexicon.lemmas(word)))
        }

    def _says_opposite(self, row: int, relations: Sequence[int]) -> bool:
        """Whether a verb is the opposite of one that names a relation: *fired* of `employer`."""
        word, labels = (
            self.exploration.likeness.words[row][2],
            map(self.vocabulary.relations.__getitem__, relations),
        )
        said = {label_word for label in labels for label_word in label.split()}
        if any(singular(word) in denied_words(self.vocabulary.relations[r]) for r in relations):
            return False  # the checker turns it around
        return Lexicon.load().is_opposite(word, said)

    def _is_word_of(self, row: int, relations: Sequence[int]) -> bool:
        """Whether a word is one of the names of relations by its meaning, or names a type."""
        like, lexicon = self.exploration.likeness, Lexicon.load()
        word = like.words[row][2]
        labels = {w for r in relations for w in self.vocabulary.relations[r].split()}
        forms = {lemma for label_word in labels for lemma in lexicon.lemmas(label_word)}
        return (
            like.exact_relations[row, relations].max() >= KIN_OF_LABEL
            or not forms.isdisjoint(lexicon.lemmas(word))
            or singular(word) in self.vocabulary.types
        )

    @cached_property
    def _heads(self) -> dict[int, bool]:
        """The verbs and roles that are said of the items, and whether each is a role, or said of a number.

        The first words behind each item, and the last before all: *fired* of *Ann was fired by Bo*, *lawyer*
        of *the lawyer of Bo is Ann*. No more is said by what follows *came* or a number.
        """
        text, words = self.piece.text, self.exploration.likeness.words
        spans = sorted(zip(self.piece.places, self.piece.items, strict=True))
        heads = [row for row in self.content_rows if words[row][0] < spans[0][0][0]][-1:]
        heads = [row for row in heads if words[row][2] not in ("called", "named")]
        counted: list[int] = []
        for ((_, stop), item), after in zip(spans, [*(a for (a, _), _ in spans[1:]), len(text)], strict=True):
            behind = [
                row
                for row, (start, _, word) in enumerate(words)
                if stop <= start < after
                and word not in FUNCTION
                and text[words[row][1] : words[row][1] + 1] != "-"
            ]
            if item is spans[0][1] and item.value is not None:  # *two clubs folded in 2012*
                counted += [row for row in behind if row in self.content_rows and _is_verb(words[row][2])][:1]
            heads += [row for row in behind[:1] if row in self.content_rows and item.value is None]
        roles = [row for row in heads if _ARTICLE.search(text, 0, words[row][0]) is not None]
        return {row: row in roles or row in counted for row in (*heads, *counted)}

    def _of_other_edges(self, statement: Statement, words: Sequence[PlacedWord]) -> set[int]:
        """Where words begin that say of an edge what a statement does not: another text, or *people*."""
        if statement.kind not in ("path", "edge", "value"):
            return set()
        is_said = statement.kind == "value" and self._says(statement.steps[-1])
        said = self._of_property(statement) if statement.kind == "edge" else []
        texts = [hit.span() for _, hit in self.reader.edge_keys.texts_in(self.piece.text)]
        other = [(a, b) for a, b in texts if not any(a < stop and start < b for start, stop in said)]
        values = {
            stop + 1 for (_, stop), i in zip(self.piece.places, self.piece.items, strict=True) if i.value
        }
        return {
            w.begin
            for w in words
            if (w.as_ == "type" and any(a <= w.begin < b for a, b in other))
            or (w.as_ == "frame" and w.begin in values and w.text.lower() in ANY_PEOPLE and not is_said)
        }

    def _is_kind(self, word: PlacedWord, statement: Statement) -> bool:
        """Whether a word behind *is a* is the declared type of what it is said of: *is a trench at …*."""
        is_a = _IS_A.match(self.piece.text, self.piece.places[0][1])
        if word.as_ != "unplaced" or is_a is None or is_a.end() != word.begin or statement.kind == "type":
            return False
        types = self.vocabulary.types_of(statement.node).tolist()
        is_of = self.piece.text.startswith(" of ", word.end)
        return not is_of and singular(word.text.lower()) in (self.vocabulary.types[t].lower() for t in types)

    def _is_other_way(self, statement: Statement) -> bool:
        """Whether the words say that the things stand at the other ends of the step between them."""
        if statement.kind not in ("path", "edge") or len(statement.steps) != 1:
            return False
        (step,) = statement.steps
        tail = tail_told(self.piece.text, self.vocabulary.relations[relation_of(step)], self.piece.places[:2])
        return tail is not None and tail == is_backward(step)

    def _says(self, step: Step) -> bool:
        """Whether some word says the relation of a step."""
        likeness = self.exploration.likeness.relations[self.content_rows, relation_of(step)]
        return bool(likeness.max(initial=0) >= UNEXPLAINED)

    def _if_carried(self, word: PlacedWord, statement: Statement) -> PlacedWord:
        """A word as it is placed; unplaced if it says more than its label, or is a name that is not there."""
        like, norm = self.exploration.likeness, word.text.lower()
        if word.as_ in ("name", "value", "operator") or norm in LIGHT:
            return word
        rows = [i for i, (start, stop, _) in enumerate(like.words) if start < word.end and word.begin < stop]
        relations = [relation_of(s) for s in statement.relation_steps]
        if any(singular(norm) in denied_words(self.vocabulary.relations[r]) for r in relations):
            return replace(word, as_="relation")
        is_kin = norm in KIN_OF_ONE_SEX and like.exact_relations[rows][:, relations].max(initial=0.0) < STATED
        before = self.piece.text[: word.begin].rstrip("\"'“‘( ")
        is_name = norm in FUNCTION and word.text.istitle() and before[-1:].isalnum() and norm != "i"
        return (
            replace(word, as_="unplaced") if is_kin or is_name or self._other(rows, statement, 0.0) else word
        )

    def _other(self, rows: Sequence[int], statement: Statement, least: float = LEAST_OF_STATED) -> bool:
        """Whether some of the words are the name of a relation of which a statement says nothing."""
        like, relations = self.exploration.likeness, [relation_of(s) for s in statement.relation_steps]
        types = self._types(statement)
        for row in rows if relations else ():
            own = like.relations[row, relations].max()
            own = max(own, like.types[row, types].max(initial=0.0))
            exact = like.exact_relations[row].max(initial=0.0)
            if exact >= STATED and own < max(UNEXPLAINED, least * exact):
                return True
        return False

    def _types(self, statement: Statement) -> list[int]:
        """The types of the ends of the steps of a statement."""
        ends = self.vocabulary.end_types
        return [t for s in statement.relation_steps for t in (ends[s], ends[opposite(s)]) if t >= 0]

    def named(self, statement: Statement) -> float:
        """How like some word is to what a statement says; 1 where there are no words."""
        like = self.exploration.likeness
        rows = self.content_rows
        if not rows:
            return 1.0
        if statement.kind == "type":
            return float(like.exact_types[rows, statement.steps[0]].min())
        types = [t for s in statement.steps if (t := self.vocabulary.types_reached[s]) >= 0]
        best = [like.relations[rows, relation_of(s)].max() for s in statement.steps]
        return float(max([*best, *(like.types[rows, t].max() for t in types)]))

    def _all(self) -> Iterator[tuple[Query, Statement]]:
        """All query graphs of the piece with what they say."""
        first, *rest = self.piece.items
        if not rest:
            for c in first.candidates[:MOST_ITEM_NODES]:
                yield from self._of_one(Anchor(c.node, 0))
            return
        second = rest[0]
        if len(rest) > 1:
            yield from self._on_edges(first, second, rest[1])
            return
        if first.value is not None and not first.candidates and second.candidates:
            for c in second.candidates[:MOST_ITEM_NODES]:
                yield from self._of_value(Anchor(c.node, 1), first.value, 0, is_count=False)
            return
        yield from self._with_texts(first, second)
        word = self._comparing_word
        for c in first.candidates[:MOST_ITEM_NODES]:
            anchor = Anchor(c.node, 0)
            if second.value is not None:
                behind = self.piece.text[self.piece.places[1][1] :].strip()
                is_count = behind != "" and not second.value.timed
                yield from self._of_value(anchor, second.value, 1, is_count=is_count)
            for d in second.candidates[:MOST_ITEM_NODES]:
                if d.node != c.node:
                    other = Anchor(d.node, 1)
                    yield from (self._compared(anchor, other, word) if word else self._paths(anchor, other))

    def _of_one(self, anchor: Anchor) -> Iterator[tuple[Query, Statement]]:
        """What one thing has, or what it is."""
        exploration, node = self.exploration, np.array([anchor.node], np.int64)
        like, rows = exploration.likeness, self.content_rows
        is_a = _IS_A.match(self.piece.text, self.piece.places[0][1]) is not None
        is_of_type = is_a and bool(rows) and like.exact_types[rows].min(axis=0).max(initial=0.0) >= SPELT
        for step in [*exploration.steps_at(node), *exploration.absent_steps(anchor.node)]:
            # *Is a vulnerability* is no *has a vulnerability*, where that is a type.
            if is_of_type and like.exact_relations[rows, relation_of(step)].max() < SPELT:
                continue
            statement = Statement("exists", anchor.node, (step,), among=self._type_among(step))
            yield Query("yes", Walk(anchor, step)), statement
        if is_a:
            for type_ in np.flatnonzero(exploration.types_say.sum(axis=1) > 0).tolist():
                statement = Statement("type", anchor.node, (type_,))
                yield Query("yes", Both(anchor, OfType(type_))), statement

    def _type_among(self, step: Step) -> int:
        """The type of which some that a step leads to are, and which the words spell; -1 without one."""
        rows, types = self.content_rows, self.exploration.likeness.exact_types
        said = np.flatnonzero(types[rows].max(axis=0, initial=0.0) >= SPELT).tolist() if rows else []
        there = self.schema.typed[opposite(step)]
        return next((t for t in said if 0 < there[t] < self.schema.nodes[opposite(step)]), -1)

    def _paths(self, first: Anchor, second: Anchor) -> Iterator[tuple[Query, Statement]]:
        """Paths of one or two steps from one thing to another, whether the graph has them or not."""
        exploration = self.exploration
        stands, arrives = self._may_stand(first.node), self._may_stand(second.node)
        mine, theirs = (
            {*exploration.steps_at(np.array([n], np.int64)), *exploration.absent_steps(n)}
            for n in (first.node, second.node)
        )
        both = (*mine, *(opposite(step) for step in theirs))
        single_steps = {s for s in both if stands[s] and arrives[opposite(s)]}
        best = sorted(single_steps, key=lambda s: (-exploration.worth_of(s), s))[:MOST_SINGLE_STEPS]
        paths = [(s,) for s in best]
        paths += [b.steps for b in self._two_steps(first) if arrives[opposite(b.steps[-1])]]
        backwards = (way_back(b.steps) for b in self._two_steps(second))
        paths += [steps for steps in backwards if stands[steps[0]]]
        for steps in dict.fromkeys(p for p in paths if not self._is_of_values(second.node, p[-1])):
            statement = Statement("path", first.node, steps, second.node)
            back = way_back(steps)
            yield Query("yes", Both(walk(first, steps), second)), statement
            yield Query("yes", Both(walk(second, back), first)), statement
            if len(steps) > 1:
                yield Query("yes", Both(Walk(first, steps[0]), Walk(second, back[0]))), statement

    def _on_edges(self, first: Item, second: Item, third: Item) -> Iterator[tuple[Query, Statement]]:
        """A step from one thing to another whose edge has a number or a date: *in 2016*, *65 pallets*."""
        if third.value is None:
            return
        # *Since 2016* states the date itself; of a question it asks for what began by then.
        is_end = _BEGINS_OR_ENDS.search(self.piece.text, 0, self.piece.places[2][0]) is not None
        sign: Sign = "=" if is_end else third.value.sign
        for c, step, d in self._steps_between(first, second):
            for key in self.reader.edge_keys.of_relations.get(relation_of(step), ()):
                values = third.value.in_unit_of(self.reader.edge_keys.measured(key), 2)
                for value in (v for v in values if self._may_be(key, relation_of(step), v)):
                    yield self._on_edge(Statement("edge", c, (step,), d, value, sign, key))

    def _with_texts(self, first: Item, second: Item) -> Iterator[tuple[Query, Statement]]:
        """A step from one thing to another whose edge has a text: *was cancelled*."""
        for key, match in self.reader.edge_keys.texts_in(self.piece.text):
            if all(match.end() <= start or stop <= match.start() for start, stop in self.piece.places):
                for c, step, d in self._steps_between(first, second):
                    if self.reader.edge_keys.has(step, key):
                        yield self._on_edge(Statement("edge", c, (step,), d, edge_key=key, text=match[0]))

    def _steps_between(self, first: Item, second: Item) -> Iterator[tuple[int, Step, int]]:
        """What one thing may be, a step from it, and what the other one may be; where edges say anything."""
        if not self.reader.edge_keys.of_relations:
            return
        for c in first.candidates[:MOST_ITEM_NODES]:
            steps = self.exploration.steps_at(np.array([c.node], np.int64))
            for d, step in product(second.candidates[:MOST_ITEM_NODES], steps):
                yield c.node, step, d.node

    @staticmethod
    def _on_edge(statement: Statement) -> tuple[Query, Statement]:
        condition = OnEdge(statement.edge_key, statement.sign, statement.value or statement.text)
        onto = Qualified(Anchor(statement.node, 0), statement.steps[0], (condition,))
        return Query("yes", Both(onto, Anchor(statement.other, 1))), statement

    @cached_property
    def _said_keys(self) -> list[SaidKey]:
        """The properties of edges that the words outside of names say."""
        said = self.reader.edge_keys.said_in(self.piece.text)
        return [s for s in said if all(s.stop <= a or b <= s.start for a, b in self.piece.places)]

    def _may_be(self, key: str, relation: int, value: Value) -> bool:
        """Whether a property may have a value: it is said, the date that is meant, or the only number."""
        keys = self.reader.edge_keys
        of_relation = keys.of_relations.get(relation, frozenset[str]())
        begin, end, plain = keys.dated(relation)
        if value.date:
            hit = _BEGINS_OR_ENDS.search(self.piece.text, 0, self.piece.places[2][0])
            word = hit[0].strip().lower() if hit else ""
            is_meant = {"": plain, "since": begin or plain, "from": begin or plain}.get(word, end)
            return key == is_meant or (not hit and any(s.key == key for s in self._said_keys))
        if not keys.kinds[key] & {ValueKind.NUMBER}:
            return False
        said = {s.key for s in self._said_keys} & of_relation
        numbers = [k for k in of_relation - {begin, end, plain} if keys.kinds[k] & {ValueKind.NUMBER}]
        return key in said if said else numbers == [key]

    def _of_property(self, statement: Statement) -> list[tuple[int, int]]:
        """Where the property of an edge and its value are said."""
        said = [(s.start, s.stop) for s in self._said_keys if s.key == statement.edge_key]
        if statement.text:
            hits = self.reader.edge_keys.texts_in(self.piece.text)
            here = (statement.edge_key, statement.text)
            return [*said, *(hit.span() for key, hit in hits if (key, hit[0]) == here)]
        start, stop = self.piece.places[2]
        than = _MORE_THAN.search(self.piece.text, 0, start)
        return [*said, (than.start() if than else start, stop)]

    def _is_of_values(self, node: int, step: Step) -> bool:
        """Whether a step leads to values, with which a number or a date is compared, not taken as a name."""
        is_value = self.vocabulary.graph.values.kind[node] != ValueKind.NONE
        return bool(is_value) and self.vocabulary.kinds_reached[step] in (NUMBER, DATE)

    def _may_stand(self, node: int) -> NDArray[np.bool_]:
        """Bool [2R]: the ends at which a node, or others like it, stand."""
        allowed = np.zeros(len(self.schema.nodes), np.bool_)
        for end in self.exploration.steps_at(np.array([node], np.int64)):
            allowed |= self.schema.together.row(end) > 0
        types = self.vocabulary.types_of(node)
        if len(types):
            allowed |= self.schema.typed[:, types].max(axis=1) > 0
        return allowed

    def _two_steps(self, anchor: Anchor) -> list[Base]:
        """Sets two steps from a thing, those that the words name best."""
        one_step = by_worth(list(self.exploration.grown(self._base(anchor))))[:MOST_GROWN]
        return by_worth([b for base in one_step for b in self.exploration.grown(base)])[:MOST_FIRST_STEPS]

    def _base(self, anchor: Anchor) -> Base:
        covered = self.exploration.covered(anchor.mention)
        node = np.array([anchor.node], np.int64)
        return Base(anchor, node, -1, frozenset({anchor.mention}), (), covered, 0.0)

    def _of_value(
        self, anchor: Anchor, value: ClaimedValue, mention: int, *, is_count: bool
    ) -> Iterator[tuple[Query, Statement]]:
        """A value of a thing, or of what it leads to, or how many things it leads to."""
        exploration, start = self.exploration, self._base(anchor)
        things = [b for b in by_worth(list(exploration.grown(start))) if exploration.is_of_things(b)]
        for base in (start, *things[:MOST_GROWN]):
            for step, kind in exploration.attributes(base):
                if value.timed and kind == NUMBER and not self.vocabulary.is_of_time(opposite(step)):
                    continue
                for plain in value.in_unit_of(self.vocabulary.measured(relation_of(step)), mention):
                    if plain.date == (kind == DATE):
                        query = Query("yes", Compared(base.part, (step,), value.sign, plain))
                        yield (
                            query,
                            Statement("value", anchor.node, (*base.steps, step), -1, plain, value.sign),
                        )
        number = value.count if is_count else None
        for step in exploration.steps_at(start.members) if number is not None else ():
            if number is not None and self.vocabulary.kinds_reached[step] not in (NUMBER, DATE):
                query = Query("yes", Counted(anchor, step, value.sign, number, mention))
                among = self._type_among(step)
                counted = Statement("count", anchor.node, (step,), -1, Value(number), value.sign, among=among)
                yield query, counted

    @cached_property
    def _comparing_word(self) -> str:
        """The word between two things that compares them (*is longer than*), empty for none."""
        text, (stop, _) = self.piece.text, self.piece.places[1]
        hits = [h for h in than_words(text[:stop], self.piece.places[0][1])]
        if not hits:
            return ""
        between = text[hits[-1].end() : stop]
        behind = between.lower().partition("than")[2] if hits[-1]["than"] else between
        return "" if re.search(r"[^\W_]{4,}", behind) else hits[-1][0].lower().split()[-1]

    def _compared(self, first: Anchor, second: Anchor, word: str) -> Iterator[tuple[Query, Statement]]:
        """*A is longer than B*: by values of both, or as a relation says of B (`broader`) or A."""
        exploration = self.exploration
        for relation, label in enumerate(self.vocabulary.relations):
            if word in label.split():
                step = step_of(relation, "than" not in label.split())
                statement = Statement("path", first.node, (step,), second.node)
                yield Query("yes", Both(Walk(first, step), second)), statement
                yield Query("yes", Both(Walk(second, opposite(step)), first)), statement
        if word in COUNTING:
            pair, sign = np.array([first.node, second.node], np.int64), ">" if word == "more" else "<"
            for step in exploration.repeated_steps_at(pair):
                extreme = Extreme(Either(first, second), (step,), True, word == "more")
                statement = Statement("more", first.node, (step,), second.node, sign=sign)
                yield Query("yes", Both(extreme, first)), statement
        ends = (exploration.attributes(self._base(anchor)) for anchor in (first, second))
        for step in dict.fromkeys(step for steps in ends for step, _ in steps):
            timed = self.vocabulary.is_of_time(opposite(step))
            if word not in TIMED or timed:
                is_longer = timed and word == "longer" and _FOR_LONGER.search(self.piece.text) is not None
                sign = "<" if is_longer or word in (EARLIER if timed else FEWER) else ">"
                query = Query("yes", Compared(first, (step,), sign, Walk(second, step)))
                yield query, Statement("compare", first.node, (step,), second.node, sign=sign)


def _is_verb(word: str) -> bool:
    """Whether a word is mostly a verb, or a form of one."""
    return Lexicon.load().mostly_verb(word) or is_participle(word)


def _mention(item: Item, place: tuple[int, int]) -> Mention:
    """An item as a mention of a piece's text."""
    values = item.value.values if item.value else ()
    strong = item.value is None
    return Mention(*place, item.text, item.candidates[:MOST_ITEM_NODES], values, strong)
