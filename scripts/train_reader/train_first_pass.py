"""Train the first look at candidates, on the examples that `examples.py` wrote: minutes on one core.

    python scripts/train_reader/train_first_pass.py EXAMPLES OUT.npz [--minutes 4] [--seed 1]

One graph in `HELD_OUT` is held out whole; how often a right candidate is among the best there is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.fitted import CANDIDATES_KEPT, MOST_OF_KIND, FirstPass
from clew.reading.tokens import Kind

WIDE, BATCH = 48, 24
HELD_OUT = 14
"""One graph in so many is held out."""
SHARES = {"made-up": 1.0, "composed": 0.3, "spider": 0.6, "tables": 0.2, "simple": 0.3, "asked": 4.0}
"""How often a question of each source is drawn, against one over a made-up graph."""


@dataclass(frozen=True)
class Examples:
    """Rows float16 [n, F] of questions, which are right, and how often each question is drawn."""

    rows: list[np.ndarray]
    right: list[np.ndarray]
    shares: list[float]


def load(folder: Path) -> tuple[Examples, Examples]:
    """The examples with a right candidate: those that are trained on, those held out."""
    sets = (Examples([], [], []), Examples([], [], []))
    for path in sorted(folder.glob("*.npz")):
        a = np.load(path)
        rows = rows_of_examples(a["features"], a["kinds"])
        target = sets[sum(map(ord, path.stem.rsplit("-", 1)[0])) % HELD_OUT == 0]
        source = source_of(path)
        for at, (start, stop) in enumerate(zip(a["rows"][:-1], a["rows"][1:], strict=True)):
            if a["right"][start:stop].any():
                target.rows.append(rows[start:stop])
                target.right.append(a["right"][start:stop])
                target.shares.append(SHARES["composed" if a["composed"][at] else source])
    return sets


def source_of(path: Path) -> str:
    """The source of a file of examples, by its name."""
    return next(source for source in SHARES if path.stem.startswith(source))


def rows_of_examples(features: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Features and counts of tokens by kind, float16 [n, F], as `calibration.rows_of` has them."""
    counts = np.zeros((len(kinds), len(Kind)), np.float16)
    for column in kinds.T:
        used_rows = np.flatnonzero(column)
        counts[used_rows, column[used_rows]] += 1
    return np.minimum(np.concatenate([features.astype(np.float16), counts], axis=1), MOST_OF_KIND)


def main() -> None:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    train, held_out = load(args.examples)
    sample = np.concatenate(train.rows[:: max(1, len(train.rows) // 1500)]).astype(np.float32)
    bounds = np.cumsum(train.shares) / sum(train.shares)
    mean, scale = sample.mean(0), sample.std(0) + 0.05
    net = torch.nn.Sequential(torch.nn.Linear(len(mean), WIDE), torch.nn.ReLU(), torch.nn.Linear(WIDE, 1))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    rng, began = np.random.default_rng(args.seed), time.time()
    while (spent := (time.time() - began) / 60) < args.minutes:
        optimiser.param_groups[0]["lr"] = 3e-3 * max(0.02, 1 - spent / args.minutes)
        chosen = np.searchsorted(bounds, rng.random(BATCH)).clip(max=len(bounds) - 1)
        features = np.concatenate([train.rows[i] for i in chosen]).astype(np.float32)
        rows = torch.from_numpy((features - mean) / scale)
        losses, at = [], 0
        scores = net(rows)[:, 0]
        for right in (train.right[i] for i in chosen):
            question_scores = scores[at : at + len(right)]
            losses.append(
                question_scores.logsumexp(0) - question_scores[torch.from_numpy(right)].logsumexp(0)
            )
            at += len(right)
        optimiser.zero_grad()
        torch.stack(losses).mean().backward()
        optimiser.step()
    first, last = net[0], net[2]
    first_pass = FirstPass(
        mean,
        scale,
        first.weight.detach().numpy().T.copy(),
        first.bias.detach().numpy(),
        last.weight.detach().numpy()[0],
    )
    np.savez(
        args.out,
        mean=first_pass.mean,
        scale=first_pass.scale,
        inner=first_pass.inner,
        bias=first_pass.bias,
        outer=first_pass.outer,
    )
    for most in (1, 20, CANDIDATES_KEPT, 60, 80, 120):
        best = (first_pass.best(rows.astype(np.float32), most=most) for rows in held_out.rows)
        hits = [right[places].any() for right, places in zip(held_out.right, best, strict=True)]
        print(f"{most}: {np.mean(hits):.4f} of {len(hits)}")


if __name__ == "__main__":
    main()
