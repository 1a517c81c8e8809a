"""What a graph says of each part of a claim, and of the whole.

A part is there, or the graph records something else instead, or it is not recorded. A negation turns the
first two around. In a closed world what is not recorded is not so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from clew.claims.claim_edges import COUNTED, Edge, Item, Scene, edges_between, triple_of, walk
from clew.claims.claim_parts import Tree, lists_of
from clew.claims.claim_text import ClaimText
from clew.grounding import triple_text
from clew.reading.rules.comparison import Span
from clew.reading.rules.direction import preferred_step
from clew.types import ClaimPart, Verdict

Found = Literal["there", "otherwise", "unknown", "unread"]
"""`unread`: the words name nothing that the graph records, so that it is silent of what they mean."""

NAMED = 0.3
"""Evidence from which words name a relation."""
EXPLAINED = 0.3
"""From this share on a word counts as explained."""
SURE = 0.9
"""Evidence from which a word is a relation's name, so that none of it means that there is none."""
STATED = 0.6
"""Evidence from which a word that is left over states a relation of its own (*… and has a nickname*)."""
MOST_MIDDLES = 1000
MOST_SHOWN = 20
"""Triples that a part shows of those that say otherwise, or of many."""


_LISTED = re.compile(r",|&|\b(?:and|or|nor|but|as well as)\b", re.IGNORECASE)
"""What stands between two relations that are listed."""
_ONLY = re.compile(
    r"\b(?P<the>(?:the|its|his|her|their) )?(?:only|solely|exclusively|sole|alone"
    r"|(?:nobody|no one|no-one|none|nothing|no \w+)(?: else)?"
    r" (?:but|except(?: for)?|other than|besides|apart from))\b",
    re.IGNORECASE,
)
"""Words that say that there are no others; after *the* it is what comes before that is the only one."""
_NOBODY = re.compile(r"\b(?:nobody|no one|no-one|none|nothing|nowhere)\b", re.IGNORECASE)
"""What stands for one end of a relation, and says that there is none."""
_OR = re.compile(r"\b(?:or|nor)\b", re.IGNORECASE)
_END = 1 << 30


@dataclass(frozen=True, slots=True)
class Checked:
    """A part of a claim as the graph has it: its place in the text, what was found, the triples that show it.

    `negated`: by a word that stands elsewhere. `said`: where the word stands that names its relation.
    """

    start: int
    stop: int
    found: Found
    triples: tuple[int, ...] = ()
    negated: bool = False
    said: int | None = None


def check_tree(claim: ClaimText, tree: Tree) -> list[Checked]:
    """Check every edge of a tree, then the words that it leaves over."""
    scene = tree.scene
    around = [e for e in tree.edges if tree.unnamed in (e.first, e.second)]
    checked: list[Checked] = []
    denied = _denied_lists(claim, scene)
    for edge in tree.edges:
        if edge in around:
            found, triples = _around(scene, edge, around, joined=tree.joined)
        else:
            found, triples = check_edge(scene, edge)
        start, stop = _place(scene, edge)
        negated = any(
            claim.negated_right_before(scene.items[i].start) or i in denied for i in (edge.first, edge.second)
        )
        checked.append(Checked(start, stop, found, triples, negated, _said(scene, edge, start, stop)))
    return [*checked, *_left_over(claim, tree)]


def _denied_lists(claim: ClaimText, scene: Scene) -> set[int]:
    """The things after the first of a list that *not … A or B* denies with it."""
    text, denied = claim.text, set[int]()
    for run in lists_of(scene):
        before = scene.items[run[0] - 1].stop if run[0] else 0
        if _OR.search(text[scene.items[run[-2]].stop : scene.items[run[-1]].start]) and claim.negated(
            before, scene.items[run[0]].start, scene.items[run[0]].start
        ):
            denied.update(run[1:])
    return denied


def _place(scene: Scene, edge: Edge) -> tuple[int, int]:
    """The words of an edge: from the end of the thing before its later item to that item's end."""
    items = [i for i in (scene.items[edge.first], scene.items[edge.second]) if not i.unnamed]
    later = max(items, key=lambda i: i.start)
    named = sorted((i for i in scene.items if not i.unnamed), key=lambda i: i.start)
    at = named.index(later)
    second = at == 1 and len(items) > 1 and not any(i.unnamed for i in scene.items)
    start = 0 if at == 0 or second else named[at - 1].stop
    last = at == len(named) - 1
    return start, len(scene.comparison.question.text) if last else later.stop


def _said(scene: Scene, edge: Edge, start: int, stop: int) -> int:
    """Where in the words of an edge the one begins that names it best; their start if none does."""
    step = scene.comparison.step
    rows = [r for r in scene.words(start, stop) if max(step[r, s] for s in edge.steps) >= NAMED]
    best = max(rows, key=lambda r: max(step[r, s] for s in edge.steps), default=None)
    return start if best is None else scene.comparison.words[best].start


def _around(scene: Scene, edge: Edge, star: Sequence[Edge], *, joined: bool) -> tuple[Found, tuple[int, ...]]:
    """An edge at the unnamed thing is there if all of them hold for one node.

    They are otherwise if whatever one of them leads to is known not to have another.
    """
    if not _is_meant(scene, edge):
        return "unknown", ()
    if edge.triples is not None and joined:
        return "there", edge.triples
    for one in star:
        if one is edge:
            continue
        first = scene.items[one.first]
        if first.entity < 0:
            continue
        told = _recorded(scene, first, (one.steps[0], edge.steps[0] ^ 1))
        if told and _tells(scene, (edge.steps[0] ^ 1,)):
            return "otherwise", told
    return "unknown", ()


def check_edge(scene: Scene, edge: Edge) -> tuple[Found, tuple[int, ...]]:
    """Check an edge between two things that are named."""
    if not _is_meant(scene, edge):
        return "unknown", ()
    if edge.triples is not None:
        return _only(scene, edge, edge.triples[:MOST_SHOWN])
    a, b, steps = scene.items[edge.first], scene.items[edge.second], edge.steps
    if a.entity < 0:
        a, b, steps = b, a, _back(steps)
    if edge.counted:
        others = _recorded(scene, a, steps)
    elif len(steps) == 1:
        others = _recorded(scene, a, steps) if _tells(scene, steps) else ()
        if not others and b.entity >= 0 and _tells(scene, _back(steps)):
            others = _recorded(scene, b, _back(steps))
    else:
        others = _recorded_far(scene, a, b, steps)
    return ("otherwise", others) if others else ("unknown", ())


def _back(steps: Sequence[int]) -> tuple[int, ...]:
    return tuple(s ^ 1 for s in reversed(steps))


def _recorded_far(scene: Scene, a: Item, b: Item, steps: tuple[int, ...]) -> tuple[int, ...]:
    """Triples that contradict a path of two steps.

    Where it leads from either end, or where both ends lead to.
    """
    if _tells(scene, steps[1:]) and (others := _recorded(scene, a, steps)):
        return others
    if b.entity < 0:
        return ()
    if _tells(scene, (steps[0] ^ 1,)) and (others := _recorded(scene, b, _back(steps))):
        return others
    if _tells(scene, steps[:1]) and _tells(scene, (steps[1] ^ 1,)):
        mine, theirs = _recorded(scene, a, steps[:1]), _recorded(scene, b, (steps[1] ^ 1,))
        return (*mine, *theirs) if mine and theirs else ()
    return ()


def _is_meant(scene: Scene, edge: Edge) -> bool:
    """Whether the words say this relation: they name it, or say nothing else."""
    if edge.named >= NAMED or edge.counted:
        return True
    rows = scene.near(max(edge.first, edge.second) if not scene.items[edge.second].unnamed else edge.first)
    content = [r for r in rows if scene.comparison.words[r].weight >= 0.9]
    if not content:
        return True
    shared = any(scene.comparison.words[r].share for r in rows) and len(edge.steps) > 1
    told = scene.told(content)[:, list(edge.steps)].max(axis=1)
    return shared or bool((told >= EXPLAINED).all())


def _tells(scene: Scene, steps: Sequence[int]) -> bool:
    """Whether what a node has by a path is all there is.

    From heads to tails, or where nearly every node has one.
    """
    schema = scene.reader.schema
    return all(s % 2 == 0 or schema.repeated[s] <= 0.02 * max(int(schema.nodes[s]), 1) for s in steps)


def _recorded(scene: Scene, item: Item, steps: Sequence[int]) -> tuple[int, ...]:
    """Triples of a path from an item, whatever it ends at.

    None if the graph records none at some node on the way.
    """
    graph = scene.graph
    triples: list[int] = []
    for first in walk(graph, item.entity, steps[0])[:MOST_MIDDLES]:
        triples.append(triple_of(graph, item.entity, steps[0], int(first)))
        if len(steps) > 1:
            ends = walk(graph, int(first), steps[1])
            if not len(ends):
                return ()
            triples += [triple_of(graph, int(first), steps[1], int(n)) for n in ends[:MOST_SHOWN]]
    return tuple(dict.fromkeys(triples))[: 2 * MOST_SHOWN]


def _left_over(claim: ClaimText, tree: Tree) -> list[Checked]:
    """Words that no edge explains: they state a relation of the thing before them, a type.

    Or what the graph lacks.
    """
    scene = tree.scene
    words = scene.comparison.words
    steps = sorted({s for e in tree.edges for s in e.steps})
    rows = [r for r in scene.words(0, len(claim.text)) if words[r].weight >= 0.9 and not words[r].share]
    if not tree.edges and not rows:
        rows = [r for r in scene.words(0, len(claim.text)) if not words[r].share]
    told = scene.told(rows)[:, steps].max(axis=1) if steps and rows else np.zeros(len(rows))
    left = [r for r, t in zip(rows, told, strict=True) if t < EXPLAINED]
    names = [r for r in left if _is_name(scene, r)]
    if names and not tree.edges:
        return [Checked(0, len(claim.text), "unknown")]
    checked = [Checked(words[r].start, words[r].stop, "unknown") for r in names]
    plain = [r for r in left if r not in names]
    named = [i for i in scene.items if not i.unnamed]
    if not plain or not named:
        return checked
    beside = {r: edge for r in plain if (edge := _beside(scene, tree, r)) is not None}
    checked += [_check_beside(scene, r, edge) for r, edge in beside.items()]
    plain = [r for r in plain if r not in beside]
    if not plain:
        return checked
    stated = max(plain, key=lambda r: float(scene.comparison.relation[r].max(initial=0.0)))
    if not tree.edges or float(scene.comparison.relation[stated].max(initial=0.0)) >= STATED:
        before = [i for i in named if i.start <= words[stated].start] or named[:1]
        only = plain if not tree.edges else [stated]
        start = 0 if not tree.edges else min(words[stated].start, before[-1].stop)
        stop = len(claim.text) if not tree.edges else words[stated].stop
        found, triples = _exists(scene, before[-1], only)
        checked.append(Checked(start, stop, found, triples))
    return checked


def _check_beside(scene: Scene, row: int, edge: Edge) -> Checked:
    """Check the edge that a word states; its part begins where the word before that says something ends."""
    words = scene.comparison.words
    start = max((w.stop for w in words[:row] if w.weight > 0), default=0)
    found, triples = check_edge(scene, edge)
    return Checked(start, words[row].stop, found, triples, said=words[row].start)


def _beside(scene: Scene, tree: Tree, row: int) -> Edge | None:
    """The edge that a word states of two things that another word joins already.

    *X wrote and directed Y*, *X did not write Y but starred in it*. None if the word stands elsewhere.
    """
    for edge in tree.edges:
        if len(edge.steps) != 1 or tree.unnamed in (edge.first, edge.second):
            continue
        namers = [r for r in scene.words(0, _END) if scene.comparison.step[r, edge.steps[0]] >= NAMED]
        inside = [r for r in (row, *namers) if _stands_between(scene, edge, r)]
        if inside != [row] and not any(_is_listed(scene, row, r) for r in namers):
            continue
        between = [e for e in edges_between(scene, edge.first, edge.second) if len(e.steps) == 1]
        named = [float(scene.comparison.step[row, e.steps[0]]) for e in between]
        if max(named, default=0.0) >= STATED:
            at = named.index(max(named))
            return replace(between[at], named=named[at])
    return None


def _stands_between(scene: Scene, edge: Edge, row: int) -> bool:
    """Whether a word stands between the two things of an edge."""
    first, second = sorted((scene.items[edge.first], scene.items[edge.second]), key=lambda i: i.start)
    return first.stop <= scene.comparison.words[row].start < second.start


def _is_listed(scene: Scene, row: int, other: int) -> bool:
    """Whether two words are listed (*wrote and directed*), with nothing that says something between them."""
    words, text = scene.comparison.words, scene.comparison.question.text
    low, high = sorted((row, other))
    if low == high or any(w.weight > 0 for w in words[low + 1 : high]):
        return False
    gap = text[words[low].stop : words[high].start]
    return bool(_LISTED.search(gap)) and not any(
        words[low].stop <= i.start < words[high].start for i in scene.items
    )


def _only(scene: Scene, edge: Edge, triples: tuple[int, ...]) -> tuple[Found, tuple[int, ...]]:
    """What is there, or otherwise where the claim says *only* and the graph has others too.

    *Only X directed Y*, *X directed only Y*, *X is the only director of Y*.
    """
    text, items = scene.comparison.question.text, scene.items
    for hit in _ONLY.finditer(text):
        after = [i for i in (edge.first, edge.second) if items[i].start >= hit.end()]
        before = [i for i in (edge.first, edge.second) if items[i].stop <= hit.start()]
        meant = before[-1:] if hit["the"] else sorted(after, key=lambda i: items[i].start)[:1]
        if not meant or items[meant[0]].entity < 0 or len(edge.steps) != 1:
            continue
        one = meant[0]
        other, step = (edge.second, edge.steps[0] ^ 1) if one == edge.first else (edge.first, edge.steps[0])
        if items[other].entity < 0:
            continue
        said = {i.entity for i in items}
        more = [int(n) for n in walk(scene.graph, items[other].entity, step) if int(n) not in said]
        if more:
            return "otherwise", tuple(triple_of(scene.graph, items[other].entity, step, n) for n in more)[
                :MOST_SHOWN
            ]
    return "there", triples


def _is_name(scene: Scene, row: int) -> bool:
    """Whether a word that is left over names what the graph lacks, and is no word for a relation."""
    word, lexicon = scene.comparison.words[row], scene.reader.vocabulary.lexicon
    named = word.capital or not lexicon.known(word.norm)
    return named and float(scene.comparison.relation[row].max(initial=0.0)) < STATED


def _exists(scene: Scene, item: Item, rows: Sequence[int]) -> tuple[Found, tuple[int, ...]]:
    """Whether an entity is of the type, or has the relation, that some words name."""
    typed = _type_of(scene, item, rows)
    if typed is not None:
        return typed, ()
    if item.entity < 0:
        return "unknown", ()
    comparison, graph = scene.comparison, scene.graph
    evidence = comparison.step[list(rows)].max(axis=0)
    ends = scene.reader.ends_of(item.entity)
    best = max(float(evidence.max(initial=0.0)), NAMED)
    nobody = _NOBODY.search(comparison.question.text) is not None
    for step in sorted(ends, key=lambda s: (-evidence[s], s)):
        if evidence[step] < max(SURE if nobody else NAMED, 0.8 * best):
            break
        if nobody and _is_turned(scene, item, step):
            continue  # *nobody reports to X* says nothing of whom X reports to
        return "there", tuple(
            triple_of(graph, item.entity, step, int(n)) for n in walk(graph, item.entity, step)[:MOST_SHOWN]
        )
    unread = nobody and float(evidence.max(initial=0.0)) < SURE
    return "unread" if unread else "unknown", ()


def _is_turned(scene: Scene, item: Item, step: int) -> bool:
    """Whether the grammar has an item at the other end of a relation that has the same things at both."""
    wanted = preferred_step(scene.comparison, Span(item.start, item.stop), step // 2)
    if wanted in (None, step):
        return False
    heads, relations, tails = scene.graph.out.columns()
    of = relations == step // 2
    return bool(np.isin(heads[of], tails[of]).any())


def _type_of(scene: Scene, item: Item, rows: Sequence[int]) -> Found | None:
    """For *X is a film*: whether X is declared to be of a type that a word names.

    None if no word names a type.
    """
    types, lexicon = scene.graph.types, scene.reader.vocabulary.lexicon
    if item.entity < 0 or not len(types.names) or not rows:
        return None
    word = scene.comparison.words[rows[-1]].norm
    close = [float(lexicon.similarity(word, " ".join(ws))) for ws in scene.reader.vocabulary.type_words]
    if max(close, default=0.0) < 1 - COUNTED / 4:
        return None
    meant = {i for i, c in enumerate(close) if c == max(close)}
    own = {int(t) for t in types.type[types.offsets[item.entity] : types.offsets[item.entity + 1]]}
    if not own:
        return "unknown"
    return "there" if own & meant else "otherwise"


def part_of(claim: ClaimText, scene: Scene, checked: Checked, *, closed: bool) -> ClaimPart:
    """The verdict of a part, with its negations."""
    found = checked.found
    said = checked.start if checked.said is None else checked.said
    negated = checked.negated or claim.negated(checked.start, checked.stop, said)
    if closed and (found == "unknown" or (found == "unread" and not negated)):
        found = "otherwise"
    verdict: Verdict = "not_enough_info"
    if found in ("there", "otherwise"):
        verdict = "supported" if (found == "there") != negated else "refuted"
    text = claim.text[max(checked.start, claim.frame if checked.start == 0 else 0) : checked.stop].strip(
        " ,.;:!?"
    )
    triples = tuple(triple_text(scene.graph, t) for t in checked.triples)
    return ClaimPart(text, verdict, triples, checked.triples)


def whole(parts: Iterable[ClaimPart], *, denied: bool) -> Verdict:
    """Refuted if a part is, supported if all are; turned around if the whole is denied."""
    verdicts = {part.verdict for part in parts}
    if not verdicts or verdicts == {"supported"}:
        verdict: Verdict = "supported" if verdicts else "not_enough_info"
    else:
        verdict = "refuted" if "refuted" in verdicts else "not_enough_info"
    if denied and verdict != "not_enough_info":
        return "refuted" if verdict == "supported" else "supported"
    return verdict
