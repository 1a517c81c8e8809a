"""`verify` without a model: the parts of a claim are matched in the graph, each is there, otherwise.

Or not recorded.

Steps, in order: `link` (what the claim names: entities, numbers, dates), `parts` (how the words join them,
as relation paths of this graph), `check` (what the graph has), and the verdict. Claims are those of
FactKG's kinds and more: one hop, conjunction, existence, several hops through something unnamed, negation,
numbers, dates, counts and comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from clew.claims.check_claim import Checked, Found, check_tree, part_of, whole
from clew.claims.claim_compare import find_comparing, measure
from clew.claims.claim_edges import Item, Scene
from clew.claims.claim_items import ClaimItems
from clew.claims.claim_parts import DROPPED, Tree, best_tree, variants
from clew.claims.claim_text import ClaimText, read_claim
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.reading.rules.auto import auto_of
from clew.reading.rules.comparison import Comparison, compare
from clew.text.embedder import Embedder
from clew.types import Citation, ClaimPart, Step, Verification


@dataclass(frozen=True, slots=True)
class Checkable:
    """A claim with the tree that explains it, and what the graph has of its parts."""

    claim: ClaimText
    tree: Tree
    checked: tuple[Checked, ...]


class Verify:
    """Verifies claims against one open index without a model."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.parser = parser = auto_of(index, embedder)
        self.index, self.graph = index, index.graph
        self.weights, self.table = parser.weights, parser.table
        self.reader = parser.reader
        self.items = ClaimItems(index.graph, parser.linker, parser.reader)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so."""
        began = perf_counter()
        text = read_claim(claim)
        comparison = compare(text.question, self.table, self.weights)
        items = self.items.find(text, comparison)
        text = text.outside_of([(item.start, item.stop) for item, *_ in items])
        linked = perf_counter()
        found = self._check(text, comparison, items)
        parts = [part_of(text, found.tree.scene, c, closed=closed_world) for c in found.checked]
        if not parts:
            parts = [ClaimPart(claim, "refuted" if closed_world else "not_enough_info")]
        ended = perf_counter()
        timings = {"link": linked - began, "check": ended - linked, "total": ended - began}
        return Verification(
            claim=claim,
            verdict=whole(parts, denied=text.denied),
            parts=tuple(parts),
            citations=self._cite(parts),
            method=self.name,
            timings_ms={stage: round(1000 * s, 3) for stage, s in timings.items()},
            steps=(self._link_step(items), self._parts_step(found.tree)),
            id=id,
        )

    def _check(self, claim: ClaimText, comparison: Comparison, items: Sequence[Sequence[Item]]) -> Checkable:
        """Choose the entities and the tree that cost least.

        A comparison of two entities is a part of its own.
        """
        best, least = None, 0.0
        free = self.items.said_by_the_way(claim, comparison, items)
        about_unknown = claim.about_unknown or self.items.described(claim, items) > claim.frame
        compared: tuple[Checked, ...] = ()
        comparing = find_comparing(claim, [i[0] for i in items])
        if comparing is not None:
            scene = Scene(self.reader, comparison, tuple(i[0] for i in items), free)
            measured = measure(scene, self.table, comparing)
            found: Found = "unknown" if measured.holds is None else "there" if measured.holds else "otherwise"
            start = 0 if items[0][0] == comparing.first else comparing.first.start
            compared = (Checked(start, comparing.second.stop, found, measured.triples),)
            items = [i for i in items if i[0] != comparing.second]
            if len(items) == 1:
                return Checkable(claim, Tree(scene, (), 0.0), compared)
            free |= {w.start for w in claim.question.words if start <= w.start < comparing.second.stop}
        for chosen in variants(items):
            scene = Scene(self.reader, comparison, chosen, free)
            tree = best_tree(scene, about_unknown=about_unknown)
            cost = tree.cost + DROPPED * (len(items) - len(chosen))
            if best is None or cost < least:
                best, least = tree, cost
        said = [w for w in claim.question.words if w.start >= claim.frame]
        if best is not None and all(any(i.start <= w.start < i.stop for i in best.scene.items) for w in said):
            return Checkable(claim, best, (Checked(0, len(claim.text), "unknown"),))
        if best is None:
            best = Tree(Scene(self.reader, comparison, (), free), (), 0.0)
        return Checkable(claim, best, (*compared, *check_tree(claim, best)))

    def _cite(self, parts: Sequence[ClaimPart]) -> tuple[Citation, ...]:
        return tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)

    def _link_step(self, items: Sequence[Sequence[Item]]) -> Step:
        rows = [
            {"text": i[0].text, "entities": [self.graph.entities[c.entity] for c in i if c.entity >= 0]}
            for i in items
        ]
        return Step("link", {"mentions": rows})

    def _parts_step(self, tree: Tree) -> Step:
        def name(item: Item) -> str:
            return item.text or "something"

        rows = [
            {
                "first": name(tree.scene.items[e.first]),
                "relations": [
                    self.graph.relations[s // 2] + ("" if s % 2 == 0 else " (inverse)") for s in e.steps
                ],
                "second": name(tree.scene.items[e.second]),
                "cost": round(e.cost, 3),
                "named": round(e.named, 3),
                "there": e.triples is not None,
            }
            for e in tree.edges
        ]
        return Step("parts", {"parts": rows, "cost": round(tree.cost, 3)})
