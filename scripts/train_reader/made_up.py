"""Made-up graphs: random triples over `training/schemas`, so that the questions there have answers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from notation import LITERALS, Parser, Tree, Witness

from clew.graph.build import graph_of
from clew.graph.graph import Graph

LOW_CHANCE = 0.25
"""Share of relations that may have several tails, and of small graphs with types, or with new names."""
QUESTION_COUNTS, EXTRA_COUNTS = (1, 2, 3, 5), (0, 2, 5, 12)
"""Questions of a graph of a few triples, and how many triples may stand there beside what these need."""


def read(path: Path) -> tuple[dict[str, Any], list[tuple[str, Tree]], int]:
    """A schema, its questions with their meanings, and how many meanings could not be read."""
    schema = json.loads(path.read_text("utf-8"))
    questions: list[tuple[str, Tree]] = []
    unreadable = 0
    for text, meaning in schema["questions"]:
        try:
            questions.append((text, Parser(meaning, schema).parse()))
        except ValueError:
            unreadable += 1
    return schema, questions, unreadable


@dataclass(frozen=True)
class Variant:
    """How a graph is made of a schema: with declared types, relations renamed, and with further nodes."""

    seed: int
    typed: bool
    renamed: bool = False
    shared: bool = False
    """Relations of several types have one name, as columns of several tables have."""
    crowd: int = 0
    """Nodes of each type besides those of the schema."""


def variants(declared: bool) -> list[Variant]:
    """The graphs that are made of a schema."""
    graph_variants = [Variant(1, declared), Variant(2, declared, renamed=True, crowd=60)]
    graph_variants += [Variant(4, True, shared=True, crowd=20)] if declared else []
    return [*graph_variants, Variant(3, False, crowd=10)] if declared else graph_variants


def _triples(
    schema: dict[str, Any], questions: list[tuple[str, Tree]], variant: Variant, rng: random.Random
) -> tuple[set[tuple[str, str, str]], dict[str, list[str]]]:
    """Random triples over a schema in which the questions have answers, and the names of each type."""
    names = {t: list(spec["names"]) for t, spec in schema["types"].items()}
    for members in names.values():
        members += [n for n in _crowd(members, variant.crowd, rng) if n not in members]
    triples: set[tuple[str, str, str]] = set()
    for name, head, tail, *literal_values in schema["relations"]:
        several = rng.random() < LOW_CHANCE or (tail in LITERALS[2:3] and rng.random() < 0.3)
        share = rng.choice((0.7, 0.9, 1.0))
        for head_name in names.get(head, [head]):
            if rng.random() > share:
                continue
            for _ in range(rng.choice((1, 2, 3)) if several and tail not in ("number", "date") else 1):
                tail_name = (
                    _literal(tail, literal_values, rng) if tail in LITERALS else rng.choice(names[tail])
                )
                if tail_name != head_name:
                    triples.add((head_name, name, tail_name))
    witness = Witness(schema, rng, triples)
    for _, tree in questions:
        witness.make(tree)
    for word in _common(questions, rng):
        head = rng.choice(rng.choice(list(names.values())))
        triples.add(
            (head, rng.choice([r[0] for r in schema["relations"] if r[2] in LITERALS] or ["note"]), word)
        )
    return triples, names


def graph(
    schema: dict[str, Any], questions: list[tuple[str, Tree]], variant: Variant
) -> tuple[Graph, list[tuple[str, Tree]]]:
    """One random graph over a schema, and the questions with the names that its relations have there."""
    rng = random.Random(variant.seed)
    triples, names = _triples(schema, questions, variant, rng)
    return _graph_with_questions(schema, questions, variant, triples, names, rng)


def handfuls(
    schema: dict[str, Any], questions: list[tuple[str, Tree]], count: int, seed: int
) -> Iterator[tuple[Graph, list[tuple[str, Tree]]]]:
    """Up to `count` graphs of a few triples: what a few questions need, and a little more.

    With them stand questions about what is not recorded there, which mean nothing.
    """
    rng = random.Random(seed)
    all_triples, names = _triples(schema, questions, Variant(seed, False), rng)
    order = rng.sample(questions, len(questions))
    for _ in range(count):
        graph_questions = [order.pop() for _ in range(min(len(order), rng.choice(QUESTION_COUNTS)))]
        triples: set[tuple[str, str, str]] = set()
        witness = Witness(schema, rng, triples)
        for _, tree in graph_questions:
            triples |= _needed_triples(tree, all_triples, rng)
            witness.make(tree)
        nodes = {end for h, _, t in triples for end in (h, t)}
        near_triples = sorted(t for t in all_triples - triples if t[0] in nodes or t[2] in nodes)
        triples |= set(rng.sample(near_triples, min(len(near_triples), rng.choice(EXTRA_COUNTS))))
        relations, nodes = {r for _, r, _ in triples}, {end for h, _, t in triples for end in (h, t)}
        other_questions = [
            (t, tree) for t, tree in questions if not relations_of(tree) <= relations and tree[0] != "none"
        ]
        other_questions = [
            (t, tree) for t, tree in other_questions if entities_of(tree) and entities_of(tree) <= nodes
        ]
        unanswerable = [
            (text, ("none",))
            for text, _ in rng.sample(other_questions, min(len(other_questions), len(graph_questions) // 2))
        ]
        typed = schema["declared"] and rng.random() < LOW_CHANCE
        variant = Variant(rng.choice((1, 2, 3)), typed, renamed=rng.random() < LOW_CHANCE)
        present_names = {t: [n for n in members if n in nodes] for t, members in names.items()}
        present_names = {t: members for t, members in present_names.items() if members}
        yield _graph_with_questions(
            schema, [*graph_questions, *unanswerable], variant, triples, present_names, rng
        )


def _needed_triples(
    tree: Tree, all_triples: set[tuple[str, str, str]], rng: random.Random
) -> set[tuple[str, str, str]]:
    """Triples of the relations that a meaning names, around the entities that it names, or some of them."""
    relations, entities = relations_of(tree), entities_of(tree)
    relation_triples = sorted(t for t in all_triples if t[1] in relations)
    near_triples = [t for t in relation_triples if t[0] in entities or t[2] in entities]
    return set(near_triples or rng.sample(relation_triples, min(len(relation_triples), rng.randint(2, 6))))


def _parts(tree: Tree) -> Iterator[Tree]:
    """A meaning and all tuples in it."""
    yield tree
    for part in tree:
        if isinstance(part, tuple):
            yield from _parts(part)


def relations_of(tree: Tree) -> set[str]:
    """The relations that a meaning walks over."""
    return {part[1] for part in _parts(tree) if len(part) == 2 and part[0] in (".", "^")}


def entities_of(tree: Tree) -> set[str]:
    """The names that stand in a meaning."""
    return {part[1] for part in _parts(tree) if part and part[0] == "entity"}


def _graph_with_questions(
    schema: dict[str, Any],
    questions: list[tuple[str, Tree]],
    variant: Variant,
    triples: set[tuple[str, str, str]],
    names: dict[str, list[str]],
    rng: random.Random,
) -> tuple[Graph, list[tuple[str, Tree]]]:
    """The graph of some triples, and the questions as they are asked there."""
    types = {n: [t] for t, members in names.items() for n in members} if variant.typed else {}
    ends = _ends(schema, {relation for _, relation, _ in triples})
    graph_questions = (
        questions if variant.typed else [(text, _without_types(tree, ends)) for text, tree in questions]
    )
    new_names = _other_names(schema, rng) if variant.renamed else {}
    new_names |= (
        {name: shared_name for name, (shared_name, _) in _shared(schema).items()} if variant.shared else {}
    )
    triples = {(h, new_names.get(r, r), t) for h, r, t in triples}
    # Sorted first: the order of a set is another one in each process.
    ordered = sorted(triples)
    rng.shuffle(ordered)
    nodes = {end for h, _, t in ordered for end in (h, t)}
    aliases = {
        name: alternatives for name, alternatives in schema.get("aliases", {}).items() if name in nodes
    }
    built_graph = graph_of(ordered, types, aliases)
    written_questions = [
        (text if variant.seed == 1 else _with_slips(text, rng), _renamed(tree, new_names))
        for text, tree in graph_questions
    ]
    return built_graph, written_questions


def _with_slips(text: str, rng: random.Random) -> str:
    """A question as it is typed: now and then in lower case, without the end, or with a slip in a word."""
    if rng.random() < 0.2:
        text = text.lower()
    if rng.random() < 0.2:
        text = text.rstrip("?.! ")
    words = text.split()
    long = [i for i, w in enumerate(words) if len(w) > 5 and w.isalpha()]
    if long and rng.random() < 0.12:
        at = rng.choice(long)
        word, place = words[at], rng.randrange(1, len(words[at]) - 2)
        slips = (
            word[:place] + word[place + 1 :],
            word[:place] + word[place] + word[place:],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        )
        words[at] = rng.choice(slips)
    return " ".join(words)


def _crowd(members: list[str], count: int, rng: random.Random) -> list[str]:
    """Other names like those of a type: their words put together anew, codes counted on."""
    words = [name.split() for name in members]
    new_names: dict[str, None] = {}
    for _ in range(count):
        model_words = rng.choice(words)
        if any(c.isdigit() for c in " ".join(model_words)) and not any(
            w.isalpha() and len(w) > 2 for w in model_words
        ):
            name = re.sub(r"\d", lambda _: str(rng.randint(0, 9)), " ".join(model_words))
        else:
            last_word = model_words[-1] if len(model_words) > 1 and rng.random() < 0.3 else _invented(rng)
            name = " ".join([*(_invented(rng) for _ in model_words[:-1]), last_word])
        new_names[name] = None
    return list(new_names)


def _invented(rng: random.Random) -> str:
    """A word that no language has."""
    return "".join(
        rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.choice((2, 3)))
    ).title()


def _other_names(schema: dict[str, Any], rng: random.Random) -> dict[str, str]:
    """Relations under names of another style: with the type in front, with *has*, as one word, as a code."""
    new_names: dict[str, str] = {}
    style = rng.randrange(4)
    for name, head, *_ in schema["relations"]:
        words = re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).lower().split()
        if style == 0:
            new_names[name] = ".".join((head.lower(), "_".join(words)))
        elif style == 1 and words[0] not in ("has", "is"):
            new_names[name] = "_".join(("has", *words))
        elif style == 2:
            new_names[name] = f"{head}.{words[0]}{''.join(w.title() for w in words[1:])}"
        else:
            new_names[name] = "_".join((head.lower()[:3], *words))
    return new_names


def _shared(schema: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Relations of several types to the same tails, under one of their names, with the type of each."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, head, tail, *_ in schema["relations"]:
        groups.setdefault(tail, []).append((name, head))
    shared: dict[str, tuple[str, str]] = {}
    for relations in groups.values():
        heads = [head for _, head in relations]
        alone = [(name, head) for name, head in relations if heads.count(head) == 1]
        if len(alone) > 1:
            shared |= {name: (alone[0][0], head) for name, head in alone}
    return shared


def _ends(schema: dict[str, Any], relations: set[str]) -> dict[str, tuple[Tree, ...]]:
    """The ends of relations that are there at which things of each type stand, as steps that leave them."""
    ends: dict[str, list[Tree]] = {type_: [] for type_ in schema["types"]}
    for name, head, tail, *_ in schema["relations"]:
        for way, type_ in ((".", head), ("^", tail)) if name in relations else ():
            if type_ in ends:
                ends[type_].append((way, name))
    return {type_: tuple(steps) for type_, steps in ends.items() if steps}


def _without_types(tree: Tree, ends: dict[str, tuple[Tree, ...]]) -> Tree:
    """A meaning in a graph without types: all of a type are those that stand at its ends."""
    if tree[0] == "type" and tree[1] in ends:
        return ("sort", ends[tree[1]])
    return tuple(_without_types(part, ends) if isinstance(part, tuple) and part else part for part in tree)


def _renamed(tree: Tree, new_names: dict[str, str]) -> Tree:
    """A meaning with other names of relations, which stand in its steps."""
    if len(tree) == 2 and tree[0] in (".", "^"):
        return (tree[0], new_names.get(tree[1], tree[1]))
    return tuple(_renamed(part, new_names) if isinstance(part, tuple) else part for part in tree)


def _literal(kind: str, literal_values: list[Any], rng: random.Random) -> str:
    if kind == "number":
        low, high = literal_values[0] if literal_values and len(literal_values[0]) == 2 else (0, 100)
        return (
            str(rng.randint(int(low), int(high)))
            if float(low).is_integer() and high - low > 8
            else f"{rng.uniform(low, high):.1f}"
        )
    if kind == "date":
        low, high = (date.fromisoformat((d + "-01-01")[:10]).toordinal() for d in literal_values[0])
        return date.fromordinal(rng.randint(low, high)).isoformat()
    if kind == "time":
        return f"{rng.randint(0, 23):02}:{rng.choice((0, 15, 30, 45)):02}"
    return str(rng.choice(literal_values[0]))


def _common(questions: list[tuple[str, Tree]], rng: random.Random) -> list[str]:
    """Some words of the questions, to be names of something too, as happens in real graphs."""
    words = [w.strip("?,.!'s").lower() for text, _ in questions for w in text.split() if w.islower()]
    return rng.sample(words, min(len(words), rng.choice((0, 3, 8)))) if words else []
