"""What finds the vectors nearest to a query: the protocol, faiss, Milvus, and which one for how many."""

from __future__ import annotations

import errno
import json
import logging
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexAccessError, MissingExtra, UsageError
from clew.foundation.arrays import Float32, Int64, chunks_of
from clew.foundation.forms import shorten
from clew.foundation.redaction import keep_address, keep_secret
from clew.foundation.system import require
from clew.index.store.files import disk_errors


class VectorStoreError(IndexAccessError):
    """A vector database that does not answer, or refuses."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Vectors nearest to a query: `ids` int64 [k] and L2 `distances` float [k], ascending."""

    ids: Int64
    distances: NDArray[np.floating[Any]]


class VectorIndex(Protocol):
    """Vectors by id, searched by L2 distance; ids are chosen by the caller and differ."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        ...

    def __len__(self) -> int:
        """How many vectors there are."""
        ...

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors float32 [n, dimension] with new ids; whether they are new is not checked."""
        ...

    def search(self, query: Float32, k: int) -> Nearest:
        """The `k` nearest to `query` float32 [dimension], or all there are. UsageError for another shape."""
        ...

    def save(self, path: Path) -> None:
        """Write to `path`; raises IndexAccessError."""
        ...


def check_query(dimension: int, query: Float32) -> None:
    """Raise a UsageError unless the query has the dimension."""
    if query.shape != (dimension,):
        raise UsageError(f"a query of shape {list(query.shape)}: [{dimension}] is needed")


def check_dimension(path: Path, found: int, wanted: int | None) -> None:
    """Raise a FormatError if vectors of a file are of another dimension."""
    if wanted is not None and found != wanted:
        raise FormatError(
            f"{path}: holds vectors of dimension {found}, the embedder gives {wanted}. Index again"
        )


# faiss: eight bits a component, and a part of the cells that are nearest.
#
# Components are whole numbers of one step for all, so that faiss compares bytes and makes no floats of them.
# A cell is what k-means makes; with few of them a search reads long runs of memory. What the eight bits or
# the cells cost in recall is won back by asking for more and measuring again.

LARGEST, MIDDLE = 127, 128.5
"""Steps of the largest component, and what makes them positive and rounds them when they are cut down."""
SCANNED_A_RESULT = 75
"""A search compares at least so many vectors for each one that is asked for."""
LEAST_CELLS = 205
"""Cells that a search reads at least: recall depends on their number, hardly on how many there are."""


def faiss_module() -> Any:  # noqa: ANN401
    """Import faiss; MissingExtra if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss-cpu", "faiss") from error
    return faiss


class FaissVectors:
    """Compares the vectors of the nearest cells, of few cells all; `_index` is there once trained."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._index: Any = None
        self._step = 1.0

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def train(self, vectors: Float32, count: int) -> None:
        """Choose cells and ranges from a sample of the `count` vectors that will be added."""
        faiss = faiss_module()
        # So few that finding the nearest of them costs little.
        cells = min(int(np.clip(1.3 * np.sqrt(count), 1, 4096)), len(vectors))
        bits, metric = faiss.ScalarQuantizer.QT_8bit_direct, faiss.METRIC_L2
        quantizer = faiss.IndexFlatL2(self.dimension)
        index = faiss.IndexIVFScalarQuantizer(quantizer, self.dimension, cells, bits, metric)
        index.by_residual = False
        index.cp.max_points_per_centroid = 64
        index.cp.min_points_per_centroid = 1
        index.cp.niter = 8
        self._step = float(np.float32(np.abs(vectors).max(initial=0.0) / LARGEST)) or 1.0
        index.train(self._bytes(vectors))
        index.sq.rangestat_arg = self._step  # where it is kept
        self._index = index

    def _bytes(self, vectors: Float32) -> Float32:
        """Turn vectors into what faiss cuts down to bytes: components in steps, shifted into 0 to 255."""
        return np.clip(vectors / np.float32(self._step) + np.float32(MIDDLE), 0, 255, dtype=np.float32)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors; see `VectorIndex`."""
        if self._index is None:
            self.train(vectors, len(vectors))
        index: Any = self._index
        index.add_with_ids(self._bytes(vectors), ids.astype(np.int64))

    def search(self, query: Float32, k: int) -> Nearest:
        """Find the nearest by the stored eight bits; see `VectorIndex`."""
        check_query(self.dimension, query)
        k = min(k, len(self))
        if not k:
            return Nearest(np.zeros(0, np.int64), np.zeros(0, np.float32))
        cells = self._index.nlist
        needed = int(np.ceil(SCANNED_A_RESULT * k * cells / len(self)))
        reading = faiss_module().SearchParametersIVF(nprobe=min(cells, max(needed, LEAST_CELLS)))
        squared, ids = self._index.search(self._bytes(query[None]), k, params=reading)
        is_hit = ids[0] >= 0
        return Nearest(ids[0][is_hit], np.sqrt(np.maximum(squared[0][is_hit], 0)) * self._step)

    def save(self, path: Path) -> None:
        """Write to `path`; see `VectorIndex`."""
        with disk_errors(path):
            try:
                faiss_module().write_index(self._index, str(path))
            except RuntimeError as error:  # faiss does not say which error of the system it was
                full = path.parent.is_dir() and shutil.disk_usage(path.parent).free < (1 << 20)
                raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from error

    @classmethod
    def open(cls, path: Path, dimension: int | None = None) -> Self:
        """Open what `save` wrote, mapped; FormatError if it is damaged or of another dimension."""
        faiss = faiss_module()
        try:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise FormatError(f"{path}: faiss cannot read it ({error}). Index the sources again") from error
        check_dimension(path, index.d, dimension)
        opened = cls(index.d)
        opened._index, opened._step = index, float(index.sq.rangestat_arg)
        return opened


# Vectors in a Milvus database (or a file of milvus-lite), for more than one machine holds.
#
# A collection is all that this backend has; what it saves is a small file that says where the collection is.
# A Milvus that does not answer is waited for, since one that restarts is back within seconds.

T = TypeVar("T")
DistanceMetric = Literal["L2", "IP"]

MOST_RESULTS = 16_384
"""Results of one search: a limit of Milvus."""
ROWS_OF_REQUEST = 4096
"""Vectors, or ids, of one request."""
CELLS_FROM = 100_000
"""Vectors from which a collection is arranged in cells; fewer are all compared."""
_ANSWER = 30.0
_PAUSE = 0.5
_STAMP = "clew.stamp"
_CREDENTIALS = re.compile(r"//.*@")
_SERVER = re.compile(r"(?:https?|tcp)://(?:[^/?#:\[\]\s]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:/\S*)?")
_REFUSED = ("unauthenticated", "auth check failure", "permission", "not found", "invalid", "illegal argument")


@dataclass(frozen=True, slots=True)
class MilvusPlace:
    """Where Milvus is: `uri` of a server or NAME.db of milvus-lite; `token` is USER:PASSWORD or a key.

    One that does not answer is tried again for so many seconds. Raises UsageError for another URI, or one
    with a password, which would be written to the index.
    """

    uri: str
    token: str | None = field(default=None, repr=False)
    write_seconds: float = field(default=45.0, repr=False)
    read_seconds: float = field(default=8.0, repr=False)

    def __post_init__(self) -> None:
        keep_secret(self.token)
        if _CREDENTIALS.search(self.uri):
            raise UsageError("the URI of Milvus has a password in it. Give it in $MILVUS_TOKEN")
        if not (_SERVER.fullmatch(self.uri) or (self.uri.endswith(".db") and "://" not in self.uri)):
            raise UsageError(
                f"{self.uri!r} is no URI of Milvus. Give http://HOST:19530, or NAME.db for milvus-lite"
            )


def _module() -> Any:  # noqa: ANN401
    """Import pymilvus; MissingExtra if it is not installed."""
    pymilvus = require("pymilvus", "milvus")
    # It logs tracebacks of what is raised anyway.
    for name in ("pymilvus", "milvus_lite", "grpc._server"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return pymilvus


class MilvusVectors:
    """One collection of a Milvus database: `id` int64, `vector` float32; a `stamp` tells it from namesakes.

    By L2 distance, or by the dot product (`IP`), whose distances are 1 less the product.
    """

    name = "milvus"

    def __init__(
        self,
        dimension: int,
        place: MilvusPlace,
        collection: str | None = None,
        *,
        cells: int = 0,
        metric: DistanceMetric = "L2",
        stamp: str | None = None,
    ) -> None:
        """Take a collection that need not be there yet; `cells` arranges it for searching many vectors."""
        self.dimension, self.place, self._cells = dimension, place, cells
        self.collection = collection or f"clew_{uuid4().hex}"
        self._metric, self._stamp = metric, stamp or uuid4().hex
        self._client: Any = None
        self._level = "Strong"
        self._exists = False

    def __len__(self) -> int:
        if not self._exists:
            return 0
        [row] = self._ask("count", "query", filter="", output_fields=["count(*)"], consistency_level="Strong")
        return int(row["count(*)"])

    def check(self) -> None:
        """Raise VectorStoreError unless Milvus answers."""
        self._ask("answer", "has_collection", patience=self.place.read_seconds)

    def create(self) -> None:
        """Make the collection anew, empty."""
        self.drop()
        self._create()

    def drop(self) -> None:
        """Remove the collection with all that is in it."""
        self._ask("drop", "drop_collection")
        self._exists = False

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors; see `VectorIndex`."""
        if not self._exists and len(ids):
            self._create()
        for part in (slice(*span) for span in chunks_of(0, len(ids), ROWS_OF_REQUEST)):
            rows = [
                {"id": id, "vector": vector}
                for id, vector in zip(ids[part].tolist(), vectors[part].astype(np.float32), strict=True)
            ]
            # What is sent again, since no reply came to it, may be there.
            self._ask("add", "insert", rows, retry_request="upsert")

    def remove(self, ids: Int64) -> None:
        """Remove vectors; ids that are not there are passed over."""
        for start in range(0, len(ids) if self._exists else 0, ROWS_OF_REQUEST):
            self._ask("remove", "delete", ids=ids[start : start + ROWS_OF_REQUEST].tolist())

    def remove_from(self, first: int) -> None:
        """Remove all vectors whose id is `first` or larger."""
        options: dict[str, Any] = {"output_fields": ["id"], "consistency_level": "Strong"}
        while self._exists:
            rows = self._ask("look up", "query", filter=f"id >= {first}", limit=ROWS_OF_REQUEST, **options)
            if not rows:
                return
            self.remove(np.array([row["id"] for row in rows], np.int64))

    def search(self, query: Float32, k: int, within: Int64 | None = None) -> Nearest:
        """Find the nearest, of the ids `within` if given; Milvus gives at most `MOST_RESULTS`."""
        check_query(self.dimension, query)
        k = min(k, MOST_RESULTS)
        if not k or not self._exists or (within is not None and not len(within)):
            return Nearest(np.zeros(0, np.int64), np.zeros(0, np.float32))
        if within is None:
            hits = self._search(query, k, "")
        else:
            batches = (within[slice(*span)] for span in chunks_of(0, len(within), MOST_RESULTS))
            hits = [
                hit
                for batch in batches
                for hit in self._search(query, min(k, len(batch)), f"id in {batch.tolist()}")
            ]
        ids = np.array([hit["id"] for hit in hits], np.int64)
        distances = np.array([hit["distance"] for hit in hits], np.float32)
        distances = np.sqrt(np.maximum(distances, 0)) if self._metric == "L2" else 1 - distances
        order = np.lexsort((ids, distances))[:k]
        return Nearest(ids[order], distances[order])

    def search_known(
        self, query: Float32, k: int, is_known: Callable[[Int64], NDArray[np.bool_]], first: int
    ) -> Nearest:
        """The `k` nearest whose ids `is_known` accepts; `first` are asked for, and more while too few are."""
        count = min(first, MOST_RESULTS)
        while True:
            hits = self.search(query, count)
            known = is_known(hits.ids)
            if known.sum() >= k or len(hits.ids) < count or count >= MOST_RESULTS:
                return Nearest(hits.ids[known][:k], hits.distances[known][:k])
            count = min(4 * count, MOST_RESULTS)

    def _search(self, query: Float32, k: int, condition: str) -> list[dict[str, Any]]:
        """One search: `id` and `distance` as Milvus gives them, in no order."""
        # So many cells are read as eight in a hundred, and enough for `k` results.
        cells = max(8, self._cells // 12, min(self._cells, k // 64))
        [hits] = self._ask(
            "search", "search", [np.asarray(query, np.float32).tolist()], filter=condition, limit=k,
            output_fields=["id"], consistency_level=self._level, patience=self.place.read_seconds,
            search_params={"metric_type": self._metric, "params": {"nprobe": cells} if self._cells else {}},
        )  # fmt: skip
        return list(hits)

    def flush(self) -> None:
        """Wait until all that was added is on the disks of Milvus."""
        if self._exists:
            self._ask("flush", "flush", timeout=2 * _ANSWER)

    def save(self, path: Path) -> None:
        """Write where the collection is to `path`; see `VectorIndex`."""
        settings = {"uri": self.place.uri, "collection": self.collection, "dimension": self.dimension}
        text = json.dumps({**settings, "cells": self._cells, "metric": self._metric, "stamp": self._stamp})
        with disk_errors(path):
            path.write_text(text, encoding="utf-8")

    @classmethod
    def open(
        cls,
        path: Path,
        dimension: int | None = None,
        *,
        writable: bool = False,
        place: MilvusPlace | None = None,
        token: str | None = None,
    ) -> Self:
        """Open what `save` wrote, at `place` if Milvus has moved; FormatError if it is gone or another."""
        opened = cls._from_file(path, dimension, place, token)
        opened._check_collection(path)
        # A milvus-lite that has just begun, or a server that let go of it, has it on the disk only.
        opened._ask("load", "load_collection")
        opened._exists = True
        opened._level = "Strong" if writable else "Bounded"
        if not writable:  # who asks sees all that is committed; afterwards nothing need be waited for
            len(opened)
        return opened

    @classmethod
    def _from_file(
        cls, path: Path, dimension: int | None, place: MilvusPlace | None, token: str | None
    ) -> Self:
        try:
            said: dict[str, Any] = json.loads(path.read_bytes())
            place = place or MilvusPlace(said["uri"], token)
            settings: dict[str, Any] = {name: said[name] for name in ("cells", "metric", "stamp")}
            opened = cls(said["dimension"], place, said["collection"], **settings)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FormatError(f"{path}: damaged ({error}). Index the sources again") from error
        check_dimension(path, opened.dimension, dimension)
        return opened

    @classmethod
    def named_in(cls, path: Path) -> str:
        """The name of the collection that `save` wrote; it need not be there. Raises FormatError."""
        return cls._from_file(path, None, None, None).collection

    def _check_collection(self, path: Path) -> None:
        """Raise FormatError unless the collection is there, and the one whose place was saved in `path`."""
        if not self._ask("open", "has_collection", patience=self.place.read_seconds):
            raise FormatError(
                f"{path}: Milvus at {self.place.uri} has no collection {self.collection}. Give the right "
                "one in $MILVUS_URI, or index the sources again"
            )
        description = self._ask("open", "describe_collection", patience=self.place.read_seconds)
        sizes = [int(field["params"]["dim"]) for field in description["fields"] if "dim" in field["params"]]
        if description["properties"].get(_STAMP) != self._stamp or sizes != [self.dimension]:
            raise FormatError(
                f"{path}: the collection {self.collection} of Milvus at {self.place.uri} is of another "
                "index, or was made anew since this index was. Give the right Milvus in $MILVUS_URI, or "
                "index the sources again"
            )

    def _create(self) -> None:
        types = _module().DataType

        def create(client: Any, _: int) -> None:  # noqa: ANN401
            if client.has_collection(self.collection, timeout=_ANSWER):
                return
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", types.INT64, is_primary=True)
            schema.add_field("vector", types.FLOAT_VECTOR, dim=self.dimension)
            index = client.prepare_index_params()
            kind = "IVF_SQ8" if self._cells else "FLAT"
            params = {"nlist": self._cells} if self._cells else {}
            index.add_index("vector", index_type=kind, metric_type=self._metric, params=params)
            client.create_collection(
                self.collection, schema=schema, index_params=index, consistency_level="Strong",
                properties={_STAMP: self._stamp}, timeout=_ANSWER,
            )  # fmt: skip

        self._call("create", create)
        self._exists = True

    def _ask(
        self,
        action: str,
        request: str,
        *args: object,
        retry_request: str | None = None,
        patience: float | None = None,
        **options: object,
    ) -> Any:  # noqa: ANN401
        """Do one request about the collection, or another one `retry_request`; see `_call`."""

        def call(client: Any, tried: int) -> Any:  # noqa: ANN401
            send = getattr(client, request if tried == 1 else retry_request or request)
            return send(self.collection, *args, **{"timeout": _ANSWER, **options})

        return self._call(action, call, patience)

    def _call(self, action: str, call: Callable[[Any, int], T], patience: float | None = None) -> T:
        """Do one request (`call` gets the client and the try), again while there is no answer.

        Raises VectorStoreError at the end.
        """
        failures = (_module().MilvusException, import_module("grpc").RpcError, OSError)
        deadline, tried = time.monotonic() + (patience or self.place.write_seconds), 0
        while True:
            tried += 1
            try:
                if self._client is None:
                    access = {"uri": self.place.uri, "token": self.place.token or ""}
                    self._client = _module().MilvusClient(**access, timeout=_ANSWER, dedicated=True)
                return call(self._client, tried)
            except failures as error:
                reason = _reason(error)
                refused = any(word in reason.lower() for word in _REFUSED)
                if refused or time.monotonic() + _PAUSE > deadline:
                    raise VectorStoreError(
                        f"Milvus at {self.place.uri} did not {action} ({reason}). See that it runs and may "
                        "be reached, and run the same command again. What was there before is unchanged"
                    ) from error
                time.sleep(_PAUSE)


def _reason(error: Exception) -> str:
    """One line of what Milvus or the connection said."""
    code = getattr(error, "code", None)
    details = getattr(error, "details", None)
    message = (
        getattr(error, "message", None) or (details() if callable(details) else None) or str(error) or code
    )
    return shorten(" ".join(str(message).split()), 200)


# Which backend for how many vectors, or by what wrote a file.

FEW_VECTORS = 200_000
"""Vectors up to which all are compared by NumPy."""


VectorKind = Literal["auto", "numpy", "faiss", "milvus"]


@dataclass(frozen=True, slots=True)
class VectorChoice:
    """With what an index searches its vectors; `auto` is NumPy for few and faiss, if installed, for many.

    `milvus` holds all vectors at `place`. Raises UsageError without a place, MissingExtra.
    """

    kind: VectorKind = "auto"
    place: MilvusPlace | None = None

    def __post_init__(self) -> None:
        if self.kind == "faiss" and not has_faiss():
            raise MissingExtra("faiss-cpu", "faiss")
        if self.kind == "milvus" and self.place is None:
            raise UsageError(
                "--vectors milvus needs a Milvus. Give --milvus http://HOST:19530, --milvus NAME.db for a "
                "file of milvus-lite, or $MILVUS_URI"
            )

    def uses_faiss(self, count: int) -> bool:
        """Whether so many vectors are searched by faiss."""
        return self.kind == "faiss" or (self.kind == "auto" and count > FEW_VECTORS and has_faiss())


@dataclass(frozen=True, slots=True)
class VectorAccess:
    """How to reach a vector database: the URI instead of the one that an index has noted, and the token."""

    uri: str | None = None
    token: str | None = None

    def __post_init__(self) -> None:
        """Remember what must not be shown."""
        keep_secret(self.token)
        keep_address(self.uri)


def has_faiss() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def open_vectors(
    path: Path, dimension: int | None = None, *, access: VectorAccess | None = None
) -> FaissVectors | MilvusVectors:
    """Open a file by the backend that wrote it. Raises FormatError (damage, dimension), VectorStoreError."""
    if is_collection(path):
        return open_collection(path, dimension, access=access)
    return FaissVectors.open(path, dimension)


def is_collection(path: Path) -> bool:
    """Whether a file says where a collection of Milvus is, and holds no vectors."""
    with path.open("rb") as file:
        return file.read(1) == b"{"


def open_collection(
    path: Path, dimension: int | None = None, *, writable: bool = False, access: VectorAccess | None = None
) -> MilvusVectors:
    """Open a file that says where a collection of Milvus is; raises as `open_vectors`."""
    access = access or VectorAccess()
    place = None if access.uri is None else MilvusPlace(access.uri, access.token)
    return MilvusVectors.open(path, dimension, writable=writable, place=place, token=access.token)
