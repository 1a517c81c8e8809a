"""A GGUF file served in this process by llama.cpp (extra `local`), on a port of this machine alone."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.foundation.redaction import keep_secret
from clew.text.embedders.extras import require

CONTEXT = 8192
"""Tokens of prompt and reply together. They take 1 GiB of memory with a model of 8 billion parameters."""


class LocalServer:
    """llama.cpp's server for one file. It is started when its address is first asked for."""

    def __init__(self, path: Path) -> None:
        """Raises InputError (there is no such file), MissingExtra (xllamacpp is not installed)."""
        self._library = require("xllamacpp", "local")
        if not path.is_file():
            raise InputError(
                f"{path}: there is no such file. Write --llm gguf/PATH with the path of a GGUF file."
            )
        self._path, self._lock = path, threading.Lock()
        self._server: Any = None
        self.key = secrets.token_hex(16)
        """The key without which the server does nothing."""
        keep_secret(self.key)

    def base_url(self) -> str:
        """Address of its API; the first call loads the model. Raises InputError: it is no model."""
        with self._lock:
            if self._server is None:
                self._server = self._start()
            return f"{self._server.listening_address}/v1"

    def stop(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def _start(self) -> Any:  # noqa: ANN401
        parameters = self._library.CommonParams()
        parameters.model.path = str(self._path)
        parameters.api_keys = [self.key]
        parameters.port, parameters.n_ctx, parameters.n_parallel = 0, CONTEXT, 1
        parameters.verbosity, parameters.warmup = -1, False
        try:
            return self._library.Server(parameters)
        except RuntimeError as error:
            raise InputError(f"{self._path}: llama.cpp cannot load it as a model ({error}).") from error
