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
from clew.graph.walks.kernels import WordSums
from clew.graph.walks.walks import Walks, spread
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

    `plain` vectors are those of the sentences alone.
    """

    def __init__(
        self,
        graph: Graph,
        embedder: Embedder,
        verbaliser: Verbaliser | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self.graph, self.embedder, self.verbaliser, self.plain = graph, embedder, verbaliser, plain
        self.templates = Templates(graph)
        self._parts: _Parts | None = None
        if isinstance(embedder, Additive) and not plain:
            self._parts = _Parts(self.templates, embedder, graph.nodes, MOST_NAME_VECTORS)

    def say(self, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str] | None:
        """Let the model say walks; None without one."""
        return None if self.verbaliser is None else self.verbaliser.say(self.graph, roots, steps, nodes)

    def vectors(
        self, roots: Int32, steps: Int32, nodes: Int32, model_sentences: Sequence[str] | None = None
    ) -> Float32:
        """Embed walks [walks, depth] of `roots`: float32 [walks, d].

        Templates say the walks that have no sentence in `model_sentences`.
        """
        if self._parts is None or model_sentences is not None:
            return self._embed_texts(roots.tolist(), steps, nodes, model_sentences)
        return self._parts.vectors(roots, steps, nodes)

    def quantised(
        self, roots: Int32, steps: Int32, nodes: Int32, model_sentences: Sequence[str] | None = None
    ) -> tuple[Int8, Float32]:
        """Embed as `vectors`, rounded as they are stored."""
        if self._parts is None or model_sentences is not None:
            return quantise(self._embed_texts(roots.tolist(), steps, nodes, model_sentences))
        return self._parts.quantised(roots, steps, nodes)

    def node_vectors(self, walks: Walks, q: Int8, scale: Float32) -> tuple[Int8, Float32]:
        """Vectors of the roots of `walks`, from their names and walks together, each as often as made.

        Plain ones are those of the walks alone; of a root without walks, that of its name.
        """
        from clew.graph.walks.kernels import weighted_sums

        names = self.embedder.embed([self.templates.name(root) for root in walks.roots.tolist()])
        sums = np.empty_like(names)
        weighted_sums(q, scale, walks.counts, walks.offsets, sums)
        if self.plain:
            has_walks = np.diff(walks.offsets)[:, None] > 0
            return quantise(np.where(has_walks, unit_rows(sums), names))
        return quantise(unit_rows(names + unit_rows(sums)))

    def _embed_texts(
        self, roots: Sequence[int], steps: Int32, nodes: Int32, model_sentences: Sequence[str] | None
    ) -> Float32:
        step_rows: list[list[int]] = steps.tolist()
        node_rows: list[list[int]] = nodes.tolist()
        texts = model_sentences if model_sentences is not None else [""] * len(roots)
        sentences = [
            text or self.templates.sentence(root, s, n)
            for text, root, s, n in zip(texts, roots, step_rows, node_rows, strict=True)
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
        self._templates, self._embedder, self._most_names = templates, embedder, remembered
        first_phrases, later_phrases = templates.phrases
        self._phrases = embedder.sums([*first_phrases, *later_phrases]).reshape(2, len(first_phrases), -1)
        self._names = self._no_names()
        self._rows, self._name_count = np.full(nodes, -1, np.int32), 0
        self._lock = Lock()

    def vectors(self, roots: Int32, steps: Int32, nodes: Int32) -> Float32:
        from clew.graph.walks.kernels import summed_walks

        words, root_rows, node_rows = self._word_rows(roots, nodes)
        summed = np.empty((len(roots), words.names.shape[1]), np.float32)
        summed_walks(words, root_rows, steps, node_rows, summed)
        return summed

    def quantised(self, roots: Int32, steps: Int32, nodes: Int32) -> tuple[Int8, Float32]:
        from clew.graph.walks.kernels import quantised_walks

        words, root_rows, node_rows = self._word_rows(roots, nodes)
        q, scale = np.empty((len(roots), words.names.shape[1]), np.int8), np.empty(len(roots), np.float32)

        def fill(first: int, last: int) -> None:
            span = slice(first, last)
            quantised_walks(words, root_rows[span], steps[span], node_rows[span], q[span], scale[span])

        spread(len(roots), fill)
        return q, scale

    def _word_rows(self, roots: Int32, nodes: Int32) -> tuple[WordSums, Int32, Int32]:
        """Vectors of names and phrases, and the rows of `roots` and `nodes` among them.

        A row that was handed out is not written again, so that several threads may use it.
        """
        with self._lock:
            all_nodes = np.concatenate([roots, nodes[nodes >= 0]])
            new_nodes = np.unique(all_nodes[self._rows[all_nodes] < 0])
            if self._name_count and self._name_count + len(new_nodes) > self._most_names:
                self._names, self._name_count, self._rows[:] = self._no_names(), 0, -1
                new_nodes = np.unique(all_nodes)
            self._remember(new_nodes)
            return WordSums(self._names, self._phrases), self._rows[roots], self._rows[nodes]

    def _remember(self, nodes: Int32) -> None:
        stop = self._name_count + len(nodes)
        if stop > len(self._names):
            old_names = self._names[: self._name_count]
            room = max(stop, min(2 * stop, len(self._rows), self._most_names))
            self._names = np.concatenate(
                [old_names, np.empty((room - len(old_names), old_names.shape[1]), np.float32)]
            )
        names = [self._templates.name(node) for node in nodes.tolist()]
        self._names[self._name_count : stop] = self._embedder.sums(names)
        self._rows[nodes] = np.arange(self._name_count, stop)
        self._name_count = stop

    def _no_names(self) -> Float32:
        return np.empty((0, self._phrases.shape[2]), np.float32)
