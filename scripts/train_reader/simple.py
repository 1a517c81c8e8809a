"""Graphs for simple questions over Wikidata's properties, some of them composed to two steps.

Names of entities are not part of the data: the span of a question that stands for one is the shortest that
leaves a wording which other questions have too.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from notation import Tree
from sets import DATA

from clew.graph.build import graph_of
from clew.graph.graph import Graph

MOST_OF_ONE = 130
"""Questions of one property in one direction."""
LONGEST_NAME, LEAST_SHARED = 7, 3
SIZE = 60
"""Questions of one graph."""
COMPOSED = 0.35
_NO_NOUN = re.compile(r"\b(by|in|of|at|to|for|with|on|from|as|or|and|is|has)$|^(has|is|located)\b")


@dataclass(frozen=True)
class Simple:
    """A question whose words [start, stop) name the entity that a property leads from, or (`back`) to."""

    words: tuple[str, ...]
    start: int
    stop: int
    property: str
    back: bool

    @property
    def name(self) -> str:
        """The entity as a name."""
        return " ".join(self.words[self.start : self.stop])


def simple() -> Iterator[tuple[str, Graph, list[tuple[str, Tree]]]]:
    """Graphs of some sixty questions."""
    questions = _questions()
    rng = random.Random(11)
    rng.shuffle(questions)
    for number, start in enumerate(range(0, len(questions), SIZE)):
        yield (f"{number:03}", *_graph(questions[start : start + SIZE], random.Random(number)))


def _read(name: str) -> Iterator[tuple[str, ...]]:
    path = DATA / "reader_training" / "simplequestions_wikidata" / name
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield tuple(line.rstrip("\n").split("\t"))


def _questions() -> list[Simple]:
    with gzip.open(DATA / "reader_training" / "wikidata_property_labels" / "en.json.gz") as file:
        labels: dict[str, str] = json.load(file)
    rows = list(_read("annotated_wd_data_train.txt.gz"))
    texts = [tuple(re.sub(r"(?<=\w)'s\b", " 's", re.sub(r"[?.!]+$", "", r[3])).split()) for r in rows]
    lower = [tuple(w.lower() for w in words) for words in texts]
    wording_counts: Counter[tuple[str, ...]] = Counter()
    for words in lower:
        wording_counts.update({(*words[:i], "", *words[j:]) for i, j in _spans(words)})
    word_counts = Counter(w for words in lower for w in set(words))
    property_counts: Counter[str] = Counter()
    questions: list[Simple] = []
    for (_, code, *_), text, words in zip(rows, texts, lower, strict=True):
        label = labels.get("P" + code[1:])
        span = _name_in(words, wording_counts, word_counts)
        if label is None or span is None or property_counts[code] >= MOST_OF_ONE:
            continue
        property_counts[code] += 1
        questions.append(Simple(text, *span, label, code[0] == "R"))
    return questions


def _spans(words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    for i in range(len(words)):
        for j in range(i + 1, min(i + LONGEST_NAME, len(words)) + 1):
            if len(words) - (j - i) >= 2:
                yield i, j


def _name_in(
    words: tuple[str, ...], wording_counts: Counter[tuple[str, ...]], word_counts: Counter[str]
) -> tuple[int, int] | None:
    best: tuple[int, int, int, int] | None = None
    for i, j in _spans(words):
        count = wording_counts[(*words[:i], "", *words[j:])]
        if count < LEAST_SHARED or all(word_counts[w] > 150 for w in words[i:j]):
            continue
        if any(word_counts[w] < 4 for w in (*words[:i], *words[j:])) or words[j - 1] == "'s":
            continue
        if max(word_counts[words[i]], word_counts[words[j - 1]]) > 3000:
            continue
        best = min(best, (j - i, -count, i, j)) if best else (j - i, -count, i, j)
    return None if best is None else best[2:]


def _graph(questions: list[Simple], rng: random.Random) -> tuple[Graph, list[tuple[str, Tree]]]:
    """A graph in which each entity has its property and some others."""
    properties = sorted({q.property for q in questions})
    names = [_titled(q.name, rng) for q in questions]
    things = [f"{rng.choice(names).split()[0]} {rng.choice(names).split()[-1]}" for _ in range(40)]
    pools: dict[str, list[str]] = defaultdict(list)
    for question, name in zip(questions, names, strict=True):
        if question.back:
            pools[question.property].append(name)
    for relation in properties:
        pools[relation] += rng.sample(things, 5)
    triples: set[tuple[str, str, str]] = set()
    meanings: list[tuple[str, Tree]] = []
    for question, name in zip(questions, names, strict=True):
        heads = rng.sample(things, rng.choice((1, 2, 4))) if question.back else [name]
        tail = name if question.back else rng.choice(pools[question.property])
        triples |= {(head, question.property, tail) for head in heads if head != tail}
        for head in heads[:2]:
            for other_property in rng.sample(properties, min(len(properties), rng.choice((3, 6, 9)))):
                triples.add((head, other_property, rng.choice(pools[other_property])))
        way = ("^" if question.back else ".", question.property)
        meanings.append(_with_meaning(question, name, way, properties, things, triples, rng))
    return graph_of(sorted(triples, key=lambda t: (rng.random(), t))), meanings


def _titled(name: str, rng: random.Random) -> str:
    return name.title() if rng.random() < 0.7 else name


def _with_meaning(
    question: Simple,
    name: str,
    way: Tree,
    properties: list[str],
    things: list[str],
    triples: set[tuple[str, str, str]],
    rng: random.Random,
) -> tuple[str, Tree]:
    """The question with its meaning; sometimes the entity is said by a property of another one."""
    before, after = question.words[: question.start], question.words[question.stop :]
    entity: Tree = ("entity", name)
    entity_text = name if rng.random() < 0.6 else question.name
    nouns = [
        p for p in properties if not _NO_NOUN.search(p) and len(p.split()) <= 3 and p != question.property
    ]
    if nouns and rng.random() < COMPOSED:
        noun, thing = rng.choice(nouns), rng.choice(things)
        triples.add((thing, noun, name))
        entity_text = f"the {noun} of {thing}" if rng.random() < 0.6 else f"{thing}'s {noun}"
        entity = ("walk", ("entity", thing), (".", noun))
        before = before[:-1] if before and before[-1].lower() in ("the", "a", "an") else before
    text = " ".join((*before, entity_text, *after)).replace(" 's", "'s")
    return text + ("?" if rng.random() < 0.5 else ""), ("walk", entity, way)
