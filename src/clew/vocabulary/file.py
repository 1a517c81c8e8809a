"""The vocabulary file: what a team calls its types and relations, and its terms; and a draft of it.

    [relations.cgo_main]
    label = "main cargo"
    words = ["goods", "carries"]
    unit = "t"
    description = "What the vessel carries most"

    [relations.taught]
    mirrors = "taught_by"  # or itself: *knows* holds both ways
    [relations.avoids]
    denies = "uses"

    [types."insp vsl"]
    label = "inspection vessel"

    [terms]
    grandfather = ".hasFather .hasFather"
    "big customer" = "Customer[revenue > 1000000]"

A `label` takes the place of the stored name wherever it is shown; `words` are what people say beside it.
Of what a relation records, the one that it `mirrors` holds the other way round, the one that it `denies` not.
A term is a word with the query graph that it means, in the notation of `query.notation`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import tomli_w

from clew.errors import InputError, ParseError
from clew.foundation.forms import fields_json
from clew.graph.steps import head_end, tail_end
from clew.graph.values import UNITS
from clew.query.vocabulary import Vocabulary, words_of_label

MOST_BYTES = 4 << 20
MOST_TERMS = 1_000
MOST_NAMED = 100_000
LONGEST_WORD = 200
"""Limits of a file: bytes, terms, types and relations named, characters of a label, word or term's name."""
LONGEST_DESCRIPTION = 500
OF_RELATIONS = ("mirrors", "denies")
"""Keys of relations alone; the value of each is the name of a relation."""
_LINE = re.compile(r"at line (\d+)")


class NamingForm(TypedDict, total=False):
    """What a type or a relation is called, without the keys that are not set."""

    label: str
    words: list[str]
    unit: str
    description: str
    mirrors: str
    denies: str


class VocabularyForm(TypedDict):
    """Namings by the stored name of a relation or type, and the query of each term."""

    relations: dict[str, NamingForm]
    types: dict[str, NamingForm]
    terms: dict[str, str]


@dataclass(frozen=True, slots=True)
class Naming:
    """What a type or a relation is called: a label, further words, the unit of its values, what it is.

    A relation `mirrors` another one, or itself, and `denies` another one, by their stored names.
    """

    label: str = ""
    words: tuple[str, ...] = ()
    unit: str = ""
    description: str = ""
    mirrors: str = ""
    denies: str = ""

    def as_table(self) -> NamingForm:
        """The TOML table, without what is empty."""
        return cast("NamingForm", {key: value for key, value in fields_json(self).items() if value})


@dataclass(frozen=True, slots=True)
class TeamVocabulary:
    """What a team calls things: namings by the stored name of a relation or type, terms by their word."""

    relations: Mapping[str, Naming] = field(default_factory=dict[str, Naming])
    types: Mapping[str, Naming] = field(default_factory=dict[str, Naming])
    terms: Mapping[str, str] = field(default_factory=dict[str, str])

    def __bool__(self) -> bool:
        return bool(self.relations or self.types or self.terms)

    def further(self, relations: Sequence[str], types: Sequence[str]) -> list[tuple[int, str]]:
        """Further words with the number of their relation or type; types come behind relations."""
        names = ((self.relations, relations, 0), (self.types, types, len(relations)))
        return [
            (first + number, word)
            for namings, known, first in names
            for number, name in enumerate(known)
            for word in namings.get(name, Naming()).words
        ]

    def as_json(self) -> VocabularyForm:
        """`{"relations": {NAME: {"label", "words", "unit"}}, "types": {…}, "terms": {WORD: QUERY}}`."""
        return {
            "relations": {name: naming.as_table() for name, naming in self.relations.items()},
            "types": {name: naming.as_table() for name, naming in self.types.items()},
            "terms": dict(self.terms),
        }

    def as_toml(self) -> str:
        """The file; `read_vocabulary` reads the same back."""
        return tomli_w.dumps({key: table for key, table in self.as_json().items() if table})


def open_vocabulary(vocabulary: str | Path | TeamVocabulary) -> tuple[TeamVocabulary, str]:
    """A vocabulary of a file, of its text (with a line break or `=`), or one that was read; and its name."""
    if isinstance(vocabulary, TeamVocabulary):
        return vocabulary, "vocabulary"
    if isinstance(vocabulary, str) and (not vocabulary or "\n" in vocabulary or "=" in vocabulary):
        return read_vocabulary(vocabulary), "vocabulary"
    path = Path(vocabulary)
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Give a vocabulary file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8. Save it as UTF-8") from error
    return read_vocabulary(text, str(path)), str(path)


def read_vocabulary(text: str, file: str = "vocabulary") -> TeamVocabulary:
    """Read a vocabulary file. Raises ParseError (no TOML), InputError (names all that is no vocabulary)."""
    if len(text) > MOST_BYTES:
        raise InputError(
            f"{file}: larger than {MOST_BYTES >> 20} MB. A vocabulary names types, relations and terms"
        )
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:  # also of a number too long, and of lists too deep
        line = _LINE.search(str(error))
        number = int(line[1]) if line else text.count("\n") + 1
        raise ParseError(
            file, number, f"not TOML ({error})", "Put names of several words in quotes"
        ) from error
    reading = _Reading()
    for key in document.keys() - {"relations", "types", "terms"}:
        reading.problems.append(f"[{key}] is no table of a vocabulary: relations, types and terms are")
    relations = reading.namings("relations", document.get("relations", {}))
    types = reading.namings("types", document.get("types", {}))
    terms = reading.terms(document.get("terms", {}))
    raise_problems(file, reading.problems)
    return TeamVocabulary(relations, types, terms)


class _Reading:
    """Reads tables, and gathers what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def namings(self, kind: str, table: object) -> dict[str, Naming]:
        """Read the table of relations or of types."""
        if not isinstance(table, dict) or len(cast("dict[str, object]", table)) > MOST_NAMED:
            self.problems.append(f"[{kind}] is not a table of at most {MOST_NAMED:,} names")
            return {}
        rows = cast("dict[str, object]", table).items()
        namings = ((name, self._naming(kind, name, value)) for name, value in rows)
        return {name: naming for name, naming in namings if naming != Naming()}

    def _naming(self, kind: str, name: str, value: object) -> Naming:
        place = f"[{kind}.{name}]"
        if not isinstance(value, dict):
            self.problems.append(f"{place} is not a table. Write label = …, words = […] below it")
            return Naming()
        table = cast("dict[str, Any]", value)
        known = {f.name for f in fields(Naming)} - (set() if kind == "relations" else set(OF_RELATIONS))
        self.problems += [
            f"{place}: {key} is none of {', '.join(sorted(known))}" for key in table.keys() - known
        ]
        told = {key: table[key] for key in known & table.keys()}
        words = told.pop("words", [])
        if not isinstance(words, list) or not all(isinstance(w, str) for w in cast("list[object]", words)):
            self.problems.append(f"{place}: words is not a list of texts")
            words = []
        if not all(isinstance(text, str) for text in told.values()):
            self.problems.append(f"{place}: {', '.join(sorted(told))} are texts")
            return Naming()
        told = {key: text.strip() for key, text in told.items()}
        self._check_word(place, told.get("label", ""), empty=True)
        for word in cast("list[str]", words):
            self._check_word(place, word)
        description = told.get("description", "")
        if len(description) > LONGEST_DESCRIPTION or "\n" in description:
            self.problems.append(
                f"{place}: description is one line of at most {LONGEST_DESCRIPTION} characters"
            )
        return Naming(words=tuple(word.strip() for word in cast("list[str]", words)), **told)

    def _check_word(self, place: str, word: str, *, empty: bool = False) -> None:
        if len(word) > LONGEST_WORD or "\n" in word or (not word.strip() and not empty):
            self.problems.append(
                f"{place}: {word[:30]!r} is no word: one line of 1 to {LONGEST_WORD} characters"
            )

    def terms(self, table: object) -> dict[str, str]:
        """Read the table of terms."""
        if not isinstance(table, dict):
            self.problems.append('[terms] is not a table. Write a term as word = "query"')
            return {}
        terms = cast("dict[str, object]", table)
        if len(terms) > MOST_TERMS:
            self.problems.append(f"[terms] has {len(terms):,} terms; at most {MOST_TERMS:,} are read")
        for word, query in terms.items():
            self._check_word("[terms]", word)
            if not isinstance(query, str) or not query.strip():
                self.problems.append(f'[terms] {word}: not a query. Write {word} = ".relation .relation"')
        return {" ".join(word.split()): query for word, query in terms.items() if isinstance(query, str)}


MOST_PROBLEMS = 20


def raise_problems(file: str, problems: list[str]) -> None:
    """Raise InputError with all problems of a file, the first `MOST_PROBLEMS` in words; none: go on."""
    if not problems:
        return
    shown, rest = problems[:MOST_PROBLEMS], len(problems) - MOST_PROBLEMS
    more = [f"… and {rest:,} more"] if rest > 0 else []
    raise InputError("\n  ".join([f"{file}: the vocabulary cannot be used:", *shown, *more]))


# The vocabulary of an index as a file to correct: what is set, and what Clew infers, as comments.

SAMPLES = 4
"""Values that are shown of a relation."""
LONGEST_SAMPLE = 40
_DRAFT = "  # draft"
"""The end of a line that a model drafted."""
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


def draft(
    words: Vocabulary,
    team: TeamVocabulary,
    source: str,
    *,
    drafted: TeamVocabulary | None = None,
    note: str = "",
) -> str:
    """Write the vocabulary of a graph as TOML; `read_vocabulary` reads what is set in it, not guesses."""
    graph, schema, model = words.graph, words.schema, drafted or TeamVocabulary()
    lines = [_HEAD.format(source=source) + note]
    for number in np.argsort(-schema.triples, kind="stable").tolist():
        name = graph.relations[number]
        if name in team.terms:
            continue
        lines += [f"[relations.{_key(name)}]", relation_note(words, number)]
        guess = _guess(graph.relation_labels[number], words.relations[number])
        if int(schema.inverse[number]) >= 0:
            guess = replace(guess, mirrors=graph.relations[int(schema.inverse[number])])
        lines += [*_naming(team.relations.get(name), guess, model.relations.get(name)), ""]
    for number, name in enumerate(graph.types.names):
        if name in team.terms:
            continue
        lines += [f"[types.{_key(name)}]", f"# {int((graph.types.type == number).sum()):,} of them"]
        guess = _guess(name, words.types[number])
        lines += [*_naming(team.types.get(name), guess, model.types.get(name)), ""]
    terms = [f"{_key(word)} = {_text(query)}" for word, query in team.terms.items()]
    terms += [f"# {_key(word)} = {_text(query)}{_DRAFT}" for word, query in model.terms.items()]
    lines += ["[terms]", _TERMS.rstrip(), *terms]
    return "\n".join(lines) + "\n"


def relation_note(words: Vocabulary, relation: int) -> str:
    """What stands at both ends, how many triples there are, and sample values."""
    ends = [
        words.types[t] if (t := words.end_types[end]) >= 0 else ""
        for end in (head_end(relation), tail_end(relation))
    ]
    kinds = ("thing", "number", "date", "text")
    head = ends[0] or "thing"
    tail = ends[1] or kinds[words.ends[tail_end(relation)]]
    # The most frequent values, of some of its triples.
    tails: Counter[int] = Counter(words.some_tails(relation).tolist())
    frequent = sorted(tails.items(), key=lambda item: (-item[1], item[0]))[:SAMPLES]
    texts = (words.graph.labels[node] for node, _ in frequent)
    values = ", ".join(repr(t if len(t) <= LONGEST_SAMPLE else f"{t[:LONGEST_SAMPLE]}…") for t in texts)
    return f"# {head} → {tail}, {int(words.schema.triples[relation]):,} triples: {values}"


def _guess(label: str, read_as: str) -> Naming:
    """What Clew reads of a name."""
    units = [word for word in words_of_label(label).split() if word in UNITS and len(word) > 1]
    return Naming(read_as, unit="".join(units[-1:]))


def _naming(naming: Naming | None, guess: Naming, drafted: Naming | None) -> list[str]:
    """The lines of a type or relation: what is set, what a model drafted, and what Clew guesses."""
    set_, model = (cast("dict[str, object]", (each or Naming()).as_table()) for each in (naming, drafted))
    lines: list[str] = []
    for key, value in fields_json(guess).items():
        if key in set_:
            lines.append(f"{key} = {_value(set_[key])}")
        elif key in model:
            lines.append(f"# {key} = {_value(model[key])}{_DRAFT}")
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
