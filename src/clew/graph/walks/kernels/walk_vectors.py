"""Vectors of walks as sums over their parts, and of nodes as sums over their walks."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.walks.kernels.columns import WordSums


@compiled
def _add(total: Array, row: Array) -> None:
    for d in range(len(total)):
        total[d] += row[d]


@compiled
def _inverse_length(row: Array) -> Array:
    """One over the length of a row; 0 for one of zeros."""
    square = np.float32(0)
    for d in range(len(row)):
        square += row[d] * row[d]
    return np.float32(1) / np.sqrt(square) if square > 0 else np.float32(0)


@compiled
def _walk_vector(
    words: WordSums, root: int, steps: Array, nodes: Array, sentence: Array, outline: Array
) -> None:
    """Write into `sentence` the vectors of a walk's sentence and outline together, of length 1."""
    names, width = words.names, len(sentence)
    for d in range(width):
        sentence[d] = outline[d] = names[root, d]
    for t in range(len(steps)):
        if steps[t] < 0:
            break
        phrase = words.phrases[min(t, 1), steps[t]]
        _add(outline, phrase)
        _add(sentence, phrase)
        _add(sentence, names[nodes[t]])
    sentence_scale, outline_scale = _inverse_length(sentence), _inverse_length(outline)
    for d in range(width):
        sentence[d] = sentence[d] * sentence_scale + outline[d] * outline_scale
    length = _inverse_length(sentence)
    for d in range(width):
        sentence[d] *= length


@entry
def summed_walks(words: WordSums, roots: Array, steps: Array, nodes: Array, vectors: Array) -> None:
    """Fill `vectors` float32 [walks, d] with those of walks, of length 1.

    `roots` [walks] and `nodes` [walks, depth] are rows of the names, `steps` [walks, depth] of the phrases,
    -1 behind the end of a walk.
    """
    outline = np.empty(words.names.shape[1], np.float32)
    for i in range(len(roots)):
        _walk_vector(words, roots[i], steps[i], nodes[i], vectors[i], outline)


@entry
def quantised_walks(
    words: WordSums, roots: Array, steps: Array, nodes: Array, q: Array, scale: Array
) -> None:
    """Fill `q` int8 [walks, d] and `scale` float32 [walks]: `summed_walks`, rounded."""
    width = words.names.shape[1]
    vector, outline = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(len(roots)):
        _walk_vector(words, roots[i], steps[i], nodes[i], vector, outline)
        largest = np.float32(0)
        for d in range(width):
            largest = max(largest, abs(vector[d]))
        scale[i] = largest / np.float32(127)
        inverse = np.float32(1) / scale[i] if largest > 0 else np.float32(0)
        for d in range(width):
            q[i, d] = np.int8(np.rint(vector[d] * inverse))


@entry
def weighted_sums(q: Array, scale: Array, counts: Array, offsets: Array, sums: Array) -> None:
    """Fill `sums` float32 [roots, d], root by root, with the rows of `q` times `scale` times `counts`."""
    for i in range(len(offsets) - 1):
        for d in range(q.shape[1]):
            sums[i, d] = 0
        for walk in range(offsets[i], offsets[i + 1]):
            weight = np.float32(scale[walk] * counts[walk])
            for d in range(q.shape[1]):
                sums[i, d] += np.float32(q[walk, d]) * weight
