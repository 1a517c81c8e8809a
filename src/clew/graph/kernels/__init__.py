"""What numba kernels have in common. Numba is imported with the first call of one, never with a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from clew.graph.graph import Graph

Array = Any
"""A NumPy array: numba infers types itself, and docstrings state shapes."""
F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that is compiled when it is first called; where it is kept says `machine_code.py`."""

    def __init__(self, function: Callable[..., Any], cached: bool, options: dict[str, bool]) -> None:
        self.function, self._cached, self._options = function, cached, options

    @cached_property
    def dispatcher(self) -> Any:  # noqa: ANN401 (numba's own type)
        """What numba makes of the function; it compiles for each types of arguments."""
        from clew.graph.kernels.machine_code import dispatcher

        return dispatcher(self.function, self._cached, self._options, type(self))

    @property
    def signatures(self) -> Sequence[object]:
        """The types of arguments that it is compiled for."""
        return self.dispatcher.signatures

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401
        """Run it, from Python."""
        return self.dispatcher(*arguments)


def compiled(function: F) -> F:
    """Compile as a part of an `entry`; without the wrappers for Python, which take most of the time."""
    return cast(F, Kernel(function, False, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}))


def entry(function: F) -> F:
    """Compile on the first call from Python, keep the machine code on disk, release the GIL while running."""
    return cast(F, Kernel(function, True, {"nogil": True, "no_cfunc_wrapper": True}))


def fast_entry(function: F) -> F:
    """As `entry`, where sums of floats may be made in any order."""
    return cast(F, Kernel(function, True, {"nogil": True, "no_cfunc_wrapper": True, "fastmath": True}))


class GraphColumns(NamedTuple):
    """Both adjacencies: starts and stops int64 [N], relation and neighbour int32 [slots]."""

    out_starts: Array
    out_stops: Array
    out_relation: Array
    out_neighbour: Array
    into_starts: Array
    into_stops: Array
    into_relation: Array
    into_neighbour: Array


def graph_columns(graph: Graph, *, directed: bool = False) -> GraphColumns:
    """The arrays of a graph; `directed`, no node has an edge that comes in."""
    out, into = graph.out, graph.into
    stops = into.starts if directed else into.stops
    sides = (
        *(out.starts, out.stops, out.relation, out.neighbour),
        *(into.starts, stops, into.relation, into.neighbour),
    )
    # Memory-mapped arrays are a type of their own, which takes long to tell within a tuple.
    return GraphColumns(*map(np.asarray, sides))
