"""Fit the weights of the built-in pattern writer on several data sets, by seeded random local search.

    python benchmarks/fit_weights.py --seconds 900 --out weights.json
    python benchmarks/fit_weights.py --leave-out pathquestion --seconds 300 --out without.json

Development halves only. With `--leave-out`, the figures of the set left out are printed before and after,
without being used. The result is copied by hand into `alignment.py` and `similarity.py` of `reading/rules`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from harness import open_method
from questions import (
    DATA,
    ROOT,
    SHARED,
    Item,
    absent,
    half,
    jsonl,
    metaqa,
    metaqa_graph,
    paraphrases,
    pathquestion,
    sample,
    wc2014,
)

from clew.reading.rules.alignment import Weights
from clew.reading.rules.auto import Auto
from clew.reading.rules.readings import Reader
from clew.reading.rules.similarity import Scale, WordTable

SHARES = frozenset("label lexical role clash generic wh_step told_apart facing even".split())
"""Parameters that stay below 1."""
FIXED = frozenset({"plain_return"})
HAND = (
    Weights(
        word=2.0, asked=1.0, wh=0.6, wh_step=0.5, told_apart=0.7, genitive=0.35, step=0.2, step_evidence=0.8,
        plain_return=3.0, turn=0.05, one_way=0.7, silent_later=0.8, asked_type=0.6, answer_class=0.8,
        against=0.25, against_grammar=0.8, absent=0.3, common_word=0.5, common_words=0.2,
        rare=0.15, cross=0.15,
    ),
    Scale(
        floor=0.22, span=0.5, label=0.5, lexical=0.95, type_floor=0.2, type_span=0.4, contrast=0.3, even=0.5,
        role=0.9, clash=0.5, generic=0.7, facing=0.4,
    ),
)  # fmt: skip
"""The values chosen by hand before any fit: where `--from-scratch` starts."""


@dataclass(frozen=True)
class Part:
    """Questions over one open graph; `family` is what `--leave-out` names."""

    name: str
    family: str
    method: Auto
    items: list[Item]
    weight: float


def parts() -> list[Part]:
    """The development halves, small enough to be asked a few hundred times."""
    films = open_method(ROOT / "examples" / "films.tsv")
    found = [
        Part("films", "films", films, jsonl(DATA / "dev" / "films_questions.jsonl"), 0.14),
        Part("films absent", "films", films, jsonl(DATA / "dev" / "films_absent.jsonl"), 0.08),
    ]
    for name in ("countries", "companies"):
        method = open_method(DATA / "dev" / f"{name}.tsv")
        found.append(Part(name, name, method, jsonl(DATA / "dev" / f"{name}_questions.jsonl"), 0.12))
    if SHARED.exists():
        films_kb = open_method(metaqa_graph())
        for hops, count in ((1, 50), (2, 50), (3, 110)):
            items = sample(half(metaqa(hops), 0), count, 31)
            found.append(Part(f"metaqa {hops}", "metaqa", films_kb, items, 0.09))
        found.append(Part("paraphrases", "metaqa", films_kb, paraphrases(films_kb.graph, 1), 0.12))
        found.append(Part("absent", "metaqa", films_kb, absent(films_kb.graph, 2), 0.13))
        for hops in (2, 3):
            method = open_method(SHARED / "pathquestion" / f"{hops}H-kb.txt")
            items = sample(half(pathquestion(hops), 0), 60, 31)
            found.append(Part(f"pathquestion {hops}", "pathquestion", method, items, 0.07))
        found.append(Part("wc2014", "wc2014", open_method(SHARED / "wc2014" / "WC2014.txt"), wc2014(), 0.12))
    return found


def score(part: Part, weights: Weights, scale: Scale) -> tuple[float, float]:
    """(what is maximised, share right): a wrong answer costs 0.3 of a right one."""
    method = part.method
    method.weights, method.table = weights, WordTable(method.table.vocabulary, scale)
    method.reader = Reader.of(method.graph, method.schema, method.table.vocabulary, weights)
    total = right = 0.0
    for item in part.items:
        answer = method.answer(item.question)
        found = {a.entity for a in answer.answers}
        if item.reasons:
            fits = answer.abstained is not None and answer.abstained.reason in item.reasons
            total += 1.0 if fits else 0.3 * (answer.abstained is not None)
            right += fits
        elif found & item.gold:
            exact = frozenset(found) == item.gold or part.family in ("metaqa", "pathquestion")
            total += 1.0 if exact else 0.7
            right += 1
        elif found:
            total -= 0.3
    return total / len(part.items), right / len(part.items)


def drift(weights: Weights, scale: Scale) -> float:
    """How far the parameters have moved, in logarithms: ties go to those that stay."""
    pairs = [(asdict(weights), asdict(Weights())), (asdict(scale), asdict(Scale()))]
    return sum(abs(math.log((new[k] + 0.01) / (old[k] + 0.01))) for new, old in pairs for k in old)


def change(rng: random.Random, weights: Weights, scale: Scale) -> tuple[Weights, Scale]:
    """One to three parameters moved by up to two thirds."""
    values = {"weights": asdict(weights), "scale": asdict(scale)}
    keys = [(group, key) for group in values for key in values[group] if key not in FIXED]
    for group, key in rng.sample(keys, rng.choice((1, 1, 2, 3))):
        moved = values[group][key] * rng.uniform(0.5, 1.7) + rng.uniform(-0.03, 0.03)
        values[group][key] = round(min(0.98 if key in SHARES else 6.0, max(0.01, moved)), 3)
    return Weights(**values["weights"]), Scale(**values["scale"])


def main() -> None:
    """Search, and print every step that was an improvement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", default="")
    parser.add_argument(
        "--from-scratch", action="store_true", help="start from values chosen by hand, not the shipped ones"
    )
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    every = parts()
    used = [p for p in every if p.family != args.leave_out]
    kept = [p for p in every if p.family == args.leave_out]

    def judge(weights: Weights, scale: Scale) -> tuple[float, str]:
        scores = [(p, score(p, weights, scale)) for p in used]
        mean = sum(p.weight * s for p, (s, _) in scores) / sum(p.weight for p, _ in scores)
        text = " ".join(f"{p.name}={right:.3f}" for p, (_, right) in scores)
        return mean - 0.0003 * drift(weights, scale), text

    def left_out(weights: Weights, scale: Scale) -> str:
        return " ".join(f"{p.name}={score(p, weights, scale)[1]:.3f}" for p in kept)

    current = HAND if args.from_scratch else (Weights(), Scale())
    best, text = judge(*current)
    print(f"start {best:.4f} {text} | left out: {left_out(*current)}", flush=True)
    began, tried = time.monotonic(), 0
    while time.monotonic() - began < args.seconds:
        candidate = change(rng, *current)
        value, text = judge(*candidate)
        tried += 1
        if value > best:
            best, current = value, candidate
            print(f"{tried:5d} {time.monotonic() - began:6.0f} s {best:.4f} {text}", flush=True)
            args.out.write_text(
                json.dumps({"weights": asdict(current[0]), "scale": asdict(current[1])}, indent=1)
            )
    print(f"end {best:.4f} after {tried} trials | left out: {left_out(*current)}")


if __name__ == "__main__":
    main()
