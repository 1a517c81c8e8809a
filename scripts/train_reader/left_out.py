"""What each family of training questions is worth: a ranker trained without it, measured on all.

    python scripts/train_reader/left_out.py EXAMPLES --start MINILM [FAMILY ...] [--layers 6] [--steps 400]

Every run has the same steps and seed, and begins with a new head and MiniLM as it is, so that none of the
families has shaped it. So many `--layers` of the encoder, from above, are trained beside the head; 0 is the
head alone. Printed is the share right first of each family's held-out graphs, by family left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from model import Ranker
from train import (
    SHARES,
    Data,
    Drawer,
    Scorer,
    first_pass_scores,
    held_out_examples,
    load,
    share_right_first,
    train,
)

from clew.reading.fitted import MODEL, FirstPass

FAMILIES = {"nothing": (), "made-up": ("made-up", "composed"), **{s: (s,) for s in SHARES if s != "made-up"}}
"""What is left out with each family: composed questions are made of those over made-up schemas."""


def main() -> None:
    """Train and measure once a family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("families", nargs="*", default=[*FAMILIES], help=f"of {', '.join(FAMILIES)}; all")
    parser.add_argument("--layers", type=int, default=0, help="of the encoder, from above")
    parser.add_argument("--start", type=Path, required=True, help="MiniLM")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--held", type=int, default=150, help="held-out examples of each family")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rows", type=int, default=28)
    parser.add_argument("--rate", type=float, default=4e-5, help="of the encoder")
    parser.set_defaults(minutes=10**6, head_rate=1e-3)
    args = parser.parse_args()
    if unknown := [name for name in args.families if name not in FAMILIES]:
        parser.error(f"no family {unknown[0]!r}")
    torch.set_num_threads(args.threads)
    model = Ranker(args.start)
    data = load(args.examples, model.texts, "cpu")
    first_scores = first_pass_scores(data, FirstPass.open(MODEL / "first_pass.npz"))
    is_held_out = held_out_examples(data)
    held_out = _held_out_by_family(data, np.flatnonzero(is_held_out), args.held)
    with tempfile.TemporaryDirectory() as folder:
        args.out = Path(folder) / "model.pt"
        for name in args.families:
            torch.manual_seed(args.seed)
            scorer = Scorer(Ranker(args.start), data, args.layers)
            examples = np.array(
                [i for i in np.flatnonzero(~is_held_out) if data.source[i] not in FAMILIES[name]]
            )
            train(scorer, Drawer(data, examples, first_scores, args.seed), lambda: {}, args)
            shares = {
                f"{kind} ({len(rows)})": share_right_first(scorer, rows, first_scores)
                for kind, rows in held_out.items()
                if len(rows)
            }
            print(json.dumps({"left out": name, "examples": len(examples)} | shares), flush=True)


def _held_out_by_family(data: Data, held_out: np.ndarray, most: int) -> dict[str, np.ndarray]:
    """Some held-out examples of each family that have a right candidate."""
    right = np.add.reduceat(data.right.numpy().astype(np.int64), data.rows[:-1]) > 0
    order = np.random.default_rng(0).permutation(held_out)
    return {
        kind: np.array([i for i in order if data.source[i] == kind and right[i]][:most])
        for kind in SHARES
        if kind in data.source
    }


if __name__ == "__main__":
    main()
