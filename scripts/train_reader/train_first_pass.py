"""Train the first look at candidates, on the examples that `examples.py` wrote: minutes on one core.

    python scripts/train_reader/train_first_pass.py EXAMPLES OUT.npz [--minutes 4] [--seed 1]

One graph in `HELD_OUT` is held out whole; how often a right candidate is among the best there is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.first_pass import KEPT, MOST_OF_KIND, FirstPass
from clew.reading.tokens import Kind

WIDE, BATCH = 48, 24
HELD_OUT = 14
"""One graph in so many is held out."""
Example = tuple[np.ndarray, np.ndarray]


def load(folder: Path) -> tuple[list[Example], list[Example]]:
    """Rows float16 [n, F] and which are right, of the examples with a right one: trained on, held out."""
    sets: tuple[list[Example], list[Example]] = ([], [])
    for path in sorted(folder.glob("*.npz")):
        a = np.load(path)
        rows = rows_of_examples(a["features"], a["kinds"])
        away = sum(map(ord, path.stem.rsplit("-", 1)[0])) % HELD_OUT == 0
        for start, stop in zip(a["rows"][:-1], a["rows"][1:], strict=True):
            if a["right"][start:stop].any():
                sets[away].append((rows[start:stop], a["right"][start:stop]))
    return sets


def rows_of_examples(features: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Features and counts of tokens by kind, float16 [n, F], as `calibration.rows_of` has them."""
    counts = np.zeros((len(kinds), len(Kind)), np.float16)
    for column in kinds.T:
        there = np.flatnonzero(column)
        counts[there, column[there]] += 1
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
    train, held = load(args.examples)
    some = np.concatenate([rows for rows, _ in train[:: max(1, len(train) // 1500)]]).astype(np.float32)
    mean, scale = some.mean(0), some.std(0) + 0.05
    net = torch.nn.Sequential(torch.nn.Linear(len(mean), WIDE), torch.nn.ReLU(), torch.nn.Linear(WIDE, 1))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    rng, began = np.random.default_rng(args.seed), time.time()
    while (spent := (time.time() - began) / 60) < args.minutes:
        optimiser.param_groups[0]["lr"] = 3e-3 * max(0.02, 1 - spent / args.minutes)
        chosen = [train[i] for i in rng.integers(len(train), size=BATCH)]
        rows = torch.from_numpy((np.concatenate([r for r, _ in chosen]).astype(np.float32) - mean) / scale)
        losses, at = [], 0
        scores = net(rows)[:, 0]
        for _, right in chosen:
            own = scores[at : at + len(right)]
            losses.append(own.logsumexp(0) - own[torch.from_numpy(right)].logsumexp(0))
            at += len(right)
        optimiser.zero_grad()
        torch.stack(losses).mean().backward()
        optimiser.step()
    first, last = net[0], net[2]
    made = FirstPass(
        mean,
        scale,
        first.weight.detach().numpy().T.copy(),
        first.bias.detach().numpy(),
        last.weight.detach().numpy()[0],
    )
    np.savez(args.out, mean=made.mean, scale=made.scale, inner=made.inner, bias=made.bias, outer=made.outer)
    for most in (1, 20, 40, 60, 80, KEPT, 120):
        there = [right[made.best(rows.astype(np.float32), most=most)].any() for rows, right in held]
        print(f"{most}: {np.mean(there):.4f} of {len(held)}")


if __name__ == "__main__":
    main()
