"""The vocabulary of an index as a file to correct: what is set, and what Clew infers, as comments."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.graph.values import UNITS
from clew.query.vocabulary import Vocabulary, words_of_label
from clew.vocabulary.file import Naming, TeamVocabulary

SAMPLES = 4
"""Values that are shown of a relation."""
LONGEST_SAMPLE = 40
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = """\
# What things are called in {source}. A line behind # is a guess: correct it and take away the #.
# Check and store the file with: clew vocabulary {source} --set FILE
"""
_TERMS = """\
# A term is a word with the query graph that it means (docs/vocabulary.md). One that begins with a step is a
# relation, any other a type.
# grandfather = ".hasFather .hasFather"
# "big customer" = 'Customer[revenue > 1000000]'
"""


def draft(graph: Graph, schema: Schema, team: TeamVocabulary, source: str) -> str:
    """Write the vocabulary of a graph as TOML; `read_vocabulary` reads what is set in it, and no guesses."""
    words = Vocabulary.of(graph, schema, terms=team.terms.keys())
    lines = [_HEAD.format(source=source)]
    for number in np.argsort(-schema.triples, kind="stable").tolist():
        name = graph.relations[number]
        if name in team.terms:
            continue
        lines += [f"[relations.{_key(name)}]", *_relation_notes(words, number)]
        naming = _naming(team.relations.get(name), graph.relation_labels[number], words.relations[number])
        lines += [*naming, ""]
    for number, name in enumerate(graph.types.names):
        if name in team.terms:
            continue
        lines += [f"[types.{_key(name)}]", f"# {int((graph.types.type == number).sum()):,} of them"]
        lines += [*_naming(team.types.get(name), name, words.types[number]), ""]
    terms = [f"{_key(word)} = {_text(query)}" for word, query in team.terms.items()]
    lines += ["[terms]", _TERMS.rstrip(), *terms]
    return "\n".join(lines) + "\n"


def _relation_notes(words: Vocabulary, relation: int) -> Iterator[str]:
    """What stands at both ends, how many triples there are, sample values, and what mirrors it."""
    graph, schema = words.graph, words.schema
    ends = [words.types[t] if (t := words.end_types[2 * relation + at]) >= 0 else "" for at in (0, 1)]
    kinds = ("thing", "number", "date", "text")
    head = ends[0] or "thing"
    tail = ends[1] or kinds[words.ends[2 * relation + 1]]
    values = ", ".join(repr(text) for text in _samples(words, relation))
    yield f"# {head} → {tail}, {int(schema.triples[relation]):,} triples: {values}"
    inverse = int(schema.inverse[relation])
    if inverse == relation:
        yield "# holds both ways"
    elif inverse >= 0:
        yield f"# mirrors {graph.relations[inverse]}"


def _samples(words: Vocabulary, relation: int) -> list[str]:
    """The most frequent values of a relation, of some of its triples."""
    tails: Counter[int] = Counter(words.some_tails(relation).tolist())
    frequent = sorted(tails.items(), key=lambda item: (-item[1], item[0]))[:SAMPLES]
    texts = (words.graph.labels[node] for node, _ in frequent)
    return [text if len(text) <= LONGEST_SAMPLE else f"{text[:LONGEST_SAMPLE]}…" for text in texts]


def _naming(naming: Naming | None, label: str, read_as: str) -> list[str]:
    """The lines of a type or relation: what is set, and what is read of its name as a guess."""
    table: Mapping[str, object] = {} if naming is None else naming.as_table()
    units = [word for word in words_of_label(label).split() if word in UNITS and len(word) > 1]
    guesses: dict[str, object] = {"label": read_as, "words": [], "unit": "".join(units[-1:])}
    lines: list[str] = []
    for key, value in guesses.items():
        if key in table:
            lines.append(f"{key} = {_value(table[key])}")
        elif value or key == "words":
            lines.append(f"# {key} = {_value(value)}")
    return lines


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_text(str(item)) for item in cast('list[object]', value))}]"
    return _text(str(value))


def _key(name: str) -> str:
    """A key of TOML."""
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """A text of TOML, which JSON writes alike but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
