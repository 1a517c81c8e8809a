"""Write the labels of the world that words are compared with (`reading/background.py`).

python scripts/train_reader/background.py OUT.npz

Names of Wikidata's properties and of Freebase's relations, as the shipped encoder sees them: made again
when the encoder changes.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
from sets import DATA

from clew.reading.ranker import shipped

WIKIDATA = DATA / "reader_training" / "wikidata_property_labels" / "en.json.gz"
FREEBASE = DATA / "reader_training" / "freebase_relation_labels" / "fb_relations_domain_range_label.json.gz"
OF_USERS = ("user.", "base.")
"""Domains of Freebase that anybody could add."""
LONGEST = 40


def labels() -> list[str]:
    """All labels in small letters, in their order; no codes."""
    of_wikidata = json.loads(gzip.decompress(WIKIDATA.read_bytes())).values()
    of_freebase = (
        relation["label"]
        for name, relation in json.loads(gzip.decompress(FREEBASE.read_bytes())).items()
        if "label" in relation and not name.startswith(OF_USERS)
    )
    return sorted({text.lower() for text in (*of_wikidata, *of_freebase) if _is_label(text)})


def _is_label(text: str) -> bool:
    return text.isascii() and len(text) < LONGEST and not re.search(r"\d|\bID\b", text)


def main() -> None:
    """Encode and write."""
    texts = labels()
    vectors = shipped().encode_labels(texts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scale = np.float32(np.abs(vectors).max() / 127)
    np.savez(Path(sys.argv[1]), vectors=np.round(vectors / scale).astype(np.int8), scale=scale)
    print(len(texts), "labels")


if __name__ == "__main__":
    main()
