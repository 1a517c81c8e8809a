"""Mix the weights of two models: what one learned on top of the other, in part.

    python scripts/train_reader/mix.py BEFORE AFTER.pt OUT.pt [--share 0.5]

BEFORE is the folder of the shipped model that AFTER went on from (`train.py --start`).
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
    parser.add_argument("after", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="of the weights of AFTER")
    args = parser.parse_args()
    before, after = Ranker(args.before).state_dict(), torch.load(args.after)
    mixed = {
        key: torch.lerp(value, after[key], args.share) if value.is_floating_point() else after[key]
        for key, value in before.items()
    }
    torch.save(mixed, args.out)


if __name__ == "__main__":
    main()
