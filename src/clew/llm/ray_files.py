"""The recorded replies and the trace of a model that many nodes ask: one actor, here, has the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clew.errors import UsageError
from clew.llm.cache import ReplyCache
from clew.llm.errors import ContextOverflow
from clew.llm.ray_actor import HeldByActor
from clew.llm.trace import TraceFile
from clew.llm.types import Reply, Request

_LOST = "The process that keeps replies for the cluster does not answer. Give the command again; it goes on"


class HeldFiles:
    """What the actor does."""

    def __init__(self, cache: Path | None, trace: Path | None) -> None:
        self._cache = None if cache is None else ReplyCache(cache)
        self._trace = None if trace is None else TraceFile(trace)

    def ready(self) -> None:
        """Say that the files are open."""

    def find(self, request: Request) -> Reply | None:
        """The recorded reply."""
        return None if self._cache is None else self._cache.find(request)

    def find_too_long(self, request: Request) -> ContextOverflow | None:
        """The recorded error."""
        return None if self._cache is None else self._cache.find_too_long(request)

    def store(self, request: Request, reply: Reply) -> None:
        """Record a reply."""
        if self._cache is not None:
            self._cache.store(request, reply)

    def store_too_long(self, request: Request, error: ContextOverflow) -> None:
        """Record an error."""
        if self._cache is not None:
            self._cache.store_too_long(request, error)

    def write(self, record: dict[str, Any]) -> None:
        """Write a line of the trace."""
        if self._trace is not None:
            self._trace.write(record)

    def close(self) -> None:
        """Close the files."""
        for file in (self._cache, self._trace):
            if file is not None:
                file.close()


class RayReplies:
    """Recorded replies by request, as `ReplyCache`, for all processes of a cluster."""

    def __init__(self, held: HeldByActor) -> None:
        self._held = held

    def find(self, request: Request) -> Reply | None:
        """Find the recorded reply to a request, marked as cached."""
        return self._held.ask("find", request)

    def find_too_long(self, request: Request) -> ContextOverflow | None:
        """Find the recorded error of a request that was too long."""
        return self._held.ask("find_too_long", request)

    def store(self, request: Request, reply: Reply) -> None:
        """Record a reply; it is in the file when this returns."""
        self._held.ask("store", request, reply)

    def store_too_long(self, request: Request, error: ContextOverflow) -> None:
        """Record that a request did not fit into the model's context."""
        self._held.ask("store_too_long", request, error)

    def close(self) -> None:
        """Leave the file to the others."""


class RayTrace:
    """A trace file for all processes of a cluster, as `TraceFile`."""

    def __init__(self, held: HeldByActor) -> None:
        self._held = held

    def write(self, record: dict[str, Any]) -> None:
        """Write one call; it is in the file when this returns."""
        self._held.ask("write", record)

    def close(self) -> None:
        """Leave the file to the others."""


class RayFiles:
    """The files of one model, opened where the command runs."""

    def __init__(self, cache: Path | None, trace: Path | None) -> None:
        """Have an actor open them.

        Raises UsageError (this process is no part of the cluster, which could not write them here),
        InputError (one of them cannot be used).
        """
        self.replies: RayReplies | None = None
        self.trace: RayTrace | None = None
        self._held: HeldByActor | None = None
        if cache is None and trace is None:
            return
        from ray.util.client import ray as client

        if client.is_connected():
            raise UsageError(
                "Recorded replies and traces are files of this machine, and with an address ray:// it is no "
                "node of the cluster. Give the command on a node, with --ray auto, or leave out --cache and "
                "--trace"
            )
        paths = [None if path is None else path.resolve() for path in (cache, trace)]
        HeldFiles(*paths).close()  # what is wrong with a file is said by this process
        self._held = HeldByActor.start(HeldFiles, *paths, lost=_LOST)
        self._held.ask("ready", starting=True)
        self.replies = None if cache is None else RayReplies(self._held)
        self.trace = None if trace is None else RayTrace(self._held)

    def close(self) -> None:
        """Close the files, and end the actor."""
        if self._held is not None:
            self._held.ask("close")
            self._held.close()
