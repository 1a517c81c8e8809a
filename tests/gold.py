"""Gold answers from a graph by a small notation; nothing of Clew is used.

A query is `what: conditions`, the conditions joined by ` & `:

    head,relation,tail      a triple; `?x` is a variable
    not head,relation,tail  no such triple; variables that stand nowhere else may be anything
    ?a is Type              a declared type
    ?a in One|Other         one of these
    ?a!=Name                not this
    ?v>2010, ?v<=?w         values compared: numbers as numbers, dates as text

What is asked: `?a`; `count ?a`; `ask`; `max ?v ?a`, `min ?v ?a`: the `?a` of the largest or smallest `?v`;
`count>2 ?b ?a` (`>=`, `<`, `<=`, `=`): the `?a` with so many `?b`; `most ?b ?a`: with the most.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from pathlib import Path

COMPARE = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq
}  # fmt: skip
_COMPARISON = re.compile(r"(\?\w+)(>=|<=|>|<)(.+)")
_CHOSEN = re.compile(r"(\?\w+) (is|in) (.+)")
_COUNTED = re.compile(r"count(>=|<=|>|<|=)(\d+)")
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Triples:
    """Triples by (node, relation), both ways, and declared types."""

    def __init__(self, triples, types=()):
        self.out, self.into, self.pairs = defaultdict(set), defaultdict(set), defaultdict(set)
        self.names, self.types = set(), defaultdict(set)
        for head, relation, tail in triples:
            self.out[head, relation].add(tail)
            self.into[tail, relation].add(head)
            self.pairs[relation].add((head, tail))
            self.names |= {head, tail}
        for name, type in types:
            self.types[type].add(name)

    def walk(self, topic, path):
        """Nodes at the end of `path`; a return by the same relation never ends where it came from."""
        ends = {(None, topic)}
        for i, (relation, sign) in enumerate(path):
            back = i > 0 and path[i - 1][0] == relation and path[i - 1][1] != sign
            step = self.out if sign == "+" else self.into
            ends = {(at, to) for was, at in ends for to in step[at, relation] if not (back and to == was)}
        return sorted({end for _, end in ends})

    def _edges(self, head, relation, tail):
        if not head.startswith("?"):
            return [(head, t) for t in self.out[head, relation]]
        if not tail.startswith("?"):
            return [(h, tail) for h in self.into[tail, relation]]
        return self.pairs[relation]

    def _joined(self, found, triple):
        head, relation, tail = triple.rsplit(",", 2)
        return [
            {**f, **{v: x for v, x in ((head, h), (tail, t)) if v.startswith("?")}}
            for f in found
            for h, t in self._edges(f.get(head, head), relation, f.get(tail, tail))
            if f.get(tail, t) == t and (tail.startswith("?") or tail == t)
        ]

    def _meet(self, found, condition):
        compared, chosen = _COMPARISON.fullmatch(condition), _CHOSEN.fullmatch(condition)
        if condition.startswith("not "):
            return [f for f in found if not self._joined([f], condition[4:])]
        if "!=" in condition:
            variable, name = condition.split("!=")
            return [f for f in found if f[variable] != name]
        if compared:
            variable, sign, other = compared.groups()
            return [f for f in found if COMPARE[sign](key(f[variable]), key(f.get(other, other)))]
        if chosen:
            variable, word, text = chosen.groups()
            names = self.types[text] if word == "is" else set(text.split("|"))
            bound = found and variable in found[0]
            return [f for f in found if f[variable] in names] if bound else _spread(found, variable, names)
        return self._joined(found, condition)

    def solve(self, body):
        """All assignments of the variables that meet every condition."""
        found = [{}]
        for condition in body.split(" & "):
            found = self._meet(found, condition)
        return found

    def gold(self, query):
        """The answers, sorted; of `ask` yes or no, of `count` a number as text."""
        asked, body = query.split(": ", 1)
        found, (word, *variables) = self.solve(body), asked.split()
        counted = _COUNTED.fullmatch(word)
        if word == "ask":
            return ["yes" if found else "no"]
        if word == "count":
            return [str(len({f[variables[0]] for f in found}))]
        if word in ("max", "min"):
            value, answer = variables
            best = (max if word == "max" else min)(key(f[value]) for f in found)
            return sorted({f[answer] for f in found if key(f[value]) == best})
        if counted or word == "most":
            several, answer = variables
            numbers = {name: len({f[several] for f in found if f[answer] == name})
                       for name in {f[answer] for f in found}}  # fmt: skip
            sign, least = counted.groups() if counted else ("=", max(numbers.values()))
            return sorted(name for name, n in numbers.items() if COMPARE[sign](n, int(least)))
        return sorted({f[word] for f in found})


def key(text):
    """A value to compare: a number, else the text itself (dates as YYYY-MM-DD)."""
    try:
        return float(text)
    except ValueError:
        return text


def _spread(found, variable, names):
    return [{**f, variable: name} for f in found for name in sorted(names)]


def read_graph(path: Path) -> Triples:
    """A graph of the tests: tab-separated with types beside it, or Turtle read by its labels."""
    if path.suffix == ".ttl":
        return _read_turtle(path)
    types = path.with_name(f"{path.stem}.types.tsv")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return Triples(
        rows,
        [line.split("\t") for line in types.read_text(encoding="utf-8").splitlines()]
        if types.exists()
        else (),
    )


def _read_turtle(path):
    import pyoxigraph

    quads = list(pyoxigraph.parse(path.read_bytes(), pyoxigraph.RdfFormat.TURTLE))
    labels = {q.subject: q.object.value for q in quads if q.predicate.value == RDFS_LABEL}
    triples, types = [], []
    for quad in quads:
        name = re.split(r"[/#]", quad.predicate.value)[-1]
        if quad.predicate.value == RDF_TYPE:
            types.append((labels[quad.subject], re.split(r"[/#]", quad.object.value)[-1]))
        elif quad.predicate.value != RDFS_LABEL:
            triples.append((labels[quad.subject], name, labels.get(quad.object, quad.object.value)))
    return Triples(triples, types)
