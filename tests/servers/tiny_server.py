"""llama.cpp's own server with the tiny model, in this process; as a script, in a process that can be killed.

python tests/servers/tiny_server.py MODEL.gguf: prints the base URL, and serves until its input ends.
"""

import sys
from pathlib import Path
from typing import Any

import xllamacpp

NAME = "tiny"
SLOTS = 4
LONGEST = 256
"""Tokens after which a reply is cut off, as random words seldom end by themselves."""


def start(model: Path, *, key: str | None = None, longest: int = LONGEST) -> tuple[Any, str]:
    """Start a server on a free port and return it with its base URL; it stops when it is deleted."""
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.model_alias = {NAME}
    settings.port = 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_threads_http = 48
    settings.n_parallel = SLOTS
    settings.n_ctx = SLOTS * 8192
    settings.n_predict = longest
    settings.warmup = False
    settings.verbosity = 0
    if key:
        settings.api_keys = [key]
    server = xllamacpp.Server(settings)
    return server, f"{server.listening_address}/v1"


if __name__ == "__main__":
    running, url = start(Path(sys.argv[1]), longest=-1)
    sys.stdout.write(url + "\n")
    sys.stdout.flush()
    sys.stdin.read()
