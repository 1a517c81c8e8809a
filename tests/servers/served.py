"""A server in a thread of the tests, over a real port, and `clew serve` in a process of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import uvicorn

from clew import Clew
from clew.llm.reply import ChatModel
from clew.serve.app import make_app
from clew.serve.run import Connection
from clew.serve.service import Graphs, ServedGraph
from clew.serve.settings import Access, ServerLimits, ServeSettings

ROOT = Path(__file__).resolve().parents[2]
FILMS = ROOT / "examples" / "films.tsv"
EVIL = (
    '<img src=x onerror="window.hacked=1">', "javascript:window.hacked=1", "\u202egnp.exe\u202c",
    "\x1b[31mred\x07", "<script>window.hacked=1</script>", "=HYPERLINK(evil)", "שלום עולם",
    'quote" onmouseover="window.hacked=1',
)  # fmt: skip


class Running:
    """A server in a thread; `client` asks it."""

    def __init__(
        self,
        sources: Mapping[str, Path],
        *,
        limits: ServerLimits | None = None,
        access: Access | None = None,
        models: Mapping[str, ChatModel] | None = None,
        mcp: bool = False,
        telemetry: bool = False,
    ) -> None:
        from clew.serve.mcp import mounted

        self.graphs = Graphs(
            ServedGraph.of(name, lambda path=path: Clew.open(path)) for name, path in sources.items()
        )
        settings = ServeSettings(
            access=access or Access(),
            limits=limits or ServerLimits(),
            reload_seconds=0.1,
            warm=False,
            telemetry=telemetry,
        )
        app = make_app(self.graphs, models or {}, settings, mcp=mounted if mcp else None)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            app,
            http=Connection,
            log_config=None,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.client = httpx.Client(base_url=self.url, timeout=30)

    def close(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


class Process:
    """`clew serve` in a process of its own."""

    def __init__(self, *args: str, folder: Path, first: str = "") -> None:
        """Start it; `first` is Python that the process runs before."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = (folder / f"log-{self.port}").open("w+", encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CLEW_CACHE_DIR": str(folder / "cache")}
        begun = f"{first}\nfrom clew.cli import main\nmain()"
        command = [sys.executable, "-c", begun, "serve", *args, "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stderr=self._log, stdout=self._log, env=environment, stdin=subprocess.DEVNULL
        )

    def wait_ready(self, seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError(f"not ready: {self.log}")

    @property
    def log(self) -> str:
        self._log.flush()
        return Path(self._log.name).read_text("utf-8")

    @property
    def workers(self) -> list[int]:
        pid = self.process.pid
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._log.close()


def small(**changes: object) -> ServerLimits:
    """Limits with some changed."""
    return replace(ServerLimits(), **changes)  # type: ignore[arg-type]


def wait_for(told: Callable[[], object], seconds: float = 20) -> None:
    """Wait until what is told is true."""
    deadline = time.monotonic() + seconds
    while not told():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_closed(port: int) -> bool:
    """Whether nobody listens at a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionError:
        return True
    return False
