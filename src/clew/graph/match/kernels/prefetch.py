"""Asking for memory before it is needed, so that the waits of many reads overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clew.graph.kernels import Array

_SOON, _DATA = 2, 1
"""How soon it is needed (3: at once; 2 leaves room for more at a time), and that it is data, not code."""


def _generate(for_writing: int) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]], wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        hints = [number(for_writing), number(_SOON), number(_DATA)]
        builder.call(function, [builder.bitcast(place, byte), *hints])
        return context.get_dummy_value()

    return generate


def _read(typing: Any, array: Any, place: Any) -> Any:  # noqa: ANN401
    return types.void(array, place), _generate(0)


def _write(typing: Any, array: Any, place: Any) -> Any:  # noqa: ANN401
    return types.void(array, place), _generate(1)


soon_read: Callable[[Array, int], None] = cast(Any, intrinsic)(_read)
"""Have the cache line of `array[place]` fetched; a place outside the array does no harm."""
soon_written: Callable[[Array, int], None] = cast(Any, intrinsic)(_write)
"""Have the cache line of `array[place]` fetched for writing."""
