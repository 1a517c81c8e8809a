"""The ranker in torch: a small encoder for texts, and a head that scores candidates against a question.

The encoder is MiniLM (its weights are taken out of an int8 ONNX file). It gives a vector for every token of a
question, and one for every label of relations and types, so that a graph's labels are encoded once. The head
reads a candidate as a row of such vectors: it lets them look at each other and at the question's tokens,
then lets the question's tokens look at the candidate, to see which of them it explains.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from clew.reading.features import COMPARED, FEATURES

WIDE, NARROW, HEADS, LAYERS = 384, 128, 4, 2
KINDS, TOKENS = 40, 26
LONGEST = 48
ENCODER_LAYERS = 6
ATTENTION = ("query", "key", "value")
PARTS = (
    ("out", "attention.output.dense"), ("up", "intermediate.dense"), ("down", "output.dense"),
    ("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm"),
)  # fmt: skip
"""The parts of a layer of the encoder here, and their published names."""
DROPOUT = 0.1


def encoder_weights(folder: Path) -> dict[str, np.ndarray]:
    """The weights of the encoder of a folder as float32, by the published names.

    The folder holds MiniLM as `weights.npz` or as an int8 `model.onnx`, or what `export.py` wrote.
    """
    if (folder / "weights.npz").exists():
        return {k: v.astype(np.float32) for k, v in np.load(folder / "weights.npz").items()}
    shipped = (folder / "encoder.onnx").exists()
    arrays = initializers(folder / ("encoder.onnx" if shipped else "model.onnx"))
    return _shipped(arrays) if shipped else _minilm(arrays)


def initializers(path: Path) -> dict[str, np.ndarray]:
    """The stored arrays of an ONNX file by their names; those stored as integers as what these stand for."""
    import onnx
    from onnx import numpy_helper

    stored = {i.name: numpy_helper.to_array(i) for i in onnx.load(str(path)).graph.initializer}
    weights: dict[str, np.ndarray] = {}
    for name, array in stored.items():
        plain = name.removesuffix("_quantized")
        if plain != name:
            low = stored[f"{plain}_zero_point"].astype(np.float32)
            whole = (array.astype(np.float32) - low) * stored[f"{plain}_scale"].astype(np.float32)
            base_name = plain.removesuffix("_Transposed")
            weights[base_name] = whole if base_name == plain else whole.T
        elif not name.endswith(("_scale", "_zero_point")):
            weights[name] = array
    return weights


def _minilm(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    weights = {k[2:]: v for k, v in arrays.items() if k.startswith("m.") and v.dtype == np.float32 and v.ndim}
    values = [k for k, v in arrays.items() if k.startswith("val_") and v.ndim == 2]
    parts = (*(f"attention.self.{n}" for n in ATTENTION), *(name for _, name in PARTS[:3]))
    for layer in range(ENCODER_LAYERS):
        for at, part in enumerate(parts):
            weights[f"encoder.layer.{layer}.{part}.weight"] = arrays[values[6 * layer + at]].T.copy()
    return weights


def _shipped(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    weights = {
        "embeddings.word_embeddings.weight": arrays["encoder.words.weight"],
        "embeddings.position_embeddings.weight": arrays["encoder.places"],
        "embeddings.token_type_embeddings.weight": np.zeros((1, WIDE), np.float32),
        "embeddings.LayerNorm.weight": arrays["encoder.norm.weight"],
        "embeddings.LayerNorm.bias": arrays["encoder.norm.bias"],
    }
    names = sorted((k for k in arrays if k.startswith("onnx::")), key=_number)
    for layer in range(ENCODER_LAYERS):
        source, target = f"encoder.layers.{layer}", f"encoder.layer.{layer}"
        qkv, *matrices = (arrays[name].T for name in names[4 * layer : 4 * layer + 4])
        for at, name in enumerate(ATTENTION):
            part = slice(at * WIDE, (at + 1) * WIDE)
            weights[f"{target}.attention.self.{name}.weight"] = qkv[part].copy()
            weights[f"{target}.attention.self.{name}.bias"] = arrays[f"{source}.qkv.bias"][part]
        for (module, name), weight in zip(PARTS[:3], matrices, strict=True):
            weights[f"{target}.{name}.weight"] = weight.copy()
            weights[f"{target}.{name}.bias"] = arrays[f"{source}.{module}.bias"]
        for module, name in PARTS[3:]:
            for kind in ("weight", "bias"):
                weights[f"{target}.{name}.{kind}"] = arrays[f"{source}.{module}.{kind}"]
    return weights


def _number(name: str) -> int:
    """The number at the end of a name: such names are in the order in which the layers are used."""
    return int(name.rsplit("_", 1)[1])


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, weights: dict[str, np.ndarray], at: int) -> None:
        super().__init__()

        def get(name: str) -> torch.Tensor:
            return torch.tensor(weights[f"encoder.layer.{at}.{name}"])

        self.qkv, self.out = nn.Linear(WIDE, 3 * WIDE), nn.Linear(WIDE, WIDE)
        self.up, self.down = nn.Linear(WIDE, 4 * WIDE), nn.Linear(4 * WIDE, WIDE)
        self.norm1, self.norm2 = nn.LayerNorm(WIDE, 1e-12), nn.LayerNorm(WIDE, 1e-12)
        names = [f"attention.self.{n}" for n in ATTENTION]
        self.qkv.weight.data = torch.cat([get(f"{n}.weight") for n in names])
        self.qkv.bias.data = torch.cat([get(f"{n}.bias") for n in names])
        for attribute, name in PARTS:
            module = getattr(self, attribute)
            module.weight.data, module.bias.data = get(f"{name}.weight"), get(f"{name}.bias")

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X [B, L, 384], mask additive [B, 1, 1, L]."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 12, WIDE // 12).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / (WIDE // 12) ** 0.5 + mask).softmax(-1)
        context = self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDE))
        x = self.norm1(x + F.dropout(context, DROPOUT, self.training))
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
        self.layers = nn.ModuleList(Layer(weights, at) for at in range(ENCODER_LAYERS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Ids int64 [B, L], mask float [B, L] → float [B, L, 384]."""
        return self.upper(self.lower(ids, mask, 0), mask, 0)

    def lower(self, ids: torch.Tensor, mask: torch.Tensor, layers: int) -> torch.Tensor:
        """What the first layers make of texts: ids int64 [B, L], mask float [B, L] → float [B, L, 384]."""
        x = self.norm(self.words(ids) + self.places[: ids.shape[1]])
        return self._through(self.layers[:layers], x, mask)

    def upper(self, x: torch.Tensor, mask: torch.Tensor, layers: int) -> torch.Tensor:
        """What the layers above the first ones make of their vectors: float [B, L, 384]."""
        return self._through(self.layers[layers:], x, mask)

    def _through(self, layers: Iterable[nn.Module], x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hide = (1.0 - mask)[:, None, None, :] * -1e4
        for layer in layers:
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
        rows = self.n1(c)
        c = c + self.own(self.own.q(rows), self.own.kv(rows), hide_c)
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
        has_label = (label_at >= 0).float()[..., None]
        at = label_at.clamp(min=0)
        c = self.kind(kinds) + self.place.weight[: kinds.shape[1]]
        c = c + has_label * (self.label(labels)[at] + self.near(best[view[:, None], at]))
        sums = torch.cat([torch.zeros_like(states[:, :1]), states.cumsum(1)], 1)
        first, last = span_at[..., 0], span_at[..., 1]
        view_at = view[:, None]
        width = (last - first).clamp(min=1)[..., None].float()
        c = c + (last > first).float()[..., None] * self.span(
            (sums[view_at, last] - sums[view_at, first]) / width
        )
        token_mask = (kinds > 0).float()
        hide_c, hide_q = (
            (1 - token_mask)[:, None, None, :] * -1e4,
            (1 - q_mask[view])[:, None, None, :] * -1e4,
        )
        # What depends on the question alone is made once a view, not once a candidate.
        q = q_all[view]
        for block in self.blocks:
            c = block(c, block.cross.kv(q_all)[view], hide_c, hide_q)
        e = self.back(self.back.q(q_all)[view], self.back.kv(c), hide_c)
        m = F.gelu(self.compare_q(q_all)[view] + self.compare(torch.cat([e, q * e], -1)))
        weights = (self.gate_q(q_all)[view] + self.gate(m))[..., 0] + hide_q[:, 0, 0]
        weights = weights.softmax(-1)
        comparison = (weights[..., None] * m).sum(1)
        pooled = (c * token_mask[..., None]).sum(1) / token_mask.sum(1, keepdim=True)
        facts = self.facts(self.norm_f(features))
        return self.final(torch.cat([pooled, comparison, facts], -1))[:, 0]


@dataclass
class Texts:
    """Token ids of texts with the characters that they stand for."""

    tokenizer: Tokenizer
    source: bytes
    """The file of the tokenizer, as it was."""

    @classmethod
    def open(cls, path: Path) -> Texts:
        """Open a tokenizer."""
        packed = path.read_bytes()
        source = gzip.decompress(packed) if path.suffix == ".gz" else packed
        tokenizer = Tokenizer.from_str(source.decode("utf-8"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return cls(tokenizer, source)

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


_PLAIN = (
    "question", "near", "span", "blocks.0.cross.kv", "blocks.0.own.q", "blocks.0.own.kv", "blocks.0.own.out",
    "blocks.0.cross.q", "blocks.0.cross.out", "blocks.0.up", "blocks.0.down", "blocks.1.cross.kv",
    "blocks.1.own.q", "blocks.1.own.kv", "blocks.1.own.out", "blocks.1.cross.q", "blocks.1.cross.out",
    "blocks.1.up", "blocks.1.down", "back.q", "back.kv", "back.out", "compare_q", "compare", "gate_q", "gate",
)  # fmt: skip
"""The layers whose weights have no names in an exported head, in the order in which they are used."""


def head_of(folder: Path) -> Head:
    """The head of a folder that `export.py` wrote, with room for the features of today; elsewhere a new one.

    Features that it does not know begin with weights of zero.
    """
    feature_names = [*FEATURES, *(f"{name} distance" for name in COMPARED)]
    head = Head(len(feature_names))
    if not (folder / "head.onnx").exists():
        return head
    arrays = initializers(folder / "head.onnx")
    unnamed_weights = sorted((k for k in arrays if k.startswith("onnx::")), key=_number)
    state = {k: torch.tensor(v) for k, v in arrays.items() if not k.startswith("onnx::")}
    state |= {f"{n}.weight": torch.tensor(arrays[k].T) for n, k in zip(_PLAIN, unnamed_weights, strict=True)}
    stored_features = json.loads((folder / "model.json").read_text("utf-8"))["features"]
    plain_count = next(
        (i for i, name in enumerate(stored_features) if name in stored_features[:i]), len(stored_features)
    )
    stored_names = [
        *stored_features[:plain_count],
        *(f"{name} distance" for name in stored_features[plain_count:]),
    ]
    at = torch.tensor([feature_names.index(name) for name in stored_names])
    new_state = head.state_dict()
    for name in ("weight", "bias", "running_mean", "running_var"):
        value = new_state[f"norm_f.{name}"].clone()
        value[at] = state[f"norm_f.{name}"]
        state[f"norm_f.{name}"] = value
    input_weights = torch.zeros_like(new_state["facts.0.weight"])
    input_weights[:, at] = state["facts.0.weight"]
    state["facts.0.weight"] = input_weights
    head.load_state_dict(state, strict=False)
    return head


class Ranker(nn.Module):
    """Encoder and head."""

    def __init__(self, folder: Path) -> None:
        """Begin with the weights of a folder: MiniLM, or what `export.py` wrote."""
        super().__init__()
        packed = folder / "tokenizer.json.gz"
        self.texts = Texts.open(packed if packed.exists() else folder / "tokenizer.json")
        self.encoder = Encoder(encoder_weights(folder))
        self.head = head_of(folder)
        self.has_shipped_head = (folder / "head.onnx").exists()

    def train(self, mode: bool = True) -> Ranker:
        """As in torch; but what a shipped head knows of the spread of features stays."""
        super().train(mode)
        if self.has_shipped_head:
            self.head.norm_f.eval()
        return self
