"""How answers hold when questions are written otherwise, and what is asked in the graph's own labels.

python scripts/train_reader/wordings.py [--processes N]

Over the schemas of `training/calibration`, which the ranker was not trained on. Prints, for each way of
writing, how many of its questions are answered right and wrong, and how many of the same ones as they are.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import made_up
import numpy as np
from calibrate import SCHEMAS
from notation import Translator, Tree
from sets import Asked

from clew.errors import ClewError
from clew.graph.steps import step_of
from clew.methods.settings import AutoSettings
from clew.query.execute import Executor, OverBudget
from clew.query.tree import Anchor, Query, Walk
from clew.query.vocabulary import words_of_label
from clew.reading.answer import answer_of, meanings_of
from clew.reading.certainty import certainties_of
from clew.reading.reader import QuestionReader
from clew.text.embedders import StaticEmbedder

QUESTIONS, RELATIONS = 14, 6
"""Questions with one name, and relations, of each schema."""
LEAST_LETTERS = 5
"""Letters of a word in which a slip is made."""
_ASKS = re.compile(r"(?:who|what|which|when|where|how)\b", re.I)

Rewrite = Callable[[str, str, random.Random], str | None]
"""A question, the name in it and chance → the question written otherwise, None where that cannot be."""


@dataclass(frozen=True)
class Outcome:
    """How a question written in some way was answered, and as it is."""

    way: str
    right: bool
    wrong: bool
    right_as_it_is: bool


def _small(text: str) -> str:
    return text[0].lower() + text[1:]


def _bare(text: str) -> str:
    return text.rstrip("?.! ")


def slip(word: str, rng: random.Random) -> str:
    """A word with a letter left out, doubled, or two that changed places."""
    at = rng.randrange(1, len(word) - 1)
    return rng.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )


def _slip_in(text: str, places: list[tuple[int, int]], rng: random.Random) -> str | None:
    if not places:
        return None
    start, stop = rng.choice(places)
    return text[:start] + slip(text[start:stop], rng) + text[stop:]


def _long_words(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(rf"[^\W\d_]{{{LEAST_LETTERS},}}", text)]


def _slip_in_name(text: str, name: str, rng: random.Random) -> str | None:
    start = text.index(name)
    return _slip_in(text, [(start + a, start + b) for a, b in _long_words(name)], rng)


def _slip_in_word(text: str, name: str, rng: random.Random) -> str | None:
    start, stop = text.index(name), text.index(name) + len(name)
    return _slip_in(text, [(a, b) for a, b in _long_words(text) if b <= start or stop <= a], rng)


def _framed(before: str, after: str = "?") -> Rewrite:
    return lambda text, name, rng: f"{before}{_small(_bare(text))}{after}" if _ASKS.match(text) else None


def _anyhow(before: str, after: str = "") -> Rewrite:
    return lambda text, name, rng: f"{before}{_small(text)}{after}" if before else f"{_bare(text)}{after}"


WAYS: dict[str, Rewrite] = {
    "in lower case": lambda text, name, rng: text.lower(),
    "in capitals": lambda text, name, rng: text.upper(),
    "without a mark": lambda text, name, rng: _bare(text),
    "a slip in the name": _slip_in_name,
    "a slip in another word": _slip_in_word,
    "the name in quotes": lambda text, name, rng: text.replace(name, f'"{name}"'),
    "Can you tell me …?": _framed("Can you tell me "),
    "I'd like to know ….": _framed("I'd like to know ", "."),
    "Show me …": _framed("Show me ", ""),
    "Hi, …": _anyhow("Hi, "),
    "In this graph, …": _anyhow("In this graph, "),
    "According to the data, …": _anyhow("According to the data, "),
    "… please": _anyhow("", " please"),
    "…? Thanks!": _anyhow("", "? Thanks!"),
}


class Prober:
    """Asks questions over one random graph."""

    def __init__(self, path: Path) -> None:
        self.schema, questions, _ = made_up.read(path)
        variant = made_up.Variant(1, self.schema["declared"])
        self.graph, self.questions = made_up.graph(self.schema, questions, variant)
        question_set = Asked(path.stem, self.graph)
        self.reader = QuestionReader(
            self.graph, question_set.schema, question_set.names, StaticEmbedder.load()
        )
        self.executor, self.rng = Executor(self.graph), random.Random(path.stem)

    def outcome(self, text: str, gold: frozenset[str]) -> tuple[bool, bool]:
        """Whether what the surest reading answers is right, and whether it is wrong."""
        reading = self.reader.read(text)
        meanings = meanings_of(self.executor, self.reader.vocabulary, reading)
        if not meanings:
            return False, False
        accounts = [self.reader.account(reading, meaning.query) for meaning in meanings]
        certainties = certainties_of(self.reader.vocabulary, reading, meanings, accounts)
        if certainties.max() < AutoSettings().confidence:
            return False, False
        draft = answer_of(self.graph, self.reader.vocabulary, meanings[certainties.argmax()].query)
        answers = {a.label for a in draft.answers}
        return answers == gold, bool(answers) and answers != gold

    def gold(self, query: Query) -> frozenset[str]:
        """The labels of what a query lists."""
        return frozenset(self.graph.labels[node] for node in self.executor.members(query.part))

    def written_otherwise(self) -> Iterator[Outcome]:
        """Some questions with one name in each way of writing."""
        translator = Translator.of(self.graph)
        questions_left = QUESTIONS
        for text, tree in self.questions:
            name = _only_name(text, tree)
            if not questions_left or name not in translator.entities:
                continue
            try:
                query = translator.query(tree)
                gold = self.gold(query)
                plain_outcome = self.outcome(text, gold)
            except (KeyError, ValueError, OverBudget, ClewError):
                continue
            if query.ask != "list" or not gold:
                continue
            questions_left -= 1
            for way, rewrite in WAYS.items():
                rewording = rewrite(text, name, self.rng)
                if rewording is not None:
                    yield Outcome(way, *self.outcome(rewording, gold), plain_outcome[0])

    def in_labels(self) -> Iterator[Outcome]:
        """What some relations lead to, asked by their labels."""
        out = self.graph.out
        for relation in self.rng.sample(
            range(len(self.graph.relations)), min(RELATIONS, len(self.graph.relations))
        ):
            edges = np.flatnonzero(out.relation == relation)
            if not len(edges):
                continue
            edge = int(self.rng.choice(edges.tolist()))
            head, tail = int(np.searchsorted(out.stops, edge, side="right")), int(out.neighbour[edge])
            label = words_of_label(self.graph.relation_labels[relation])
            ways = (
                ("N's L", "{n}'s {l}", head, 0),
                ("L of N", "{l} of {n}", head, 0),
                ("What is the L of N?", "What is the {l} of {n}?", head, 0),
                ("N: L?", "{n}: {l}?", head, 0),
                ("Whose L is N?", "Whose {l} is {n}?", tail, 1),
                ("What has L N?", "What has {l} {n}?", tail, 1),
            )
            for way, form, node, back in ways:
                gold = self.gold(Query("list", Walk(Anchor(node), step_of(relation, back))))
                right, wrong = self.outcome(form.format(n=self.graph.labels[node], l=label), gold)
                yield Outcome(way, right, wrong, right)


def _only_name(text: str, tree: Tree) -> str:
    """The one name of a meaning that its question writes out, else an empty text."""
    names = [name for name in made_up.entities_of(tree) if name in text and len(name) >= LEAST_LETTERS]
    return names[0] if len(names) == 1 else ""


def outcomes(path: Path) -> list[Outcome]:
    """All outcomes of one schema."""
    prober = Prober(path)
    return [*prober.written_otherwise(), *prober.in_labels()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    with multiprocessing.Pool(args.processes) as pool:
        results = [
            outcome for group in pool.imap(outcomes, sorted(SCHEMAS.glob("*.json"))) for outcome in group
        ]
    print("| written | questions | right | wrong | right as they are |\n|---|---|---|---|---|")
    for way in dict.fromkeys(outcome.way for outcome in results):
        group = [outcome for outcome in results if outcome.way == way]
        shares = [100 * np.mean([getattr(o, k) for o in group]) for k in ("right", "wrong", "right_as_it_is")]
        print(f"| {way} | {len(group)} | {' | '.join(f'{share:.1f}' for share in shares)} |")


if __name__ == "__main__":
    main()
