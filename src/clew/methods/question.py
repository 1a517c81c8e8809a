"""What a question names and what it asks for: where retrieval begins, and which answers are of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from clew.graph.graph import Graph, ValueKind
from clew.graph.steps import relation_of
from clew.index.explore import nodes_containing
from clew.index.names import NamesIndex
from clew.query.execute import Executor, OverBudget
from clew.query.prove import leads_back, part_of_path
from clew.query.tree import (
    Anchor,
    Compared,
    Counted,
    Either,
    Extreme,
    Part,
    Query,
    Related,
    Value,
    Walk,
    Without,
    parts_of,
)
from clew.reading.answer import LEAST_LIKELY, MOST_ALTERNATIVES, Meaning, answer_of, meanings_of
from clew.reading.asked_for import asked_type
from clew.reading.english import AGGREGATE, EITHER, FUNCTION, LIGHT, YES_NO
from clew.reading.left_open import is_capital, near_names, unknown_names
from clew.reading.mentions import GIVEN, NORMAL, PARTIAL, PLURAL, QUALITY, TYPO, Candidate, Mention
from clew.reading.reader import QuestionReader, Reading
from clew.text.lexicon import Lexicon
from clew.text.normalise import Token, normalise, tokens
from clew.text.verbalise import readable
from clew.types import Abstention

# The entities that retrieval begins from: those that the user gives, or that the question names.
#
# A user may give the name of the graph, or a part of one (*HP-40*).

NAME, PERHAPS, PLAIN_WORD = range(3)
"""What words are that a name of the graph is written like: a name, perhaps one, or words of the language."""
NAME_CODE = re.compile(r"\d.*[^\W\d_]|[^\W\d_].*\d")
"""A word with a digit and a letter: *HP-40*."""
_WORD = re.compile(r"[^\W_]+(?:[-./'’][^\W_]+)*")
Called = Mapping[str, tuple[int, ...]]
"""What a question calls its entities, in its order, each with the likeliest of them."""


def entities_of(called: Called) -> tuple[int, ...]:
    """The entities of a question, each once."""
    return tuple(dict.fromkeys(entity for entities in called.values() for entity in entities))


@dataclass(frozen=True, eq=False)
class FindTopicEntities:
    """Links the entities of a question for methods that retrieve around them, without reading it."""

    reader: QuestionReader

    def called(self, text: str, entities: Sequence[str] = ()) -> Called:
        """The question's entities by mention; several of one mention where they are equally likely."""
        called: dict[str, tuple[int, ...]] = {}
        for mention in self._mentions(text, entities):
            best = [c.node for c in mention.candidates if c.score == mention.candidates[0].score]
            called[mention.text] = tuple(dict.fromkeys((*called.get(mention.text, ()), *best)))
        return called

    def missing(self, text: str, entities: Sequence[str], topic_entities: Sequence[int]) -> Abstention | None:
        """Why retrieval cannot begin: no topic_entities, or an entity that is given but not in the graph."""
        unknown = unknown_names(self.reader.names, entities)
        if topic_entities and not unknown:
            return None
        words = tokens(text)
        names = unknown or [" ".join(word.text for word in words if is_capital(word, words))]
        names = [name for name in names if name]
        near = near_names(self.reader.graph, self.reader.names, names)
        quoted = " or ".join(f'"{name}"' for name in names)
        detail = f"it has no entity like {quoted}" if quoted else "it names no entity of this graph"
        return Abstention("no_entity", detail, near)

    def _mentions(self, text: str, entities: Sequence[str]) -> list[Mention]:
        if entities:
            return self._given_mentions(entities)
        words, linked = tokens(text), [m for m in self.reader.name(text) if m.candidates]
        hows = [(m, m.candidates[0].how) for m in linked]
        # A name stands in the question as it is, or, of several words, in the plural.
        written = [m for m, how in hows if how <= NORMAL or (how == PLURAL and len(m.text.split()) > 1)]
        mentions = self._without_overlaps(text, words, written)
        # Beside a name that the graph lacks, what is left of it is no mention (*Return* of *Xyzzy Return*).
        mentions = [m for m in mentions if not self._is_torn(words, m, mentions, known=False)]
        if not mentions:
            typos = self._without_overlaps(text, words, [m for m, how in hows if how in (PLURAL, TYPO)])
            mentions = [m for m in typos if not self._is_torn(words, m, typos, known=True)][:1]
        codes = self._codes(text, mentions)
        mentions = [m for m in mentions if not any(c.start <= m.start and m.stop <= c.stop for c in codes)]
        return sorted([*mentions, *codes], key=lambda m: m.start)

    def _given_mentions(self, entities: Sequence[str]) -> list[Mention]:
        """The entities that the user names; names that the graph lacks are left out."""
        hits = {name: self.reader.names.exact(name) for name in entities}
        linked = (
            (name, [Candidate(h.entity, GIVEN, 1.0 if h.exact else 0.95) for h in found])
            for name, found in hits.items()
            if found
        )
        return [Mention(0, 0, name, tuple(candidates)) for name, candidates in linked]

    def _codes(self, text: str, mentions: Sequence[Mention]) -> list[Mention]:
        """Words with a digit, and capitalised ones after the first, that are a part of few names: *HP-40*."""
        codes: list[Mention] = []
        for word in _WORD.finditer(text):
            overlapping = [m for m in mentions if m.start < word.end() and word.start() < m.stop]
            inside = any(not m.text.isdigit() or m.start <= word.start() for m in overlapping)
            is_name = word[0][0].isupper() and word.start() and len(word[0]) > 1
            if inside or not (NAME_CODE.search(word[0]) or is_name):
                continue
            nodes = named_by_part(self.reader.names, word[0])
            if 0 < len(nodes) <= 3:
                candidates = tuple(Candidate(node, PARTIAL, QUALITY[PARTIAL]) for node in nodes)
                codes.append(Mention(word.start(), word.end(), word[0], candidates))
        return codes

    def _is_torn(
        self, words: Sequence[Token], mention: Mention, mentions: Sequence[Mention], *, known: bool
    ) -> bool:
        """Whether a capitalised word outside all mentions is beside one, in no dictionary or also `known`."""
        inside = [i for i, w in enumerate(words) if w.start < mention.stop and mention.start < w.stop]
        beside = (inside[0] - 1, inside[-1] + 1) if inside else ()
        neighbours = [words[i] for i in beside if 0 <= i < len(words)]
        lexicon = Lexicon.load()
        outside = (w for w in neighbours if not any(m.start <= w.start < m.stop for m in mentions))
        return any(is_capital(w, words) and (known or not lexicon.known(w.norm)) for w in outside)

    def _without_overlaps(
        self, text: str, words: Sequence[Token], mentions: Sequence[Mention]
    ) -> list[Mention]:
        """Mentions that are names rather than words and do not overlap: the likeliest, then the longest."""
        grades = {m: _grade(text, words, m) for m in mentions}
        ranked = sorted(
            (m for m in grades if grades[m] != PLAIN_WORD),
            key=lambda m: (grades[m], m.start - m.stop, m.start),
        )
        chosen_mentions: list[Mention] = []
        for mention in ranked:
            if all(mention.stop <= k.start or k.stop <= mention.start for k in chosen_mentions):
                chosen_mentions.append(mention)
        # A common word is a name only if the question has no better one.
        sure_names = [m for m in chosen_mentions if grades[m] == NAME]
        return sorted(sure_names or chosen_mentions, key=lambda m: m.start)


def shared_names(called: Called, ending: str = "; all are read") -> tuple[str, ...]:
    """Notes on names of the question that several entities have; `ending` says which of these are asked."""
    counts = ((mention, len(entities)) for mention, entities in called.items() if len(entities) > 1)
    return tuple(f'"{mention}" is the name of {count} things{ending}' for mention, count in counts)


def _grade(text: str, words: Sequence[Token], mention: Mention) -> int:
    """How likely words are a name, as they are written: NAME, PERHAPS or PLAIN_WORD."""
    inside = [w for w in words if w.start < mention.stop and mention.start < w.stop]
    if not all(w.norm.isascii() for w in inside):
        return NAME
    written = inside[(mention.start == 0) :]
    if any(c.isupper() or c.isdigit() for w in written for c in w.text):
        return NAME
    if all(w.norm in FUNCTION or w.norm in LIGHT for w in inside):
        return PLAIN_WORD
    if len(inside) > 1 and not any(c.isupper() for c in text[1:]):
        return NAME
    lexicon = Lexicon.load()
    if all(lexicon.known(normalise(w.text)) or w.norm in FUNCTION for w in inside):
        return PLAIN_WORD if len(inside) == 1 else PERHAPS
    return NAME


def names_of_graph(names: NamesIndex, texts: Sequence[str]) -> tuple[str, ...]:
    """Each given name; the id of *Anna Keller (E08)*; or the only entity that it is whole words of."""

    def name_of(text: str) -> str:
        with_id = names.with_id(text)
        is_part = with_id is None and (NAME_CODE.search(text) or " " in text.strip())
        nodes = [with_id] if with_id is not None else named_by_part(names, text) if is_part else []
        return names.graph.entities[nodes[0]] if len(nodes) == 1 else text

    return tuple(name if names.exact(name) else name_of(name) for name in texts)


def named_by_part(names: NamesIndex, part: str) -> list[int]:
    """The entities of whose names a text is some whole words; of a code the shortest: *TB-5*, no *TB-5 B*."""
    nodes = nodes_containing(names, part) or []
    if not NAME_CODE.search(part):
        return list(nodes)
    length = {node: len(names.graph.labels[node]) for node in nodes}
    least = min(length.values(), default=0)
    return [node for node in nodes if length[node] == least]


def entities_named_in(graph: Graph, text: str, entities: Iterable[int]) -> tuple[int, ...]:
    """Which of `entities` a text names by their labels, in the order of the text.

    Of names within one another the longest counts, of those that differ in case only the one as written.
    """
    words = f" {normalise(text)} "
    labels: dict[str, list[int]] = {}
    for entity in dict.fromkeys(entities):
        labels.setdefault(normalise(graph.labels[entity]), []).append(entity)
    shared = {label: same for label, same in labels.items() if len(same) > 1}
    as_written = {n: [e for e in same if readable(graph.labels[e]) in text] for n, same in shared.items()}
    places: list[tuple[int, list[int]]] = []
    for label in sorted((name for name in labels if name), key=lambda name: (-len(name), name)):
        at = words.find(f" {label} ")
        while at >= 0:
            places.append((at, as_written.get(label) or labels[label]))
            # What a longer name has taken is no longer there for a shorter one; the length stays.
            words = words[: at + 1] + "\x00" * len(label) + words[at + 1 + len(label) :]
            at = words.find(f" {label} ")
    ordered = sorted(places, key=lambda place: place[0])
    return tuple(dict.fromkeys(entity for _, nodes in ordered for entity in nodes))


def without_names(graph: Graph, text: str, entities: Iterable[int]) -> str:
    """A text without the names of `entities`, however they are written, longest first."""
    labels = sorted({readable(graph.labels[e]) for e in entities}, key=lambda name: (-len(name), name))
    names = [re.escape(label) for label in labels if label.strip() and label.casefold() in text.casefold()]
    return re.sub(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", "", text, flags=re.IGNORECASE) if names else text


# What a question asks for, and whether an answer is that: a person, a number, a time, yes or no.
#
# What a model replies is no answer because it names a fact: *Who directed Memento?* is not answered by 42,
# nor by *yes*. Yes and no are answers where code comes to the same by a query graph of the question.

Asked = Literal["yes or no", "a number", "a person", "a time", "a place", "a thing", ""]
"""What is asked for; empty where the words do not say, as in languages other than English."""

DECIDES, SURE = 0.5, 0.95
"""Share of the readings of a question from which one decides it alone; and from which it does so against what
a model counts, and says of what type the answers are where the question does not."""
AGREES = 0.1
"""The least share of one that decides it where it rests on facts that the model names too."""
_WH = re.compile(r"\b(?:who|whom|whose|which|what|where|when|why|how)\b", re.I)
_HOW_MANY = re.compile(r"\bhow\s+(?:many|much)\b", re.I)
_HOW_MANY_THINGS = re.compile(r"\bhow\s+many\b", re.I)
_NUMBER_OF = re.compile(r"\W*(?:(?:\w+\W+){0,6}(?:the|total|exact|overall)\W+)?(?:number|count)\s+of\b", re.I)
_HOW_ADJECTIVE = re.compile(
    r"\bhow\s+(?!(?:do|does|did|is|are|was|were|can|could|come|to|would|should)\b)\w+", re.I
)
_NUMBER_NOUN = re.compile(
    r"\W*(?:is|are|was|were|s)?\W*(?:the|its|their)?\W*(?:total|sum|average|mean)\b", re.I
)
_TIME_NOUN = re.compile(r"\W*(?:year|date|day|month|time|century|decade)s?\b", re.I)
_DIGIT = re.compile(r"\d")


def asked_of(question: str) -> Asked:
    """What a question asks for by its words."""
    asking, truth = _WH.search(question), YES_NO.search(question)
    if _HOW_MANY.search(question) or _NUMBER_OF.match(question):
        return "a number"
    if truth is not None and truth.start() == 0 and asking is None:
        return "a thing" if EITHER.search(question) else "yes or no"
    if asking is None or (truth is not None and truth.start() < asking.start()):
        return ""
    word, rest = asking[0].lower(), question[asking.end() :]
    if word == "how":
        return "a number" if _HOW_ADJECTIVE.match(question, asking.start()) else ""
    if word in ("what", "which") and _NUMBER_NOUN.match(rest):
        return "a number"
    if word in ("what", "which") and _TIME_NOUN.match(rest):
        return "a time"
    by_word: dict[str, Asked] = {"who": "a person", "whom": "a person", "when": "a time", "where": "a place"}
    return by_word.get(word, "a thing" if word in ("what", "which") else "")


def misfit_of_value(question: str, value: str) -> str:
    """Why yes, no or a number that stands nowhere is not what is asked for; empty where it may be."""
    asked = asked_of(question)
    fitting = ("yes or no",) if value in ("yes", "no") else ("a number", "a time")
    return "" if asked in (*fitting, "a thing", "") else f"{asked} is asked for"


def misfit_of_label(asked: Asked, label: str, *, is_value: bool) -> str:
    """Why what is called so is not what is asked for; empty where it may be. A value is no thing."""
    has_digit = _DIGIT.search(label) is not None
    match asked:
        case "yes or no":
            is_fitting = label.casefold() in ("yes", "no", "true", "false")
        case "a number":
            is_fitting = is_value or has_digit
        case "a time":
            last = (label.split() or [""])[-1].lower()
            is_fitting = is_value or has_digit or Lexicon.load().classes(last).get("time", 0.0) > 0.0
        case "a person" | "a place":
            is_fitting = not is_value
        case _:
            is_fitting = True
    return "" if is_fitting else f"{asked} is asked for"


def says(other: str) -> str:
    """Why a value is not proved, where query graphs say another (`Judge.decides`), or nothing."""
    return f"the graph says {other}" if other else "no facts decide it"


def counts(question: str) -> bool:
    """Whether a question may be answered by a number that stands in no fact."""
    return asked_of(question) in ("a number", "") or adds_up(question)


def counts_things(question: str) -> bool:
    """Whether a question asks how many things there are: not *how much*, *how long*."""
    return _HOW_MANY_THINGS.search(question) is not None or _NUMBER_OF.match(question) is not None


def adds_up(question: str) -> bool:
    """Whether a question may ask for a sum or an average."""
    return AGGREGATE.search(question) is not None


@dataclass(frozen=True, slots=True)
class AskedSteps:
    """The relations that the likeliest readings of a question follow, and what the likeliest names.

    `walks` are the steps that the first few take from a name.
    """

    relations: tuple[int, ...] = ()
    types: tuple[int, ...] = ()
    entities: tuple[int, ...] = ()
    walks: frozenset[tuple[int, ...]] = frozenset()


def _walk_of(part: Part) -> tuple[int, ...]:
    """The steps from a name to a part, two or more; empty where it is no such walk."""
    steps = list[int]()
    while isinstance(part, Walk):
        steps, part = [part.step, *steps], part.source
    return tuple(steps) if isinstance(part, Anchor) and len(steps) > 1 else ()


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges answers over one graph."""

    reader: QuestionReader

    def misfit(self, asked: Asked, entity: int) -> str:
        """Why an entity is not what is asked for; empty where it may be."""
        graph = self.reader.graph
        (start, stop), types = graph.out.span(entity), graph.types.of(entity)
        is_value = start == stop and graph.values.kind[entity] != ValueKind.NONE
        is_nobody = asked == "a person" and bool(types) and all(map(self.reader.kinds.is_nobody, types))
        return misfit_of_label(asked, readable(graph.labels[entity]), is_value=is_value or is_nobody)

    def steps(self, question: str) -> AskedSteps:
        """What the likeliest readings of a question follow."""
        likeliest = self.reader.read(question).ranking.ranked[:12]
        queries = [ranked.option.query for ranked in likeliest]
        contents = [query.contents for query in queries]
        relations = dict.fromkeys(relation_of(step) for each in contents for step in each.steps)
        if not contents:
            return AskedSteps()
        entities = tuple(anchor.node for anchor in contents[0].entities)
        walks = {
            steps
            for query in queries[:MOST_ALTERNATIVES]
            for part in parts_of(query.part)
            if (steps := _walk_of(part))
        }
        return AskedSteps(tuple(relations), contents[0].types, entities, frozenset(walks))

    def decides(self, question: str, value: str, named: frozenset[int]) -> tuple[int, ...] | str:
        """The triples by which a query graph of the question says a value (yes, no, a number).

        `named` are the triples that the model names for it. Where a sure query graph says another value,
        that; where none decides it, an empty text.
        """
        reader = self.reader
        graph, vocabulary = reader.graph, reader.vocabulary
        other, reading = "", reader.read(question)
        for meaning in meanings_of(Executor(graph), vocabulary, reading):
            if meaning.query.ask == "list" or meaning.share < AGREES:
                continue
            draft = answer_of(graph, vocabulary, meaning.query)
            triples = tuple(dict.fromkeys(t for cited in draft.citations for t in cited.triple_ids))
            is_proved = meaning.share >= DECIDES or named & set(triples)
            if not is_proved or self._open_words(reading, meaning.query):
                continue
            if draft.text == value:
                return triples
            other = other or (draft.text if meaning.share >= SURE else "")
        return other

    def answers_otherwise(self, question: str, entities: Sequence[int]) -> tuple[str, frozenset[int]]:
        """What a likely query graph of a question answers, and which `entities` code can tell to be wrong.

        It can of values, of answers that are the first by a value, and of what has another declared type, or
        none, than all of its answers.
        """
        reading, graph = self.reader.read(question), self.reader.graph
        likeliest = self._surest(reading)
        if likeliest is None:
            return "", frozenset()
        query = likeliest.query
        draft, types = answer_of(graph, self.reader.vocabulary, query), graph.types.of
        right = {name for answer in draft.answers for name in (answer.entity, answer.label)}
        others = [entity for entity in entities if graph.entities[entity] not in right]
        if len(others) < len(entities) and (query.by or query.key):
            return draft.text, frozenset()
        is_ordered = any(isinstance(part, Extreme) for part in parts_of(query.part))
        members = self._members(query, Executor(graph))
        right_types = {t for member in members for t in types(member)} if all(map(types, members)) else set()
        is_named = asked_type(reading.question, reading.mentions, reading.likeness) in right_types
        is_told = right_types and (is_named or likeliest.share >= SURE)
        wrong = (
            entity
            for entity in others
            if (is_told and not right_types & set(types(entity)))
            or (len(others) == len(entities) and is_ordered)
            or graph.values.kind[entity] != ValueKind.NONE
        )
        return draft.text, frozenset(wrong)

    def answer_another(self, question: str, proofs: Mapping[int, Sequence[int]]) -> bool:
        """Whether entities answer another question (who owns a ship, not who insured it), by their triples.

        Not one that a likely reading gives. The path to another must not go back as it came (*of the same
        sex*), and must say each word that a far likelier reading has a place for, or that no reading has.
        """
        reading, executor = self.reader.read(question), Executor(self.reader.graph)
        ranked = [(r.option.query, r.probability) for r in reading.ranking.ranked]
        lists = [(q, p, self._members(q, executor)) for q, p in ranked if q.ask == "list" and not q.by]
        likely = ((q, p) for q, p, given in lists if p >= DECIDES and given)
        whole = next((p for q, p in likely if not self._open_words(reading, q)), 0.0)
        names = {word.text for mention in reading.mentions for word in tokens(mention.text)}
        words = {word.text for word in tokens(question)} - names
        hard = [q for q, _, _ in lists[:MOST_ALTERNATIVES]] if reading.ranking.none > 1 - AGREES else []
        unsaid = words.intersection(*(self._open_words(reading, q) for q in hard)) if hard else set[str]()
        starts = {c.node: at for at, mention in enumerate(reading.mentions) for c in mention.candidates}

        def is_other(entity: int) -> bool:
            share = max((p for _, p, given in lists if entity in given), default=0.0)
            path = part_of_path(self.reader.graph, proofs[entity], starts, entity)
            left = words if path is None else self._open_words(reading, Query("list", path))
            is_less_likely = share < LEAST_LIKELY * whole and (left or whole > 1 - AGREES)
            is_back = path is not None and share < LEAST_LIKELY and leads_back(path)
            return bool(is_less_likely or is_back or (starts and unsaid & left))

        return all(map(is_other, proofs))

    def gives(self, question: str, entity: int) -> bool:
        """Whether a likely query graph of a question has an entity among its answers."""
        likeliest = self._surest(self.reader.read(question))
        return likeliest is not None and entity in self._members(likeliest.query, Executor(self.reader.graph))

    def starts_at_names(self, question: str) -> bool:
        """Whether a likely query graph leads from the names of a question to every answer, without *not*."""
        likeliest = self._surest(self.reader.read(question))
        if likeliest is None or likeliest.query.ask != "list" or not likeliest.query.contents.entities:
            return False
        return not any(
            isinstance(part, (Without, Related, Either, Counted))
            or (isinstance(part, Compared) and not isinstance(part.value, Value))
            for part in parts_of(likeliest.query.part)
        )

    def _surest(self, reading: Reading) -> Meaning | None:
        """The likeliest meaning of a question, if it decides it alone and leaves no word out."""
        meanings = meanings_of(Executor(self.reader.graph), self.reader.vocabulary, reading)
        likeliest = next(iter(meanings), None)
        if likeliest is None or likeliest.share < DECIDES or self._open_words(reading, likeliest.query):
            return None
        return likeliest

    def _members(self, query: Query, executor: Executor) -> set[int]:
        try:
            return set(executor.members(query.part).tolist()) if query.ask == "list" else set()
        except OverBudget:
            return set()  # it is not known

    def _open_words(self, reading: Reading, query: Query) -> frozenset[str]:
        """The words of a question that have no place in a query graph."""
        return frozenset(w.text for w in self.reader.account(reading, query).words if w.as_ == "unplaced")
