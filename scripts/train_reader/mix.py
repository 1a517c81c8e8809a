"""Mix the weights of models: what some learned on top of another, in part.

    python scripts/train_reader/mix.py BEFORE OUT.pt AFTER.pt... [--share 0.5]

BEFORE is the folder of the shipped model that each AFTER went on from (`train.py --start`); of these the mean
is taken.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from model import Ranker


def main() -> None:
    """Mix and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("after", type=Path, nargs="+")
    parser.add_argument("--share", type=float, default=0.5, help="of the weights of AFTER")
    args = parser.parse_args()
    before, after = Ranker(args.before).state_dict(), [torch.load(path) for path in args.after]
    mixed = {
        key: torch.lerp(value, torch.stack([a[key] for a in after]).mean(0), args.share)
        if value.is_floating_point()
        else after[0][key]
        for key, value in before.items()
    }
    torch.save(mixed, args.out)


if __name__ == "__main__":
    main()
