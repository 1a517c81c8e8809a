"""Entities that a text names, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clew.graph.graph import Graph
from clew.text.labels import readable
from clew.text.normalise import normalise


def entities_named_in(graph: Graph, text: str, entities: Iterable[int]) -> tuple[int, ...]:
    """Which of `entities` a text names by their labels, in the order of the text.

    Where one name is part of another (*Alien*, *Alien 3*), the longest that is there counts; of names that
    differ in how they are written only (a person and a tag), those that are there as written, if any.
    """
    words = f" {normalise(text)} "
    labels: dict[str, list[int]] = {}
    for entity in dict.fromkeys(entities):
        labels.setdefault(normalise(graph.labels[entity]), []).append(entity)
    as_written = {
        label: [e for e in same if readable(graph.labels[e]) in text]
        for label, same in labels.items()
        if len(same) > 1
    }
    places: list[tuple[int, list[int]]] = []
    for label in sorted((name for name in labels if name), key=lambda name: (-len(name), name)):
        at = words.find(f" {label} ")
        while at >= 0:
            places.append((at, as_written.get(label) or labels[label]))
            # What a longer name has taken is no longer there for a shorter one; the length stays.
            words = words[: at + 1] + "\x00" * len(label) + words[at + 1 + len(label) :]
            at = words.find(f" {label} ")
    ordered = sorted(places, key=lambda place: place[0])
    return tuple(dict.fromkeys(entity for _, named in ordered for entity in named))


def without_names(graph: Graph, text: str, entities: Iterable[int]) -> str:
    """A text without the names of `entities`, however they are written, longest first."""
    labels = sorted({readable(graph.labels[e]) for e in entities}, key=lambda name: (-len(name), name))
    names = [re.escape(label) for label in labels if label.strip() and label.casefold() in text.casefold()]
    return re.sub(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", "", text, flags=re.IGNORECASE) if names else text
