"""Verdicts of the built-in verifier on claims in many wordings, by kind.

Claims about the development graphs were looked at while the verifier was changed. Those of the check set
(`tests/data/check`) are only counted. The world is open. A verdict is *turned around* if it says supported
for refuted or the other way, or decides what the graph does not hold; what is left is that not enough
information was found where there is.

python benchmarks/claims.py [--write benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from questions import DATA, GRAPHS
from results import publish

from clew import Clew
from clew.claims.verify import Verify


def measure(path: Path, verifiers: dict[str, Verify]) -> list[str]:
    """Count the right verdicts of a file of claims, by graph and kind."""
    right, totals, turned_around = Counter[str](), Counter[str](), 0
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        verdict = verifiers[row["graph"]].verify(row["claim"]).verdict
        for name in ("all", f"graph {row['graph']}", row["kind"]):
            totals[name] += 1
            right[name] += verdict == row["verdict"]
        turned_around += verdict not in (row["verdict"], "not_enough_info")
    rows = [f"| {n} | {100 * right[n] / totals[n]:.1f} % | {right[n]} of {totals[n]} |" for n in totals]
    return ["| | right | |", "|---|---|---|", *rows, f"| turned around | | {turned_around} |"]


def main() -> None:
    """Verify both sets, print the tables, and write the section of the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, help="the file of results")
    arguments = parser.parse_args()
    text = [__doc__.split("python bench")[0].strip(), "", "`python benchmarks/claims.py`"]
    with tempfile.TemporaryDirectory() as cache:
        engines = {name: Clew.open(path, cache_dir=Path(cache)) for name, path in GRAPHS.items()}
        verifiers = {name: Verify(clew.index, clew.embedder) for name, clew in engines.items()}
        for title, folder in (("Development", "dev"), ("Check", "check")):
            text += ["", f"{title}:", "", *measure(DATA / folder / "claims.jsonl", verifiers)]
        for clew in engines.values():
            clew.close()
    publish(arguments.write, "Claims in many wordings, without a model", "\n".join(text))


if __name__ == "__main__":
    main()
