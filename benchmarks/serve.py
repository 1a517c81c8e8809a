"""What a server costs over calling the engine in the same process, and how it holds out under load.

    python benchmarks/serve.py rate KB QUESTIONS    questions a second, against the engine; two workers
    python benchmarks/serve.py hub                  a node with a million edges: time and size
    python benchmarks/serve.py page KB QUESTIONS    Enter to the drawn evidence, in Chromium
    python benchmarks/serve.py load KB QUESTIONS    mixed load with updates: 5xx, wrong answers, memory
    python benchmarks/serve.py start KB             until it is ready: time, and the server's processor time

KB is a graph file or an index (a file for `load`); QUESTIONS has a question a line, as MetaQA's `qa_dev.txt`
(brackets are dropped).
`--out FILE` replaces the section of this benchmark there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import numpy as np
from results import publish

from clew import Clew
from clew.index.update.edits import EditFiles
from clew.opening.graph_view import index_sources, update_index_files

CONNECTIONS = 8


@dataclass
class Server:
    """A server in a process of its own, and how to ask it."""

    process: subprocess.Popen[str]
    port: int
    ready: float
    """Seconds from its start until it was ready."""

    @classmethod
    def start(cls, source: Path, *options: str) -> Server:
        """Start `clew serve` on a free port; returns once it listens."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "clew", "serve", f"g={source}", "--port", str(port), *options]
        log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the process)
        began = time.perf_counter()
        process = subprocess.Popen(command, stderr=log, stdout=log, text=True)
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), 1) as connection:
                    connection.sendall(
                        b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    )
                    if b"200 OK" in connection.recv(1000):
                        break
            except OSError:
                pass
            if process.poll() is not None:
                log.seek(0)
                raise RuntimeError(log.read())
            time.sleep(0.02)
        ready = time.perf_counter() - began
        print(f"ready after {ready:.2f} s")
        return cls(process, port, ready)

    def stop(self) -> float:
        """End it as a user would; returns the seconds that it took."""
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        return time.perf_counter() - began

    def children(self) -> list[int]:
        """Processes of the workers, or of the server where there is one."""
        pid = self.process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in listed] or [pid]


class Client:
    """A connection that stays open: HTTP by hand, so that the client is a small part of what is measured."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Send a request; returns the status and the body."""
        raw = b"" if body is None else json.dumps(body).encode()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 26)
        reader, writer = self._streams
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost:{self._port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(raw)}\r\n\r\n"
        )
        writer.write(head.encode() + raw)
        top = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", top, re.IGNORECASE)
        content = await reader.readexactly(int(length[1])) if length else b""
        return int(top.split(None, 2)[1]), content

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def read_questions(path: Path, count: int) -> list[str]:
    """Some questions, evenly spaced over the file."""
    lines = [re.sub(r"[\[\]]", "", line.partition("\t")[0]) for line in path.read_text("utf-8").splitlines()]
    return [lines[i] for i in np.linspace(0, len(lines) - 1, min(count, len(lines))).astype(int)]


def ask_engine(source: Path, questions: list[str]) -> tuple[float, dict[str, list[str]]]:
    """Ask in this process: questions a second, and the answers."""
    with Clew.open(source) as clew:
        clew.ask(questions[0])
        began = time.perf_counter()
        answers = {q: [a.entity for a in clew.ask(q).answers] for q in questions}
        return len(questions) / (time.perf_counter() - began), answers


async def ask_server(
    port: int, questions: list[str], right_answers: dict[str, list[str]]
) -> tuple[float, np.ndarray]:
    """Ask over some connections at once: questions a second, and milliseconds of each."""
    waiting_questions, times = iter(questions), list[float]()

    async def ask_in_turn() -> None:
        client = Client(port)
        for question in waiting_questions:
            began = time.perf_counter()
            status, body = await client.request("POST", "/v1/g/ask", {"question": question})
            times.append((time.perf_counter() - began) * 1000)
            assert status == 200, body
            assert [a["entity"] for a in json.loads(body)["answers"]] == right_answers[question], question
        client.close()

    for question in questions[: 4 * CONNECTIONS]:
        await Client(port).request("POST", "/v1/g/ask", {"question": question})
    began = time.perf_counter()
    await asyncio.gather(*(ask_in_turn() for _ in range(CONNECTIONS)))
    return len(questions) / (time.perf_counter() - began), np.array(times)


def unique_megabytes(pid: int) -> float:
    """Memory that only this process has (USS)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kinds = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return (kinds["Private_Clean"] + kinds["Private_Dirty"]) / 1024


def rate(source: Path, file: Path, count: int) -> str:
    """The engine and one and two workers, in turn, so that they meet the same machine."""
    questions = read_questions(file, count)
    rows = ["| | questions/s | of the engine's | p50 ms | p99 ms | p99 / p50 |", "|---|---|---|---|---|---|"]
    rates: dict[str, list[float]] = {"engine": [], "1 worker": [], "2 workers": []}
    times: dict[str, list[np.ndarray]] = {"1 worker": [], "2 workers": []}
    memory: list[float] = []
    right_answers: dict[str, list[str]] = {}
    for _ in range(3):
        engine, right_answers = ask_engine(source, questions)
        rates["engine"].append(engine)
        for workers in (1, 2):
            server = Server.start(source, "--workers", str(workers), "--quiet")
            name = f"{workers} worker" + "s" * (workers > 1)
            speed, worker_times = asyncio.run(ask_server(server.port, questions, right_answers))
            rates[name].append(speed)
            times[name].append(worker_times)
            if workers == 2:
                memory.append(max(map(unique_megabytes, server.children())))
            print(name, f"{speed:.0f}/s", f"ended in {server.stop():.2f} s")
    base = float(np.median(rates["engine"]))
    rows.append(f"| the engine in one process | {base:.0f} | | | | |")
    for name, worker_times in times.items():
        speed = float(np.median(rates[name]))
        p50, p99 = np.percentile(np.concatenate(worker_times), [50, 99])
        rows.append(
            f"| {name} | {speed:.0f} | {speed / base:.2f} | {p50:.1f} | {p99:.1f} | {p99 / p50:.1f} |"
        )
    two_workers, one_worker = float(np.median(rates["2 workers"])), float(np.median(rates["1 worker"]))
    return "\n".join(
        [
            f"{len(questions):,} questions, {CONNECTIONS} connections, median of 3 rounds of each in turn, "
            f"on {os.cpu_count()} cores that client and server share. All answers were the engine's.",
            "",
            *rows,
            "",
            f"Two workers: {two_workers / one_worker:.2f} × one. Memory that is a worker's own: "
            f"{max(memory):.0f} MB.",
        ]
    )


def hub() -> str:
    """A node with a million edges."""
    with tempfile.TemporaryDirectory() as folder:
        source, index = Path(folder) / "hub.tsv", Path(folder) / "hub.clew"
        with source.open("w") as lines:
            lines.writelines(f"hub\thas\tthing {i}\n" for i in range(500_000))
            lines.writelines(f"item {i}\tof\thub\n" for i in range(500_000))
        index_sources([source], index)
        server = Server.start(index, "--quiet")

        async def look() -> tuple[list[float], int]:
            client, times, size = Client(server.port), list[float](), 0
            for offset in (0, 0, 0, 1000, 250_000, 499_990):
                began = time.perf_counter()
                path = f"/v1/g/entities/hub?limit=200&offset={offset}"
                status, body = await client.request("GET", path)
                times.append((time.perf_counter() - began) * 1000)
                assert status == 200, body
                size = max(size, len(body))
            return times, size

        times, size = asyncio.run(look())
        server.stop()
    return (
        f"A node with 1,000,000 edges, pages of 200 neighbours of each relation: {max(times):.1f} ms at "
        f"most, {np.median(times):.1f} ms in the middle, {size / 1000:.0f} kB."
    )


def page(source: Path, file: Path, count: int) -> str:
    """What the page takes beyond the call of the API, from Enter to the drawn evidence, in Chromium."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    server = Server.start(source, "--quiet")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    extra_times: list[float] = []
    with tempfile.TemporaryDirectory() as profile:
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver") or ""))
        driver.get(f"http://127.0.0.1:{server.port}/")
        for question in read_questions(file, count):
            field = WebDriverWait(driver, 30).until(lambda d: d.find_element(By.ID, "question"))
            driver.execute_script("performance.clearMarks(); performance.clearResourceTimings()")
            field.clear()
            field.send_keys(question)
            field.send_keys(Keys.ESCAPE, Keys.ENTER)
            marks = WebDriverWait(driver, 30).until(lambda d: d.execute_script(MARKS))
            if marks["drawn"]:
                extra_times.append(marks["drawn"] - marks["asked"] - marks["call"])
        driver.quit()
    server.stop()
    return (
        f"{len(extra_times)} questions with an answer, from Enter to the drawn evidence in headless "
        f"Chromium: {np.percentile(extra_times, 50):.0f} ms more than the API call (p95 "
        f"{np.percentile(extra_times, 95):.0f} ms)."
    )


MARKS = """
const at = (name) => performance.getEntriesByName(name)[0]?.startTime ?? 0;
const calls = performance.getEntriesByType("resource").filter((entry) => entry.name.endsWith("/ask"));
const none = document.querySelector(".abstained") && at("clew-answered");
if (!calls.length || !(at("clew-drawn") || none)) return null;
return { asked: at("clew-asked"), drawn: at("clew-drawn"), call: calls[0].duration };
"""
"""When the page was asked, and when the evidence was drawn, in milliseconds; null before that."""


@dataclass
class Load:
    """What came of the mixed load."""

    seconds: float
    status: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    hung_up: int = 0
    updates: int = 0
    memory: list[tuple[float, float]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


async def press(server: Server, index: Path, right_answers: dict[str, list[str]], load: Load) -> None:
    """Ask, look at hubs, send nonsense, hang up, and update, all at once."""
    deadline = time.monotonic() + load.seconds
    questions = list(right_answers)
    hubs = sorted({name for names in right_answers.values() for name in names}, key=len)[:50]

    async def ask_questions(seed: int) -> None:
        draw, client = random.Random(seed), Client(server.port)
        while time.monotonic() < deadline:
            question = draw.choice(questions)
            began = time.perf_counter()
            status, body = await client.request("POST", "/v1/g/ask", {"question": question})
            load.times.append((time.perf_counter() - began) * 1000)
            load.status[status] += 1
            if (
                status == 200
                and [a["entity"] for a in json.loads(body)["answers"]] != right_answers[question]
            ):
                load.wrong.append(question)

    async def send_nonsense(seed: int) -> None:
        draw, client = random.Random(seed), Client(server.port)
        while time.monotonic() < deadline:
            path, body = draw.choice(
                [
                    (f"/v1/g/entities/{quote(draw.choice(hubs))}", None),
                    ("/v1/g/ask", {"question": ""}),
                    ("/v1/g/ask", {"question": "x" * 9_000}),
                    ("/v1/nothing/ask", {"question": "?"}),
                    ("/v1/g/match", {"triples": [["a", "b"]]}),
                    ("/v1/g/entities?prefix=the", None),
                ]
            )
            status, _ = await client.request("GET" if body is None else "POST", path, body)
            load.status[status] += 1
            await asyncio.sleep(0.01)

    async def hang_up(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < deadline:
            client = Client(server.port)
            request_task = asyncio.create_task(
                client.request("POST", "/v1/g/ask", {"question": draw.choice(questions)})
            )
            await asyncio.sleep(draw.random() * 0.004)
            request_task.cancel()
            client.close()
            load.hung_up += 1
            await asyncio.sleep(0.02)

    async def update() -> None:
        while time.monotonic() < deadline - 5:
            await asyncio.sleep(20)
            load.updates += 1
            news_file = write_news(index.parent, load.updates)
            command = [sys.executable, "-m", "clew", "update", str(index), "--add", str(news_file), "--quiet"]
            process = await asyncio.create_subprocess_exec(*command)
            assert await process.wait() == 0

    async def watch() -> None:
        began = time.monotonic()
        while time.monotonic() < deadline:
            load.memory.append((time.monotonic() - began, unique_megabytes(server.children()[0])))
            await asyncio.sleep(5)

    await asyncio.gather(*map(ask_questions, range(6)), send_nonsense(7), hang_up(8), update(), watch())


def write_news(folder: Path, number: int) -> Path:
    """One triple about nothing that is asked for, to be added to the graph."""
    news_file = folder / "fresh.tsv"
    news_file.write_text(f"benchmark thing {number}\tis_new_in\tround {number}\n")
    return news_file


def mixed(source: Path, file: Path, count: int, seconds: float) -> str:
    """Ten minutes, or so long, of all that goes wrong with a server.

    The relation that updates add stands in the graph before the engine is asked for the right answers: one
    relation more may change how a question is read.
    """
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "kb.clew"
        index_sources([source], index)
        update_index_files(index, EditFiles([write_news(index.parent, 0)]))
        _, right_answers = ask_engine(index, read_questions(file, count))
        server = Server.start(index, "--quiet")
        load = Load(seconds)
        asyncio.run(press(server, index, right_answers, load))
        print(load.wrong[:3], f"ended in {server.stop():.1f} s")
    settled_memory = [megabytes for at, megabytes in load.memory if at > 60] or [load.memory[-1][1]]
    error_count = sum(number for status, number in load.status.items() if status >= 500)
    statuses = ", ".join(f"{status}: {number:,}" for status, number in sorted(load.status.items()))
    return (
        f"{seconds / 60:.0f} minutes of 6 askers, bad input, hubs and {load.hung_up:,} clients that hung up, "
        f"with {load.updates} updates: {statuses}; {error_count} of 5xx, {len(load.wrong)} wrong answers. "
        f"p50 {np.percentile(load.times, 50):.1f} ms, p99 {np.percentile(load.times, 99):.1f} ms. Memory "
        f"after the first minute: {settled_memory[0]:.0f} MB, then by minutes: "
        f"{', '.join(f'{megabytes:.0f}' for megabytes in settled_memory[::12])} MB, at most "
        f"{max(settled_memory):.0f} MB."
    )


def start(source: Path, rounds: int) -> str:
    """Start a server again and again."""
    ready, processor = list[float](), list[float]()
    for _ in range(rounds):
        server = Server.start(source)
        numbers = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        processor.append(sum(map(int, numbers[11:13])) / os.sysconf("SC_CLK_TCK"))
        ready.append(server.ready)
        server.stop()
    figures = (
        f"{name} {min(seconds):.2f} to {max(seconds):.2f} s, {np.median(seconds):.2f} in the middle"
        for name, seconds in (("ready after", ready), ("processor time until then", processor))
    )
    return f"{rounds} starts over {source.name}: {'; '.join(figures)}; load {os.getloadavg()[0]:.1f}."


def main() -> None:
    """Run one benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rate", "hub", "page", "load", "start"))
    parser.add_argument("kb", type=Path, nargs="?")
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.what == "hub":
        text = hub()
    elif options.what == "page":
        text = page(options.kb, options.questions, min(options.count, 60))
    elif options.what == "rate":
        text = rate(options.kb, options.questions, options.count)
    elif options.what == "start":
        text = start(options.kb, min(options.count, 10))
    else:
        text = mixed(options.kb, options.questions, options.count, options.seconds)
    titles = {
        "rate": "against the engine",
        "hub": "a hub",
        "page": "the page",
        "load": "under load",
        "start": "the start",
    }
    publish(options.out, f"clew serve: {titles[options.what]}", text)


if __name__ == "__main__":
    main()
