"""Accuracy of `verify` on FactKG's 100 development claims, by type.

The data has no triples, only, for each entity of a claim, the relation paths that FactKG looked at in
DBpedia. The graph is rebuilt from them: where the claim's label and type say that the paths lead to the
claim's other entities, they do; where they say that they do not (a substituted entity, or nothing there),
each path leads to a node of its own. What is not named in the claim gets a name without meaning. So the
graph holds for every claim what DBpedia holds, and nothing else; it is far smaller than DBpedia, and
finding the right entity in it is easier.

A false claim is false there because a part of it is missing, as it is in DBpedia; but DBpedia has thousands
of other edges that a verifier may take for it, and this graph has few, so the accuracy on false claims says
little. The paper's 86.8 % is with a model of 70B on the test set and all of DBpedia, so that the figures
cannot be compared.

python benchmarks/factkg.py ../shared/data/factkg [--part developed|held-out|all] [--wrong] [--write
benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from results import publish

from clew import Clew
from clew.claims.verify import Verify

KINDS = {"num1": "one-hop", "multi claim": "conjunction", "existence": "existence", "multi hop": "multi-hop"}
ROWS = ("all", "one-hop", "conjunction", "existence", "multi-hop", "negation", "label True", "label False")
TITLES = {
    "developed": "The first 75 (looked at while developing):",
    "held-out": "The last 25 (held out: its claims and mistakes were not looked at):",
    "all": "All:",
}
Triple = tuple[str, str, str]


def is_broken(claim: dict[str, Any]) -> bool:
    """Whether the graph must lack a part of what the claim's words say, negations aside."""
    types = claim["types"]
    return "substitution" in types or claim["Label"][0] == ("negation" in types)


class Graph:
    """Triples, and a supply of names without meaning."""

    def __init__(self) -> None:
        self.triples: dict[Triple, None] = {}
        self.entities: dict[str, None] = {}
        self._unnamed_count = 0

    def new_name(self) -> str:
        """A new name without meaning."""
        self._unnamed_count += 1
        return f"m.{self._unnamed_count:05d}"

    def add(self, node: str, step: str, to: str) -> None:
        """Add the triple of a step."""
        relation = step.removeprefix("~")
        self.triples[(to, relation, node) if step.startswith("~") else (node, relation, to)] = None

    def has(self, node: str, step: str) -> bool:
        """Whether a node has a step."""
        column = 2 if step.startswith("~") else 0
        return any(t[column] == node and t[1] == step.removeprefix("~") for t in self.triples)

    def only_neighbour(self, node: str, step: str) -> str | None:
        """The only node that a step leads to."""
        column = 2 if step.startswith("~") else 0
        neighbours = [
            t[2 - column] for t in self.triples if t[column] == node and t[1] == step.removeprefix("~")
        ]
        return neighbours[0] if len(neighbours) == 1 else None


def inverse(path: list[str]) -> list[str]:
    """The path walked back."""
    return [s.removeprefix("~") if s.startswith("~") else "~" + s for s in reversed(path)]


def plain(name: str) -> str:
    """A literal without its quotes."""
    return name[1:-1] if name.startswith('"') and name.endswith('"') else name


def partners(evidence: dict[str, list[list[str]]]) -> list[tuple[str, list[str], str]]:
    """(entity, path, entity) wherever two entities of a claim have the same path from either end."""
    pairs = []
    for a, paths in evidence.items():
        for path in paths:
            for b, other_paths in evidence.items():
                if a < b and inverse(path) in other_paths:
                    pairs.append((a, path, b))
    return pairs


def add_true(graph: Graph, evidence: dict[str, list[list[str]]]) -> None:
    """All paths lead to the claim's other entities; paths of two meet in one node."""
    middle: str | None = None
    for a, path, b in partners(evidence):
        if len(path) == 1:
            graph.add(plain(a), path[0], plain(b))
            continue
        if middle is None:
            common_node = graph.only_neighbour(plain(a), path[0]) or graph.only_neighbour(
                plain(b), inverse(path)[0]
            )
            middle = (
                common_node if common_node not in (plain(a), plain(b)) and common_node else graph.new_name()
            )
        node = middle
        graph.add(plain(a), path[0], node)
        for step in path[1:-1]:
            next_node = graph.new_name()
            graph.add(node, step, next_node)
            node = next_node
        graph.add(node, path[-1], plain(b))
    for entity, paths in evidence.items():
        for path in paths:
            if not any(entity in (a, b) for a, _, b in partners(evidence)):
                follow(graph, entity, path)


def follow(graph: Graph, entity: str, path: list[str]) -> None:
    """A path that leads to something that the claim does not name."""
    node = plain(entity)
    for step in path:
        next_node = graph.only_neighbour(node, step)
        if next_node is None and not graph.has(node, step):
            next_node = graph.new_name()
            graph.add(node, step, next_node)
        node = next_node or node


def add_broken(graph: Graph, claim: dict[str, Any]) -> None:
    """One entity of the claim is not where the others are: the last one whose edges no true claim has."""
    evidence, types = claim["Evidence"], claim["types"]
    pairs = partners(evidence)
    if not pairs:  # existence: there is nothing at the end of the path
        return
    unpaired_entities = [
        e for e in evidence if all(e not in (a, b) or not has_edge(graph, a, p, b) for a, p, b in pairs)
    ]
    displaced_entity = (unpaired_entities or list(evidence))[-1]
    if "substitution" not in types:
        displaced_entity = pairs[-1][2]
    true_evidence = {
        entity: [
            p
            for p in paths
            if any(
                entity in (a, b) and displaced_entity not in (a, b) and p in (q, inverse(q))
                for a, q, b in pairs
            )
        ]
        for entity, paths in evidence.items()
        if entity != displaced_entity
    }
    add_true(graph, {e: p for e, p in true_evidence.items() if p})
    for a, path, b in pairs:
        if displaced_entity in (a, b):
            follow(graph, a, path)
            follow(graph, b, inverse(path))


def has_edge(graph: Graph, a: str, path: list[str], b: str) -> bool:
    """Whether the graph has a path of one step between two entities."""
    head, tail = (plain(b), plain(a)) if path[0].startswith("~") else (plain(a), plain(b))
    return len(path) == 1 and (head, path[0].removeprefix("~"), tail) in graph.triples


def build(claims: list[dict[str, Any]]) -> Graph:
    """The graph of all claims: first what true ones say, the shortest paths first."""
    graph = Graph()
    for length in (1, 2, 3):
        for claim in claims:
            longest = max(len(p) for paths in claim["Evidence"].values() for p in paths)
            if not is_broken(claim) and longest == length:
                add_true(graph, claim["Evidence"])
    for claim in claims:
        if is_broken(claim):
            add_broken(graph, claim)
    present = {name for h, _, t in graph.triples for name in (h, t)}
    for number, name in enumerate(sorted({plain(e) for c in claims for e in c["Evidence"]} - present)):
        graph.add(name, "wikiPageID", str(90_000_001 + number))
    return graph


def write(graph: Graph, folder: Path) -> Path:
    """Write the graph; a name up to its bracket or comma is an alias, where nothing else has that name."""
    path = folder / "factkg.tsv"
    path.write_text("".join("\t".join(t) + "\n" for t in graph.triples), "utf-8")
    names = {name for h, _, t in graph.triples for name in (h, t)}
    short_names = {n: re.sub(r"_\(.*\)$|,_.*$", "", n) for n in sorted(names)}
    short_counts = Counter(s for n, s in short_names.items() if s != n)
    aliases = [(n, s) for n, s in short_names.items() if s != n and short_counts[s] == 1 and s not in names]
    (folder / "factkg.aliases.tsv").write_text(
        "".join(f"{n}\t{s.replace('_', ' ')}\n" for n, s in aliases), "utf-8"
    )
    return path


def kind_of(claim: dict[str, Any]) -> str:
    """FactKG's kind of a claim."""
    return (
        "negation" if "negation" in claim["types"] else next(KINDS[t] for t in claim["types"] if t in KINDS)
    )


def measure(clew: Clew, claims: list[dict[str, Any]], *, wrong: bool) -> list[str]:
    """Verify claims in a closed world.

    Rows of accuracy by kind, of verdicts in an open world, and of time.
    """
    verify = Verify(clew.opened, clew.embedder)
    verify.verify(claims[0]["claim"])
    right: dict[str, list[bool]] = defaultdict(list)
    verdicts: Counter[tuple[bool, str]] = Counter()
    times: list[float] = []
    for claim in claims:
        result = verify.verify(claim["claim"], closed_world=True)
        label = claim["Label"][0]
        is_right = (result.verdict == "supported") == label
        times.append(result.timings_ms["total"])
        for name in ("all", kind_of(claim), f"label {label}"):
            right[name].append(is_right)
        verdicts[label, verify.verify(claim["claim"]).verdict] += 1
        if wrong and not is_right:
            print(f"\n{label} {claim['claim']}\n   {claim['types']}")
            for part in result.parts:
                print("  ", part.verdict, "|", part.text, "|", [t.as_json() for t in part.triples][:3])
    rows = [
        f"| {n} | {100 * sum(right[n]) / len(right[n]):.1f} % | {sum(right[n])} of {len(right[n])} |"
        for n in ROWS
        if right[n]
    ]
    for label in (True, False):
        verdict_counts = ", ".join(
            f"{verdicts[label, v]} {v}" for v in ("supported", "refuted", "not_enough_info")
        )
        rows.append(f"| open world, label {label} | | {verdict_counts} |")
    times.sort()
    rows.append(
        f"| time | | p50 {times[len(times) // 2]:.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms |"
    )
    return rows


def main() -> None:
    """Verify the claims, print the accuracy, and write the section of the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=("developed", "held-out", "all"))
    parser.add_argument("--wrong", action="store_true", help="show the claims that come out wrong")
    parser.add_argument("--write", type=Path, help="the file of results")
    arguments = parser.parse_args()
    lines = (arguments.folder / "factkg_dev_sample100.jsonl").read_text("utf-8").splitlines()
    claims = [json.loads(line) for line in lines]
    parts = {"developed": claims[:75], "held-out": claims[75:], "all": claims}
    graph = build(claims)
    text = [
        f"{__doc__.split('python bench')[0].strip()}\n",
        "`python benchmarks/factkg.py ../shared/data/factkg`\n",
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        Clew.open(write(graph, Path(folder)), cache_dir=Path(folder)) as clew,
    ):
        index_graph = clew.opened.graph
        text.append(
            f"The graph: {index_graph.triples} triples, {index_graph.nodes} nodes, "
            f"{len(index_graph.relations)} relations."
        )
        for part in [arguments.part] if arguments.part else list(parts):
            rows = measure(clew, parts[part], wrong=arguments.wrong)
            text += [f"\n{TITLES[part]}\n", "| | accuracy | |", "|---|---|---|", *rows]
    publish(arguments.write, "FactKG: claims without a model", "\n".join(text))


if __name__ == "__main__":
    main()
