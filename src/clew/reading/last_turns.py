"""Follow-ups of the last turns: their numbers and dates, and what several of them have in common.

and the highest?; how many is that together?     of the values of the last questions
which of the two is older?; by how many years?   of dates that were asked for
so who comes on both days?                       what the last two turns have in common
when?; since when?                               the date of what was said
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import ValueKind
from clew.graph.steps import Step, is_backward, opposite, relation_of
from clew.graph.values import UNITS
from clew.query.execute import Executor
from clew.query.tree import (
    Anchor,
    Ask,
    Both,
    Compared,
    Extreme,
    Part,
    Query,
    Walk,
    Without,
    last_walks,
)
from clew.query.vocabulary import NUMBER
from clew.reading.comparisons import EARLIER, FEWER, LATER, is_comparative
from clew.reading.english import ANYONE, FUNCTION, LIGHT
from clew.reading.last_set import AUX, GROUP_BEST, THEM, WHICH_BEST, WHICH_IS_MORE, FollowUp, comparative_of
from clew.reading.thread import LastAnswer, changes, either, labels_of
from clew.text.inflection import singular
from clew.text.normalise import tokens
from clew.types import Abstention

_AMOUNTS: dict[str, Ask] = {
    **dict.fromkeys(("average", "mean", "typical"), "average"),
    **dict.fromkeys(("total", "sum", "overall", "combined"), "sum"),
    **dict.fromkeys(("highest", "maximum", "max", "largest", "biggest", "most"), "largest"),
    **dict.fromkeys(("lowest", "minimum", "min", "smallest", "least"), "smallest"),
}
_SAME_VALUE = re.compile(
    rf"(?:what\s+(?:is|was|are)\s+|what['’]s\s+)?(?:on\s+|in\s+)?(?:the\s+|their\s+|its\s+)?(?P<amount>{'|'.join(_AMOUNTS)})"
    r"(?:\s+(?:one|value|figure|number|amount))?",
    re.I,
)
_TOGETHER = re.compile(
    r"(?:(?:and|so)\s+)?(?:(?:how\s+(?:many|much)|what)\b(?:\s+(?:is|are|was|were|does|do|would|that|this|it|they|those"
    r"|these|both|the\s+two|make|makes|come|comes|add|up|to|be|have|has|had))*?\s+)?"
    r"(?:together|altogether|combined|in\s+total|in\s+all|in\s+sum|all\s+told|taken\s+together|the\s+(?:total|sum))"
    r"|what\s+(?:do|does)\s+(?:they|those|these|that|both|it)\s+(?:add\s+up|come)\s+to(?:\s+(?:together|in\s+total))?",
    re.I,
)
_DIFFERENCE = re.compile(
    r"by\s+how\s+(?:many|much)(?:\s+(?P<unit>(?!is|was|are|were|does)\w+))?(?:\s+(?:is|was|are|were)\s+\w+(?:\s+\w+)?)?"
    r"|how\s+(?:many|much)(?:\s+(?P<of>\w+))??\s+(?:more|less|fewer|\w+er)\s+(?:is|was|are|were)\s+(?:that|this|it|s?he|they)"
    r"|(?:(?:(?:what|how\s+\w+)\s+(?:is|was)|what['’]s)\s+)?the\s+difference(?:\s+between\s+(?:them|the\s+two|those|these|both))?"
    r"(?:,?\s+in\s+(?P<in>\w+)(?:\s+an?\s+\w+)?)?",
    re.I,
)
_BOTH_OF = re.compile(r"\b(?:both|each)(?:\s+of\s+(?:them|these|those))?\b(?:\s+\w+)?", re.I)
_PASSED = FUNCTION | LIGHT | {"first", "last"}
_ANY_MORE = frozenset("more less fewer higher lower larger smaller bigger greater".split())
"""Words that compare numbers of any kind."""
_WHEN = re.compile(
    r"(?:(?P<bound>since|until|till|from|by)\s+)?(?:(?:in|on|at)\s+)?(?:when|(?:which|what)\s+(?:year|date|day|month))"
    r"(?:\s+(?:was|is|did)\s+(?:that|it|this)(?:\s+happen)?)?(?:\s+exactly)?|(?P<long>for\s+how\s+long|how\s+long)",
    re.I,
)
_WHO_DOES = re.compile(
    r"(?:who|what|which(?:\s+ones?)?)\s+(?:is|are|was|were|do|does|did|has|have|had)(?P<not>n['’]t|\s+not)?(?:\s+then)?",
    re.I,
)
_BEGIN, _END = (
    frozenset("start from since begin beginning".split()),
    frozenset("end until to till finish".split()),
)
_NO_WORDS: frozenset[str] = frozenset()


def goes_on_from_turns(question: str) -> bool:
    """Whether a question is one of those that need the turns before."""
    return any(p.fullmatch(question) for p in (_TOGETHER, _DIFFERENCE, _WHEN, _WHO_DOES))


@dataclass(eq=False)
class OfTurns:
    """The ways to read a question as one of the last turns; `question` as it was asked."""

    last: LastAnswer
    question: str

    def of_values(self, rest: str) -> list[FollowUp] | Abstention:
        """*And the highest?* of the same values; *together* and *by how many*: of those of the last turns."""
        query = self.last.query
        if query is None:
            return []
        part = query.part
        is_number = isinstance(part, Walk) and self.last.reader.vocabulary.kinds_reached[part.step] == NUMBER
        is_amount = query.ask in _AMOUNTS.values() and not query.by
        if (match := _SAME_VALUE.fullmatch(rest)) and (
            is_amount or (is_number and query.ask == "list" and self.last.thread.total > 1)
        ):
            found = replace(query, ask=_AMOUNTS[match["amount"].lower()], by=())
            return [FollowUp(self.question, query=found)]
        if best := WHICH_IS_MORE.fullmatch(rest) or WHICH_IS_MORE.fullmatch(
            re.sub(rf"\s+(?:of|from)\s+{THEM}", "", rest)
        ):
            return self.most_of_run(best[0])
        best = GROUP_BEST.fullmatch(rest) or WHICH_BEST.fullmatch(rest)
        if best and (of_run := self.most_of_run(f"which is {comparative_of(best[1])}")):
            return of_run
        if _TOGETHER.fullmatch(rest):
            return self._together(rest)
        if match := _DIFFERENCE.fullmatch(rest):
            return self._difference((match["unit"] or match["of"] or match["in"] or "").lower())
        return []

    def most_of_run(self, rest: str) -> list[FollowUp]:
        """*Which is older?* of dates of founding, *which is more?* of numbers: by what was asked."""
        topics = [topic for _, topic in self.last.run if isinstance(topic, Anchor)]
        words = [t.norm for t in tokens(rest) if is_comparative(t.norm)]
        part = self.last.query.part if self.last.query else None
        if (
            len(topics) < 2
            or len(words) != 1
            or not isinstance(part, Walk)
            or not isinstance(part.source, Anchor)
        ):
            return []
        known = _PASSED.union(
            words, *(label.split() for label in labels_of(self.last.reader, topics[0].node))
        )
        other_words = (t for t in tokens(rest) if t.norm not in known and singular(t.norm) not in known)
        if not all(self.last.is_of(token, part.step) for token in other_words):
            return []  # *who leads the older one*
        more, is_counted = words[0], self.last.query is not None and self.last.query.ask == "count"
        is_time = self.last.reader.vocabulary.is_of_time(opposite(part.step)) and not is_counted
        if more not in (EARLIER | LATER if is_time else _ANY_MORE):
            return []
        largest = more in LATER if is_time else more not in FEWER
        return [
            FollowUp(
                self.question, query=Query("list", Extreme(either(topics), (part.step,), is_counted, largest))
            )
        ]

    def _together(self, rest: str) -> list[FollowUp] | Abstention:
        queries = [query for query, _ in self.last.run] or [q for q in (self.last.query,) if q]
        before = next(iter(self.last.earlier), None)
        if len(queries) == 1 and before is not None and len(changes(before, queries[0])) == 1:
            queries = [before, *queries]
        parts = [query.part for query in queries]
        walks = [
            p
            for p in parts
            if isinstance(p, Walk) and self.last.reader.vocabulary.kinds_reached[p.step] == NUMBER
        ]
        asks = {query.ask for query in queries}
        executor = Executor(self.last.reader.graph)
        found: Query | None = None
        if asks <= {"list", "sum"} and len(walks) == len(parts) and len({walk.step for walk in walks}) == 1:
            sources = [walk.source for walk in walks]
            are_many = sum(len(executor.members(source)) for source in sources) > 1
            if are_many and self._are_apart(executor, sources):
                found = Query("sum", Walk(either(sources), walks[0].step))
        elif asks == {"count"} and len(parts) > 1 and self._are_apart(executor, parts):
            found = Query("count", either(parts))
        if found is not None and found != self.last.query:
            return [FollowUp(self.question, query=found)]
        return Abstention(
            "unplaced", f'I cannot tell what "{rest}" adds up: the last turns have no numbers of one kind'
        )

    def _are_apart(self, executor: Executor, parts: Sequence[Part]) -> bool:
        """Whether no two of some sets share a member."""
        members = [node for part in parts for node in executor.members(part).tolist()]
        return len(members) == len(set(members))

    def _difference(self, unit: str) -> list[FollowUp] | Abstention:
        query, executor = self.last.query, Executor(self.last.reader.graph)
        parts = [q.part for q, _ in self.last.run if q.ask in ("list", "count")][-2:]
        match query.part if query and query.ask == "yes" else None:
            case Compared(Anchor() as source, steps, _, value) if isinstance(value, Part):
                one: Part = source
                for step in steps:
                    one = Walk(one, step)
                parts = [one, value]
            case _:
                parts = [_ranked_by(part) for part in parts]
        if len(parts) == 2:
            found = Query("difference", parts[0], parts[1])
            number = executor.number(found)
            if number is not None and number < 0:
                found = Query("difference", parts[1], parts[0])
            is_of_days = number is not None and any(
                self.last.reader.graph.values.kind[n] != ValueKind.NUMBER
                for n in executor.members(parts[0]).tolist()[:1]
            )
            walk = found.part
            own = (
                self.last.reader.vocabulary.unit_of(relation_of(walk.step)) if isinstance(walk, Walk) else ""
            )
            is_other = unit in UNITS and own in UNITS and UNITS[own] != UNITS[unit]
            if number is not None and not is_other and not (is_of_days and unit and unit[:3] != "day"):
                return [FollowUp(self.question, query=found)]
        return Abstention(
            "unplaced",
            "I cannot tell which two numbers are meant: the last turns do not have two of one kind",
        )

    def of_both(self, rest: str) -> list[FollowUp]:
        """*So who comes on both days?*: what the last two turns have in common."""
        run, match = [query for query, _ in self.last.run][-2:], _BOTH_OF.search(rest)
        if match is None or len(run) < 2 or not all(query.ask in ("list", "count") for query in run):
            return []
        said = self.last.thread.question.lower()
        words = [
            t.norm
            for t in tokens(rest[: match.start()] + rest[match.end() :])
            if any(map(str.isalnum, t.norm))
        ]
        noun = self.last.owners.noun if self.last.owners else ""
        known = FUNCTION | LIGHT | ANYONE | {noun, *singular(noun).split()}
        asks = re.match(
            rf"(?:who|which|what|(?P<count>how many))\b|(?P<yes>{AUX}\s+(?:there\s+)?any\w*)\b", rest, re.I
        )
        if asks is None or any(
            word not in known and singular(word) not in known and _stem(word) not in map(_stem, said.split())
            for word in words
        ):
            return []
        ask: Ask = "count" if asks["count"] else "yes" if asks["yes"] else "list"
        return [FollowUp(self.question, query=Query(ask, Both(run[0].part, run[1].part)))]

    def when(self, rest: str) -> list[FollowUp] | Abstention:
        """*When?*, *since when?*: the date of the record by which the last question reached its answer."""
        match, query = _WHEN.fullmatch(rest), self.last.query
        if match is None or query is None:
            return []
        ranked = _ranked_by(query.part)
        is_by_time = isinstance(ranked, Walk) and self.last.reader.vocabulary.is_of_time(
            opposite(ranked.step)
        )
        if query.ask == "list" and isinstance(query.part, Extreme) and is_by_time and not match["long"]:
            return [FollowUp(self.question, query=Query("list", ranked))]
        found = self._dates(query, match["bound"] or ("since" if match["long"] else ""))
        if len(found) == 1 and not match["long"]:
            return [FollowUp(self.question, query=found[0])]
        count = f"{len(found)} are" if len(found) > 1 else "one is" if found else "none is"
        return Abstention("unplaced", f'I cannot tell which date "{rest}" asks for: {count} recorded of it')

    def _dates(self, query: Query, bound: str) -> list[Query]:
        """The dates on the edges that led to the answer; else those of the head of the relation."""
        reader, executor = self.last.reader, Executor(self.last.reader.graph)
        walks, labelled = last_walks(query.part), list[tuple[str, Query]]()
        keys = [key for walk in walks for key in reader.edge_keys.dated(relation_of(walk.step)) if key]
        for key in dict.fromkeys(keys):
            if len(executor.on_edges(query.part, key).places):
                labelled.append((key, Query("list", query.part, key=key)))
        is_of_edge = bool(labelled)
        if not labelled and len(walks) == 1:
            head, tail = (query.part, walks[0].source)[:: 1 if is_backward(walks[0].step) else -1]
            labelled = self._dates_of(executor, head, walks[0].step)
            labelled += self._dates_of(executor, tail, walks[0].step) if bound else []
        is_end = bound in ("until", "till")
        want, unwanted = (_END, _BEGIN) if is_end else (_BEGIN, _END) if bound else (_NO_WORDS, _NO_WORDS)
        best = [dated for label, dated in labelled if want & set(label.split())]
        rest = [dated for label, dated in labelled if not unwanted & set(label.split())]
        # *Since when is she the coach* is not when the club was founded.
        return best if len(best) == 1 or (bound and not is_of_edge) else rest

    def _dates_of(self, executor: Executor, head: Part, step: Step) -> list[tuple[str, Query]]:
        """The dates of a record with their labels: only those that share a word with a step, if there are."""
        vocabulary, members = self.last.reader.vocabulary, executor.members(head)[:50]
        steps = executor.steps(np.array(members)) if len(members) else set[Step]()
        dates = [
            (vocabulary.relations[relation_of(each)], Query("list", Walk(head, each)))
            for each in sorted(steps)
            if not is_backward(each) and vocabulary.is_of_time(opposite(each))
        ]
        words = {
            _stem(word) for word in vocabulary.relations[relation_of(step)].split() if word not in FUNCTION
        }
        return [dated for dated in dates if words & set(map(_stem, dated[0].split()))] or dates

    def who_does(self, rest: str) -> list[FollowUp]:
        """*Who did?* after a no; *who isn't?* where not all are."""
        query, match = self.last.query, _WHO_DOES.fullmatch(rest)
        if query is None or match is None:
            return []
        found: Part | None = None
        if match["not"] and query.ask in ("list", "count"):
            found = next((things.part for things in self.last.others()), None)
        elif query.ask == "every" and query.other is not None:
            found = (Without if match["not"] else Both)(query.part, query.other)
        elif query.ask == "yes" and not match["not"]:
            match query.part:
                case Both(Walk() as walk, Anchor()) | Both(Anchor(), Walk() as walk):
                    found = walk
                case _:
                    pass
        return [FollowUp(self.question, query=Query("list", found))] if found else []

    def which_of(self, noun: str) -> list[FollowUp]:
        """*On which days then?* after whether something is on one of them."""
        match self.last.query.part if self.last.query else None:
            case Both(Anchor(node), Walk(Anchor() as other, step)) | Both(
                Walk(Anchor() as other, step), Anchor(node)
            ):
                is_called = singular(noun) in labels_of(self.last.reader, node)
                part = Walk(other, step) if is_called else Walk(Anchor(node), opposite(step))
                query = Query("list", part)
                found = self.last.without_told(query) if noun.startswith("other ") else query
                return [FollowUp(self.question, query=found)] if found else []
            case _:
                return []


def _ranked_by(part: Part) -> Part:
    """The value by which the best of a set is that."""
    if isinstance(part, Extreme) and not part.counted:
        for step in part.steps:
            part = Walk(part, step)
    return part


def _stem(word: str) -> str:
    return singular(word.lower().strip("?.,!"))[:4]
