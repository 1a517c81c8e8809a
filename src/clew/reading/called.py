"""Words that ask what something is called: *what else is X called*, *X's German name*, *is X also called Y*.

They are operators: the rest is read as a question for a relation of names that the thing has, and in its
place all its other names are put, those of a language, or whether one of them is Y.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from clew.graph.naming import LANGUAGE, TAGS, is_only_name, language_of, naming_relations
from clew.graph.steps import Step, backward, forward, opposite, relation_of
from clew.query.execute import Executor
from clew.query.tree import Anchor, Both, Either, OnEdge, Part, Qualified, Query, Walk, Without, steps_of
from clew.query.vocabulary import Vocabulary
from clew.reading.mentions import Mention
from clew.reading.operator import Operator, as_it_is
from clew.text.normalise import normalise

_SAID = {
    "{X}": r"(?P<x>.+?)",
    "{Y}": r"(?P<y>.+?)",
    "{LANGUAGE}": rf"(?P<language>{'|'.join(sorted(TAGS, key=len, reverse=True))})",
    "{IS}": r"(?:is|are|was|were)",
    "{CALLED}": r"(?:called|named|known(?: as)?|referred to(?: as)?)",
    "{TOO}": r"(?:also|otherwise|alternatively|sometimes|else|too|as well)",
    "{OTHER}": r"(?:(?:(?:all|any|some|of|the|an?) )*"
    r"(?:(?:another|other|alternative|alternate|further) names?|alias(?:es)?|synonyms?))",
    "{NAME}": r"(?:name|label|word|title)",
    "{WHAT}": r"(?:(?:what|which)(?:['’]s| is| are| was| were) |(?:list|show|give|tell)(?: me)? )?",
}
_FORMS = [
    re.compile(
        rf"\W*{reduce(lambda text, key: text.replace(key, _SAID[key]), _SAID, form)}\W*".replace(" ", r"\s+"),
        re.I,
    )
    for form in (
        "what else {IS} {X}(?: {TOO})? {CALLED}",
        "(?:what|how) {IS} {X} {TOO} {CALLED}(?: as)?",
        "(?:what|how) {IS} {X} {CALLED} {TOO}",
        "{WHAT}{OTHER} (?:of|for) {X}",
        "{WHAT}{X}['’]s? {OTHER}",
        "(?:what|which) {OTHER} (?:does|do|did|has|have) {X}(?: (?:have|go by|use))?",
        "(?P<has>does|do|has|have) {X} (?:(?:have|got|go by) )?{OTHER}",
        "(?:by|under) (?:what|which) {OTHER} {IS} {X} {CALLED}",
        "(?:what|how) {IS} {X}(?: (?:{CALLED}|said|written))? in {LANGUAGE}",
        "(?:how|what) (?:do|does|would|can) (?:you|one|we|they) (?:say|call|write) {X} in {LANGUAGE}",
        "{WHAT}(?:the )?{LANGUAGE} {NAME} (?:of|for) {X}",
        "{WHAT}(?:the )?{NAME} (?:of|for) {X} in {LANGUAGE}",
        "{WHAT}{X}['’]s? {LANGUAGE} {NAME}",
        "{WHAT}{X}['’]s? {NAME} in {LANGUAGE}",
        "{IS} {X}(?: {TOO})? {CALLED} {Y}(?: in {LANGUAGE})?",
        "{IS} {Y} {OTHER} (?:of|for) {X}",
        "{IS} {Y} (?:the|an?) {LANGUAGE} {NAME} (?:of|for) {X}",
        "{IS} {X}['’]s? {LANGUAGE} {NAME} {Y}",
    )
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Called:
    """What the words of one question ask of names."""

    vocabulary: Vocabulary
    executor: Executor
    text: str
    mentions: Sequence[Mention]

    def found(self) -> Iterator[Operator]:
        """The operators, before and behind the thing; none where the graph has no relation of names."""
        if not naming_relations(self.executor.graph):
            return
        for said in (match for form in _FORMS if (match := form.fullmatch(self.text)) is not None):
            named = [m for m in self.mentions if m.candidates and m.stop == said.end("x")]
            before = next((m.start for m in named if self._is_all(said.start("x"), m.start)), None)
            if before is None:
                continue
            steps = self._steps(named[0].candidates[0].node)
            relation = self.vocabulary.relations[relation_of(steps[0])]
            apply = partial(self._asked, said=said)
            yield Operator(0, before, apply, f"What is the {relation} of ")
            if said.end("x") < len(self.text):
                yield Operator(said.end("x"), len(self.text), as_it_is)
            return

    def _is_all(self, start: int, stop: int) -> bool:
        """Whether nothing but an article stands between two places."""
        return self.text[start:stop].strip().lower() in ("", "the", "a", "an")

    def _steps(self, node: int) -> list[Step]:
        """The steps to the names of a thing: those that it has, else the first of the graph."""
        relations, own = (
            naming_relations(self.executor.graph),
            self.executor.steps(self.executor.members(Anchor(node))),
        )
        # Where names are things too, each is another name of the other.
        steps = [
            step for relation in relations for step in (forward(relation), backward(relation)) if step in own
        ]
        return steps or [forward(relations[0])]

    def _asked(self, query: Query, said: re.Match[str]) -> Query | None:
        """What is asked, in the place of a question for one relation of names of one thing."""
        relations, entities = naming_relations(self.executor.graph), query.contents.entities
        is_of_names = {relation_of(step) for step in steps_of(query)} <= set(relations)
        if query.ask != "list" or len(entities) != 1 or not is_of_names:
            return None
        thing, language = entities[0], str(said.groupdict().get("language") or "")
        conditions = (OnEdge(LANGUAGE, "=", language_of(TAGS[language.lower()])),) if language else ()
        names = reduce(
            Either,
            (
                Qualified(thing, s, conditions) if conditions else Walk(thing, s)
                for s in self._steps(thing.node)
            ),
        )
        if said.groupdict().get("y"):
            node = self._called(names, said["y"])
            return None if node is None else Query("yes", Both(names, Anchor(node)))
        names = names if language else self._others(names, thing, said["x"])
        return Query("yes" if said.groupdict().get("has") else "list", names)

    def _called(self, names: Part, text: str) -> int | None:
        """The name that a text is, else another node that is called so."""
        graph, norm = self.executor.graph, normalise(text)
        same = [n for n in self.executor.members(names).tolist() if normalise(graph.labels[n]) == norm]
        other = [m.candidates[0].node for m in self.mentions if m.candidates and normalise(m.text) == norm]
        return next(iter((*same, *other)), None)

    def _others(self, names: Part, thing: Anchor, text: str) -> Part:
        """Names without the one that the question says; with the label, where an alias is said."""
        graph, members = self.executor.graph, self.executor.members(names).tolist()
        label, said = normalise(graph.labels[thing.node]), normalise(text)
        own = [
            node for node in members if normalise(graph.labels[node]) == said and is_only_name(graph, node)
        ]
        if own and label != said and label not in {normalise(graph.labels[node]) for node in members}:
            steps = self._steps(thing.node)
            back = reduce(Either, (Walk(Anchor(node), opposite(step)) for node in own for step in steps))
            return Either(Without(names, reduce(Either, map(Anchor, own))), Both(back, thing))
        return Without(names, reduce(Either, map(Anchor, own))) if own else names
