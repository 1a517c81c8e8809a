"""Examples for the ranker: candidates of each question as rows of tokens and features, and which are right.

    python scripts/train_reader/examples.py OUT [made-up handfuls spider tables simple asked] [--processes N]

One file of arrays a graph in OUT (`Packed`), which the nodes of a Ray cluster must see, as this folder and
../shared/data. A candidate is right if it means what the question is said to
mean; where only answers are known, if it has these answers and asks what the question asks for.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import site
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

import made_up
import numpy as np
from compose import composed
from covered import candidate_answers, same_answers
from notation import Translator, Tree
from sets import DATA, ROOT, Asked, Question, asked_graphs, spider
from simple import simple
from tables import tables
from tokenizers import Tokenizer

from clew.graph.graph import Graph
from clew.query.execute import Executor, OverBudget
from clew.query.tree import Query, key_of
from clew.query.vocabulary import Vocabulary
from clew.reading.candidates import Option, enumerate_candidates
from clew.reading.features import Describer, with_distances
from clew.reading.fitted import MODEL
from clew.reading.likeness import Likeness, WordMatcher
from clew.reading.mention_finder import MentionFinder
from clew.reading.mentions import Mention
from clew.reading.ranker import span_of
from clew.reading.reader import QuestionReader
from clew.reading.tokens import (
    MENTION_KINDS,
    MOST_TOKENS,
    MOST_VIEWS,
    Kind,
    View,
    names_used,
    tokens_of,
    view_of,
)
from clew.text.embedders import StaticEmbedder
from clew.text.lexicon import Lexicon
from clew.workers import Processes, RayWorkers, Workers

SCHEMAS, ASKED = ROOT / "training" / "schemas", ROOT / "training" / "asked"
LONGEST = 48
"""Tokens of a question."""
VARIANTS = 4
"""Graphs of a made-up schema, at most."""
COMPOSED = 120
"""Questions of a made-up graph that are composed of those of its schema."""
HANDFULS = 24
"""Graphs of a few triples of a made-up schema, at most."""
RELATIONS, TYPES = [int(Kind.FORWARD), int(Kind.BACKWARD)], [int(Kind.TYPE)]
MOST_TRIPLES = 400_000
"""Larger databases are left out."""


@dataclass
class Example:
    """One question with the rows of its candidates.

    `words` int32 [views, LONGEST] token ids, 0 behind the end; `kinds` int8 and `refs` int32 [n, tokens],
    `spans` int8 [n, tokens, 2], `view` int8 [n], `features` float16 [n, F], `right` bool [n].
    """

    text: str
    words: np.ndarray
    kinds: np.ndarray
    refs: np.ndarray
    spans: np.ndarray
    view: np.ndarray
    features: np.ndarray
    right: np.ndarray
    composed: bool = False
    """Whether the question was composed of others."""


ARRAYS = ("words", "kinds", "refs", "spans", "view", "features", "right")


def pack(path: Path, relations: Sequence[str], types: Sequence[str], examples: Sequence[Example]) -> None:
    """Write the examples of one graph: each array one behind the other, and where each example begins."""
    whole = {name: np.concatenate([getattr(e, name) for e in examples]) for name in ARRAYS}
    rows = np.cumsum([0, *(len(e.right) for e in examples)])
    views = np.cumsum([0, *(len(e.words) for e in examples)])
    texts, composed = np.array([e.text for e in examples]), np.array([e.composed for e in examples])
    labels = {"relations": np.array(relations, str), "types": np.array(types, str)}
    np.savez(path, rows=rows, views=views, texts=texts, composed=composed, **labels, **whole)


class Builder:
    """Makes the examples of one graph."""

    def __init__(self, question_set: Asked) -> None:
        self.question_set = question_set
        self.vocabulary = Vocabulary.of(question_set.graph, question_set.schema)
        self.matcher = WordMatcher(self.vocabulary, EMBEDDER, LEXICON)
        self.finder = MentionFinder.of(question_set.names, self.vocabulary, LEXICON)

    def options(self, text: str) -> tuple[list[Option], Described]:
        """The candidates of a question."""
        mentions = self.finder.find(text)
        likeness = self.matcher.compare(text)
        options = enumerate_candidates(self.vocabulary, text, mentions, likeness)
        return options, Described(self.vocabulary, text, mentions, likeness)


class Described:
    """The rows of one question's candidates."""

    def __init__(
        self, vocabulary: Vocabulary, text: str, mentions: Sequence[Mention], likeness: Likeness
    ) -> None:
        self.vocabulary, self.text, self.mentions = vocabulary, text, mentions
        self.describer = Describer(vocabulary, text, mentions, likeness)

    def rows(self, options: Sequence[Option], right: Sequence[bool]) -> Example | None:
        """Rows of the candidates that fit, None where there is none."""
        views: dict[tuple[int, ...], int] = {}
        kinds, refs, view_at, kept_options, marks = [], [], [], [], []
        for option, mark in sorted(zip(options, right, strict=True), key=lambda o: -o[0].worth):
            tokens = tokens_of(option.query, self.vocabulary)
            used = names_used(option.query)
            if len(tokens) > MOST_TOKENS or (used not in views and len(views) >= MOST_VIEWS):
                continue
            view = views.setdefault(used, len(views))
            pad = [0] * (MOST_TOKENS - len(tokens))
            kinds.append([int(k) for k, _ in tokens] + pad)
            refs.append([r for _, r in tokens] + [-1] * len(pad))
            view_at.append(view)
            kept_options.append(option)
            marks.append(mark)
        if not kinds:
            return None
        view_texts = [view_of(self.text, self.mentions, used) for used in views]
        words, places = _words(view_texts, len(self.mentions))
        k, r, v = np.array(kinds, np.int8), np.array(refs, np.int32), np.array(view_at, np.int8)
        has_mention = np.isin(k, [int(m) for m in MENTION_KINDS]) & (r >= 0)
        spans = places[v[:, None], np.where(has_mention, r, 0)] * has_mention[..., None]
        features = with_distances(self.describer.features(kept_options)).astype(np.float16)
        return Example(self.text, words, k, r, spans.astype(np.int8), v, features, np.array(marks, bool))


def _words(views: Sequence[View], mentions: int) -> tuple[np.ndarray, np.ndarray]:
    """Token ids [views, LONGEST], and the first token and one past the last of each mention."""
    words = np.zeros((len(views), LONGEST), np.int32)
    places = np.zeros((len(views), max(1, mentions), 2), np.int32)
    for v, (view, encoded) in enumerate(
        zip(views, TOKENIZER.encode_batch([v.text for v in views]), strict=True)
    ):
        words[v, : len(encoded.ids)] = encoded.ids
        for mention, place in view.places.items():
            places[v, mention] = span_of(encoded.offsets, place)
    return words, places


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_str(
        gzip.decompress((MODEL / "tokenizer.json.gz").read_bytes()).decode("utf-8")
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


TOKENIZER = _tokenizer()
EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()


GraphExamples = tuple[str, Sequence[str], Sequence[str], list[Example]]
"""A graph: its name, the labels of its relations and types, and its examples."""


def made_up_schemas() -> Iterator[tuple[object, ...]]:
    """Each made-up schema over some random graphs: as it is; without types; with other names and a crowd."""
    for path in sorted(SCHEMAS.glob("*.json")):
        declared = json.loads(path.read_text("utf-8"))["declared"]
        variants = made_up.variants(declared)
        chosen = random.Random(path.stem).sample(variants, min(VARIANTS, len(variants)))
        yield from ((path, variant) for variant in chosen)


def made_up_graph(path: Path, variant: made_up.Variant) -> GraphExamples:
    """One random graph over a made-up schema."""
    schema, questions, unreadable = made_up.read(path)
    if unreadable and variant.seed == 1:
        print(f"{path.name}: {unreadable} meanings cannot be read", file=sys.stderr)
    composed_start = len(questions)
    questions += composed(schema, questions, COMPOSED, random.Random(f"{path.stem} {variant.seed}"))
    graph, questions = made_up.graph(schema, questions, variant)
    return _from_meanings(f"made-up-{path.stem}-{variant.seed}", graph, questions, composed_start)


def schemas() -> Iterator[tuple[object, ...]]:
    """Each made-up schema."""
    yield from ((path,) for path in sorted(SCHEMAS.glob("*.json")))


def made_up_handfuls(path: Path) -> GraphExamples:
    """Graphs of a few triples each over a made-up schema, with the labels of all."""
    schema, questions, _ = made_up.read(path)
    questions += composed(schema, questions, len(questions) // 3, random.Random(f"{path.stem} few"))
    relations, types, examples = dict[str, int](), dict[str, int](), list[Example]()
    for graph, graph_questions in made_up.handfuls(schema, questions, HANDFULS, seed=1):
        _, of_relations, of_types, graph_examples = _from_meanings(path.stem, graph, graph_questions)
        for labels, ids_by_label, kinds in ((of_relations, relations, RELATIONS), (of_types, types, TYPES)):
            ids = np.array(
                [ids_by_label.setdefault(label, len(ids_by_label)) for label in labels] or [0], np.int32
            )
            for example in graph_examples:
                mask = np.isin(example.kinds, kinds) & (example.refs >= 0)
                example.refs[mask] = ids[example.refs[mask]]
        examples += graph_examples
    return f"made-up-{path.stem}-few", list(relations), list(types), examples


def table_graphs() -> Iterator[tuple[object, ...]]:
    """WikiSQL's tables."""
    yield from ((f"tables-{name}", graph, questions) for name, graph, questions in tables())


def simple_graphs() -> Iterator[tuple[object, ...]]:
    """Simple questions over Wikidata's properties."""
    yield from ((f"simple-{name}", graph, questions) for name, graph, questions in simple())


def _from_meanings(
    name: str, graph: Graph, questions: Sequence[tuple[str, Tree]], composed_start: int | None = None
) -> GraphExamples:
    """Examples of questions with their meanings; those from `composed_start` on were composed of others."""
    builder = Builder(Asked(name, graph))
    translator = Translator.of(graph)
    examples: list[Example] = []
    for at, (text, tree) in enumerate(questions):
        query: Query | None = None
        if tree[0] != "none":
            try:
                query = translator.query(tree)
            except (KeyError, ValueError):
                continue
        options, described = builder.options(text)
        example = described.rows(options, _mark_right(graph, options, query))
        if example is not None:
            example.composed = composed_start is not None and at >= composed_start
            examples.append(example)
    return name, builder.vocabulary.relations, builder.vocabulary.types, examples


def _mark_right(graph: Graph, options: Sequence[Option], query: Query | None) -> list[bool]:
    """Which candidates mean what a query does; where none says the same, those that are about the same."""
    if query is None:
        return [False] * len(options)
    gold_key = key_of(query)
    right = [key_of(o.query) == gold_key for o in options]
    if any(right):
        return right
    executor = Executor(graph)
    gold = executor.members(query.part)
    if not len(gold):
        return right
    return [o.query.ask == query.ask and _has_members(executor, o.query, gold) for o in options]


def _has_members(executor: Executor, query: Query, gold: np.ndarray) -> bool:
    try:
        return np.array_equal(executor.members(query.part), gold)
    except OverBudget:
        return False


ASKED_FOR = {
    "count": ("count",),
    "average/sum": ("sum", "average", "largest", "smallest", "count"),
    "max/min value": ("largest", "smallest", "list"),
}


def spider_databases() -> Iterator[tuple[object, ...]]:
    """Spider's training databases."""
    yield from ((name,) for name in json.loads((DATA / "spider" / "split.json").read_text())["training"])


def spider_graph(name: str) -> GraphExamples:
    """One of Spider's databases, also in other words; questions without a right candidate are left out."""
    question_set = next(spider("training", name))
    examples: list[Example] = []
    if question_set.graph.triples > MOST_TRIPLES:
        return f"spider-{name}", (), (), examples
    rewordings, builder = _spider_rewordings(), Builder(question_set)
    for question in question_set.questions:
        rewording = rewordings.get(_plain(question.text), question.text)
        for text in dict.fromkeys((question.text, rewording)):
            options, described = builder.options(text)
            example = described.rows(options, _by_answers(question_set, options, question))
            if example is not None and example.right.any():
                examples.append(example)
    return f"spider-{name}", builder.vocabulary.relations, builder.vocabulary.types, examples


def asked_folders() -> Iterator[tuple[object, ...]]:
    """The graphs of `training/asked`."""
    yield from ((folder.name,) for folder in sorted(ASKED.iterdir()) if folder.is_dir())


def asked_graph(name: str) -> GraphExamples:
    """One of them, read as in use; of what its answers alone are known. *Yes* and *no* say too little."""
    question_set = next(asked_graphs(name))
    reader = QuestionReader(question_set.graph, question_set.schema, question_set.names, EMBEDDER)
    executor, examples = Executor(question_set.graph), list[Example]()
    for question in question_set.questions:
        if question.gold <= {"yes", "no"} and question.gold:
            continue
        linked_question, options = reader.candidates_of(question.text)
        described = Described(
            reader.vocabulary, linked_question.text, linked_question.mentions, linked_question.likeness
        )
        right = [
            bool(question.gold) and same_answers(candidate_answers(executor, o), question.gold)
            for o in options
        ]
        example = described.rows(options, right)
        if example is not None and (example.right.any() or not question.gold):
            examples.append(example)
    return f"asked-{name}", reader.vocabulary.relations, reader.vocabulary.types, examples


def _by_answers(question_set: Asked, options: Sequence[Option], question: Question) -> list[bool]:
    executor = Executor(question_set.graph)
    asks = ASKED_FOR.get(question.kind, ("list",))
    return [
        o.query.ask in asks and same_answers(candidate_answers(executor, o), question.gold) for o in options
    ]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _spider_rewordings() -> dict[str, str]:
    path = DATA / "reader_training" / "spider_syn" / "train_spider.json.gz"
    with gzip.open(path) as file:
        rows = json.load(file)
    return {_plain(r["SpiderQuestion"]): r["SpiderSynQuestion"] for r in rows}


SOURCES: dict[str, tuple[Callable[[], Iterator[tuple[object, ...]]], Callable[..., GraphExamples]]] = {
    "made-up": (made_up_schemas, made_up_graph),
    "handfuls": (schemas, made_up_handfuls),
    "spider": (spider_databases, spider_graph),
    "tables": (table_graphs, _from_meanings),
    "simple": (simple_graphs, _from_meanings),
    "asked": (asked_folders, asked_graph),
}


def write_graph(job: tuple[Path, str, tuple[object, ...], int]) -> tuple[str, int, int, float]:
    """Make one graph's examples: its name, how many, how many with a right candidate, seconds."""
    out, source, arguments, composed_questions = job
    globals().update(COMPOSED=composed_questions)
    began = time.time()
    name, relations, types, examples = SOURCES[source][1](*arguments)
    if examples:
        pack(out / f"{name}.npz", relations, types, examples)
    return name, len(examples), sum(bool(e.right.any()) for e in examples), time.time() - began


def main() -> None:
    """Write the examples of some sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", nargs="*", metavar="|".join(SOURCES))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster, auto, or local")
    parser.add_argument("--variants", type=int, default=VARIANTS, help="graphs of a made-up schema")
    parser.add_argument("--composed", type=int, default=COMPOSED, help="composed questions of such a graph")
    parser.add_argument("--limit", type=int, default=10**9, help="graphs of each source")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    globals().update(VARIANTS=args.variants)
    began, count, covered = time.time(), 0, 0
    with _workers(args.ray, args.processes) as workers:
        for source in args.sources or SOURCES:
            jobs = [(out, source, arguments, args.composed) for arguments in SOURCES[source][0]()][
                : args.limit
            ]
            # By its name, as a worker has this file under another one than the process that was started.
            results = workers.map(partial(resolve_name, "examples:write_graph"), jobs)
            for name, questions, right, seconds in results:
                count, covered = count + questions, covered + right
                if seconds > 60:
                    print(f"{name}: {questions} questions took {seconds:.0f} s", file=sys.stderr)
            spent = time.time() - began
            print(f"{source}: {len(jobs)} graphs; {covered}/{count} in all; {spent:.0f} s", flush=True)
        print(*workers.work_notes(), sep="\n", end="", file=sys.stderr)


def _workers(ray: str | None, processes: int) -> AbstractContextManager[Workers]:
    if ray is None:
        return nullcontext(Processes(processes))
    return RayWorkers(ray, partial(site.addsitedir, str(Path(__file__).resolve().parent)))


if __name__ == "__main__":
    main()
