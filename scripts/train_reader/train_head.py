"""Go on training the shipped head, with the shipped encoder as it is: on one core, in an hour.

    python scripts/train_reader/train_head.py EXAMPLES OUT.pt [--start FOLDER] [--minutes 60] [--seed 1]

Texts are encoded once. The head goes on from the one in `--start`; features that it does not know begin with
weights of zero. Graphs are held out whole, as in `train.py`; the mean of the weights over the last steps is
kept. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from model import TOKENS, Head, Texts
from onnx import numpy_helper
from train import HELD_OUT, MEAN, Data, Drawer, load
from train_first_pass import rows_of_examples

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.describe import COMPARED, FEATURES, Kind
from clew.reading.first_pass import KEPT, FirstPass
from clew.reading.ranker import MODEL

BATCH, CHUNK = 128, 200_000
_PLAIN = (
    "question", "near", "span", "blocks.0.cross.kv", "blocks.0.own.q", "blocks.0.own.kv", "blocks.0.own.out",
    "blocks.0.cross.q", "blocks.0.cross.out", "blocks.0.up", "blocks.0.down", "blocks.1.cross.kv",
    "blocks.1.own.q", "blocks.1.own.kv", "blocks.1.own.out", "blocks.1.cross.q", "blocks.1.cross.out",
    "blocks.1.up", "blocks.1.down", "back.q", "back.kv", "back.out", "compare_q", "compare", "gate_q", "gate",
)  # fmt: skip
"""The layers whose weights have no names in the exported head, in the order in which they are used."""


def shipped_head(folder: Path) -> Head:
    """The exported head of a folder, with room for the features of today."""
    arrays = {
        i.name: numpy_helper.to_array(i) for i in onnx.load(str(folder / "head.onnx")).graph.initializer
    }
    unnamed = sorted((k for k in arrays if k.startswith("onnx::")), key=lambda k: int(k.rsplit("_", 1)[1]))
    state = {k: torch.tensor(v) for k, v in arrays.items() if not k.startswith("onnx::")}
    state |= {f"{n}.weight": torch.tensor(arrays[k].T) for n, k in zip(_PLAIN, unnamed, strict=True)}
    known = json.loads((folder / "model.json").read_text("utf-8"))["features"]
    plain = len(known) - len(_distances(known))
    head = Head(len(FEATURES) + len(COMPARED))
    wide = head.state_dict()
    now = [*FEATURES, *(f"{name} distance" for name in COMPARED)]
    before = [*known[:plain], *(f"{name} distance" for name in known[plain:])]
    at = torch.tensor([now.index(name) for name in before])
    for name in ("weight", "bias", "running_mean", "running_var"):
        value = wide[f"norm_f.{name}"].clone()
        value[at] = state[f"norm_f.{name}"]
        state[f"norm_f.{name}"] = value
    first = torch.zeros_like(wide["facts.0.weight"])
    first[:, at] = state["facts.0.weight"]
    state["facts.0.weight"] = first
    head.load_state_dict(state, strict=False)
    return head


def _distances(features: list[str]) -> list[str]:
    """The features at the end that are named a second time: their distances from the best."""
    return features[next((i for i, name in enumerate(features) if name in features[:i]), len(features)) :]


class Encoded:
    """The vectors of all views and labels, made once by the shipped encoder."""

    def __init__(self, data: Data, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        self.session = onnxruntime.InferenceSession(str(folder / "encoder.onnx"), options)
        words = data.words.numpy()
        self.lengths = (words > 0).sum(1)
        self.starts = np.cumsum([0, *self.lengths])
        self.states = np.zeros((int(self.starts[-1]), 384), np.float16)
        order = np.argsort(self.lengths, kind="stable")
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            for i, vectors in zip(some, self._run(words[some, : self.lengths[some].max()]), strict=True):
                self.states[self.starts[i] : self.starts[i + 1]] = vectors[: self.lengths[i]]
        labels = data.labels.numpy()
        self.labels = np.zeros((len(labels), 384), np.float32)
        for start in range(0, len(labels), BATCH):
            ids = labels[start : start + BATCH]
            ids = ids[:, : int((ids > 0).sum(1).max())]
            mask = (ids > 0)[..., None]
            self.labels[start : start + BATCH] = (self._run(ids) * mask).sum(1) / mask.sum(1)

    def _run(self, ids: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"ids": ids.astype(np.int64), "mask": (ids > 0).astype(np.float32)})[0]

    def views(self, chosen: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of some views [V, L, 384], and their mask."""
        states = np.zeros((len(chosen), int(self.lengths[chosen].max()), 384), np.float32)
        for row, view in enumerate(chosen):
            states[row, : self.lengths[view]] = self.states[self.starts[view] : self.starts[view + 1]]
        mask = np.arange(states.shape[1])[None] < self.lengths[chosen][:, None]
        return torch.from_numpy(states), torch.from_numpy(mask.astype(np.float32))


def scores(head: Head, data: Data, encoded: Encoded, chosen: list[np.ndarray]) -> torch.Tensor:
    """Scores [examples, most + 1] of the chosen rows, NONE last, -1e9 where there is no row."""
    count, most = len(chosen), max(map(len, chosen))
    rows = torch.from_numpy(np.concatenate(chosen))
    owner = torch.from_numpy(np.repeat(np.arange(count), [len(c) for c in chosen]))
    place = torch.from_numpy(np.concatenate([np.arange(len(c)) for c in chosen]))
    view, features = data.view[rows].long(), data.features[rows].float()
    best = torch.full((count, features.shape[1]), -1e4)
    best = best.scatter_reduce(0, owner[:, None].expand_as(features), features, "amax")
    first = torch.full((count,), 2**31 - 1, dtype=torch.long).scatter_reduce(0, owner, view, "amin")
    none = torch.zeros(count, TOKENS, dtype=torch.long)
    none[:, 0] = int(Kind.NONE)
    kinds = torch.cat([data.kinds[rows].long(), none])
    longest = int((kinds > 0).sum(1).max())
    label = torch.cat([data.label[rows].long(), torch.full_like(none, -1)])[:, :longest]
    spans = torch.cat([data.spans[rows].long(), torch.zeros(count, TOKENS, 2, dtype=torch.long)])
    used, at_view = torch.unique(torch.cat([view, first]), return_inverse=True)
    labels, at = torch.unique(label.clamp(min=0), return_inverse=True)
    states, mask = encoded.views(used.numpy())
    found = head(
        states, mask, torch.from_numpy(encoded.labels[labels.numpy()]), kinds[:, :longest],
        torch.where(label >= 0, at, -1), spans[:, :longest], at_view, torch.cat([features, best]),
    )  # fmt: skip
    table = torch.full((count, most + 1), -1e9)
    table[owner, place] = found[: len(rows)]
    table[:, most] = found[len(rows) :]
    return table


def measure(
    head: Head, data: Data, encoded: Encoded, held: np.ndarray, likely: np.ndarray
) -> dict[str, float]:
    """Shares right among held-out examples, as candidates are ranked in use, by source and steps."""
    head.eval()
    right, found = data.right.numpy(), dict[str, list[bool]]()
    with torch.no_grad():
        for i in held:
            rows = np.arange(data.rows[i], data.rows[i + 1])
            known = right[rows].any()
            kind = data.source[i] if known else "none"
            if known:
                gold = data.kinds[rows[np.flatnonzero(right[rows])[0]]].numpy()
                kind += f" {int(np.isin(gold, [int(Kind.FORWARD), int(Kind.BACKWARD)]).sum())}"
            rows = rows[np.sort(np.argsort(-likely[rows])[:KEPT])]
            at = int(scores(head, data, encoded, [rows])[0].argmax())
            hit = bool(right[rows[at]]) if at < len(rows) else not known
            found.setdefault(kind, []).append(hit)
    head.train()
    return {f"{k} ({len(v)})": round(float(np.mean(v)), 3) for k, v in sorted(found.items())}


def likely(data: Data, first_pass: FirstPass) -> np.ndarray:
    """How likely the first look finds each row among those of its example, in logits, float32 [rows]."""
    found = np.zeros(len(data.view), np.float32)
    features, kinds = data.features.numpy(), data.kinds.numpy()
    for start in range(0, len(found), CHUNK):
        some = slice(start, start + CHUNK)
        found[some] = first_pass.scores(rows_of_examples(features[some], kinds[some]).astype(np.float32))
    return found


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path, default=MODEL)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--held", type=int, default=600, help="held-out examples to measure on")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    began = time.time()
    head = shipped_head(args.start)
    data = load(args.examples, Texts.open(args.start / "tokenizer.json.gz"), "cpu")
    out = np.array([sum(map(ord, g)) % HELD_OUT == 0 for g in data.graph])
    order = np.random.default_rng(0).permutation(len(out))
    held, drawer = order[out[order]], Drawer(data, order[~out[order]], args.seed)
    drawer.likely = likely(data, FirstPass.open(args.start / "first_pass.npz"))
    encoded = Encoded(data, args.start)
    print(f"{len(out)} examples, {len(held)} held out; {time.time() - began:.0f} s", flush=True)
    print(measure(head, data, encoded, held[: args.held], drawer.likely), flush=True)
    train(head, drawer, encoded, held, args)
    print(measure(head, data, encoded, held[: args.held], drawer.likely), flush=True)
    torch.save(head.state_dict(), args.out)


def train(head: Head, drawer: Drawer, encoded: Encoded, held: np.ndarray, args: argparse.Namespace) -> None:
    """Train for some minutes; the head is left with the mean of its weights."""
    optimiser = torch.optim.AdamW(head.parameters(), lr=args.rate, weight_decay=0.01)
    mean = {k: v.detach().clone() for k, v in head.state_dict().items()}
    head.train()
    began = last = time.time()
    steps, total, seconds = 0, 0.0, args.minutes * 60
    while (spent := time.time() - began) < seconds:
        for group in optimiser.param_groups:
            group["lr"] = args.rate * min(1.0, (steps + 1) / 100) * max(0.01, 1 - spent / seconds)
        chosen, marks = drawer.draw(args.batch, args.rows)
        made = scores(head, drawer.data, encoded, chosen)
        loss = (made.logsumexp(1) - made.masked_fill(torch.from_numpy(~marks), -1e9).logsumexp(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimiser.step()
        steps += 1
        share = min(MEAN, steps / (steps + 10))
        with torch.no_grad():
            for key, value in head.state_dict().items():
                if value.is_floating_point():
                    mean[key].lerp_(value, 1 - share)
                else:
                    mean[key].copy_(value)
        total += float(loss.detach())
        if steps % 100 == 0:
            print(f"{steps} steps, {spent:.0f} s: loss {total / 100:.3f}", flush=True)
            total = 0.0
        if time.time() - last > seconds / 4:
            torch.save(mean, args.out)
            last = time.time()
    head.load_state_dict(mean)


if __name__ == "__main__":
    main()
