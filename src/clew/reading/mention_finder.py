"""Finds the mentions of a question by the names of a graph: as written, as codes, in part, misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from clew.graph.graph import Values
from clew.graph.naming import named_by
from clew.index.explore import nodes_containing
from clew.index.names import NamesIndex
from clew.query.vocabulary import Vocabulary, words_of_label
from clew.reading.countries import places_named
from clew.reading.english import FUNCTION, SHORT_DAYS, SHORT_MONTHS
from clew.reading.mentions import (
    ALIAS,
    EXACT,
    GIVEN,
    MEANT,
    NORMAL,
    PARTIAL,
    PLURAL,
    QUALITY,
    TYPO,
    WORDS,
    Candidate,
    Mention,
    is_certain,
    likeliest_mentions,
    says_which,
    surest_candidates,
    with_values,
)
from clew.reading.name_runs import (
    NUMERAL,
    WITH_SYMBOLS,
    NameWords,
    WordKinds,
    around,
    digits,
    is_joined,
    joined,
    like_names,
    may_be_name,
    may_be_said_by,
    written_like_names,
)
from clew.text.inflection import singular, singular_of
from clew.text.lexicon import Lexicon
from clew.text.normalise import Token, tokens, words_of

MOST_OF_RELATION, MOST_CATEGORIES = 300, 2000
"""Values of a relation that leads to categories; categories of a graph, those of most edges."""
MOST_MEANT, LEAST_LETTERS = 3, 4
_SAME_STEM = 0.9
_ID_BESIDE = re.compile(r"\([^()]+\)")
LONGEST_NAME = 12
"""Words of a name before the id that stands beside it."""


@dataclass(frozen=True, eq=False)
class CategoryWords:
    """The categories of a graph whose name is one word of English, by the words that are near it."""

    lexicon: Lexicon
    by_lemma: dict[str, list[tuple[int, float]]]
    """Nodes, each with how near the lemma is to its name, in [0, 1]."""
    by_stem: dict[str, list[int]]

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        lexicon: Lexicon,
        of_relation: int = MOST_OF_RELATION,
        most: int = MOST_CATEGORIES,
    ) -> Self:
        """Read the categories of a graph: at most so many of a relation, and in all those of most edges."""
        by_lemma: dict[str, list[tuple[int, float]]] = {}
        by_stem: dict[str, list[int]] = {}
        for node in _categories(vocabulary, of_relation, most):
            words = [w for w in words_of(vocabulary.graph.labels[node]) if w not in FUNCTION]
            if len(words) == 1 and len(words[0]) >= LEAST_LETTERS and lexicon.known(words[0]):
                by_stem.setdefault(lexicon.stem(words[0]), []).append(node)
                for lemma, near in lexicon.kin(words[0]).items():
                    by_lemma.setdefault(lemma, []).append((node, near))
        return cls(lexicon, by_lemma, by_stem)

    def meant_by(self, word: str) -> list[tuple[int, float]]:
        """The categories that a word is nearest to, at most three, with how near it is."""
        near = dict.fromkeys(self.by_stem.get(self.lexicon.stem(word), ()), _SAME_STEM)
        for lemma in self.lexicon.lemmas(word):
            for node, nearness in self.by_lemma.get(lemma, ()):
                near[node] = max(near.get(node, 0.0), nearness)
        best = max(near.values(), default=0.0)
        return [(node, nearness) for node, nearness in sorted(near.items()) if nearness == best][:MOST_MEANT]


def _categories(vocabulary: Vocabulary, of_relation: int, most: int) -> list[int]:
    """The nodes that are categories, ascending."""
    into, texts = vocabulary.graph.into, vocabulary.texts_of_few(of_relation)
    edges = into.stops[texts] - into.starts[texts]
    categories = np.sort(texts[np.argsort(-edges, kind="stable")[:most]])
    return [node for node in categories.tolist() if node not in vocabulary.truths]


MOST_CANDIDATES = 6
LEAST_PART, PART = 4, 0.6
"""Letters of a word that names the few nodes which have it in theirs, and what is left of its quality."""
LIKE = 0.72
"""Least similarity of a misspelt name."""
LEAST_MISSPELT, MOST_TRIED = 5, 24
"""Letters of a misspelt name, and how many runs of words are looked for as one."""
LONGEST_BLOB = 64_000_000
"""Bytes of names in which a part of a name is looked for; in more of them that would take too long."""

MOST_BY_WORD = 60_000
"""Nodes of a graph whose names are found by their words in any order, which takes a table in memory."""


_OF_ANY = re.compile(r"\b(?:an?|any|some|every|each|which|what|no)\s+$", re.I)
_A = re.compile(r"\ban?\s+$", re.I)
_DECADE = re.compile(r"\d+s")
"""*1990s*, which is no name of 1990, in the plural or misspelt."""
_IN_BRACKETS = re.compile(r"[(\[\])]")
CharacterSpan = tuple[int, int]
"""Characters [start, stop) of a question."""


@dataclass(frozen=True, eq=False)
class _Spans:
    """The spans of one question that may be names, each with its candidates by their nodes."""

    question: str
    tokens: Sequence[Token]
    candidates: dict[CharacterSpan, dict[int, Candidate]] = field(
        default_factory=dict[CharacterSpan, dict[int, Candidate]]
    )

    def add(self, span: CharacterSpan, candidate: Candidate) -> None:
        """Take up a candidate, unless the span has one of its node, or the user said whom it names."""
        nodes = self.candidates.setdefault(span, {})
        if not any(known.how == GIVEN for known in nodes.values()):
            nodes.setdefault(candidate.node, candidate)

    def put(self, span: CharacterSpan, candidate: Candidate) -> None:
        """Take up a candidate, in the place of one of its node."""
        self.candidates.setdefault(span, {})[candidate.node] = candidate

    def certain(self) -> list[CharacterSpan]:
        """The spans that are a name for sure."""
        return [span for span, nodes in self.candidates.items() if is_certain(nodes.values())]

    def in_taken(self, token: Token) -> bool:
        """Whether a word stands in a span that has candidates."""
        return any(a <= token.start and token.stop <= b for (a, b), nodes in self.candidates.items() if nodes)

    def text(self, span: CharacterSpan) -> str:
        """The characters of a span."""
        return self.question[span[0] : span[1]]


def _short_named(words: Sequence[Token]) -> Iterator[tuple[CharacterSpan, tuple[str, ...]]]:
    """Days of the week and months, and what they are called in short: *on Mondays* of a value `Mon`."""
    for word in words:
        short = SHORT_DAYS.get(singular(word.norm)) or SHORT_MONTHS.get(word.text)
        if short:
            yield (word.start, word.stop), short


@dataclass(frozen=True, eq=False)
class MentionFinder:
    """Finds mentions by the names index of a graph."""

    names: NamesIndex
    lexicon: Lexicon
    typing: frozenset[str] = frozenset()
    """Words of the graph's relations and types, which are no misspelt names."""
    by_word: NameWords | None = None
    """Names by their words, where there are not too many."""
    values: Values | None = None
    """The numbers and dates of the graph."""
    by_meaning: CategoryWords | None = None
    """Categories by other words."""
    types: frozenset[int] = frozenset()
    """Nodes that only name types: they are meant as types, and no things of their own."""

    @classmethod
    def of(cls, names: NamesIndex, vocabulary: Vocabulary, lexicon: Lexicon) -> Self:
        """The finder of a graph; names of a large one are not found by their words."""
        graph = vocabulary.graph
        words = NameWords(names, lexicon) if graph.nodes <= MOST_BY_WORD else None
        categories = CategoryWords.of(vocabulary, lexicon)
        return cls(names, lexicon, vocabulary.words, words, graph.values, categories, vocabulary.type_nodes)

    @cached_property
    def _kinds(self) -> WordKinds:
        return WordKinds(self.lexicon, self.typing)

    def find(self, question: str, entities: Sequence[str] = ()) -> list[Mention]:
        """All mentions of a question, by their place; `entities` are names that it is known to be about."""
        spans = _Spans(question, tokens(question))
        self._add_entities(spans, entities)
        self._add_with_ids(spans)
        self._add_exact(spans)
        self._add_codes(spans)
        self._add_plural(spans)
        self._add_named_by(spans)
        self._add_partial(spans)
        self._add_words(spans)
        self._add_typos(spans)
        self._drop_other_names(spans)
        self._add_categories(spans)
        found = {
            span: [c for c in nodes.values() if c.how == GIVEN or not self._is_type(spans, span, c.node)]
            for span, nodes in spans.candidates.items()
        }
        mentions = [
            _mention(question, span, surest_candidates(nodes)) for span, nodes in found.items() if nodes
        ]
        likeliest = likeliest_mentions(mentions, self.lexicon)
        return with_values(question, [self._told_apart(question, m, likeliest) for m in likeliest])

    def _told_apart(self, question: str, mention: Mention, others: Sequence[Mention]) -> Mention:
        """A name that several have, of the one of which what stands beside it is true: *Ann Lee of Oslo*."""
        if len(mention.candidates) < 2 or any(c.how != EXACT for c in mention.candidates):
            return mention
        out = self.names.graph.out
        for other in (o for o in others if says_which(question, mention, o)):
            values = [c.node for c in other.candidates if c.how <= PLURAL]
            having = [
                c
                for c in mention.candidates
                if np.isin(out.neighbour[slice(*out.span(c.node))], values).any()
            ]
            if len(having) == 1:
                return replace(mention, candidates=(having[0],))
        return mention

    def _is_type(self, spans: _Spans, span: CharacterSpan, node: int) -> bool:
        """Whether a node only says what things are asked about: *drugs*; not *is it a drug*."""
        return node in self.types and _A.search(spans.question, 0, span[0]) is None

    def _add_entities(self, spans: _Spans, entities: Sequence[str]) -> None:
        """Put what the user gives where the question names it, by id or by label, else behind its end."""
        question, end = spans.question.casefold(), len(spans.question)
        for name in entities:
            for hit in self.names.exact(name)[:MOST_CANDIDATES]:
                graph = self.names.graph
                named = (graph.label(hit.entity), name, graph.labels[hit.entity])
                places = [(question.find(text.casefold()), len(text)) for text in named]
                found = [(start, start + length) for start, length in places if start >= 0]
                spans.put(found[0] if found else (end, end), Candidate(hit.entity, GIVEN, 1.0))

    def _add_with_ids(self, spans: _Spans) -> None:
        """Names that several share with the id beside them, as answers write them: *Anna Keller (E08)*."""
        for id in _ID_BESIDE.finditer(spans.question):
            starts = [t.start for t in spans.tokens if t.stop <= id.start()][-LONGEST_NAME:]
            texts = ((start, spans.question[start : id.end()]) for start in starts)
            named = ((start, self.names.with_id(text)) for start, text in texts)
            start, node = next(((s, n) for s, n in named if n is not None), (0, None))
            if node is not None:
                spans.put((start, id.end()), Candidate(node, EXACT, QUALITY[EXACT]))

    def _add_exact(self, spans: _Spans) -> None:
        for hit in self.names.spans(spans.question, spans.tokens):
            words = spans.tokens[hit.start : hit.stop]
            before = spans.tokens[hit.start - 1].norm if hit.start and len(words) == 1 else ""
            if not may_be_name(words, at_start=hit.start == 0) and not any(
                name.exact and self._is_recorded_as(before, name.entity) for name in hit.hits
            ):
                continue
            is_word = len(words) == 1 and words[0].norm in FUNCTION  # *It* and *IT* as they are written
            hits = [name for name in hit.hits if name.exact or not is_word]
            for name in hits[:MOST_CANDIDATES]:
                how = ALIAS if name.kind == "alias" else EXACT if name.exact else NORMAL
                spans.add((words[0].start, words[-1].stop), Candidate(name.entity, how, QUALITY[how]))
        places = places_named(spans.tokens, self.typing, frozenset(spans.candidates))
        for span, others in (*places, *_short_named(spans.tokens)):
            for name in (hit for other in others for hit in self.names.exact(other)):
                spans.add(span, Candidate(name.entity, ALIAS, QUALITY[PLURAL]))

    def _is_recorded_as(self, word: str, node: int) -> bool:
        """Whether a node is the value of a relation that is called by a word: *Grade I* of `listed_grade`."""
        if singular(word) not in self.typing:
            return False
        graph = self.names.graph
        relations = np.unique(graph.into.relation[slice(*graph.into.span(node))])
        labels = (words_of_label(graph.relations[relation]) for relation in relations.tolist())
        return any(singular(word) in label.split() for label in labels)

    def _add_codes(self, spans: _Spans) -> None:
        """Codes that are joined otherwise, *HP40* and *HP 40* for HP-40, and names that end in symbols."""
        words = spans.tokens
        for first, last in ((t, u) for i, t in enumerate(words) for u in words[i : i + 2]):
            span = (first.start, last.stop)
            for written in joined(spans.text(span)) if first.norm not in FUNCTION else ():
                for hit in self.names.exact(written)[:MOST_CANDIDATES]:
                    spans.add(span, Candidate(hit.entity, NORMAL, QUALITY[NORMAL]))
        for written in WITH_SYMBOLS.finditer(spans.question):
            for hit in self.names.exact(written[0]):
                if self.names.graph.labels[hit.entity].casefold() == written[0].casefold():
                    spans.put(written.span(), Candidate(hit.entity, EXACT, QUALITY[EXACT]))

    def _add_plural(self, spans: _Spans) -> None:
        base = [replace(t, norm=singular_of(t)) if t.norm not in FUNCTION else t for t in spans.tokens]
        if all(a.norm == b.norm for a, b in zip(base, spans.tokens, strict=True)):
            return
        for hit in self.names.spans(spans.question, base):
            words = base[hit.start : hit.stop]
            if words[-1].norm == spans.tokens[hit.stop - 1].norm or not may_be_name(words):
                continue
            if len(words) == 1 and _DECADE.fullmatch(spans.tokens[hit.start].norm):
                continue
            for name in hit.hits[:MOST_CANDIDATES]:
                spans.add((words[0].start, words[-1].stop), Candidate(name.entity, PLURAL, QUALITY[PLURAL]))

    def _add_named_by(self, spans: _Spans) -> None:
        """What values of relations of names are names of, beside the values: *Napoli* of an alias column."""
        for span, nodes in list(spans.candidates.items()):
            for candidate in list(nodes.values()):
                for node in named_by(self.names.graph, candidate.node)[:MOST_CANDIDATES]:
                    spans.add(span, Candidate(node, ALIAS, min(candidate.score, QUALITY[ALIAS])))

    def _add_partial(self, spans: _Spans) -> None:
        """Names that hold a run of words which are written like a name, or a code."""
        if len(self.names.graph.labels.blob) > LONGEST_BLOB:
            return
        for start, stop in written_like_names(spans.question, spans.tokens, self._kinds):
            span = (spans.tokens[start].start, spans.tokens[stop - 1].stop)
            text = spans.text(span)
            cases = (text, text.title(), text.upper(), text.lower(), text.capitalize())
            for written in dict.fromkeys((*cases, *joined(text), *joined(text.upper()))):
                nodes = [n for n in nodes_containing(self.names, written) or [] if not self._is_value(n)]
                for node in nodes[:MOST_CANDIDATES]:
                    share = min(1.0, len(text) / max(1, self._length_without_kind(node)))
                    score = QUALITY[PARTIAL] + 0.2 * share
                    spans.add(span, Candidate(node, PARTIAL, score))
                if nodes:
                    break

    def _length_without_kind(self, node: int) -> int:
        """Letters of a name without the words of its types: *the Harle* is the whole of *River Harle*."""
        types, label = self.names.graph.types, self.names.graph.labels[node]
        kinds = {word for type_ in types.of(node) for word in words_of_label(types.names[type_]).split()}
        rest = " ".join(word for word in label.split() if word.casefold() not in kinds)
        return len(rest or label)

    def _is_value(self, node: int) -> bool:
        """Whether a node is a number or a date: a year is no part of the name of a day."""
        return self.values is not None and bool(self.values.kind[node])

    def _add_words(self, spans: _Spans) -> None:
        """Names all or most of whose words stand in the question, in any order and form."""
        if self.by_word is None:
            return
        content = [
            t for t in spans.tokens if t.norm not in FUNCTION and t.norm != "'s" and not self._ranks(t)
        ]
        sure = spans.certain()
        for node, share, places in self.by_word.named_by([t.norm for t in content]):
            used = [content[i] for i in places]
            if not may_be_said_by(spans.tokens, used, sure):
                continue
            span = (used[0].start, used[-1].stop)
            if span[1] - span[0] > 12 * len(used) + 24 or any(
                node in nodes and nodes[node].how <= PARTIAL
                for (start, _), nodes in spans.candidates.items()
                if start <= span[0]
            ):
                continue
            spans.add(span, Candidate(node, WORDS, QUALITY[WORDS] * share))
        self._add_parts(spans, self.by_word, [t for t in content if not spans.in_taken(t)])

    def _add_parts(self, spans: _Spans, names: NameWords, words: Sequence[Token]) -> None:
        """Names of which a word stands in the question that few have in theirs."""
        for token in words:
            if self._kinds.types(token) or len(token.norm) < LEAST_PART or token.norm.isdigit():
                continue
            for hit in self.names.exact(f"the {token.text}")[:MOST_CANDIDATES]:
                spans.add((token.start, token.stop), Candidate(hit.entity, NORMAL, QUALITY[NORMAL]))
            nodes = [n for n in names.with_word(token.norm) if not self._is_by_way(token, n)]
            if token.text.islower() and self._is_of_kind(spans.question, token):
                nodes = [node for node in nodes if self._is_all_of_name(token, node)]
            for node in nodes:
                spans.add((token.start, token.stop), Candidate(node, WORDS, QUALITY[WORDS] * PART))

    def _ranks(self, token: Token) -> bool:
        """Whether a word is a superlative of another: the *shortest* film is none of the section Shorts."""
        return token.norm.endswith("est") and token.norm not in self.lexicon.lemmas(token.norm)

    def _is_of_kind(self, question: str, token: Token) -> bool:
        """Whether a word says a kind of things: *hotels* are no Quay Street Hotel, nor is *a woman*."""
        is_one = _OF_ANY.search(question, 0, token.start) is not None
        return is_one or singular(token.norm) != token.norm

    def _is_by_way(self, token: Token, node: int) -> bool:
        """Whether a word only tells apart things of one name: *actor* of Steve McQueen (actor)."""
        name, *told = _IN_BRACKETS.split(self.names.graph.labels[node])
        said, stem = words_of(name), self.lexicon.stem(token.norm)
        is_told = any(stem == self.lexicon.stem(word) for words in told for word in words_of(words))
        return bool(said) and is_told and not any(stem == self.lexicon.stem(word) for word in said)

    def _is_all_of_name(self, token: Token, node: int) -> bool:
        """Whether a name has no other word than one: *beatles* of The Beatles."""
        label = {t.norm for t in tokens(self.names.graph.labels[node]) if t.norm not in FUNCTION}
        return label <= {token.norm, singular(token.norm)}

    def _add_categories(self, spans: _Spans) -> None:
        """Categories that words mean which are of no name and of no label."""
        if self.by_meaning is None:
            return
        for token in [t for t in spans.tokens if not spans.in_taken(t)]:
            if token.norm in FUNCTION or len(token.norm) < LEAST_PART or self._kinds.types(token):
                continue
            if self._ranks(token):
                continue
            for node, near in self.by_meaning.meant_by(token.norm):
                spans.put((token.start, token.stop), Candidate(node, MEANT, QUALITY[MEANT] * near))

    def _drop_other_names(self, spans: _Spans) -> None:
        """Leave out guesses by a common word of a longer name: *Mount Verity* is not Mount Orrin."""
        words, sure = spans.tokens, spans.certain()
        for (start, stop), nodes in spans.candidates.items():
            inside = [i for i, t in enumerate(words) if start <= t.start and t.stop <= stop]
            if not inside or not all(self._kinds.is_common(words[i]) for i in inside):
                continue
            neighbours = [
                t
                for i in (inside[0] - 1, inside[-1] + 1)
                if 0 <= i < len(words) and is_joined(spans.question, t := words[i], (start, stop))
                if self._kinds.is_of_name(t) and not any(a <= t.start and t.stop <= b for a, b in sure)
            ]
            for node in [n for n, c in nodes.items() if neighbours and c.how in (PARTIAL, WORDS)]:
                label = {t.norm for t in tokens(self.names.graph.labels[node])}
                if any(t.norm not in label for t in neighbours):
                    del nodes[node]

    def _add_typos(self, spans: _Spans) -> None:
        sure = spans.certain()
        covered = [any(a <= t.start and t.stop <= b for a, b in sure) for t in spans.tokens]
        content = [t.norm not in FUNCTION and not self._kinds.types(t) for t in spans.tokens]
        unknown = [
            c and not NUMERAL.fullmatch(t.norm) and not self.lexicon.known(t.norm)
            for c, t in zip(content, spans.tokens, strict=True)
        ]
        odd = [
            u or (c and t.text[:1].isupper() and not NUMERAL.fullmatch(t.norm))
            for c, u, t in zip(content, unknown, spans.tokens, strict=True)
        ]
        tried = 0
        for first, last in (*like_names(spans.tokens, odd), *around(content, unknown)):
            words = spans.tokens[first:last]
            if any(covered[first:last]) or sum(len(t.norm) for t in words) < LEAST_MISSPELT:
                continue
            if any(_DECADE.fullmatch(t.norm) for t in words):
                continue
            span = (words[0].start, words[-1].stop)
            text = spans.text(span)
            if span in spans.candidates or tried >= MOST_TRIED or self.names.exact(text):
                continue  # it is spelt right: of what it names nothing may be left
            tried += 1
            for hit in self.names.fuzzy(text, MOST_CANDIDATES):
                # Another number is another thing.
                same = digits(text) == digits(self.names.graph.labels[hit.entity])
                if hit.score >= LIKE and same:
                    spans.add(span, Candidate(hit.entity, TYPO, QUALITY[TYPO] * hit.score))


def _mention(question: str, span: CharacterSpan, nodes: Iterable[Candidate]) -> Mention:
    best = sorted(nodes, key=lambda c: (-c.score, c.node))[:MOST_CANDIDATES]
    return Mention(span[0], span[1], question[span[0] : span[1]], tuple(best))
