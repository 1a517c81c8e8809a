"""Train the ranker on the examples that `examples.py` wrote.

    python scripts/train_reader/train.py EXAMPLES OUT --minilm FOLDER [--minutes 60] [--seed 1]

Graphs are held out whole; the model that is best on them is kept. Everything is seeded.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from model import TOKENS, Encoder, Head, Texts, minilm_weights, span_of

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.describe import FEATURES, Kind

if TYPE_CHECKING:
    from examples import Example, GraphExamples

    Named = list[tuple[str, GraphExamples]]
    """Graphs with the names of their files."""

RELATION = {int(Kind.FORWARD), int(Kind.BACKWARD)}
HELD_OUT = 12
"""One graph in so many is held out."""
MOST_OPTIONS = 56
MOST_VIEWS = 3
DROPPED = 0.06
"""Share of examples whose right candidates are taken out, so that none is right."""


class Ranker(torch.nn.Module):
    """Encoder and head."""

    def __init__(self, minilm: Path) -> None:
        super().__init__()
        self.texts = Texts.open(minilm / "tokenizer.json")
        self.encoder = Encoder(minilm_weights(minilm / "model.onnx"))
        self.head = Head(len(FEATURES))

    def score(
        self, graph: GraphExamples, examples: Sequence[Example], chosen: Sequence[np.ndarray]
    ) -> list[torch.Tensor]:
        """Scores of the chosen rows of each example, NONE last."""
        used_labels: dict[tuple[bool, int], int] = {}
        views: list[str] = []
        places: list[dict[int, tuple[int, int]]] = []
        view_of: dict[tuple[int, int], int] = {}
        for number, (example, rows) in enumerate(zip(examples, chosen, strict=True)):
            for v in sorted(set(example.view[rows].tolist())) or [0]:
                view_of[number, v] = len(views)
                views.append(example.views[v].text)
                places.append(example.views[v].places)
        q_ids, q_mask, offsets = self.texts.batch(views)
        states = self.encoder(q_ids, q_mask)
        kinds, label_at, span_at, view, features = [], [], [], [], []
        for number, (example, rows) in enumerate(zip(examples, chosen, strict=True)):
            for row in rows:
                at = view_of[number, int(example.view[row])]
                ks, rs = example.kinds[row].tolist(), example.refs[row].tolist()
                la, sp = [-1] * TOKENS, [(0, 0)] * TOKENS
                for t, (k, r) in enumerate(zip(ks, rs, strict=True)):
                    if r < 0:
                        continue
                    if k in RELATION or k == Kind.TYPE:
                        la[t] = used_labels.setdefault((k == Kind.TYPE, r), len(used_labels))
                    elif r in places[at]:
                        sp[t] = span_of(offsets[at], places[at][r])
                kinds.append(ks)
                label_at.append(la)
                span_at.append(sp)
                view.append(at)
                features.append(example.features[row])
            kinds.append([int(Kind.NONE)] + [0] * (TOKENS - 1))
            label_at.append([-1] * TOKENS)
            span_at.append([(0, 0)] * TOKENS)
            first = min(v for (n, _), v in view_of.items() if n == number)
            view.append(first)
            features.append(example.features[rows].max(0))
        labels = [graph.types[i] if is_type else graph.relations[i] for is_type, i in used_labels] or ["none"]
        l_ids, l_mask, _ = self.texts.batch(labels)
        l_states = self.encoder(l_ids, l_mask)
        vectors = (l_states * l_mask[..., None]).sum(1) / l_mask.sum(1, keepdim=True)
        longest = int((np.array(kinds) > 0).sum(1).max())
        scores = self.head(
            states,
            q_mask,
            vectors,
            torch.tensor(kinds)[:, :longest],
            torch.tensor(label_at)[:, :longest],
            torch.tensor(span_at)[:, :longest],
            torch.tensor(view),
            torch.tensor(np.array(features, np.float32)),
        )
        return list(scores.float().split([len(rows) + 1 for rows in chosen]))


def chosen_rows(example: Example, rng: random.Random, train: bool, most: int = MOST_OPTIONS) -> np.ndarray:
    """Some candidates of an example: the right ones, those that look right, and others."""
    right = np.flatnonzero(example.right).tolist()
    wrong = np.flatnonzero(~example.right).tolist()
    rng.shuffle(right)
    likely = sorted(wrong, key=lambda r: -float(example.features[r][[7, 8, 10, 11]].sum()))[: most // 3]
    rest = [r for r in wrong if r not in set(likely)]
    rng.shuffle(rest)
    rows = [*right[:6], *likely, *rest]
    views: list[int] = []
    kept: list[int] = []
    for row in rows:
        v = int(example.view[row])
        if v not in views:
            if len(views) >= MOST_VIEWS:
                continue
            views.append(v)
        kept.append(row)
    return np.array(kept[:most])


def drawn(graph: GraphExamples, count: int, rng: random.Random) -> list[Example]:
    """Some examples of a graph, each once; what takes several steps or an operation is drawn more often."""
    usable = [e for e in graph.examples if e.known or e.right.any()]
    ranks = sorted((rng.random() ** (1 / weight_of(e)), i) for i, e in enumerate(usable))
    return [usable[i] for _, i in ranks[-count:]]


def weight_of(example: Example) -> float:
    """How often an example is drawn, against one of one step."""
    right = np.flatnonzero(example.right)
    if not len(right):
        return 1.0
    kinds = example.kinds[right[0]]
    steps = int(np.isin(kinds, list(RELATION)).sum())
    joined = bool(np.isin(kinds, [int(Kind.AND), int(Kind.OR), int(Kind.MINUS)]).any())
    return 1.0 + 1.2 * (steps > 1) + 0.8 * (steps > 2) + 0.6 * joined


def loss_of(scores: torch.Tensor, right: np.ndarray) -> torch.Tensor:
    """Minus the log of the share of the right candidates; of NONE if none is right."""
    mask = torch.tensor([*right.tolist(), not right.any()])
    return scores.logsumexp(0) - scores[mask].logsumexp(0)


def load(folder: Path) -> tuple[Named, Named]:
    """Graphs to train on, and those that are held out (by their name, all variants together)."""
    import examples as made

    sys.modules["__main__"].Example = made.Example
    sys.modules["__main__"].GraphExamples = made.GraphExamples
    train, held = [], []
    for path in sorted(folder.glob("*.pickle")):
        with path.open("rb") as file:
            graph = pickle.load(file)
        stem = path.stem.rsplit("-", 1)[0] if path.stem.startswith("made-up") else path.stem
        (held if sum(map(ord, stem)) % HELD_OUT == 0 else train).append((path.stem, graph))
    return train, held


def measure(model: Ranker, graphs: Named, limit: int = 40, most: int = 400) -> dict[str, float]:
    """Shares on held-out graphs, all candidates ranked."""
    model.eval()
    rng = random.Random(0)
    total = right = covered = none = none_right = 0
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for _, graph in graphs:
            some = rng.sample(graph.examples, min(limit, len(graph.examples)))
            for example in some:
                rows = np.arange(len(example.right))[:most]
                scores = model.score(graph, [example], [rows])[0]
                best = int(scores.argmax())
                if example.right.any():
                    covered += 1
                    right += best < len(rows) and bool(example.right[best])
                else:
                    none += 1
                    none_right += best == len(rows)
                total += 1
    model.train()
    return {"right": right / max(1, covered), "none": none_right / max(1, none), "asked": total}


def weights_of(graphs: Named) -> list[float]:
    """How often each graph is drawn.

    Made-up graphs say exactly what their questions mean; databases, whose questions have known answers only,
    and tables, of one step, are drawn less.
    """
    tables = max(1, sum(name.startswith("tables") for name, _ in graphs))
    made_up = sum(min(len(g.examples), 120) ** 0.8 for n, g in graphs if n.startswith("made-up"))
    shares = {"tables": 0.07 * made_up / tables}
    return [
        shares["tables"] if n.startswith("tables") else share * min(len(g.examples), 120) ** 0.8
        for n, g in graphs
        for share in (1.0 if n.startswith("made-up") else 0.5,)
    ]


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--start", type=Path)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    rng = random.Random(args.seed)
    train, held = load(args.examples)
    count = sum(len(g.examples) for _, g in train)
    print(f"{len(train)} graphs, {count} examples; held out {[n for n, _ in held]}")
    model = Ranker(args.minilm)
    if args.start:
        model.load_state_dict(torch.load(args.start))
    slow = [p for n, p in model.encoder.named_parameters() if p.requires_grad]
    groups = [{"params": slow, "lr": 4e-5}, {"params": model.head.parameters(), "lr": 8e-4}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    weights = weights_of(train)
    began = last = time.time()
    steps, total, best = 0, 0.0, -1.0
    seconds = args.minutes * 60
    while time.time() - began < seconds:
        _, graph = rng.choices(train, weights)[0]
        some = drawn(graph, args.batch, rng)
        chosen = [chosen_rows(e, rng, True) for e in some]
        rights = [e.right[rows] for e, rows in zip(some, chosen, strict=True)]
        for i in range(len(some)):
            if rng.random() < DROPPED and rights[i].any() and not rights[i].all():
                chosen[i] = chosen[i][~rights[i]]
                rights[i] = np.zeros(len(chosen[i]), bool)
        keep = [i for i in range(len(some)) if len(chosen[i]) > 1]
        if not keep:
            continue
        share = (time.time() - began) / seconds
        rate = min(1.0, (steps + 1) / 150) * max(0.02, 1 - share)
        for group, top in zip(optimiser.param_groups, (4e-5, 8e-4), strict=True):
            group["lr"] = top * rate
        with torch.autocast("cpu", torch.bfloat16):
            scores = model.score(graph, [some[i] for i in keep], [chosen[i] for i in keep])
        loss = torch.stack([loss_of(s, rights[i]) for s, i in zip(scores, keep, strict=True)]).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        steps, total = steps + 1, total + float(loss.detach())
        if steps % 50 == 0:
            print(f"{steps} steps, {time.time() - began:.0f} s: loss {total / 50:.3f}", flush=True)
            total = 0.0
        if time.time() - last > 540 or time.time() - began >= seconds:
            last = time.time()
            train, held = load(args.examples)
            weights = weights_of(train)
            figures = measure(model, held, 12)
            print(figures, f"{time.time() - last:.0f} s", flush=True)
            last = time.time()
            if figures["right"] + 0.3 * figures["none"] > best:
                best = figures["right"] + 0.3 * figures["none"]
                torch.save(model.state_dict(), args.out)
    print(measure(model, held, 40), flush=True)
    torch.save(model.state_dict(), args.out.with_suffix(".last.pt"))


if __name__ == "__main__":
    main()
