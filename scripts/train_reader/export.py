"""Write a trained ranker as the files that the package ships: encoder and head as int8, the tokenizer.

python scripts/train_reader/export.py MODEL.pt --start FOLDER --out src/clew/reading/model
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from pathlib import Path

import torch
from model import LONGEST, TOKENS, Ranker
from onnxruntime.quantization import QuantType, quantize_dynamic
from train import MODEL

from clew.reading.features import COMPARED, FEATURES

VERSION = 3


class Pooled(torch.nn.Module):
    """The encoder with positions as a plain slice, for export."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """As the encoder."""
        return self.encoder(ids, mask)


def _as_int8(whole: Path, out: Path, operations: list[str] | None = None) -> None:
    quantize_dynamic(
        whole, out, op_types_to_quantize=operations, weight_type=QuantType.QInt8, per_channel=True
    )


def write_head(head: torch.nn.Module, out: Path) -> None:
    """Write a head, and what it expects; how scores become probabilities is to be fitted again."""
    views, labels, rows, tokens = 3, 5, 7, 11
    inputs = (
        torch.randn(views, 9, 384), torch.ones(views, 9), torch.randn(labels, 384),
        torch.randint(1, 30, (rows, tokens)), torch.randint(-1, labels, (rows, tokens)),
        torch.zeros(rows, tokens, 2, dtype=torch.long), torch.randint(0, views, (rows,)),
        torch.randn(rows, len(FEATURES) + len(COMPARED)),
    )  # fmt: skip
    names = ["states", "mask", "labels", "kinds", "label_at", "span_at", "view", "features"]
    axes = {
        "states": {0: "views", 1: "length"}, "mask": {0: "views", 1: "length"}, "labels": {0: "labels"},
        "kinds": {0: "rows", 1: "tokens"}, "label_at": {0: "rows", 1: "tokens"},
        "span_at": {0: "rows", 1: "tokens"}, "view": {0: "rows"}, "features": {0: "rows"},
        "scores": {0: "rows"},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "head.onnx"
        torch.onnx.export(
            head, inputs, str(whole), dynamo=False, opset_version=17, input_names=names,
            output_names=["scores"], dynamic_axes=axes,
        )  # fmt: skip
        _as_int8(whole, out / "head.onnx", ["MatMul"])
    settings = {"version": VERSION, "features": [*FEATURES, *COMPARED], "tokens": TOKENS, "longest": LONGEST}
    (out / "model.json").write_text(json.dumps(settings, indent=1) + "\n")


def main() -> None:
    """Export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--start", type=Path, default=MODEL, help="the folder that training began with")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    ranker = Ranker(args.start)
    ranker.load_state_dict(torch.load(args.model))
    ranker.eval()
    args.out.mkdir(parents=True, exist_ok=True)
    ids, mask = torch.randint(5, 900, (3, 9)), torch.ones(3, 9)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "encoder.onnx"
        torch.onnx.export(
            Pooled(ranker.encoder), (ids, mask), str(whole), dynamo=False, opset_version=17,
            input_names=["ids", "mask"], output_names=["states"],
            dynamic_axes={"ids": {0: "texts", 1: "tokens"}, "mask": {0: "texts", 1: "tokens"},
                          "states": {0: "texts", 1: "tokens"}},
        )  # fmt: skip
        _as_int8(whole, args.out / "encoder.onnx")
    write_head(ranker.head, args.out)
    with gzip.GzipFile(args.out / "tokenizer.json.gz", "wb", mtime=0) as packed:
        packed.write(ranker.texts.source)
    print({p.name: p.stat().st_size for p in sorted(args.out.iterdir())})


if __name__ == "__main__":
    main()
