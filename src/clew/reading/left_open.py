"""Why a question is left open: what has no place in the likeliest reading, and what the graph records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.graph.graph import Graph
from clew.index.names import NamesIndex
from clew.query.tree import Query, entities_of
from clew.query.words import say
from clew.reading.account import quoted, unplaced_phrases
from clew.reading.english import FUNCTION, LIGHT, PREPOSITIONS, YES_NO
from clew.reading.framing import TALK
from clew.reading.mentions import PLURAL, Mention
from clew.reading.reader import QuestionReader, Reading
from clew.text.lexicon import NOUN, VERB, Lexicon
from clew.text.normalise import Token, tokens
from clew.types import Abstention, PlacedWord


def unknown_names(names: NamesIndex, entities: Sequence[str]) -> list[str]:
    """Those of some names that are no entity's."""
    return [name for name in entities if not names.exact(name)]


def near_names(graph: Graph, names: NamesIndex, missing: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """What may be meant by names that a graph lacks: those like them, but for what it records no more of."""
    hits = (hit.entity for name in missing for hit in names.fuzzy(name, most + 1))
    recorded = [entity for entity in dict.fromkeys(hits) if is_recorded(graph, entity)]
    return tuple(graph.labels[entity] for entity in recorded[: most * len(missing)])


def is_recorded(graph: Graph, entity: int) -> bool:
    """Whether a triple or a type is left of an entity, whose name stays when its triples are removed."""
    lists = (graph.out, graph.into)
    return any(start < stop for start, stop in (side.span(entity) for side in lists)) or bool(
        graph.types.offsets[entity + 1] > graph.types.offsets[entity]
    )


MOST_RECORDED = 5
"""Relations of an entity that are listed."""
NOTHING_NAMED = "none of its words names anything in this graph"


def unknown_given(graph: Graph, names: NamesIndex, unknown: Sequence[str]) -> Abstention:
    """The abstention for given names that the graph lacks."""
    near = near_names(graph, names, unknown[:1])
    return Abstention("no_entity", f'it has no entity "{", ".join(unknown)}" (given)', near)


def left_open(
    reader: QuestionReader,
    names: NamesIndex,
    reading: Reading,
    query: Query | None,
    account: Sequence[PlacedWord],
) -> tuple[Abstention, tuple[PlacedWord, ...]]:
    """Why no reading of a question is likely enough, and what its words are in `query`, the surest."""
    if query is None:
        return Abstention("no_entity", NOTHING_NAMED), ()
    account = tuple(map(_if_carried, account))
    missing = unplaced(reader, names, reading, query, account)
    if missing is not None:
        return missing, account
    nodes = entities_of(query) or named_for_sure(reading)
    if YES_NO.search(reading.question) and len(nodes) > 1:
        statement = f"the graph does not tell yes or no for {quoted([reader.graph.labels[n] for n in nodes])}"
    else:
        statement = f"it may mean: {say(query, reader.vocabulary)}; that is not likely enough to be answered"
    detail = "; ".join([statement, *recorded_relations(reader, reading, nodes)])
    return Abstention("no_relation", detail), account


def _if_carried(word: PlacedWord) -> PlacedWord:
    """A word as placed in a reading that is not likely: what no label is like has no place there."""
    idle = word.as_ != "frame" or word.text.lower() in FUNCTION | LIGHT | PREPOSITIONS | TALK
    return word if idle else replace(word, as_="unplaced")


def unplaced(
    reader: QuestionReader,
    names: NamesIndex,
    reading: Reading,
    query: Query,
    account: Sequence[PlacedWord],
) -> Abstention | None:
    """Why a reading is not answered: words of the question that have no place in it; None if all have one."""
    text = reading.original_question
    if not any(w.as_ not in ("frame", "unplaced") for w in account):
        return Abstention("no_entity", NOTHING_NAMED)
    phrases = unplaced_phrases(text, account)
    if not phrases:
        return None
    words = tokens(text)
    open_words = [w for w in words if any(a.begin <= w.start < a.end for a in account if a.as_ == "unplaced")]
    there = (m for m in reading.mentions if _is_sure(m) and _relations(reader.graph, m.candidates[0].node))
    known = {t.norm for m in there for t in tokens(m.text)}
    name_words = [
        w.text
        for w in open_words
        if w.norm not in known and (is_capital(w, words) or not reader.is_word(w.norm))
    ]
    statements = [f"I cannot place {quoted(phrases)}"]
    if name_words:
        near = near_names(reader.graph, names, [next(p for p in phrases if name_words[0] in p)])
        return Abstention("no_entity", f"{statements[0]}: no name in this graph is like it", near)
    statements += [f"the rest reads: {say(query, reader.vocabulary)}"]
    statements += recorded_relations(reader, reading, entities_of(query))
    return Abstention("unplaced", "; ".join(statements))


def verbs_unsaid(account: Sequence[PlacedWord]) -> list[str]:
    """The verbs of a question that no relation of its reading is like, where none of its words says one."""
    if any(word.as_ in ("relation", "unplaced") for word in account):
        return []
    lexicon, idle = Lexicon.load(), FUNCTION | LIGHT | PREPOSITIONS | TALK
    frame = (word.text for word in account if word.as_ == "frame" and word.text.lower() not in idle)
    return [word for word in frame if lexicon.uses(word.lower(), VERB) > lexicon.uses(word.lower(), NOUN)]


def named_for_sure(reading: Reading) -> tuple[int, ...]:
    """What a question names as it is written."""
    mentions = [m for m in reading.mentions if m.strong and _is_sure(m)]
    return tuple(dict.fromkeys(m.candidates[0].node for m in mentions))


def _is_sure(mention: Mention) -> bool:
    """Whether something is called as a mention is written."""
    return bool(mention.candidates) and mention.candidates[0].how <= PLURAL


def is_capital(word: Token, words: Sequence[Token]) -> bool:
    """Whether a word is written like a name: with a digit, or capitalised within a question in small ones."""
    if word.norm in FUNCTION:
        return False
    if any(c.isdigit() for c in word.text):
        return True
    content = [w for w in words[1:] if w.norm not in FUNCTION and w.text[:1].isalpha()]
    tells = len(content) < 4 or not all(w.text[:1].isupper() for w in content)
    return tells and word is not words[0] and word.text[:1].isupper()


def recorded_relations(reader: QuestionReader, reading: Reading, nodes: Sequence[int]) -> list[str]:
    """What the graph records of entities, the relations that are most like the words first."""
    graph, near = reader.graph, reading.likeness.relations.max(axis=0, initial=0.0)
    statements: list[str] = []
    for node in nodes:
        relations = sorted(_relations(graph, node), key=lambda r: (-near[r], r))
        names = list(dict.fromkeys(reader.vocabulary.relations[r] for r in relations))
        remainder = f" and {unlisted} more" if (unlisted := len(names) - MOST_RECORDED) > 0 else ""
        if names:
            listed = ", ".join(names[:MOST_RECORDED])
            statements.append(f'of "{graph.labels[node]}" the graph records {listed}{remainder}')
    return statements


def _relations(graph: Graph, node: int) -> set[int]:
    """The relations of all edges of a node."""
    spans = ((side, *side.span(node)) for side in (graph.out, graph.into))
    return {int(r) for side, start, stop in spans for r in np.unique(side.relation[start:stop])}
