"""Examples for the ranker: candidates of each question as rows of tokens and features, and which are right.

    python scripts/train_reader/examples.py OUT made-up|spider|tables [--part K/N]

One pickle a graph in OUT. A candidate is right if it means what the question is said to mean; where only
answers are known, if it has these answers and asks what the question asks for.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import pickle
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import made_up
import numpy as np
from covered import said, same
from notation import Translator, Tree
from sets import DATA, ROOT, Asked, Question, spider

from clew.graph.build.build import graph_of
from clew.graph.graph import Graph
from clew.reading.candidates import Enumerator, Option
from clew.reading.describe import MOST_TOKENS, Describer, View, names_used, tokens_of, view_of
from clew.reading.execute import Executor
from clew.reading.mentions import Mention, MentionFinder, NameWords
from clew.reading.query import Query, key_of
from clew.reading.vocabulary import Likeness, Vocabulary, WordMatcher
from clew.text.embedders.static import StaticEmbedder
from clew.text.lexicon import Lexicon

SCHEMAS = ROOT / "training" / "schemas"
MOST_VIEWS = 12


@dataclass
class Example:
    """One question with the rows of its candidates.

    `kinds` int8 and `refs` int16 [n, tokens], `view` int8 [n], `features` float16 [n, F], `right` bool [n].
    """

    text: str
    views: list[View]
    kinds: np.ndarray
    refs: np.ndarray
    view: np.ndarray
    features: np.ndarray
    right: np.ndarray
    known: bool
    """Whether the meaning is known; if not, a question without a right candidate says nothing."""


@dataclass
class GraphExamples:
    """The labels of one graph and its examples."""

    name: str
    relations: tuple[str, ...]
    types: tuple[str, ...]
    examples: list[Example]


class Builder:
    """Makes the examples of one graph."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.vocabulary = Vocabulary.of(asked.graph, asked.schema)
        self.matcher = WordMatcher(self.vocabulary, EMBEDDER, LEXICON)
        words = NameWords.of(asked.names, LEXICON)
        self.finder = MentionFinder(asked.names, LEXICON, self.vocabulary.words, words)
        self.enumerator = Enumerator(self.vocabulary)

    def options(self, text: str) -> tuple[list[Option], Described]:
        """The candidates of a question."""
        mentions = self.finder.find(text)
        likeness = self.matcher.compare(text)
        options = self.enumerator.enumerate(text, mentions, likeness)
        return options, Described(self.vocabulary, text, mentions, likeness)

    def example(
        self, text: str, options: Sequence[Option], described: Described, right: Sequence[bool], known: bool
    ) -> Example | None:
        """Rows of one question, None where there is nothing to rank."""
        return described.rows(options, right, known)


class Described:
    """The rows of one question's candidates."""

    def __init__(
        self, vocabulary: Vocabulary, text: str, mentions: Sequence[Mention], likeness: Likeness
    ) -> None:
        self.vocabulary, self.text, self.mentions = vocabulary, text, mentions
        self.describer = Describer(vocabulary, text, mentions, likeness)

    def rows(self, options: Sequence[Option], right: Sequence[bool], known: bool) -> Example | None:
        """Rows of the candidates that fit, None where there is none."""
        views: dict[tuple[int, ...], int] = {}
        kinds, refs, which, features, marks = [], [], [], [], []
        for option, mark in zip(options, right, strict=True):
            tokens = tokens_of(option.query, self.vocabulary)
            used = names_used(option.query)
            if len(tokens) > MOST_TOKENS or (used not in views and len(views) >= MOST_VIEWS):
                continue
            view = views.setdefault(used, len(views))
            pad = [0] * (MOST_TOKENS - len(tokens))
            kinds.append([int(k) for k, _ in tokens] + pad)
            refs.append([r for _, r in tokens] + [-1] * len(pad))
            which.append(view)
            features.append(self.describer.features(option))
            marks.append(mark)
        if not kinds:
            return None
        return Example(
            self.text,
            [view_of(self.text, self.mentions, used) for used in views],
            np.array(kinds, np.int8),
            np.array(refs, np.int16),
            np.array(which, np.int8),
            np.array(features, np.float16),
            np.array(marks, bool),
            known,
        )


EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()


def made_up_graphs(part: tuple[int, int]) -> Iterator[GraphExamples]:
    """Each made-up schema over two random graphs; the second without declared types."""
    for path in sorted(SCHEMAS.glob("*.json"))[part[0] :: part[1]]:
        schema, asked, bad = made_up.read(path)
        if bad:
            print(f"{path.name}: {bad} meanings cannot be read", file=sys.stderr)
        for seed, typed in ((1, schema["declared"]), (2, schema["declared"]), (3, False)):
            if seed == 3 and not schema["declared"]:
                continue
            graph = made_up.graph(schema, asked, seed, typed=typed)
            yield _from_meanings(f"{path.stem}-{seed}", graph, asked)


def _from_meanings(name: str, graph: Graph, asked: Sequence[tuple[str, Tree]]) -> GraphExamples:
    builder = Builder(Asked(name, graph))
    entities = {label: node for node, label in reversed(list(enumerate(graph.labels)))}
    translator = Translator(
        entities,
        {r: i for i, r in enumerate(graph.relations)},
        {t: i for i, t in enumerate(graph.types.names)},
    )
    examples: list[Example] = []
    for text, tree in asked:
        options, described = builder.options(text)
        query: Query | None = None
        if tree[0] != "none":
            try:
                query = translator.query(tree)
            except (KeyError, ValueError):
                continue
        right = _right(graph, options, query)
        example = described.rows(options, right, known=True)
        if example is not None:
            examples.append(example)
    return GraphExamples(name, builder.vocabulary.relations, builder.vocabulary.types, examples)


def _right(graph: Graph, options: Sequence[Option], query: Query | None) -> list[bool]:
    if query is None:
        return [False] * len(options)
    wanted = key_of(query)
    right = [key_of(o.query) == wanted for o in options]
    if any(right) or query.ask != "list":
        return right
    executor = Executor(graph)
    gold = executor.members(query.part)
    if not len(gold):
        return right
    return [o.query.ask == "list" and np.array_equal(executor.members(o.query.part), gold) for o in options]


ASKED_FOR = {
    "count": ("count",),
    "average/sum": ("sum", "average", "largest", "smallest", "count"),
    "max/min value": ("largest", "smallest", "list"),
}


def spider_graphs(part: tuple[int, int]) -> Iterator[GraphExamples]:
    """Spider's training databases, each question also in other words."""
    other = _other_words()
    for asked in list(spider("training"))[part[0] :: part[1]]:
        if asked.graph.triples > 400_000:
            continue
        builder = Builder(asked)
        examples: list[Example] = []
        for question in asked.questions:
            texts = [question.text]
            changed = other.get(_plain(question.text))
            if changed is not None and changed != question.text:
                texts.append(changed)
            for text in texts:
                options, described = builder.options(text)
                example = described.rows(options, _by_answers(asked, options, question), known=False)
                if example is not None and example.right.any():
                    examples.append(example)
        yield GraphExamples(asked.name, builder.vocabulary.relations, builder.vocabulary.types, examples)


def _by_answers(asked: Asked, options: Sequence[Option], question: Question) -> list[bool]:
    executor = Executor(asked.graph)
    asks = ASKED_FOR.get(question.kind, ("list",))
    return [o.query.ask in asks and same(said(executor, o), question.gold) for o in options]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _other_words() -> dict[str, str]:
    path = DATA / "reader_training" / "spider_syn" / "train_spider.json.gz"
    with gzip.open(path) as file:
        rows = json.load(file)
    return {_plain(r["SpiderQuestion"]): r["SpiderSynQuestion"] for r in rows}


def table_graphs(part: tuple[int, int], most: int = 4000) -> Iterator[GraphExamples]:
    """WikiSQL: questions for one column of the row that a name is in, over the known columns of its table."""
    with bz2.open(DATA / "reader_training" / "wikisql" / "wikisql.json.bz2") as file:
        rows = json.load(file)
    tables: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
    for row in rows:
        match = re.fullmatch(
            r'SELECT TABLEalias0\.(\w+) FROM TABLE AS TABLEalias0 WHERE TABLEalias0\.(\w+) = "var0" ;',
            row["sql"][0],
        )
        if not match:
            continue
        for sentence in row["sentences"]:
            name = sentence["variables"].get("var0", "")
            text = sentence["original"]
            if (
                sentence["question-split"] == "train"
                and name.lower() in text.lower()
                and re.search(r"[a-zA-Z]{3}", name)
            ):
                tables[sentence["table-id"]].append((text, _column(match[1]), _column(match[2]), name))
    chosen = sorted(t for t, asked in tables.items() if len({a for _, *cs, _ in asked for a in cs}) >= 4)
    random.Random(5).shuffle(chosen)
    for table in chosen[:1300][part[0] :: part[1]]:
        yield _from_table(table, tables[table])


def _column(name: str) -> str:
    return name.removesuffix("_FIELD").lower()


def _from_table(table: str, asked: list[tuple[str, str, str, str]]) -> GraphExamples:
    rng = random.Random(table)
    columns = sorted({a for _, *cs, _ in asked for a in cs})
    typed = rng.random() < 0.4
    triples: list[tuple[str, str, str]] = []
    meanings = []
    for text, column, by, name in asked:
        if column == by:
            continue
        for other in columns:
            if other != by:
                triples.append((name, other, f"{other} {rng.randint(1, 40)}"))
        meanings.append((text, ("walk", ("entity", name), (".", column))))
    if not triples:
        return GraphExamples(table, (), (), [])
    types = {name: [by] for _, _, by, name in asked} if typed else {}
    return _from_meanings(f"table-{table}", graph_of(triples, types), meanings)


SOURCES = {"made-up": made_up_graphs, "spider": spider_graphs, "tables": table_graphs}


def main() -> None:
    """Write the examples of one source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("--part", default="0/1")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    number, of = map(int, args.part.split("/"))
    count = covered = 0
    began = time.time()
    for made in SOURCES[args.source]((number, of)):
        if made.examples:
            with (args.out / f"{args.source}-{made.name}.pickle").open("wb") as file:
                pickle.dump(made, file)
        count += len(made.examples)
        covered += sum(bool(e.right.any()) for e in made.examples)
        print(
            f"{made.name}: {len(made.examples)}; {covered}/{count}; {time.time() - began:.0f} s",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
