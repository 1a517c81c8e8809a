"""Indexes whose checksums are right, and whose contents no build writes, are said damaged when opened."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest

from clew import Clew
from clew.errors import FormatError
from clew.index.store.directory import _checksum
from clew.index.store.files import file_entry


def write_manifest(index, body):
    body.pop("checksum")
    (index / "manifest.json").write_text(json.dumps({"checksum": _checksum(body), **body}), "utf-8")


@pytest.fixture
def copy(films, tmp_path):
    """(index, its manifest): a copy that may be changed."""
    index = tmp_path / "copy.clew"
    shutil.copytree(films, index)
    return index, json.loads((index / "manifest.json").read_text("utf-8"))


def change(index, manifest, section, make):
    (file,) = index.glob(f"gen-*/{section}.npy")
    np.save(file, make(np.load(file)))
    for entry in manifest["files"]:
        if entry["section"] == section:
            entry |= asdict(file_entry(file.parent, section, file.name))
    write_manifest(index, manifest)


def another_end(neighbours):
    neighbours[7] += 1
    return neighbours


def swapped(neighbours):
    at = int(np.flatnonzero(np.diff(neighbours))[5])
    neighbours[[at, at + 1]] = neighbours[[at + 1, at]]
    return neighbours


@pytest.mark.parametrize("section", ["graph.out.neighbour", "graph.into.neighbour"])
@pytest.mark.parametrize("make", [another_end, swapped, np.sort, np.zeros_like])
def test_edges_that_differ_from_their_other_end_are_damage(copy, section, make):
    index, manifest = copy
    change(index, manifest, section, make)
    with pytest.raises(FormatError, match=r"graph\.(out|into)\.neighbour.*damaged.*Rebuild it with"):
        Clew.open(index)


@pytest.mark.parametrize("make", [swapped, lambda ids: ids[::-1].copy()])
def test_postings_out_of_order_are_damage(copy, make):
    index, manifest = copy
    change(index, manifest, "names.typos.postings", make)
    with pytest.raises(FormatError, match=r"names\.typos\.postings.*damaged.*Rebuild it with"):
        Clew.open(index)


@pytest.mark.parametrize(
    ("section", "make"),
    [
        ("corpus.p0.nodes", np.zeros_like), ("corpus.p0.steps", np.zeros_like),
        ("corpus.p0.steps", lambda steps: steps[:, ::-1].copy()),
        ("corpus.nodes.q", lambda rows: np.concatenate((rows, rows[:3]))),
    ],
)  # fmt: skip
def test_walks_that_end_elsewhere_than_their_steps_are_damage(copy, section, make):
    index, manifest = copy
    change(index, manifest, section, make)
    with pytest.raises(FormatError, match=r"corpus\.(p0|nodes).*damaged.*Rebuild it with"):
        Clew.open(index)


def test_a_manifest_that_lists_a_file_again_is_damaged(copy):
    index, manifest = copy
    manifest["files"] *= 2_000
    write_manifest(index, manifest)
    with pytest.raises(FormatError, match=r"manifest\.json: damaged, it lists .* twice.*Rebuild it with"):
        Clew.open(index)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"{'descr'", b"{{{{{{{{"), (b"'fortran_order'", b"'fortran_order:"), (b"False", b"Fal(e")],
)
def test_a_header_that_is_no_python_is_damage(copy, old, new):
    index, manifest = copy
    (file,) = index.glob("gen-*/graph.out.neighbour.npy")
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    for entry in manifest["files"]:
        if entry["file"] == file.name:
            entry |= asdict(file_entry(file.parent, entry["section"], file.name))
    write_manifest(index, manifest)
    with pytest.raises(FormatError, match="Rebuild it with"):
        Clew.open(index)
