"""For all tests: real requests are off, and llama.cpp is loaded first.

Loaded after ladybug has run a query, it ends the process.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import pytest

with contextlib.suppress(ImportError):
    import xllamacpp  # noqa: F401

LOCAL = {"127.0.0.1", "::1", "localhost", "", None}


@pytest.fixture(autouse=True)
def only_localhost(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Real requests are off: connections to other hosts fail, whichever library asks; returns their names."""
    refused: list[str] = []
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in LOCAL:
            refused.append(str(name))
            raise socket.gaierror(socket.EAI_NONAME, f"requests to {name} are off in tests")

    def guarded(real: Any) -> Any:
        def call(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(address[0])
            return real(self, address)

        return call

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        check(host)
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    return refused
