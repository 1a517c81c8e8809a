"""Machine code of kernels, kept on disk for every process, checkout and installation of the same kernels.

Numba's own cache stands beside each source file and goes by its time, so that each copy of Clew would
compile again. Here a file stands for all that its code was made from: the text of all kernels, the versions
of numba and Python, the processor and the types of the arguments. It is written whole or not at all, and
holds what it was made for, so that two processes that compile at once cannot mix up their code. It is
read only if it and its folder are this user's, nobody else may write to them, and its checksum is right.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import typeof_impl

from clew.errors import OutputError
from clew.foundation.system import COMPILING, is_own, replace_file

_PACKAGE = Path(__file__).parents[2]


@cache
def _source_digest(file: Path) -> str:
    """SHA-256 of a file with kernels, of all that these may call, and of the versions that compile them."""
    digest = sha256(f"{numba.__version__} {sys.implementation.cache_tag}".encode())
    kernel_files = file.parent.glob("*.py") if file.parent.name == "kernels" else ()
    package_files = (*_PACKAGE.glob("**/kernels/*.py"), *_PACKAGE.glob("**/kernels.py"))
    for source in sorted({file, *kernel_files, *package_files}):
        digest.update(source.read_bytes())
    return digest.hexdigest()


class _MachineCodeCache(FunctionCache):
    """The machine code of one kernel, in one file for each types of arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        # Not that of numba, which looks for a folder of its own.
        self._py_func, self._name, self._cache_path = function, repr(function), str(COMPILING.folder)
        self._impl = object.__new__(CompileResultCacheImpl)
        file = Path(function.__code__.co_filename)
        self._identity = (_source_digest(file), function.__module__, function.__qualname__)
        self.enable()

    def _key_and_path(self, sig: Any, codegen: Any) -> tuple[tuple[object, ...], Path | None]:  # noqa: ANN401
        key = (*self._identity, repr(sig), codegen.magic_tuple())
        folder = COMPILING.folder
        name = f"{self._py_func.__name__}-{sha256(repr(key).encode()).hexdigest()[:32]}.code"
        return key, None if folder is None else folder / name

    def _load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        key, path = self._key_and_path(sig, target_context.codegen())
        if path is None:
            return None
        content = _read_own(path)
        if content is None:
            return None  # not there, damaged or of somebody else: it is compiled again
        stored_key, data = pickle.loads(content)  # noqa: S301 (written by this user alone, and whole)
        return self._impl.rebuild(target_context, data) if stored_key == key else None

    def _save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        key, path = self._key_and_path(sig, data.codegen)
        if path is None or not self._impl.check_cachable(data):
            return
        content = pickle.dumps((key, self._impl.reduce(data)), protocol=-1)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(path, sha256(content).digest() + content)
        except OSError as error:
            raise OutputError(
                f"{path.parent}: the compiled search cannot be kept ({error.strerror or error}). Make room, "
                "or name another folder in $NUMBA_CACHE_DIR"
            ) from error


def _read_own(path: Path) -> bytes | None:
    """What this user wrote into a file, as a whole; None if others may write to it or its folder."""
    try:
        with open(
            path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NOFOLLOW", 0))
        ) as file:
            if not all(map(is_own, (os.stat(path.parent), os.fstat(file.fileno())))):
                return None
            data = file.read()
    except OSError:
        return None
    digest, content = data[:32], data[32:]
    return content if sha256(content).digest() == digest else None


def dispatcher(
    function: Callable[..., Any], cached: bool, options: dict[str, bool], kernel: type[Any]
) -> Any:  # noqa: ANN401
    """Numba's dispatcher of a function, known as a `kernel`; with `cached`, machine code on disk is used."""
    _register(kernel)
    decorate: Any = numba.njit
    numba_dispatcher: Any = decorate(**options)(function)
    if cached:
        numba_dispatcher._cache = _MachineCodeCache(function)
    return numba_dispatcher


@cache
def _register(kernel: type[Any]) -> None:
    """Tell numba that a kernel which another one calls is what its dispatcher is."""

    def type_of(value: Any, _context: object) -> Any:  # noqa: ANN401
        return numba.types.Dispatcher(value.dispatcher)

    typeof_impl.register(kernel)(type_of)


class _Listener(event.Listener):
    """Counts the time that is spent compiling."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def on_start(self, event: Any) -> None:  # noqa: ANN401
        depth = getattr(self._of_thread, "depth", 0)
        if depth == 0:
            self._of_thread.began = perf_counter()
            COMPILING.begin()
        self._of_thread.depth = depth + 1

    def on_end(self, event: Any) -> None:  # noqa: ANN401
        self._of_thread.depth -= 1
        if self._of_thread.depth == 0:
            COMPILING.end(perf_counter() - self._of_thread.began)


event.register("numba:compile", _Listener())
