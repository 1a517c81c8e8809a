"""Train the ranker on the examples that `examples.py` wrote, on a GPU where there is one.

    python scripts/train_reader/train.py EXAMPLES OUT --minilm FOLDER [--minutes 60] [--seed 1]

Graphs are held out whole. What is kept is the mean of the weights over the last steps. Everything is seeded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from model import TOKENS, Encoder, Head, Texts, minilm_weights

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.describe import COMPARED, FEATURES, Kind

ARRAYS = ("kinds", "label", "spans", "view", "features", "right", "words")
RELATION = [int(Kind.FORWARD), int(Kind.BACKWARD)]
JOIN = [int(Kind.AND), int(Kind.OR), int(Kind.MINUS)]
HELD_OUT = 14
"""One graph in so many is held out."""
DROPPED = 0.06
"""Share of examples whose right candidates are taken out, so that none is right."""
MEAN = 0.999
"""How slowly the mean of the weights moves, a step."""
SHARES = {"made-up": 1.0, "spider": 0.35, "tables": 0.2, "simple": 0.3}
"""How much is drawn of each source, against made-up graphs, which say exactly what questions mean."""


@dataclass
class Data:
    """All examples as tensors on one device; rows, views and labels of all graphs behind each other."""

    kinds: torch.Tensor
    label: torch.Tensor
    spans: torch.Tensor
    view: torch.Tensor
    features: torch.Tensor
    right: torch.Tensor
    words: torch.Tensor
    labels: torch.Tensor
    """Token ids of labels, int32 [labels, 24]."""
    rows: np.ndarray
    """First row of each example, and the end."""
    source: list[str]
    graph: list[str]


def load(folder: Path, texts: Texts, device: str) -> Data:
    """Read all graphs of a folder."""
    parts: dict[str, list[np.ndarray]] = {key: [] for key in ARRAYS}
    rows, source, graph, names = [np.zeros(1, np.int64)], [], [], []
    row_at = view_at = 0
    known: dict[str, int] = {}
    for path in sorted(folder.glob("*.npz")):
        a = dict(np.load(path))
        own = [known.setdefault(str(t), len(known)) for t in [*a["relations"], *a["types"], "none"]]
        ids, count = np.array(own), len(a["relations"])
        is_relation, is_type = np.isin(a["kinds"], RELATION), a["kinds"] == int(Kind.TYPE)
        refs = np.where(is_type, a["refs"] + count, a["refs"])
        label = np.where((is_relation | is_type) & (a["refs"] >= 0), ids[np.clip(refs, 0, len(ids) - 1)], -1)
        lengths = np.diff(a["rows"])
        first_view = np.repeat(a["views"][:-1], lengths)
        for key, value in (("kinds", a["kinds"]), ("label", label.astype(np.int32)), ("spans", a["spans"]),
                           ("view", (a["view"] + first_view + view_at).astype(np.int32)),
                           *((k, a[k]) for k in ("features", "right", "words"))):  # fmt: skip
            parts[key].append(value)
        rows.append(a["rows"][1:] + row_at)
        row_at, view_at = row_at + int(a["rows"][-1]), view_at + int(a["views"][-1])
        kind = next(s for s in SHARES if path.stem.startswith(s))
        source += [kind] * len(lengths)
        graph += [path.stem.rsplit("-", 1)[0] if kind == "made-up" else path.stem] * len(lengths)
        names.append(path.stem)
    labels = torch.zeros(len(known), 24, dtype=torch.int32)
    for i, e in enumerate(texts.tokenizer.encode_batch(list(known))):
        labels[i, : min(24, len(e.ids))] = torch.tensor(e.ids[:24], dtype=torch.int32)
    tensors = {k: torch.from_numpy(np.concatenate(v)).to(device) for k, v in parts.items()}
    return Data(**tensors, labels=labels.to(device), rows=np.concatenate(rows), source=source, graph=graph)


class Ranker(torch.nn.Module):
    """Encoder and head."""

    def __init__(self, minilm: Path) -> None:
        super().__init__()
        self.texts = Texts.open(minilm / "tokenizer.json")
        self.encoder = Encoder(minilm_weights(minilm))
        self.head = Head(len(FEATURES) + len(COMPARED))

    def score(self, data: Data, chosen: Sequence[np.ndarray]) -> torch.Tensor:
        """Scores [examples, most + 1] of the chosen rows, NONE last, -1e9 where there is no row."""
        device = data.kinds.device
        count, most = len(chosen), max(map(len, chosen))
        padded = np.zeros((count, most), np.int64)
        there = np.zeros((count, most), bool)
        for i, rows in enumerate(chosen):
            padded[i, : len(rows)], there[i, : len(rows)] = rows, True
        rows = torch.from_numpy(padded[there]).to(device)
        owner = torch.from_numpy(np.nonzero(there)[0]).to(device)
        view = data.view[rows].long()
        features = data.features[rows].float()
        best = torch.full((count, features.shape[1]), -1e4, device=device)
        best = best.scatter_reduce(0, owner[:, None].expand_as(features), features, "amax")
        first = torch.full((count,), 2**31 - 1, dtype=torch.long, device=device)
        first = first.scatter_reduce(0, owner, view, "amin")
        none = torch.zeros(count, TOKENS, dtype=torch.long, device=device)
        none[:, 0] = int(Kind.NONE)
        kinds = torch.cat([data.kinds[rows].long(), none])
        longest = int((kinds > 0).sum(1).max())
        label = torch.cat([data.label[rows].long(), torch.full_like(none, -1)])[:, :longest]
        spans = torch.cat(
            [data.spans[rows].long(), torch.zeros(count, TOKENS, 2, dtype=torch.long, device=device)]
        )
        used_views, view = torch.unique(torch.cat([view, first]), return_inverse=True)
        used_labels, at = torch.unique(label.clamp(min=0), return_inverse=True)
        states, mask = self.encode(data.words[used_views])
        l_states, l_mask = self.encode(data.labels[used_labels])
        vectors = (l_states * l_mask[..., None]).sum(1) / l_mask.sum(1, keepdim=True)
        scores = self.head(
            states, mask, vectors, kinds[:, :longest], torch.where(label >= 0, at, -1), spans[:, :longest],
            view, torch.cat([features, best]),
        ).float()  # fmt: skip
        table = torch.full((count, most + 1), -1e9, device=device)
        place = torch.from_numpy(np.nonzero(there)[1]).to(device)
        table[owner, place] = scores[: len(rows)]
        table[:, most] = scores[len(rows) :]
        return table

    def encode(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of the tokens of some texts, and the mask, cut to the longest."""
        ids = ids[:, : int((ids > 0).sum(1).max())].long()
        mask = (ids > 0).float()
        return self.encoder(ids, mask), mask


class Drawer:
    """Draws examples and their rows."""

    def __init__(self, data: Data, of: np.ndarray, seed: int) -> None:
        self.data, self.of, self.rng = data, of, np.random.default_rng(seed)
        self.right = data.right.cpu().numpy()
        self.likely = 2 * data.features[:, [7, 8, 10, 11]].float().sum(1).cpu().numpy()
        kinds = data.kinds.cpu().numpy()
        weights = np.array([SHARES[data.source[i]] * self._weight(kinds, i) for i in of])
        self.bounds = np.cumsum(weights / weights.sum())

    def _weight(self, kinds: np.ndarray, example: int) -> float:
        """How often an example is drawn, against one of one step."""
        start, stop = self.data.rows[example], self.data.rows[example + 1]
        found = np.flatnonzero(self.right[start:stop])
        if not len(found):
            return 1.0
        row = kinds[start + found[0]]
        steps = int(np.isin(row, RELATION).sum())
        return 1.0 + 1.0 * (steps > 1) + 0.8 * (steps > 2) + 0.6 * bool(np.isin(row, JOIN).any())

    def draw(self, count: int, most: int) -> tuple[list[np.ndarray], np.ndarray]:
        """Rows of some examples, and which are right: bool [count, most + 1], NONE last."""
        drawn = np.searchsorted(self.bounds, self.rng.random(count)).clip(max=len(self.of) - 1)
        chosen = self.of[drawn]
        picked: list[np.ndarray] = []
        for i in chosen:
            start, stop = self.data.rows[i], self.data.rows[i + 1]
            rows = np.arange(start, stop)
            right = self.right[start:stop]
            if self.rng.random() < DROPPED and not right.all():
                rows = rows[~right]
            elif len(rows) > most:
                key = self.rng.gumbel(size=len(rows)) + self.likely[rows] + 1000 * right
                rows = rows[np.argsort(-key)[:most]]
            picked.append(rows[:most])
        marks = np.zeros((count, max(map(len, picked)) + 1), bool)
        for i, rows in enumerate(picked):
            marks[i, : len(rows)] = self.right[rows]
        marks[:, -1] = ~marks.any(1)
        return picked, marks


def measure(model: Ranker, data: Data, held: np.ndarray, most: int) -> dict[str, float]:
    """Shares on held-out examples, all candidates ranked, by source."""
    model.eval()
    right = data.right.cpu().numpy()
    found: dict[str, list[bool]] = {}
    with torch.no_grad(), torch.autocast(data.kinds.device.type, torch.bfloat16):
        for start in range(0, min(most, len(held)), 16):
            some = held[start : start + 16]
            chosen = [np.arange(data.rows[i], data.rows[i + 1]) for i in some]
            best = model.score(data, chosen).argmax(1).cpu().numpy()
            last = max(map(len, chosen))
            for i, rows, at in zip(some, chosen, best, strict=True):
                known = right[rows].any()
                hit = bool(right[rows[at]]) if known and at < len(rows) else not known and at == last
                found.setdefault(data.source[i] if known else "none", []).append(hit)
    model.train()
    return {k: round(float(np.mean(v)), 4) for k, v in sorted(found.items())}


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument(
        "--rate", type=float, default=7e-5, help="of the encoder; the head learns ten times as fast"
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.time()
    model = Ranker(args.minilm).to(device)
    data = load(args.examples, model.texts, device)
    out = np.array([sum(map(ord, g)) % HELD_OUT == 0 for g in data.graph])
    order = np.random.default_rng(0).permutation(len(out))
    held = order[out[order]]
    drawer = Drawer(data, order[~out[order]], args.seed)
    print(f"{len(out)} examples, {len(held)} held out; {time.time() - began:.0f} s", flush=True)
    if args.start:
        model.load_state_dict(torch.load(args.start, map_location=device), strict=False)
    train(model, drawer, held, args)
    print(measure(model, data, held, 10**9), flush=True)
    save(model.state_dict(), args.out)


def save(state: dict[str, torch.Tensor], path: Path) -> None:
    """Write weights as half floats, without those of the words, which are not trained."""
    kept = {
        k: v.half() if v.is_floating_point() else v for k, v in state.items() if k != "encoder.words.weight"
    }
    torch.save({k: v.cpu() for k, v in kept.items()}, path)


def train(model: Ranker, drawer: Drawer, held: np.ndarray, args: argparse.Namespace) -> None:
    """Train for some minutes; the model is left with the mean of its weights."""
    data, device = drawer.data, drawer.data.kinds.device.type
    slow = [p for p in model.encoder.parameters() if p.requires_grad]
    rates = (args.rate, 10 * args.rate)
    groups = [{"params": slow, "lr": rates[0]}, {"params": model.head.parameters(), "lr": rates[1]}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    mean = {k: v.detach().clone() for k, v in model.state_dict().items()}
    began = last = time.time()
    steps, total, seconds = 0, 0.0, args.minutes * 60
    while (spent := time.time() - began) < seconds:
        rate = min(1.0, (steps + 1) / 300) * max(0.01, 1 - spent / seconds)
        for group, top in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = top * rate
        chosen, marks = drawer.draw(args.batch, args.rows)
        with torch.autocast(device, torch.bfloat16):
            scores = model.score(data, chosen)
        wrong = torch.from_numpy(~marks).to(scores.device)
        loss = (scores.logsumexp(1) - scores.masked_fill(wrong, -1e9).logsumexp(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        steps += 1
        share = min(MEAN, steps / (steps + 10))
        with torch.no_grad():
            for key, value in model.state_dict().items():
                if value.is_floating_point():
                    mean[key].lerp_(value, 1 - share)
                else:
                    mean[key].copy_(value)
        total += float(loss.detach()) if steps % 10 == 0 else 0.0
        if steps % 500 == 0:
            print(f"{steps} steps, {spent:.0f} s: loss {total / 50:.3f}", flush=True)
            total = 0.0
        if time.time() - last > max(120, seconds / 6):
            print(measure(model, data, held, 1500), flush=True)
            save(mean, args.out)
            last = time.time()
    model.load_state_dict(mean)


if __name__ == "__main__":
    main()
