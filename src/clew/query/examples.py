"""Questions that a person would type about a triple, by how the name of its relation is used.

    questions_about(TripleText("Memento", "directed_by", "Christopher Nolan"), "film", "person")
    # ("Who directed Memento?", "Christopher Nolan"), ("Who is the director of Memento?", …), …

A name that is no English (*cgo_main*) has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.foundation.short import local_name
from clew.query.vocabulary import words_of_label
from clew.text.inflection import Shape, indefinite, is_person, plural, shape_of, singular_noun
from clew.text.lexicon import NOUN, Lexicon
from clew.types import TripleText


def questions_about(triple: TripleText, head_type: str = "", tail_type: str = "") -> list[tuple[str, str]]:
    """(question, label of a right answer) about a triple, the plainest first.

    `head_type` and `tail_type` are what most nodes are there: a type, `number`, `date`, a datatype, or empty.
    Whether the reader of a graph understands a question is for the caller to see.
    """
    words, tail = words_of_label(triple.relation), _kind_of(tail_type)
    shape = shape_of(words, of_values=tail in ("number", "date"))
    ask = {"noun": _of_noun, "role": _of_role, "post": _of_participle, "verb": _of_verb}[shape.form]
    return list(ask(triple, shape, words, words_of_label(head_type) if head_type else "", tail))


def _kind_of(type_: str) -> str:
    """A type in words; of a datatype of values `date`, `number`, or nothing where it is text."""
    name = local_name(type_)
    if "XMLSchema#" not in type_ and name != "langString":
        return words_of_label(type_) if type_ else ""
    if name.startswith(("date", "gYear")):
        return "date"
    return "" if name in ("string", "langString", "boolean") else "number"


_Questions = Iterator[tuple[str, str]]


def _of_noun(triple: TripleText, shape: Shape, words: str, head_type: str, tail_type: str) -> _Questions:
    """*Genre*, *spouse*, *runtime minutes*."""
    noun = words.removeprefix("has ").removeprefix("have ")
    last_word = singular_noun(noun).split()[-1]
    if not Lexicon.load().uses(last_word, NOUN):
        return
    who = "Who" if is_person(noun) else "What"
    yield f"{who} {'is' if shape.one == noun else 'are'} the {noun} of {triple.head}?", triple.tail


def _of_role(triple: TripleText, shape: Shape, words: str, head_type: str, tail_type: str) -> _Questions:
    """*Member of*, *capital of*."""
    yield f"What is {triple.head} {indefinite(shape.one)} of?", triple.tail
    yield f"Which {plural(head_type) or 'ones'} are {shape.many} of {triple.tail}?", triple.head


def _of_participle(
    triple: TripleText, shape: Shape, words: str, head_type: str, tail_type: str
) -> _Questions:
    """*Directed by*, *written by*, *filmed in*, *starring*, *founded* (of a date)."""
    said, _, rest = shape.one.partition(" ")
    if rest == "by":
        if said.endswith("ed"):
            yield f"Who {said} {triple.head}?", triple.tail
        if shape.noun:
            yield f"Who is the {shape.noun} of {triple.head}?", triple.tail
        yield f"Who was {triple.head} {shape.one}?", triple.tail
    elif tail_type == "date" and not rest:
        yield f"When was {triple.head} {said}?", triple.tail
    elif rest and tail_type != "number":
        of = f"Which {tail_type}" if tail_type not in ("", "date") else "What"
        yield f"{of} is {triple.head} {shape.one}?", triple.tail
    elif said.endswith("ing"):
        yield f"Who is {said} in {triple.head}?", triple.tail
    if head_type and rest:
        yield f"Which {plural(head_type)} are {shape.many} {triple.tail}?", triple.head


def _of_verb(triple: TripleText, shape: Shape, words: str, head_type: str, tail_type: str) -> _Questions:
    """*Works at*, *manages*, *treats*, *shows symptom*."""
    object_ = f"the {shape.noun} {triple.tail}" if shape.noun else triple.tail
    if head_type and is_person(head_type):
        yield f"Who {shape.one} {object_}?", triple.head
    elif head_type:
        yield f"Which {plural(head_type)} {shape.many} {object_}?", triple.head
    if shape.one != shape.many:
        of = f"Which {shape.noun}" if shape.noun else "What"
        yield f"{of} does {triple.head} {shape.many}?", triple.tail
