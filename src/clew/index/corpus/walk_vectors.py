"""Walks and nodes said by templates or a model, and embedded (section 2.1); which vectors, says `corpus.py`.

An embedder whose vectors are sums over words (`Additive`) gives that of a template's sentence from those of
its names and phrases, which is many times faster and equal up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

import numpy as np

from clew.foundation.arrays import Float32, Int8, Int32
from clew.graph.graph import Graph
from clew.graph.walks.kernels.columns import WordSums
from clew.graph.walks.walk_tables import spread
from clew.graph.walks.walks import Walks
from clew.index.vectors.vectors import quantise
from clew.text.embedder import Additive, Embedder, unit_rows
from clew.text.verbalise import Templates

MOST_NAME_VECTORS = 1 << 18
"""Names whose vectors are kept; then the memory starts anew."""


class Verbaliser(Protocol):
    """Says walks in sentences, as the `verbalise` step with a model does."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    def begin(self, graph: Graph, walks: Walks, roots: int) -> None:
        """Estimate what all `roots` will take, from the `walks` of some of them, and tell it."""
        ...

    def say(self, graph: Graph, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str]:
        """Say the walks `steps`, `nodes` [walks, depth] of `roots` [walks]; empty where that failed."""
        ...


class WalkEmbedder:
    """Turns walks into vectors; a `verbaliser` says what templates do otherwise.

    `plain` vectors are those of the sentences alone. Vectors of so many names are `remembered`.
    """

    def __init__(
        self,
        graph: Graph,
        embedder: Embedder,
        verbaliser: Verbaliser | None = None,
        *,
        plain: bool = False,
        remembered: int = MOST_NAME_VECTORS,
    ) -> None:
        self.graph, self.embedder, self.verbaliser, self.plain = graph, embedder, verbaliser, plain
        self.templates = Templates(graph)
        self._parts: _Parts | None = None
        if isinstance(embedder, Additive) and not plain:
            self._parts = _Parts(self.templates, embedder, graph.nodes, remembered)

    def said(self, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str] | None:
        """Let the model say walks; None without one."""
        return None if self.verbaliser is None else self.verbaliser.say(self.graph, roots, steps, nodes)

    def vectors(self, roots: Int32, steps: Int32, nodes: Int32, said: Sequence[str] | None = None) -> Float32:
        """Embed walks [walks, depth] of `roots`: float32 [walks, d]; templates say what is not `said`."""
        if self._parts is None or said is not None:
            return self._of_texts(roots.tolist(), steps, nodes, said)
        return self._parts.vectors(roots, steps, nodes)

    def quantised(
        self, roots: Int32, steps: Int32, nodes: Int32, said: Sequence[str] | None = None
    ) -> tuple[Int8, Float32]:
        """Embed as `vectors`, rounded as they are stored."""
        if self._parts is None or said is not None:
            return quantise(self._of_texts(roots.tolist(), steps, nodes, said))
        return self._parts.quantised(roots, steps, nodes)

    def node_vectors(self, walks: Walks, q: Int8, scale: Float32) -> tuple[Int8, Float32]:
        """Vectors of the roots of `walks`, from their names and walks together, each as often as made.

        Plain ones are those of the walks alone; of a root without walks, that of its name.
        """
        from clew.graph.walks.kernels.walk_vectors import weighted_sums

        names = self.embedder.embed([self.templates.name(root) for root in walks.roots.tolist()])
        sums = np.empty_like(names)
        weighted_sums(q, scale, walks.counts, walks.offsets, sums)
        if self.plain:
            walked = np.diff(walks.offsets)[:, None] > 0
            return quantise(np.where(walked, unit_rows(sums), names))
        return quantise(unit_rows(names + unit_rows(sums)))

    def _of_texts(
        self, roots: Sequence[int], steps: Int32, nodes: Int32, said: Sequence[str] | None
    ) -> Float32:
        step_rows: list[list[int]] = steps.tolist()
        node_rows: list[list[int]] = nodes.tolist()
        given = said if said is not None else [""] * len(roots)
        sentences = [
            told or self.templates.sentence(root, s, n)
            for told, root, s, n in zip(given, roots, step_rows, node_rows, strict=True)
        ]
        if self.plain:
            return self.embedder.embed(sentences)
        outlines: dict[tuple[int, ...], int] = {}
        place = [
            outlines.setdefault((root, *s), len(outlines)) for root, s in zip(roots, step_rows, strict=True)
        ]
        outlined = self.embedder.embed([self.templates.outline(key[0], key[1:]) for key in outlines])
        return unit_rows(self.embedder.embed(sentences) + outlined[place])


class _Parts:
    """What walks are summed up from: the vectors of names, which are remembered, and of phrases."""

    def __init__(self, templates: Templates, embedder: Additive, nodes: int, remembered: int) -> None:
        self._templates, self._embedder, self._most = templates, embedder, remembered
        first, later = templates.phrases
        self._phrases = embedder.sums([*first, *later]).reshape(2, len(first), -1)
        self._names = self._no_names()
        self._rows, self._known = np.full(nodes, -1, np.int32), 0
        self._lock = Lock()

    def vectors(self, roots: Int32, steps: Int32, nodes: Int32) -> Float32:
        from clew.graph.walks.kernels.walk_vectors import summed_walks

        words, root_rows, node_rows = self._named(roots, nodes)
        found = np.empty((len(roots), words.names.shape[1]), np.float32)
        summed_walks(words, root_rows, steps, node_rows, found)
        return found

    def quantised(self, roots: Int32, steps: Int32, nodes: Int32) -> tuple[Int8, Float32]:
        from clew.graph.walks.kernels.walk_vectors import quantised_walks

        words, root_rows, node_rows = self._named(roots, nodes)
        q, scale = np.empty((len(roots), words.names.shape[1]), np.int8), np.empty(len(roots), np.float32)

        def fill(first: int, last: int) -> None:
            at = slice(first, last)
            quantised_walks(words, root_rows[at], steps[at], node_rows[at], q[at], scale[at])

        spread(len(roots), fill)
        return q, scale

    def _named(self, roots: Int32, nodes: Int32) -> tuple[WordSums, Int32, Int32]:
        """Vectors of names and phrases, and the rows of `roots` and `nodes` among them.

        A row that was handed out is not written again, so that several threads may use it.
        """
        with self._lock:
            wanted = np.concatenate([roots, nodes[nodes >= 0]])
            lacking = np.unique(wanted[self._rows[wanted] < 0])
            if self._known and self._known + len(lacking) > self._most:
                self._names, self._known, self._rows[:] = self._no_names(), 0, -1
                lacking = np.unique(wanted)
            self._remember(lacking)
            return WordSums(self._names, self._phrases), self._rows[roots], self._rows[nodes]

    def _remember(self, nodes: Int32) -> None:
        stop = self._known + len(nodes)
        if stop > len(self._names):
            held = self._names[: self._known]
            room = max(stop, min(2 * stop, len(self._rows), self._most))
            self._names = np.concatenate([held, np.empty((room - len(held), held.shape[1]), np.float32)])
        names = [self._templates.name(node) for node in nodes.tolist()]
        self._names[self._known : stop] = self._embedder.sums(names)
        self._rows[nodes] = np.arange(self._known, stop)
        self._known = stop

    def _no_names(self) -> Float32:
        return np.empty((0, self._phrases.shape[2]), np.float32)
