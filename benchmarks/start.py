"""What a cold process takes: processor time (of all its threads) and wall time of commands, medians.

    python benchmarks/start.py [--count 5]

The first question of a new machine has empty caches of indexes and machine code; the others find them.
Bytecode of Python is written before, as it is where Clew is installed.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILMS = str(ROOT / "examples" / "films.tsv")
PATTERN = '{"triples": [["Memento", "directed_by", "UNKNOWN 1"]]}'
COMMANDS = {
    "import clew": ["-c", "import clew"],
    "clew --help": ["-m", "clew", "--help"],
    "clew ask films.tsv": ["-m", "clew", "ask", FILMS, "Who directed Memento?"],
    "clew info films.tsv, which is indexed": ["-m", "clew", "info", FILMS],
    "clew match films.tsv": ["-m", "clew", "match", FILMS, PATTERN],
}


def run(arguments: list[str], caches: str) -> tuple[float, float]:
    """Run Python once; processor and wall time in s."""
    cache_variables = {"CLEW_CACHE_DIR": caches, "NUMBA_CACHE_DIR": f"{caches}/kernels"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **cache_variables},
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{arguments}: {process.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5)
    count = parser.parse_args().count
    compileall.compile_dir(ROOT / "src", quiet=2)
    print("load", os.getloadavg(), flush=True)
    with tempfile.TemporaryDirectory() as caches:
        for name, arguments in COMMANDS.items():
            first = run(arguments, caches)
            times = [run(arguments, caches) for _ in range(count)]
            processor, wall = (statistics.median(values) for values in zip(*times, strict=True))
            print(
                f"{name}: {processor:.2f} s of processor, {wall:.2f} s; the first {first[0]:.2f} and "
                f"{first[1]:.2f}",
                flush=True,
            )
    print("load", os.getloadavg())


if __name__ == "__main__":
    main()
