"""What a question names, as a prompt shows it: mentions with what they may be, as the reply writes it.

    "the mississippi" = {Mississippi (river)} (river; length 3766) or {Mississippi} (state; capital Jackson)
    "3127" = {VOY-3127} (Voyage; vessel Bergen)
    "unable to prosecute" = [.outcome = "Unable to prosecute suspect"]

Common words are no names, nor are those that the likeliest reading takes for a relation or a type. Values
that the question says in other words are found by their words and by vectors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.graph import ValueKind
from clew.graph.steps import tail_end
from clew.llm.managed import LONGEST_NAME, data_line
from clew.methods.question import NAME_CODE, named_by_part
from clew.query.notation import stored_relation
from clew.query.vocabulary import THING, UNEXPLAINED
from clew.reading.english import FUNCTION
from clew.reading.likeness import SPELT
from clew.reading.mentions import NORMAL, PARTIAL, QUALITY, Candidate, Mention
from clew.reading.reader import QuestionReader, Reading
from clew.stores.cypher.tree import quote_text
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise

Notation = Literal["clew", "cypher", "plain"]
"""How a reply writes names: `{Rome}`, `({name: 'Rome'})`, or as they are."""
MOST_NAMES, MOST_CANDIDATES = 16, 3
"""Mentions that are shown, and what each may be."""
MOST_VALUES, MOST_OF_COLUMN = 4, 200
"""Values said in other words that are shown; and values of a column that are compared with a question."""
_NUMBER = re.compile(r"(?<![\w.,-])\d{3,}(?![\w.,-])")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CODE = r"[^\W\d_]{1,6}[-_/ ]?0*"


@dataclass(eq=False)
class NamesView:
    """The names of questions over one graph as prompts show them."""

    reader: QuestionReader

    def text(self, reading: Reading, notation: Notation, *, guesses: bool = True) -> str:
        """A line for each mention of a question, then for values that it says in other words.

        `guesses`: also for numbers that are values, and for words that are nearer to a relation or a type.
        """
        mentions = [m for m in (*reading.mentions, *self._codes(reading)) if self._is_name(reading, m)]
        said = np.flatnonzero(reading.likeness.exact_types.max(axis=0, initial=0.0) >= SPELT)
        lines: dict[str, None] = {}
        for mention in sorted(mentions, key=lambda m: m.start)[:MOST_NAMES]:
            named = self._candidates(mention, set(said.tolist()))
            if not guesses and mention.text.isdigit() and all(map(self._is_value, named)):
                continue
            forms = dict.fromkeys(self._form(node, named, notation) for node in named)
            lines[f'"{_line(mention.text)}" = {" or ".join(forms)}'] = None
        for words, node, score in self._values_in_other_words(reading, mentions):
            if not guesses and score <= _explained(reading, words):
                continue
            lines[f'"{_line(words)}" may be {self._form(node, [node], notation)}'] = None
        return "\n".join(lines)

    def block(self, reading: Reading, notation: Notation, *, guesses: bool = True) -> str:
        """The lines between tags, under a title, as prompts show them; empty where there are none."""
        lines = self.text(reading, notation, guesses=guesses)
        title = "What the question may name, as the graph has it"
        return f"{title}:\n<names>\n{lines}\n</names>\n" if lines else ""

    def _is_name(self, reading: Reading, mention: Mention) -> bool:
        """Whether the words of a mention name something, and do not say a relation or a type."""
        if not mention.candidates:
            return False
        how = mention.candidates[0].how
        if mention.text.isdigit():
            return how <= NORMAL or any(self._is_code_of(mention.text, c.node) for c in mention.candidates)
        if mention.text != mention.text.lower() or any(c.isdigit() for c in mention.text):
            return True
        words = [word for word in normalise(mention.text).split() if word not in FUNCTION]
        if how > NORMAL and all(map(Lexicon.load().known, words)):
            return False
        labels = (t for t in self._as_labels(reading) if t[0] < mention.stop and mention.start < t[1])
        return len([*labels]) < max(len(words), 1)

    def _as_labels(self, reading: Reading) -> list[tuple[int, int]]:
        """The words that the likeliest reading takes for its relations and types."""
        if not reading.ranking.ranked:
            return []
        query = reading.ranking.ranked[0].option.query
        account = self.reader.accountant.account(reading.question, reading.mentions, reading.likeness, query)
        return [(w.begin, w.end) for w in account.words if w.as_ in ("relation", "type")]

    def _codes(self, reading: Reading) -> list[Mention]:
        """Numbers that are a code without its letters: *3127* of *VOY-3127*."""
        codes: list[Mention] = []
        for match in _NUMBER.finditer(reading.question):
            linked = (m for m in reading.mentions if m.candidates)
            if any(m.start < match.end() and match.start() < m.stop for m in linked):
                continue
            nodes = [n for n in named_by_part(self.reader.names, match[0]) if self._is_code_of(match[0], n)]
            candidates = tuple(Candidate(n, PARTIAL, QUALITY[PARTIAL]) for n in nodes[:MOST_CANDIDATES])
            codes.append(Mention(*match.span(), match[0], candidates))
        return codes

    def _is_code_of(self, digits: str, node: int) -> bool:
        label = self.reader.graph.labels[node]
        return bool(NAME_CODE.search(label) and re.fullmatch(_CODE + digits, label))

    def _candidates(self, mention: Mention, said: set[int]) -> list[int]:
        """What a mention may be, those of a type that the question says first."""
        types_of = self.reader.vocabulary.types_of
        ordered = sorted(
            mention.candidates, key=lambda c: (not said & set(types_of(c.node).tolist()), -c.score)
        )
        return list(dict.fromkeys(candidate.node for candidate in ordered))[:MOST_CANDIDATES]

    # forms

    def _form(self, node: int, named: Sequence[int], notation: Notation) -> str:
        """An entity with its type and, beside others, a fact that tells it from them; or a value."""
        graph, vocabulary = self.reader.graph, self.reader.vocabulary
        name = _line(graph.label(node))
        if self._is_value(node):
            return self._value(node, name, notation)
        types = [graph.types.names[t] for t in vocabulary.types_of(node)[:2].tolist()]
        kinds = [_line(t) for t in types if t not in self.reader.team.terms]
        about = [*kinds[:1], *(self._facts(node, named) if len(named) > 1 else [])]
        about_text = f" ({'; '.join(about)})" if about else ""
        if notation == "cypher":
            return f"({{name: {quote_text(name)}}}){about_text}"
        return (f"{{{name}}}" if notation == "clew" else name) + about_text

    def _is_value(self, node: int) -> bool:
        """Whether a node is a number, a date, or a text of relations that lead to nothing else."""
        graph, vocabulary = self.reader.graph, self.reader.vocabulary
        start, stop = graph.out.span(node)
        if start < stop or len(vocabulary.types_of(node)):
            return False
        relations = self._relations_to(node)
        is_text = bool(relations) and all(vocabulary.ends[tail_end(r)] != THING for r in relations)
        return is_text or graph.values.kind[node] != ValueKind.NONE

    def _relations_to(self, node: int) -> list[int]:
        graph = self.reader.graph
        return np.unique(graph.into.relation[slice(*graph.into.span(node))]).tolist()

    def _value(self, node: int, name: str, notation: Notation) -> str:
        graph = self.reader.graph
        is_number = graph.values.kind[node] == ValueKind.NUMBER
        forms: list[str] = []
        for relation in self._relations_to(node)[:2]:
            stored = _line(stored_relation(graph, relation))
            if notation == "clew":
                written = stored if re.fullmatch(r"\w+", stored) else f'"{stored}"'
                quoted = '"' + name.replace('"', "'") + '"'
                forms.append(f"[.{written} = {name if is_number else quoted}]")
            elif notation == "cypher":
                text = f"-[:`{stored}`]->({{name: {quote_text(name)}}})"
                forms.append(f"{{`{stored}`: {name}}}" if is_number else text)
            else:
                forms.append(f"{name} (a value of {stored})")
        return " or ".join(forms) or name

    def _facts(self, node: int, named: Sequence[int]) -> list[str]:
        """One fact of a node that the others with its name lack, of a relation that they have, too."""
        graph = self.reader.graph
        for side, of in ((graph.out, ""), (graph.into, "of ")):
            spans = {each: slice(*side.span(each)) for each in named}
            facts = {
                each: list(zip(side.relation[span].tolist(), side.neighbour[span].tolist(), strict=True))
                for each, span in spans.items()
            }
            theirs = {fact for other in named if other != node for fact in facts[other]}
            shared = {relation for relation, _ in theirs}
            if own := [fact for fact in facts[node] if fact not in theirs]:
                relation, end = min(own, key=lambda fact: (fact[0] not in shared, fact[0]))
                return [f"{_line(stored_relation(graph, relation))} {of}{_line(graph.labels[end])}"]
        return []

    # values in other words

    @cached_property
    def _column_values(self) -> tuple[list[int], Float32, list[frozenset[str]]]:
        """The texts of small columns: nodes, their vectors, their content words."""
        graph = self.reader.graph
        texts = self.reader.vocabulary.texts_of_few(MOST_OF_COLUMN).tolist()
        nodes = [n for n in texts if self._is_value(n) and not NAME_CODE.search(graph.labels[n])]
        nodes = nodes[:20_000]
        labels = [graph.labels[node][:LONGEST_NAME] for node in nodes]
        vectors = self.reader.embedder.embed(labels) if labels else np.zeros((0, 1), np.float32)
        return nodes, vectors, [_content(label) for label in labels]

    def _values_in_other_words(
        self, reading: Reading, mentions: Sequence[Mention]
    ) -> list[tuple[str, int, float]]:
        """Stored values like some words of a question, each with these words and how like; nearest first."""
        nodes, vectors, contents = self._column_values
        words = list(_WORD.finditer(reading.question))
        placed = [*self._as_labels(reading), *((m.start, m.stop) for m in mentions)]
        free = [not any(start < w.end() and w.start() < stop for start, stop in placed) for w in words]
        runs = [
            (at, to)
            for at in range(len(words))
            for to in range(at + 1, min(at + 5, len(words)) + 1)
            if all(free[at:to])
            and words[at][0].lower() not in FUNCTION
            and words[to - 1][0].lower() not in FUNCTION
        ]
        if not nodes or not runs:
            return []
        texts = [reading.question[words[at].start() : words[to - 1].end()] for at, to in runs]
        cosines = vectors @ self.reader.embedder.embed(texts).T
        for column, text in enumerate(texts):
            run_words = _content(text)
            for row, content in enumerate(contents):
                if len(run_words) > 1 and run_words <= content:
                    cosines[row, column] = 1.0 + len(run_words)
        best = cosines.argmax(axis=1)
        scores = cosines.max(axis=1)
        named = {c.node for m in mentions for c in m.candidates}
        order = [at for at in np.argsort(-scores, kind="stable").tolist() if nodes[at] not in named]
        likest = [at for at in order[:MOST_VALUES] if scores[at] >= UNEXPLAINED]
        return [(texts[best[at]], nodes[at], float(scores[at])) for at in likest]


def _explained(reading: Reading, words: str) -> float:
    """How like the least explained of some words of a question is to a relation or a type."""
    likeness = reading.likeness
    nearest = np.maximum(likeness.relations.max(axis=1, initial=0.0), likeness.types.max(axis=1, initial=0.0))
    start = reading.question.find(words)
    inside = [
        float(near)
        for (begin, end, _), near in zip(likeness.words, nearest, strict=True)
        if start <= begin and end <= start + len(words)
    ]
    return min(inside, default=0.0)


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in normalise(text).split() if word not in FUNCTION)


def _line(text: str) -> str:
    return data_line(text, LONGEST_NAME)
