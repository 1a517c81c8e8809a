"""The ranker in torch: a small encoder for texts, and a head that scores candidates against a question.

The encoder is MiniLM (its weights are taken out of an int8 ONNX file). It gives a vector for every token of a
question, and one for every label of relations and types, so that a graph's labels are encoded once. The head
reads a candidate as a row of such vectors: it lets them look at each other and at the question's tokens,
then lets the question's tokens look at the candidate, to see which of them it explains.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import nn

WIDE, NARROW, HEADS, LAYERS = 384, 128, 4, 2
KINDS, TOKENS = 40, 26
LONGEST = 48
DROPOUT = 0.1


def minilm_weights(folder: Path) -> dict[str, np.ndarray]:
    """The weights of the encoder as float32, by the published names; from `weights.npz` if it is there."""
    if (folder / "weights.npz").exists():
        return {k: v.astype(np.float32) for k, v in np.load(folder / "weights.npz").items()}
    import onnx
    from onnx import numpy_helper

    arrays = {
        i.name: numpy_helper.to_array(i) for i in onnx.load(str(folder / "model.onnx")).graph.initializer
    }
    found = {k[2:]: v for k, v in arrays.items() if k.startswith("m.") and v.dtype == np.float32 and v.ndim}

    def whole(name: str) -> np.ndarray:
        low, scale = (
            arrays[f"{name}_zero_point"].astype(np.float32),
            arrays[f"{name}_scale"].astype(np.float32),
        )
        return (arrays[f"{name}_quantized"].astype(np.float32) - low) * scale

    for part in ("word", "position", "token_type"):
        found[f"embeddings.{part}_embeddings.weight"] = whole(f"m.embeddings.{part}_embeddings.weight")
    values = [
        k.removesuffix("_quantized") for k in arrays if k.startswith("val_") and k.endswith("_quantized")
    ]
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
             "intermediate.dense", "output.dense")  # fmt: skip
    for layer in range(6):
        for at, part in enumerate(parts):
            found[f"encoder.layer.{layer}.{part}.weight"] = whole(values[6 * layer + at]).T.copy()
    return found


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, weights: dict[str, np.ndarray], at: int) -> None:
        super().__init__()

        def get(name: str) -> torch.Tensor:
            return torch.tensor(weights[f"encoder.layer.{at}.{name}"])

        self.qkv, self.out = nn.Linear(WIDE, 3 * WIDE), nn.Linear(WIDE, WIDE)
        self.up, self.down = nn.Linear(WIDE, 4 * WIDE), nn.Linear(4 * WIDE, WIDE)
        self.norm1, self.norm2 = nn.LayerNorm(WIDE, 1e-12), nn.LayerNorm(WIDE, 1e-12)
        names = [f"attention.self.{n}" for n in ("query", "key", "value")]
        self.qkv.weight.data = torch.cat([get(f"{n}.weight") for n in names])
        self.qkv.bias.data = torch.cat([get(f"{n}.bias") for n in names])
        for module, name in (
            (self.out, "attention.output.dense"),
            (self.norm1, "attention.output.LayerNorm"),
            (self.up, "intermediate.dense"),
            (self.down, "output.dense"),
            (self.norm2, "output.LayerNorm"),
        ):
            module.weight.data, module.bias.data = get(f"{name}.weight"), get(f"{name}.bias")

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X [B, L, 384], mask additive [B, 1, 1, L]."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 12, WIDE // 12).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / (WIDE // 12) ** 0.5 + mask).softmax(-1)
        seen = self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDE))
        x = self.norm1(x + F.dropout(seen, DROPOUT, self.training))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), DROPOUT, self.training))


class Encoder(nn.Module):
    """Texts → a vector for each token."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(
            torch.tensor(weights["embeddings.word_embeddings.weight"]), freeze=True
        )
        places = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self.places = nn.Parameter(torch.tensor(places[:LONGEST]))
        self.norm = nn.LayerNorm(WIDE, 1e-12)
        self.norm.weight.data = torch.tensor(weights["embeddings.LayerNorm.weight"])
        self.norm.bias.data = torch.tensor(weights["embeddings.LayerNorm.bias"])
        self.layers = nn.ModuleList(Layer(weights, at) for at in range(6))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Ids int64 [B, L], mask float [B, L] → float [B, L, 384]."""
        x = self.norm(self.words(ids) + self.places[: ids.shape[1]])
        hide = (1.0 - mask)[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, hide)
        return x


class Attention(nn.Module):
    """Attention from rows to other rows, whose keys and values may be shared by many."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.kv, self.out = (
            nn.Linear(NARROW, NARROW),
            nn.Linear(NARROW, 2 * NARROW),
            nn.Linear(NARROW, NARROW),
        )

    def forward(self, q: torch.Tensor, kv: torch.Tensor, hide: torch.Tensor) -> torch.Tensor:
        """Queries [B, T, d] and keys with values [B, S, 2 d], both projected, hide additive [B, 1, 1, S]."""
        batch, rows, _ = q.shape
        size = NARROW // HEADS
        q = q.view(batch, rows, HEADS, size).transpose(1, 2)
        k, v = kv.view(batch, -1, 2, HEADS, size).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / size**0.5 + hide).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, rows, NARROW))


class Block(nn.Module):
    """The candidate looks at itself, then at the question."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.cross = Attention(), Attention()
        self.n1, self.n2, self.n3 = (nn.LayerNorm(NARROW) for _ in range(3))
        self.up, self.down = nn.Linear(NARROW, 2 * NARROW), nn.Linear(2 * NARROW, NARROW)

    def forward(
        self, c: torch.Tensor, question: torch.Tensor, hide_c: torch.Tensor, hide_q: torch.Tensor
    ) -> torch.Tensor:
        """C [N, T, d], question [N, L, 2 d]: its keys and values for this block."""
        seen = self.n1(c)
        c = c + self.own(self.own.q(seen), self.own.kv(seen), hide_c)
        c = c + self.cross(self.cross.q(self.n2(c)), question, hide_q)
        return c + self.down(F.gelu(self.up(self.n3(c))))


class Head(nn.Module):
    """Scores candidates against their views of a question."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.kind, self.place = nn.Embedding(KINDS, NARROW), nn.Embedding(TOKENS, NARROW)
        self.label, self.span, self.question = (nn.Linear(WIDE, NARROW) for _ in range(3))
        self.near = nn.Linear(2, NARROW)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.back = Attention()
        self.compare_q, self.compare = nn.Linear(NARROW, NARROW), nn.Linear(2 * NARROW, NARROW)
        self.gate_q, self.gate = nn.Linear(NARROW, 1), nn.Linear(NARROW, 1)
        self.norm_f = nn.BatchNorm1d(features, momentum=0.02)
        self.facts = nn.Sequential(nn.Linear(features, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU())
        self.final = nn.Sequential(
            nn.Linear(2 * NARROW + 64, 128), nn.GELU(), nn.Dropout(0.1), nn.Linear(128, 1)
        )
        self.kind.weight.data *= 0.3
        self.place.weight.data *= 0.1

    def forward(
        self,
        states: torch.Tensor,
        q_mask: torch.Tensor,
        labels: torch.Tensor,
        kinds: torch.Tensor,
        label_at: torch.Tensor,
        span_at: torch.Tensor,
        view: torch.Tensor,
        features: torch.Tensor,
    ) -> torch.Tensor:
        """Scores [N] of candidates.

        states float [V, L, 384] with q_mask [V, L]: the views; labels [M, 384]; kinds int64 [N, T]; label_at
        int64 [N, T]: row of `labels`, -1 for none; span_at int64 [N, T, 2]: first and one past the last
        token of a mention, (0, 0) for none; view int64 [N]; features [N, F].
        """
        q_all = self.question(states)
        unit = F.normalize(states, dim=-1)
        words = F.normalize(labels, dim=-1)
        near = torch.einsum("vld,md->vml", unit, words) + (q_mask[:, None, :] - 1) * 10
        mean = F.normalize((states * q_mask[..., None]).sum(1), dim=-1) @ words.T
        best = torch.stack([near.amax(-1), mean], -1)
        has = (label_at >= 0).float()[..., None]
        at = label_at.clamp(min=0)
        c = self.kind(kinds) + self.place.weight[: kinds.shape[1]]
        c = c + has * (self.label(labels)[at] + self.near(best[view[:, None], at]))
        sums = torch.cat([torch.zeros_like(states[:, :1]), states.cumsum(1)], 1)
        first, last = span_at[..., 0], span_at[..., 1]
        of = view[:, None]
        width = (last - first).clamp(min=1)[..., None].float()
        c = c + (last > first).float()[..., None] * self.span((sums[of, last] - sums[of, first]) / width)
        here = (kinds > 0).float()
        hide_c, hide_q = (1 - here)[:, None, None, :] * -1e4, (1 - q_mask[view])[:, None, None, :] * -1e4
        # What depends on the question alone is made once a view, not once a candidate.
        q = q_all[view]
        for block in self.blocks:
            c = block(c, block.cross.kv(q_all)[view], hide_c, hide_q)
        e = self.back(self.back.q(q_all)[view], self.back.kv(c), hide_c)
        m = F.gelu(self.compare_q(q_all)[view] + self.compare(torch.cat([e, q * e], -1)))
        weights = (self.gate_q(q_all)[view] + self.gate(m))[..., 0] + hide_q[:, 0, 0]
        weights = weights.softmax(-1)
        seen = (weights[..., None] * m).sum(1)
        pooled = (c * here[..., None]).sum(1) / here.sum(1, keepdim=True)
        facts = self.facts(self.norm_f(features))
        return self.final(torch.cat([pooled, seen, facts], -1))[:, 0]


@dataclass
class Texts:
    """Token ids of texts with the characters that they stand for."""

    tokenizer: Tokenizer

    @classmethod
    def open(cls, path: Path) -> Texts:
        """Open a tokenizer."""
        packed = path.read_bytes()
        text = gzip.decompress(packed) if path.suffix == ".gz" else packed
        tokenizer = Tokenizer.from_str(text.decode("utf-8"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return cls(tokenizer)

    def batch(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, list[list[tuple[int, int]]]]:
        """Ids [B, L], mask [B, L], and the characters [start, stop) of each token."""
        encoded = self.tokenizer.encode_batch(texts)
        length = max(len(e.ids) for e in encoded)
        ids, mask = torch.zeros(len(texts), length, dtype=torch.long), torch.zeros(len(texts), length)
        for i, e in enumerate(encoded):
            ids[i, : len(e.ids)] = torch.tensor(e.ids)
            mask[i, : len(e.ids)] = 1
        return ids, mask, [list(e.offsets) for e in encoded]


def span_of(offsets: list[tuple[int, int]], place: tuple[int, int]) -> tuple[int, int]:
    """The tokens that stand for the characters [start, stop)."""
    inside = [i for i, (a, b) in enumerate(offsets) if a < place[1] and place[0] < b]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)
