"""Work that is many independent pieces: in threads or processes of this machine, or on a Ray cluster.

A piece is done by the same function wherever it is done, and results come in the order of the pieces, so that
one core, many processes and many machines write the same bytes.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib import import_module
from time import monotonic, perf_counter
from typing import Any, Protocol, Self, TypeVar

from clew.errors import ClewError, first_line
from clew.foundation.forms import shorten
from clew.foundation.system import require
from clew.version import __version__

S = TypeVar("S")
T = TypeVar("T")
Make = Callable[[], Callable[[S], T]]
"""Makes, in a worker, the function that does a piece there; it can be pickled."""
MOST_LOST = 3
"""Workers that may end at the same piece before the work is given up."""


class Stopped(ClewError):
    """Work ended before its time: workers died, or the budget of the run is used up."""


class Workers(Protocol):
    """Does pieces of work, some at a time."""

    def map(self, make: Make[S, T], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces; `make` is called once in each worker. Raises Stopped."""
        ...


def in_order(
    submit: Callable[[S], Any],
    pieces: Iterable[S],
    window: Callable[[], int],
    waiting: deque[Any] | None = None,
) -> Iterator[Any]:
    """Results in the order of `pieces`, with at most `window()` of them under way, in `waiting`.

    `submit` starts a piece and returns a thing with `result()` and `cancel()`.
    """
    waiting = deque() if waiting is None else waiting
    try:
        for piece in pieces:
            waiting.append(submit(piece))
            if len(waiting) >= window():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for result in waiting:
            result.cancel()


@dataclass(frozen=True, slots=True)
class Processes:
    """So many worker processes beside this one."""

    count: int

    def map(self, make: Make[S, T], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces. Raises Stopped if a worker is killed."""
        # Spawned, not forked: threads of numba and of a model's client do not survive a fork.
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(make,)) as pool:
                yield from in_order(partial(pool.submit, _work), pieces, lambda: 3 * self.count)
        except BrokenProcessPool as error:
            raise Stopped(
                "a worker process was killed; the same command goes on. Is the memory full?"
            ) from error


def end_with_parent(wait: Callable[[], object], end: Callable[[], object] = lambda: os._exit(1)) -> None:
    """Call `end` in this process, by default at once and with code 1, when `wait` for the parent returns."""

    def watch() -> None:
        wait()
        end()

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


_piece_functions: list[Callable[[Any], Any]] = []


def _begin(make: Make[Any, Any]) -> None:
    """Make this worker ready; it ends with its parent, also where that is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        end_with_parent(parent.join)
    _piece_functions.append(make())


def _work(piece: Any) -> Any:  # noqa: ANN401
    return _piece_functions[0](piece)


# Work on a Ray cluster: Ray places the pieces, moves them, and tells of workers and nodes that are gone.
#
# A piece is a Ray task of one processor. A worker opens what it needs once and keeps it. What is lost with
# a worker or node Ray does again, up to `MOST_LOST` times; new nodes get pieces as soon as they are there.

LOCAL = "local"
_POLL_SECONDS = 5.0
"""How often a wait looks for nodes; after 60 times without any it ends."""


class ClusterError(ClewError):
    """A cluster that cannot be reached or used."""


@dataclass(frozen=True, slots=True)
class PieceDone:
    """What came of a piece on a node: its result, or the text of an error that ends the whole work."""

    node: str
    result: Any = None
    seconds: float = 0.0
    error: str | None = None
    exit_code: int = 1


@dataclass
class _Share:
    """What a node has done."""

    pieces: int = 0
    seconds: float = 0.0


@dataclass
class RayWorkers:
    """The workers of a cluster at `local`, `auto`, `host:port` or `ray://…`, each `prepare`d."""

    address: str
    prepare: Callable[[], None]
    _ray: Any = None
    _shares: dict[str, _Share] = field(default_factory=dict[str, _Share])
    _start_time: float = 0.0
    _processors: tuple[float, int] = (0.0, 0)

    def __enter__(self) -> Self:
        """Connect. Raises MissingExtra without Ray, ClusterError if there is no such cluster."""
        self._ray = require("ray", "ray")
        # Without an address Ray would join a cluster that runs here already.
        options = {"address": self.address} | ({"include_dashboard": False} if self.address == LOCAL else {})
        try:
            _reach(self.address)
            self._ray.init(**options, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except Exception as error:  # Ray raises bare ones of its own, of gRPC and of the system
            raise ClusterError(
                f"{self.address}: there is no Ray cluster that can be used ({_one_line(error)}). Start one "
                "with: ray start --head, of the same versions of Ray and Python, or write --ray local"
            ) from error
        self._start_time = monotonic()
        return self

    def __exit__(self, *raised: object) -> None:
        """Disconnect; a local cluster ends."""
        self._ray.shutdown()

    def map(self, make: Make[S, T], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces.

        Raises Stopped (a piece is lost, no node is left), ClusterError, and as `ClewError` what a node says.
        """
        work = self._ray.remote(num_cpus=1, max_retries=MOST_LOST)(_task(__version__))
        maker_reference = self._ray.put(pickle.dumps((self.prepare, make)))

        def submit(piece: S) -> _PendingPiece:
            return _PendingPiece(self, work.remote(maker_reference, pickle.dumps(piece)))

        return in_order(submit, pieces, self._window)

    def work_notes(self) -> Sequence[str]:
        """How many pieces each node did, and how fast."""
        seconds = max(monotonic() - self._start_time, 1e-9)
        return [
            f"node {node}: {share.pieces:,} done, {share.pieces / seconds:,.1f} a second, "
            f"{share.seconds:,.1f} s of work"
            for node, share in sorted(self._shares.items())
        ]

    def _window(self) -> int:
        """Pieces that may be under way; nodes come and go."""
        look_time, processors = self._processors
        if perf_counter() - look_time > _POLL_SECONDS:
            processors = int(self._ray.cluster_resources().get("CPU", 0))
            self._processors = perf_counter(), processors
        return 3 * max(processors, 1)

    def wait(self, reference: Any) -> PieceDone:  # noqa: ANN401
        """Wait for a piece. Raises Stopped if its workers end again and again, or no node is left."""
        errors, seconds_alone = self._ray.exceptions, 0.0
        while True:
            try:
                return self._ray.get(reference, timeout=_POLL_SECONDS)
            except errors.GetTimeoutError:
                seconds_alone = (
                    0.0 if self._ray.cluster_resources().get("CPU") else seconds_alone + _POLL_SECONDS
                )
                if seconds_alone >= 60 * _POLL_SECONDS:
                    raise Stopped(
                        f"{self.address}: no node with a processor is left in the cluster; the same command "
                        "goes on when there is one"
                    ) from None
            except errors.RayTaskError as error:  # a bug, or what a node cannot load
                raise ClusterError(f"{self.address}: {first_line(error.cause or error)}") from error
            except errors.RayError as error:
                raise Stopped(
                    f"{self.address}: {MOST_LOST + 1} workers ended at the same piece. Is the memory of the "
                    "nodes full? The same command goes on from there"
                ) from error

    def drop(self, reference: Any) -> None:  # noqa: ANN401
        """Have a piece not begun that nobody waits for; after the end of the work there is none."""
        if self._ray.is_initialized():
            self._ray.cancel(reference)

    def count_done(self, done: PieceDone) -> None:
        """Count a piece for its node; raises what ended it there."""
        if done.error is not None:
            error = ClusterError(f"node {done.node}: {done.error}")
            error.exit_code = done.exit_code
            raise error
        share = self._shares.setdefault(done.node, _Share())
        share.pieces += 1
        share.seconds += done.seconds


@dataclass(frozen=True, slots=True)
class _PendingPiece:
    """A piece under way."""

    workers: RayWorkers
    reference: Any

    def result(self) -> Any:  # noqa: ANN401
        """Wait for it."""
        done = self.workers.wait(self.reference)
        self.workers.count_done(done)
        return done.result

    def cancel(self) -> None:
        """Drop it, where it has not begun."""
        self.workers.drop(self.reference)


def _task(version: str) -> Callable[[bytes, bytes], PieceDone]:
    """The function that is sent to nodes whole: it says what is wrong with a node that has another Clew."""

    def do(make: bytes, piece: bytes) -> Any:  # noqa: ANN401
        import ray

        context = ray.get_runtime_context()
        node = f"{ray.util.get_node_ip_address()} ({context.get_node_id()[:8]})"
        try:
            from clew.version import __version__ as node_version
        except ImportError:
            raise RuntimeError(f"node {node}: Clew is not installed there. Install clew=={version}") from None
        if node_version != version:
            raise RuntimeError(
                f"node {node}: Clew is {node_version} there and {version} here. Install the same"
            )
        # This function is sent as it is; what it calls is that node's own.
        return import_module("clew.workers").do_piece(node, make, piece)

    return do


_ray_functions: dict[bytes, Callable[[Any], Any]] = {}


def do_piece(node: str, make: bytes, piece: bytes) -> PieceDone:
    """Do a piece with what `make`, a pickled `(prepare, make)`, makes once a process."""
    start, key = perf_counter(), sha256(make).digest()
    try:
        if key not in _ray_functions:
            _ray_functions.clear()  # of another work: an index that nobody asks any more
            prepare, maker = pickle.loads(make)  # noqa: S301 (from the driver, as the code that Ray runs)
            prepare()
            _ray_functions[key] = maker()
        return PieceDone(node, _ray_functions[key](pickle.loads(piece)), perf_counter() - start)  # noqa: S301
    except ClewError as error:
        return PieceDone(node, error=str(error), exit_code=error.exit_code)
    except MemoryError:
        reason = "the memory is full"
    except OSError as error:  # a full disk, or no right to read
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    return PieceDone(node, error=f"{reason}. Mend that there, and the same command goes on")


def _reach(address: str) -> None:
    """Raise OSError if nobody listens at an address of a host and port: Ray would wait for minutes."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()


def _one_line(error: BaseException) -> str:
    """The text of an error as one line, cut at the longest; Ray names other versions in its last lines."""
    return shorten(" ".join(str(error).split()).rstrip(".") or type(error).__name__, 300)
