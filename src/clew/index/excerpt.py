"""What is known of a graph of which an index holds a part: the neighbourhood of some nodes of a database."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is whole in the part, so that what it lacks the graph lacks too.

    `named`: all edges of the nodes that the text names are there. `beside`: those of the nodes next to them
    are, too.
    """

    named: bool
    beside: bool
