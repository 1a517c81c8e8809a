"""Train the ranker on the examples that `examples.py` wrote, on a GPU where there is one.

    python scripts/train_reader/train.py EXAMPLES MODEL.pt --start FOLDER [--minutes 60] [--layers 6]

It begins with MiniLM or goes on with a shipped model. `--layers 3` trains the head and the three upper layers
of the encoder alone: what the lower ones make of all texts is made once, so that one core does. Graphs are
held out whole. What is kept is the mean of the weights over the last steps. Everything is seeded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from model import ENCODER_LAYERS, TOKENS, WIDE, Ranker, Texts

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from train_first_pass import HELD_OUT, SHARES, rows_of_examples, source_of

from clew.reading.fitted import CANDIDATES_KEPT, MODEL, FirstPass
from clew.reading.tokens import Kind

ARRAYS = ("kinds", "label", "spans", "view", "features", "right", "words")
RELATION = [int(Kind.FORWARD), int(Kind.BACKWARD)]
JOIN = [int(Kind.AND), int(Kind.OR), int(Kind.MINUS)]
DROPPED = 0.06
"""Share of examples whose right candidates are taken out, so that none is right."""
MEAN = 0.999
"""How slowly the mean of the weights moves, a step."""
BATCH, CHUNK = 64, 200_000
MEASURED = 8
"""Examples that are measured at once."""
OF_GRAPH = 4
"""Questions of one graph that are drawn together: they share labels, which are encoded once."""
AHEAD = 4
"""Batches that are drawn while one is trained on."""
LABEL = 24
"""Tokens of a label."""


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
    rows, source, graph = [np.zeros(1, np.int64)], [], []
    row_at = view_at = 0
    label_ids: dict[str, int] = {}
    for path in sorted(folder.glob("*.npz")):
        a = dict(np.load(path))
        graph_label_ids = [
            label_ids.setdefault(str(t), len(label_ids)) for t in [*a["relations"], *a["types"], "none"]
        ]
        ids, count = np.array(graph_label_ids), len(a["relations"])
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
        kind = source_of(path)
        source += ["composed" if is_composed else kind for is_composed in a["composed"]]
        graph += [path.stem.rsplit("-", 1)[0] if kind == "made-up" else path.stem] * len(lengths)
    labels = torch.zeros(len(label_ids), LABEL, dtype=torch.int32)
    for i, e in enumerate(texts.tokenizer.encode_batch(list(label_ids))):
        labels[i, : min(LABEL, len(e.ids))] = torch.tensor(e.ids[:LABEL], dtype=torch.int32)
    tensors = {k: torch.from_numpy(np.concatenate(v)).to(device) for k, v in parts.items()}
    return Data(**tensors, labels=labels.to(device), rows=np.concatenate(rows), source=source, graph=graph)


def held_out_examples(data: Data, half: int | None = None) -> np.ndarray:
    """Which examples are held out, bool [examples]: of one graph in fourteen, or of half of people's."""
    if half is None:
        return np.array([sum(map(ord, graph)) % HELD_OUT == 0 for graph in data.graph])
    asked_graphs = sorted(
        {graph for graph, kind in zip(data.graph, data.source, strict=True) if kind == "asked"}
    )
    return np.isin(data.graph, asked_graphs[half::2])


class LowerStates:
    """What the first layers of the encoder make of all texts, made once, float16 [tokens of all, 384]."""

    def __init__(self, model: Ranker, ids: torch.Tensor, layers: int) -> None:
        self.lengths = (ids > 0).sum(1).numpy()
        self.starts = np.cumsum([0, *self.lengths])
        self.states = np.zeros((int(self.starts[-1]), WIDE), np.float16)
        order = np.argsort(self.lengths, kind="stable")
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                batch_ids, mask = _cut(ids[batch])
                batch_states = model.encoder.lower(batch_ids, mask, layers).float().numpy()
                for i, vectors in zip(batch, batch_states, strict=True):
                    self.states[self.starts[i] : self.starts[i + 1]] = vectors[: self.lengths[i]]
        model.train()

    def states_of(self, texts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of the tokens of some texts [n, L, 384], and their mask."""
        states = np.zeros((len(texts), int(self.lengths[texts].max()), WIDE), np.float32)
        for row, text in enumerate(texts):
            states[row, : self.lengths[text]] = self.states[self.starts[text] : self.starts[text + 1]]
        mask = np.arange(states.shape[1])[None] < self.lengths[texts][:, None]
        return torch.from_numpy(states), torch.from_numpy(mask.astype(np.float32))


def _cut(ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids cut to the longest text, and the mask."""
    ids = ids[:, : int((ids > 0).sum(1).max())].long()
    return ids, (ids > 0).float()


class Scorer:
    """Scores rows of the examples with a ranker, of whose encoder the upper layers are trained."""

    def __init__(self, model: Ranker, data: Data, layers: int) -> None:
        self.model, self.data, self.frozen = model, data, ENCODER_LAYERS - layers
        self.lower_states: dict[str, LowerStates] = {}
        if self.frozen:
            self.lower_states = {
                name: LowerStates(model, ids, self.frozen)
                for name, ids in (("words", data.words), ("labels", data.labels))
            }

    def scores(self, chosen: Sequence[np.ndarray]) -> torch.Tensor:
        """Scores [examples, most + 1] of the chosen rows, NONE last, -1e9 where there is no row."""
        data, device = self.data, self.data.kinds.device
        count, most = len(chosen), max(map(len, chosen))
        rows = torch.from_numpy(np.concatenate(chosen)).to(device)
        owner = torch.from_numpy(np.repeat(np.arange(count), [len(c) for c in chosen])).to(device)
        place = torch.from_numpy(np.concatenate([np.arange(len(c)) for c in chosen])).to(device)
        view, features = data.view[rows].long(), data.features[rows].float()
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
        states, mask = self._encoded("words", used_views)
        l_states, l_mask = self._encoded("labels", used_labels)
        vectors = (l_states * l_mask[..., None]).sum(1) / l_mask.sum(1, keepdim=True)
        with torch.autocast(device.type, torch.bfloat16):
            scores = self.model.head(
                states, mask, vectors, kinds[:, :longest], torch.where(label >= 0, at, -1),
                spans[:, :longest], view, torch.cat([features, best]),
            ).float()  # fmt: skip
        table = torch.full((count, most + 1), -1e9, device=device)
        table[owner, place] = scores[: len(rows)]
        table[:, most] = scores[len(rows) :]
        return table

    def _encoded(self, name: str, texts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of the tokens of some texts, and the mask, cut to the longest."""
        encoder = self.model.encoder
        with torch.autocast(self.data.kinds.device.type, torch.bfloat16):
            if self.frozen:
                states, mask = self.lower_states[name].states_of(texts.cpu().numpy())
                return encoder.upper(states, mask, self.frozen).float(), mask
            ids, mask = _cut(getattr(self.data, name)[texts])
            return encoder(ids, mask).float(), mask


class Drawer:
    """Draws examples and their rows."""

    def __init__(self, data: Data, examples: np.ndarray, first_scores: np.ndarray, seed: int) -> None:
        self.data, self.examples, self.first_scores, self.first_seed = data, examples, first_scores, seed
        self.right = data.right.cpu().numpy()
        kinds = data.kinds.cpu().numpy()
        weights = np.array([SHARES[data.source[i]] * self._weight(kinds, i) for i in examples])
        names, graph = np.unique([data.graph[i] for i in examples], return_inverse=True)
        self.places_by_graph = [np.flatnonzero(graph == at) for at in range(len(names))]
        self.bounds = [np.cumsum(weights[places]) for places in self.places_by_graph]
        self.graphs = np.cumsum([bounds[-1] for bounds in self.bounds])

    def seed(self, step: int) -> np.random.Generator:
        """The chance of one step."""
        return np.random.default_rng((self.first_seed, step))

    def _weight(self, kinds: np.ndarray, example: int) -> float:
        """How often an example is drawn, against one of one step."""
        start, stop = self.data.rows[example], self.data.rows[example + 1]
        right_places = np.flatnonzero(self.right[start:stop])
        if not len(right_places):
            return 1.0
        row = kinds[start + right_places[0]]
        steps = int(np.isin(row, RELATION).sum())
        return 1.0 + 0.5 * (steps > 1) + 0.5 * (steps > 2) + 0.6 * bool(np.isin(row, JOIN).any())

    def batches(self, count: int, most: int) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
        """Batches without end, some drawn ahead; each has a seed of its own, whatever the threads do."""
        with ThreadPoolExecutor(AHEAD) as pool:
            ahead = [pool.submit(self.draw, count, most, self.seed(step)) for step in range(AHEAD)]
            step = AHEAD
            while True:
                yield ahead.pop(0).result()
                ahead.append(pool.submit(self.draw, count, most, self.seed(step)))
                step += 1

    def draw(self, count: int, most: int, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
        """Rows of some examples, and which are right: bool [count, most + 1], NONE last."""
        graphs = -(-count // OF_GRAPH)
        chosen = self.examples[np.concatenate([self._draw_of_graph(rng) for _ in range(graphs)])[:count]]
        picked: list[np.ndarray] = []
        for i in chosen:
            start, stop = self.data.rows[i], self.data.rows[i + 1]
            rows = np.arange(start, stop)
            right = self.right[start:stop]
            if rng.random() < DROPPED and not right.all():
                rows, right = rows[~right], right[~right]
            if len(rows) > most:
                key = rng.gumbel(size=len(rows)) + self.first_scores[rows] + 1000 * right
                rows = rows[np.argsort(-key)[:most]]
            picked.append(rows)
        marks = np.zeros((count, max(map(len, picked)) + 1), bool)
        for i, rows in enumerate(picked):
            marks[i, : len(rows)] = self.right[rows]
        marks[:, -1] = ~marks.any(1)
        return picked, marks

    def _draw_of_graph(self, rng: np.random.Generator) -> np.ndarray:
        """Some questions of one graph, as places among all."""
        graph = int(_at(self.graphs, rng.random(1))[0])
        return self.places_by_graph[graph][_at(self.bounds[graph], rng.random(OF_GRAPH))]


def _at(bounds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Where shares of the whole fall between bounds."""
    return np.searchsorted(bounds, shares * bounds[-1]).clip(max=len(bounds) - 1)


def first_pass_scores(data: Data, first_pass: FirstPass) -> np.ndarray:
    """How likely the first look finds each row among those of its example, in logits, float32 [rows]."""
    scores = np.zeros(len(data.view), np.float32)
    features, kinds = data.features.cpu().numpy(), data.kinds.cpu().numpy()
    for start in range(0, len(scores), CHUNK):
        chunk = slice(start, start + CHUNK)
        scores[chunk] = first_pass.scores(rows_of_examples(features[chunk], kinds[chunk]).astype(np.float32))
    return scores


def measure(scorer: Scorer, held_out: np.ndarray, first_scores: np.ndarray) -> dict[str, float]:
    """Shares right first among held-out examples, by source and steps, and nats of all."""
    data, right = scorer.data, scorer.data.right.cpu().numpy()
    hits_by_kind, nats = dict[str, list[bool]](), list[float]()
    for i, (hit, loss) in zip(held_out, _ranked(scorer, held_out, first_scores), strict=True):
        rows = np.arange(data.rows[i], data.rows[i + 1])
        kind = "none"
        if right[rows].any():
            gold = data.kinds[rows[np.flatnonzero(right[rows])[0]]].cpu().numpy()
            kind = f"{data.source[i]} {int(np.isin(gold, RELATION).sum())}"
        hits_by_kind.setdefault(kind, []).append(hit)
        nats.append(loss)
    shares = {f"{k} ({len(v)})": round(float(np.mean(v)), 3) for k, v in sorted(hits_by_kind.items())}
    return shares | {"nats": round(float(np.mean(nats)), 3)}


def share_right_first(scorer: Scorer, held_out: np.ndarray, first_scores: np.ndarray) -> float:
    """Share right first among some examples."""
    return round(float(np.mean([hit for hit, _ in _ranked(scorer, held_out, first_scores)])), 3)


def _ranked(scorer: Scorer, held_out: np.ndarray, first_scores: np.ndarray) -> Iterator[tuple[bool, float]]:
    """Of each example, ranked as in use: whether the first one is right, and the nats of all that are."""
    model, data = scorer.model, scorer.data
    model.eval()
    right = data.right.cpu().numpy()
    with torch.no_grad():
        for group in np.array_split(held_out, max(1, len(held_out) // MEASURED)):
            chosen: list[np.ndarray] = []
            for i in group:
                rows = np.arange(data.rows[i], data.rows[i + 1])
                chosen.append(rows[np.sort(np.argsort(-first_scores[rows])[:CANDIDATES_KEPT])])
            table = scorer.scores(chosen).log_softmax(1).cpu().numpy()
            for i, rows, scores in zip(group, chosen, table, strict=True):
                has_right = right[data.rows[i] : data.rows[i + 1]].any()
                at = int(scores.argmax())
                hit = bool(right[rows[at]]) if at < len(rows) else not has_right
                good = [*np.flatnonzero(right[rows])] or [len(scores) - 1]
                yield hit, -float(np.logaddexp.reduce(scores[good]))
    model.train()


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path, default=MODEL, help="MiniLM, or a shipped model to go on with")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--steps", type=int, default=10**9, help="at most")
    parser.add_argument("--layers", type=int, default=ENCODER_LAYERS, help="of the encoder, from above")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rows", type=int, default=28)
    parser.add_argument("--rate", type=float, default=4e-5, help="of the encoder")
    parser.add_argument("--head-rate", type=float, default=3e-4)
    parser.add_argument("--half", type=int, choices=(0, 1), help="of the graphs of people, to be held out")
    parser.add_argument("--held", type=int, default=600, help="held-out examples to measure on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.time()
    model = Ranker(args.start)
    data = load(args.examples, model.texts, device)
    is_held_out = held_out_examples(data, args.half)
    order = np.random.default_rng(0).permutation(len(is_held_out))
    held_out = order[is_held_out[order]][: args.held]
    first_scores = first_pass_scores(data, FirstPass.open(MODEL / "first_pass.npz"))
    drawer = Drawer(data, order[~is_held_out[order]], first_scores, args.seed)
    scorer = Scorer(model.to(device), data, args.layers)
    print(
        f"{len(is_held_out)} examples, {is_held_out.sum()} held out; {time.time() - began:.0f} s", flush=True
    )
    print(measure(scorer, held_out, first_scores), flush=True)
    train(scorer, drawer, lambda: measure(scorer, held_out, first_scores), args)
    print(measure(scorer, held_out, first_scores), flush=True)
    torch.save(model.state_dict(), args.out)


def train(
    scorer: Scorer, drawer: Drawer, progress_report: Callable[[], dict[str, float]], args: argparse.Namespace
) -> None:
    """Train for some minutes or steps; the model is left with the mean of its weights."""
    model, frozen = scorer.model, scorer.frozen
    upper = list(model.encoder.layers[frozen:].parameters())
    if not frozen:
        upper += [model.encoder.places, *model.encoder.norm.parameters()]
    rates = (args.rate, args.head_rate)
    groups = [{"params": upper, "lr": rates[0]}, {"params": list(model.head.parameters()), "lr": rates[1]}]
    fused = next(model.parameters()).is_cuda
    optimiser = torch.optim.AdamW([g for g in groups if g["params"]], weight_decay=0.01, fused=fused)
    weights = {k: v for k, v in model.state_dict().items() if k != "encoder.words.weight"}
    mean = {k: v.detach().clone() for k, v in weights.items()}
    moving = [k for k, v in weights.items() if v.is_floating_point()]
    began = last = time.time()
    steps, seconds = 0, args.minutes * 60
    total = torch.zeros((), device=scorer.data.kinds.device)
    batches = drawer.batches(args.batch, args.rows)
    while (spent := time.time() - began) < seconds and steps < args.steps:
        remaining = 1 - max(spent / seconds, steps / args.steps)
        rate = min(1.0, (steps + 1) / 100) * max(0.01, remaining)
        for group, top in zip(optimiser.param_groups, rates[-len(optimiser.param_groups) :], strict=True):
            group["lr"] = top * rate
        chosen, marks = next(batches)
        scores = scorer.scores(chosen)
        wrong = torch.from_numpy(~marks).to(scores.device)
        loss = (scores.logsumexp(1) - scores.masked_fill(wrong, -1e9).logsumexp(1)).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        steps += 1
        share = min(MEAN, steps / (steps + 10))
        with torch.no_grad():
            torch._foreach_lerp_([mean[k] for k in moving], [weights[k] for k in moving], 1 - share)
        total += loss.detach()
        if steps % 100 == 0:
            print(f"{steps} steps, {spent:.0f} s: loss {float(total) / 100:.3f}", flush=True)
            total.zero_()
        if time.time() - last > max(120, seconds / 5):
            print(progress_report(), flush=True)
            torch.save(model.state_dict() | mean, args.out)
            last = time.time()
    batches.close()
    model.load_state_dict(mean, strict=False)


if __name__ == "__main__":
    main()
