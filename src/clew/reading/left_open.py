"""Why a question is left open: a name that the graph lacks, no name at all, or no relation like its words."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

import numpy as np

from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.query.tree import mentions_of, steps_of
from clew.query.vocabulary import UNEXPLAINED
from clew.query.words import say
from clew.reading.asked_type import SPELT
from clew.reading.english import FUNCTION, LIGHT, PREPOSITIONS, YES_NO
from clew.reading.mentions import MEANT, PARTIAL, PLURAL, WORDS, Mention
from clew.reading.near_names import near_names
from clew.reading.reader import QuestionReader, Reading
from clew.text.normalise import Token, tokens
from clew.types import Abstention

LEAST_OF_ALL = 0.2
"""From this probability on the message has the likeliest reading, if it names nothing (*the newest hire*)."""
MOST_RECORDED, LONGEST_PHRASE = 5, 80
"""Relations of an entity that are listed; characters of the words for which there is no relation."""


def unknown_given(graph: Graph, names: NamesIndex, unknown: Sequence[str]) -> Abstention:
    """The abstention for given names that the graph lacks."""
    near = near_names(graph, names, unknown[:1])
    return Abstention("no_entity", f'it has no entity "{", ".join(unknown)}" (given)', near)


def left_open(reader: QuestionReader, names: NamesIndex, reading: Reading) -> Abstention:
    """Why no reading of a question is likely enough, with what the graph records of what it names."""
    written = [m for m in reading.mentions if m.candidates and m.candidates[0].how <= PLURAL]
    words = tokens(reading.question)
    capital = [w for w in words if is_capital(w, words)]
    name_mentions = [m for m in written if m.strong or any(m.start <= w.start < m.stop for w in capital)]
    guessed = [m for m in reading.mentions if m.candidates and m.candidates[0].how in (PARTIAL, WORDS, MEANT)]
    lacking = _lacking_names(reader, reading, [*name_mentions, *guessed])
    if lacking:
        near = near_names(reader.graph, names, [lacking])
        return Abstention("no_entity", f'it has no entity like "{lacking}"', near)
    best = reading.ranking.ranked[:1]
    used = [reading.mentions[i] for ranked in best for i in mentions_of(ranked.option.query)]
    name_mentions += [m for m in guessed if m in used]
    nodes = list(dict.fromkeys(m.candidates[0].node for m in name_mentions))
    content = _content_words(reading, [*written, *name_mentions, *(m for m in reading.mentions if m.values)])
    unsaid = _unsaid_words(reader, reading, content)
    all_unsaid = not nodes and len(unsaid) == len(content)
    asks_of_all = content and not used and any(ranked.probability >= LEAST_OF_ALL for ranked in best)
    if all_unsaid and not asks_of_all:
        return Abstention("no_entity", "it names no entity of this graph")
    if YES_NO.search(reading.question) and len(nodes) > 1:
        statement = " and ".join(f'"{reader.graph.labels[node]}"' for node in nodes)
        statement = f"it does not tell yes or no for {statement}"
    elif unsaid and not all_unsaid:
        statement = f'it has no relation like "{shorten(" ".join(unsaid), LONGEST_PHRASE, placeholder=" …")}"'
    else:
        nearest = say(reading.ranking.ranked[0].option.query, reader.vocabulary)
        statement = f"no reading is likely enough; the likeliest is: {nearest}"
    return Abstention("no_relation", "; ".join([statement, *_recorded_relations(reader, reading, nodes)]))


def is_capital(word: Token, words: Sequence[Token]) -> bool:
    """Whether a word is written like a name: with a digit, or capitalised within a question in small ones."""
    if word.norm in FUNCTION:
        return False
    if any(c.isdigit() for c in word.text):
        return True
    content = [w for w in words[1:] if w.norm not in FUNCTION and w.text[:1].isalpha()]
    tells = len(content) < 4 or not all(w.text[:1].isupper() for w in content)
    return tells and word is not words[0] and word.text[:1].isupper()


def _lacking_names(reader: QuestionReader, reading: Reading, name_mentions: Sequence[Mention]) -> str:
    """The words outside of the names that are written like names or unknown, and are like no label."""
    words = tokens(reading.question)
    like = {start: row for row, (start, _, _) in enumerate(reading.likeness.words)}
    valued = [m for m in reading.mentions if m.values]
    lacking: list[str] = []
    for word in words:
        inside = any(m.start < word.stop and word.start < m.stop for m in (*name_mentions, *valued))
        written = is_capital(word, words) or (word.norm.isalpha() and not reader.is_word(word.norm))
        row = like.get(word.start)
        if not inside and written and (row is None or _best(reading, row) < UNEXPLAINED):
            lacking.append(word.text)
    return " ".join(lacking)


def _best(reading: Reading, row: int) -> float:
    """How like a word is to the relation or the type that it is most like."""
    like = reading.likeness
    return float(max(like.relations[row].max(initial=0.0), like.types[row].max(initial=0.0)))


def _content_words(reading: Reading, name_mentions: Sequence[Mention]) -> list[tuple[int, str]]:
    """The content words outside of the names and values, each with its row of the likenesses."""
    idle = LIGHT | FUNCTION | PREPOSITIONS
    return [
        (row, word)
        for row, (start, stop, word) in enumerate(reading.likeness.words)
        if word not in idle and not any(m.start < stop and start < m.stop for m in name_mentions)
    ]


def _unsaid_words(reader: QuestionReader, reading: Reading, content: Sequence[tuple[int, str]]) -> list[str]:
    """The content words that are like no relation of the likeliest reading, nor any type; all without one.

    None that is the name of a relation: of who `works at` a place it is not said that none is like *work*.
    """
    if not reading.ranking.ranked:
        return [word for _, word in content]
    like = reading.likeness
    steps = steps_of(reading.ranking.ranked[0].option.query)
    relations = sorted({step // 2 for step in steps})
    return [
        word
        for row, word in content
        if max(like.relations[row, relations].max(initial=0.0), like.types[row].max(initial=0.0))
        < UNEXPLAINED
        and like.exact_relations[row].max(initial=0.0) < SPELT
    ]


def _recorded_relations(reader: QuestionReader, reading: Reading, nodes: Sequence[int]) -> list[str]:
    """What the graph records of entities, the relations that are most like the words first."""
    graph, near = reader.graph, reading.likeness.relations.max(axis=0, initial=0.0)
    statements: list[str] = []
    for node in nodes:
        relations = sorted(_relations(graph, node), key=lambda r: (-near[r], r))
        names = list(dict.fromkeys(graph.relation_labels[r] for r in relations))
        remainder = f" and {unlisted} more" if (unlisted := len(names) - MOST_RECORDED) > 0 else ""
        if names:
            statements.append(
                f'of "{graph.labels[node]}" it records {", ".join(names[:MOST_RECORDED])}{remainder}'
            )
    return statements


def _relations(graph: Graph, node: int) -> set[int]:
    """The relations of all edges of a node."""
    spans = ((side, *side.span(node)) for side in (graph.out, graph.into))
    return {int(r) for side, start, stop in spans for r in np.unique(side.relation[start:stop])}
