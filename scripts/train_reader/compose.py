"""Questions of chains, composed of the questions of one schema, with their meanings.

*Who founded Quay Works?* and *which brewery makes Old Harbour Stout?* give *who founded the brewery that
makes Old Harbour Stout?*: a question that asks for its subject becomes a noun phrase, which takes the place
of a name of the same type in another question. So do the nouns that questions use (*Ann's boss*), names of
relations (*the brewer of …*), and what shares something with a thing (*beers with the same brewer as …*).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from notation import LITERALS, Tree

from clew.reading.english import FUNCTION
from clew.text.lexicon import Lexicon

LEXICON = Lexicon.load()
MOST_STEPS = 3
TRIES = 30
_SUBJECT = re.compile(r"(who(?:'s)?|which|what)\s+(.+)", re.IGNORECASE)
_NOUN_OF = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:(?:who|what|which)(?:'s| is| are| was| were) )?{}(?:'s|s') ((?:\w+ )?\w+)",
        r"(?:(?:who|what|which)(?:'s| is| are| was| were) )?(?:the )?((?:\w+ )?\w+) of {}",
    )
)
"""Questions that call what they ask for by a noun."""
_BE = frozenset("is are was were".split())
_NOT_A_VERB = frozenset(
    "do does did has have had can could will would should may might am been being 're 've and or".split()
)
_PERSON = ("person", "one", "man or woman", "people")


@dataclass(frozen=True)
class QuestionTemplate:
    """A question in which a name stands, `{}` in its place, with the steps that lead from it."""

    text: str
    steps: tuple[Tree, ...]
    start: str
    """The type of what the name names."""
    end: str
    """The type of what is asked for, or the kind of value."""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase with `{}` for a name, for what some steps lead to from it."""

    text: str
    steps: tuple[Tree, ...]
    start: str
    end: str


def composed(
    schema: dict[str, Any], questions: list[tuple[str, Tree]], count: int, rng: random.Random
) -> list[tuple[str, Tree]]:
    """Up to `count` composed questions of a schema, each with its meaning."""
    ends = {
        (sign, r[0]): (r[1], r[2]) if sign == "." else (r[2], r[1])
        for r in schema["relations"]
        for sign in ".^"
    }
    templates = list(_templates(schema, questions, ends))
    phrases = [
        *_phrases_of_questions(templates, schema), *_phrases_of_nouns(templates),
        *_phrases_of_relations(schema), *_phrases_of_sharing(schema),
    ]  # fmt: skip
    by_start, by_end = defaultdict(list), defaultdict(list)
    for phrase in phrases:
        by_end[phrase.end].append(phrase)
    for template in templates:
        by_start[template.start].append(template)
    names = {t: list(spec["names"]) for t, spec in schema["types"].items()}
    trees_by_text: dict[str, Tree] = {}
    for _ in range(count * TRIES):
        if len(trees_by_text) >= count or not by_start:
            break
        start = rng.choice(sorted(by_start))
        inner = by_end.get(start)
        if not inner:
            continue
        template, phrase = rng.choice(by_start[start]), _draw(inner, rng)
        if (
            len(phrase.steps) + len(template.steps) < MOST_STEPS
            and rng.random() < 0.6
            and by_end.get(phrase.start)
        ):
            inner_phrase = _draw(by_end[phrase.start], rng)
            phrase = Phrase(
                phrase.text.format(inner_phrase.text),
                (*inner_phrase.steps, *phrase.steps),
                inner_phrase.start,
                phrase.end,
            )
        steps = (*phrase.steps, *template.steps)
        if len(steps) > MOST_STEPS or phrase.start not in names:
            continue
        name = rng.choice(names[phrase.start])
        text = _smooth(template.text.format(phrase.text.format(name)))
        tree: Tree = ("entity", name)
        for step in steps:
            tree = ("walk", tree, step)
        trees_by_text.setdefault(text, tree)
    return list(trees_by_text.items())


def _draw(phrases: list[Phrase], rng: random.Random) -> Phrase:
    """One of some phrases: each way of making them as often as the others."""
    lengths = sorted({len(p.steps) for p in phrases})
    length = rng.choice(lengths)
    return rng.choice([p for p in phrases if len(p.steps) == length])


def _templates(
    schema: dict[str, Any], questions: list[tuple[str, Tree]], ends: dict[Tree, tuple[str, str]]
) -> Iterator[QuestionTemplate]:
    """The questions of chains in which the name stands as it is or under an alias."""
    type_of = {n: t for t, spec in schema["types"].items() for n in spec["names"]}
    for text, tree in questions:
        steps: list[Tree] = []
        while tree[0] == "walk":
            steps.append(tree[2])
            tree = tree[1]
        if tree[0] != "entity" or not 0 < len(steps) < MOST_STEPS or "{" in text or tree[1] not in type_of:
            continue
        start, way = type_of[tree[1]], tuple(reversed(steps))
        if any(step not in ends for step in way):
            continue
        for name in (tree[1], *schema.get("aliases", {}).get(tree[1], ())):
            if text.count(name) == 1:
                yield QuestionTemplate(text.replace(name, "{}"), way, start, ends[way[-1]][1])
                break


def _phrases_of_questions(templates: list[QuestionTemplate], schema: dict[str, Any]) -> Iterator[Phrase]:
    """Questions that ask for their subject, as noun phrases: *who owns X* → *the person who owns X*."""
    for template in templates:
        match = _SUBJECT.fullmatch(template.text.rstrip(" ?.!"))
        if match is None or template.end in LITERALS or template.text.count("{}") != 1:
            continue
        question_word, words = match[1].lower(), match[2].split()
        if question_word == "who's":
            question_word, words = "who", ["is", *words]
        if question_word == "who":
            noun, predicate = _words(template.end), words
            nouns = (noun, *_PERSON[:1]) if noun != "person" else ("person",)
        else:
            first = words[0].lower() in _NOT_A_VERB | _BE
            at = 0 if first else next((i for i, w in enumerate(words) if i and _is_verb(w)), 0)
            noun, predicate = " ".join(words[:at]), words[at:]
            nouns = (noun,)
        if not noun or len(predicate) < 2 or predicate[0].lower() in _NOT_A_VERB or "{}" in noun:
            continue
        if predicate[0].lower() in _BE and (
            predicate[1].startswith("{}") or predicate[1].lower() in ("the", "a")
        ):
            continue
        for head_noun in nouns:
            link = "who" if question_word == "who" else "that"
            yield Phrase(
                f"the {head_noun} {link} {' '.join(predicate)}", template.steps, template.start, template.end
            )


def _phrases_of_nouns(templates: list[QuestionTemplate]) -> Iterator[Phrase]:
    """The nouns that questions use for a relation: *who is X's boss?* → *X's boss*, *the boss of X*."""
    for template in templates:
        match = next((hit for p in _NOUN_OF if (hit := p.fullmatch(template.text.strip(" ?.!")))), None)
        if match is None or template.end in LITERALS:
            continue
        words = match[1].lower().split()
        if FUNCTION.isdisjoint(words) and all(map(_is_noun, words)):
            for text in (f"the {' '.join(words)} of {{}}", f"{{}}'s {' '.join(words)}"):
                yield Phrase(text, template.steps, template.start, template.end)


def _is_noun(word: str) -> bool:
    """Whether a word is more often a noun, or an adjective before one, than a verb."""
    return LEXICON.known(word) and not LEXICON.mostly_verb(word) and not word.endswith(("ed", "ing"))


def _is_verb(word: str) -> bool:
    """Whether a word after a noun is likely the verb of which it is the subject."""
    plain = word.lower()
    if plain in _BE or plain in _NOT_A_VERB:
        return True
    if plain in FUNCTION or not LEXICON.verb(plain):
        return False
    return LEXICON.mostly_verb(plain) or bool(re.fullmatch(r"[a-z]+(s|ed|ew|ave|ook)", plain))


def _phrases_of_relations(schema: dict[str, Any]) -> Iterator[Phrase]:
    """*the brewer of X*, *X's brewer*, for relations whose names are nouns."""
    for name, head, tail, *_ in schema["relations"]:
        noun = _noun(name)
        if tail in LITERALS or noun is None:
            continue
        for text in (f"the {noun} of {{}}", f"{{}}'s {noun}"):
            yield Phrase(text, ((".", name),), head, tail)


def _phrases_of_sharing(schema: dict[str, Any]) -> Iterator[Phrase]:
    """*beers with the same brewer as X*, *beers that share their brewer with X*."""
    for name, head, tail, *_ in schema["relations"]:
        noun = _noun(name)
        if tail in LITERALS or noun is None:
            continue
        kind = _plural(_words(head))
        texts = (
            f"the {kind} with the same {noun} as {{}}", f"{kind} that share a {noun} with {{}}",
            f"the {kind} that have {{}}'s {noun}", f"the {kind} that share {_plural(noun)} with {{}}",
            f"the {kind} whose {noun} is also that of {{}}",
        )  # fmt: skip
        for text in texts:
            yield Phrase(text, ((".", name), ("^", name)), head, head)


_NO_NOUN = re.compile(
    r"\b(by|in|of|at|to|for|with|on|from|as|or|and|is|has|id|no|ref)\b|ed\b|^[a-z]{1,3}$|\d"
)


def _noun(relation: str) -> str | None:
    """The noun that a relation is called by: its name, or who does what it says (*directed by*: director)."""
    words = _words(relation.rsplit(".", 1)[-1])
    words = words.removeprefix("has ").removeprefix("is ")
    if words.endswith(" by") and len(words.split()) == 2:
        agents = LEXICON.agent(words.split()[0])
        return agents[0].lower() if agents else None
    return None if _NO_NOUN.search(words) or len(words.split()) > 3 or words.endswith("s") else words


def _words(name: str) -> str:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[_\W]+", " ", apart).lower().strip()


def _plural(noun: str) -> str:
    if re.search(r"(s|x|ch|sh)$", noun):
        return noun + "es"
    return noun[:-1] + "ies" if re.search(r"[^aeiou]y$", noun) else noun + "s"


def _smooth(text: str) -> str:
    """A text without an article before another."""
    return re.sub(r"\b(the|a|an) (the)\b", r"\2", re.sub(r"'s's|s's\b", "'s", text), flags=re.IGNORECASE)
