"""Made-up graphs: random triples over `training/schemas`, so that the questions there have answers."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

from notation import LITERALS, Parser, Tree, Witness

from clew.graph.build.build import graph_of
from clew.graph.graph import Graph

FEW = 0.25
"""Share of relations that may have several tails."""


def read(path: Path) -> tuple[dict[str, Any], list[tuple[str, Tree]], int]:
    """A schema, its questions with their meanings, and how many meanings could not be read."""
    schema = json.loads(path.read_text("utf-8"))
    asked: list[tuple[str, Tree]] = []
    bad = 0
    for text, meaning in schema["questions"]:
        try:
            asked.append((text, Parser(meaning, schema).parse()))
        except ValueError:
            bad += 1
    return schema, asked, bad


def graph(schema: dict[str, Any], asked: list[tuple[str, Tree]], seed: int, *, typed: bool) -> Graph:
    """One random graph over a schema."""
    rng = random.Random(seed)
    names = {t: list(spec["names"]) for t, spec in schema["types"].items()}
    triples: set[tuple[str, str, str]] = set()
    for name, head, tail, *more in schema["relations"]:
        several = rng.random() < FEW or (tail in LITERALS[2:3] and rng.random() < 0.3)
        share = rng.choice((0.7, 0.9, 1.0))
        for one in names.get(head, [head]):
            if rng.random() > share:
                continue
            for _ in range(rng.choice((1, 2, 3)) if several and tail not in ("number", "date") else 1):
                other = _literal(tail, more, rng) if tail in LITERALS else rng.choice(names[tail])
                if other != one:
                    triples.add((one, name, other))
    witness = Witness(schema, rng, triples)
    for _, tree in asked:
        witness.make(tree)
    for word in _common(asked, rng):
        head = rng.choice(rng.choice(list(names.values())))
        triples.add(
            (head, rng.choice([r[0] for r in schema["relations"] if r[2] in LITERALS] or ["note"]), word)
        )
    types = {n: [t] for t, members in names.items() for n in members} if typed else {}
    return graph_of(sorted(triples, key=lambda t: (rng.random(), t)), types, schema.get("aliases", {}))


def _literal(kind: str, more: list[Any], rng: random.Random) -> str:
    if kind == "number":
        low, high = more[0] if more and len(more[0]) == 2 else (0, 100)
        return (
            str(rng.randint(int(low), int(high)))
            if float(low).is_integer() and high - low > 8
            else f"{rng.uniform(low, high):.1f}"
        )
    if kind == "date":
        low, high = (date.fromisoformat((d + "-01-01")[:10]).toordinal() for d in more[0])
        return date.fromordinal(rng.randint(low, high)).isoformat()
    if kind == "time":
        return f"{rng.randint(0, 23):02}:{rng.choice((0, 15, 30, 45)):02}"
    return str(rng.choice(more[0]))


def _common(asked: list[tuple[str, Tree]], rng: random.Random) -> list[str]:
    """Some words of the questions, to be names of something too, as happens in real graphs."""
    words = [w.strip("?,.!'s").lower() for text, _ in asked for w in text.split() if w.islower()]
    return rng.sample(words, min(len(words), rng.choice((0, 3, 8)))) if words else []
