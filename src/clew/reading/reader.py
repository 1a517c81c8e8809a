"""The reader: a question → its candidates over one graph, ranked.

mentions (`mention_finder.py`) → candidates (`candidates.py`) → probabilities (`ranker.py`); `answer.py`
executes the likeliest, or abstains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache, partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.readers.columns import known_tables, words_of_rows
from clew.graph.schema import Schema, with_implied_types, with_types_of
from clew.graph.values import UNITS
from clew.index.names import NamesIndex
from clew.index.store.directory import Index
from clew.index.store.writing import schema_of_index
from clew.query.execute import Executor
from clew.query.notation import NameLookup, lookup_of
from clew.query.tree import Query
from clew.query.values import today
from clew.query.vocabulary import MOST_READ, WRITTEN_OUT, Vocabulary, initials_of
from clew.reading.account import Account, Accountant, as_written
from clew.reading.asked_for import AnswerKinds, asked_type, asks_people
from clew.reading.candidates import Option, enumerate_candidates
from clew.reading.countries import named_countries
from clew.reading.edge_words import EdgeKeys
from clew.reading.english import ANYONE, FUNCTION
from clew.reading.framing import PLACES, unframed
from clew.reading.likeness import Likeness, WordMatcher
from clew.reading.mention_finder import MentionFinder
from clew.reading.mentions import PARTIAL, Mention
from clew.reading.operators import Operators
from clew.reading.paths import Exploration
from clew.reading.ranker import GraphRanker, Ranker, Ranking, Scored, shipped
from clew.reading.scope import Scope
from clew.reading.spelling import Respelt, Speller
from clew.text.embedders import Embedder
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon
from clew.text.normalise import words_of
from clew.vocabulary.file import Naming, TeamVocabulary
from clew.vocabulary.terms import team_vocabulary


def with_types(index: Index) -> tuple[Graph, Schema]:
    """The graph of an index with the types that it implies, and its schema."""
    schema = schema_of_index(index)
    graph = with_implied_types(index.graph, named_countries(index, schema))
    return graph, schema if graph is index.graph else with_types_of(schema, graph)


def reader_of(index: Index, embedder: Embedder) -> QuestionReader:
    """The reader of an index, made once."""
    reader: QuestionReader | None = index.made.get(QuestionReader)
    if reader is None or reader.embedder is not embedder:
        graph, schema = with_types(index)
        nouns = (*words_of_rows(known_tables(index.manifest.about.report)), *nouns_of_names(graph))
        reader = QuestionReader(
            graph, schema, index.names, embedder, team=team_vocabulary(index), nouns=nouns
        )
        index.made[QuestionReader] = reader
    return reader


FEWEST_ALIKE, ENDING_SHARE = 5, 0.8
"""Things of a type by whose names it may be told what they are, and the share of these that say so."""
MOST_TYPES_READ = 200_000
"""Declared types of things that are looked at; of more, as many that are spread over all."""


def nouns_of_names(graph: Graph) -> Iterator[tuple[str, str]]:
    """Types with the noun that nearly all names of theirs end with: branches are *libraries*.

    Not with one that is a type itself, nor where only a few are.
    """
    names = graph.types.names
    places = np.arange(0, len(graph.types.type), len(graph.types.type) // MOST_TYPES_READ + 1)
    types = graph.types.type[places]
    owners = np.searchsorted(graph.types.offsets, places, "right") - 1
    for type_, name in enumerate(names):
        members = owners[types == type_][:MOST_READ].tolist()
        words = [words_of(graph.labels[node]) for node in members]
        last = Counter(each[-1] for each in words if len(each) > 1).most_common(1)
        if len(members) < FEWEST_ALIKE or not last or last[0][1] < ENDING_SHARE * len(members):
            continue
        noun = last[0][0]
        if noun.isalpha() and noun not in map(str.lower, names) and Lexicon.load().classes(noun):
            yield name, noun


@dataclass(frozen=True, slots=True)
class LinkedQuestion:
    """A question in plain words: what it names, and how its words are like those of the graph."""

    text: str
    """Without what is said around it, its words spelt right; mentions and likeness have its places."""
    mentions: tuple[Mention, ...]
    likeness: Likeness
    respelt: Respelt = ()
    """Words that were written otherwise: as written, and as read."""


MOST_READINGS = 8
"""Readings that are kept of each graph: of a question and its parts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How one question may be read: its mentions, and its candidates by their probability."""

    question: str
    """As it is read, without what is said around it; mentions and likeness have its places."""
    mentions: tuple[Mention, ...]
    likeness: Likeness
    ranking: Ranking
    timings: dict[str, float]
    original_question: str = ""
    """As it was asked."""
    whole_question: str = ""
    """As it is read, with the words of operators that were cut out of `question`."""
    respelt: Respelt = ()


@dataclass(eq=False)
class QuestionReader:
    """Reads questions over one graph."""

    graph: Graph
    schema: Schema
    names: NamesIndex
    embedder: Embedder
    ranker: Ranker | None = None
    team: TeamVocabulary = field(default_factory=TeamVocabulary)
    nouns: Sequence[tuple[str, str]] = ()
    """What rows of a type are called as well, by the column of their names."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the graph, and of its team."""
        relations, types = list(self.graph.relations), list(self.graph.types.names)
        further = self.team.further(relations, types)
        further += [(len(relations) + types.index(t), noun) for t, noun in self.nouns if t in types]
        type_labels = {name: naming.label for name, naming in self.team.types.items() if naming.label}
        denies = {name: naming.denies for name, naming in self.team.relations.items() if naming.denies}
        words = Vocabulary.of(self.graph, self.schema, further, type_labels, self.team.terms.keys(), denies)
        units = {r: self.team.relations.get(name, Naming()).unit.lower() for r, name in enumerate(relations)}
        words.units.update((relation, unit) for relation, unit in units.items() if unit in UNITS)
        return words

    @cached_property
    def kinds(self) -> AnswerKinds:
        """What kinds of things answers are."""
        return AnswerKinds(self.vocabulary)

    @cached_property
    def lookup(self) -> NameLookup:
        """What the notation of queries looks names up in."""
        return lookup_of(self.graph, self.names)

    @cached_property
    def _matcher(self) -> WordMatcher:
        return WordMatcher(self.vocabulary, self.embedder, Lexicon.load())

    @cached_property
    def _finder(self) -> MentionFinder:
        return MentionFinder.of(self.names, self.vocabulary, Lexicon.load())

    @cached_property
    def _speller(self) -> Speller:
        labels = (*self.vocabulary.relations, *self.vocabulary.types)
        short = WRITTEN_OUT | initials_of(labels)
        return Speller(lambda: self._ranker.ranker.common_words, self.vocabulary.words, self.is_word, short)

    @cached_property
    def edge_keys(self) -> EdgeKeys:
        """What the edges of the graph have for properties."""
        return EdgeKeys(self.graph)

    @cached_property
    def _ranker(self) -> GraphRanker:
        return GraphRanker(self.ranker or shipped(), self.vocabulary, self.kinds)

    def read(self, question: str, entities: Sequence[str] = ()) -> Reading:
        """Read one question; `entities` are names that it is known to be about.

        Raises:
            EmbedderError: the shipped model cannot be opened.

        """
        began = perf_counter()
        reading = self._remembered(question, tuple(entities), today())
        if sum(reading.timings.values()) > (perf_counter() - began) * 1000:  # it was read before
            return replace(reading, timings=dict.fromkeys(reading.timings, 0.0))
        return reading

    @cached_property
    def _remembered(self) -> Callable[[str, tuple[str, ...], date], Reading]:
        """A method reads its question to retrieve, to prompt and to ground: it is read once a day."""
        return lru_cache(MOST_READINGS)(self._read)

    def _read(self, question: str, entities: tuple[str, ...], _: date) -> Reading:
        times, began = dict[str, float](), perf_counter()
        linked = self._link(question, entities)
        text, mentions = linked.text, linked.mentions
        times["link"] = (perf_counter() - began) * 1000
        reading = self._read_text(text, mentions, times)
        operators = Operators(
            self.vocabulary, Executor(self.graph), text, mentions, self.edge_keys, linked.likeness
        )
        found = operators.found()
        if found:
            text, mentions, said = operators.rest(found)
            named = [m if m.stop > m.start else replace(m, candidates=(), values=()) for m in mentions]
            rest = self._read_text(text, named, times)
            ranked = operators.around_all(rest.ranking.ranked, found, said)
            if operators.prefers(ranked, reading.ranking, found):
                ranking = replace(rest.ranking, ranked=ranked)
                reading = replace(rest, mentions=mentions, ranking=ranking)
        return replace(
            reading, original_question=question, whole_question=linked.text, respelt=linked.respelt
        )

    def _read_text(self, text: str, mentions: Sequence[Mention], times: dict[str, float]) -> Reading:
        """A text as it stands, ranked; adds to `times`, in milliseconds."""
        began = perf_counter()
        likeness = self.compare(text)
        options = self._options(text, mentions, likeness)
        enumerated = perf_counter()
        ranking = self._ranker.rank(text, mentions, likeness, options)
        type_ = asked_type(text, mentions, likeness)
        among = self.kinds.people_among if asks_people(text, mentions) else None
        if type_ >= 0:
            among = partial(self.kinds.of_type_among, type_=type_)
        if among is not None:
            ranked = (
                replace(r, option=replace(r.option, query=among(r.option.query))) for r in ranking.ranked
            )
            ranking = replace(ranking, ranked=tuple(ranked))
        times["enumerate"] = times.get("enumerate", 0.0) + (enumerated - began) * 1000
        times["rank"] = times.get("rank", 0.0) + (perf_counter() - enumerated) * 1000
        return Reading(text, tuple(mentions), likeness, ranking, times)

    def candidates_of(self, question: str) -> tuple[LinkedQuestion, list[Option]]:
        """A question as it is read, with its candidates."""
        linked = self._link(question, ())
        return linked, self._options(linked.text, linked.mentions, linked.likeness)

    def _options(self, text: str, mentions: Sequence[Mention], likeness: Likeness) -> list[Option]:
        """The candidates of a text, and those with their denials where its words have them."""
        options = enumerate_candidates(self.vocabulary, text, mentions, likeness)
        return [*options, *Scope(self.vocabulary, text, mentions, likeness).further(options)]

    def score(self, question: str) -> tuple[LinkedQuestion, Scored]:
        """What the shipped model makes of all candidates of a question, whatever was learned beside it.

        Raises:
            EmbedderError: the shipped model cannot be opened.

        """
        linked_question, options = self.candidates_of(question)
        return linked_question, self._ranker.score(
            linked_question.text, linked_question.mentions, linked_question.likeness, options
        )

    def spell(self, text: str, entities: Sequence[str] = ()) -> tuple[str, tuple[Mention, ...], Respelt]:
        """A text with its words spelt right, its mentions, and which words were written otherwise."""
        mentions = self.name(text, entities)
        plain, respelt = self._speller.respelt(text, mentions)
        return plain, self.name(plain, entities) if respelt else mentions, respelt

    def name(self, text: str, entities: Sequence[str] = ()) -> tuple[Mention, ...]:
        """The mentions of a text; `entities` are names that it is known to be about."""
        return tuple(self._finder.find(text, entities))

    def is_word(self, word: str) -> bool:
        """Whether a word is one of English, or of the relations and types of the graph."""
        plain = word.lower()
        word_sets = (FUNCTION, ANYONE, self.vocabulary.words)
        return any(plain in words for words in word_sets) or Lexicon.load().known(plain)

    def compare(self, text: str) -> Likeness:
        """How the content words of a text are like those of the graph."""
        return self._matcher.compare(text)

    def explore(self, text: str, mentions: Sequence[Mention]) -> Exploration:
        """What lies around the mentions of a text, and how its words are like those of the graph."""
        return Exploration(self.vocabulary, text, mentions, self.compare(text))

    def rank_options(self, exploration: Exploration, options: Sequence[Option]) -> Ranking:
        """Rank candidates that were made elsewhere.

        Raises:
            EmbedderError: the shipped model cannot be opened.

        """
        return self._ranker.rank(exploration.question, exploration.mentions, exploration.likeness, options)

    def vector(self, text: str) -> NDArray[np.float32]:
        """The vector that the ranker's encoder gives to a text, of length 1: float32 [384].

        Raises:
            EmbedderError: the shipped model cannot be opened.

        """
        return self._ranker.vector(text)

    def likenesses(self, vector: NDArray[np.float32], relations: Sequence[int]) -> NDArray[np.float32]:
        """How like a vector of `vector` is to those of the labels of relations: float32 [R], in [-1, 1]."""
        return self._ranker.likenesses(vector, relations)

    @cached_property
    def accountant(self) -> Accountant:
        """Places words in query graphs."""
        return Accountant(self._ranker, self.edge_keys)

    def account(self, reading: Reading, query: Query, least: float = 0.0) -> Account:
        """What each word of a question, as it was asked, is in a query graph; `least` as for an accountant.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        is_whole = reading.question == reading.whole_question
        account = self.accountant.account(
            reading.question, reading.mentions, reading.likeness, query, least, is_whole=is_whole
        )
        words = as_written(reading.whole_question, reading.question, account.words, "operator")
        words = as_written(reading.original_question, reading.whole_question, words)
        return replace(account, words=words)

    def _is_of_graph(self, word: str) -> bool:
        words = self.vocabulary.words
        if word not in FUNCTION and (word in words or singular(word) in words):
            return True
        named = self._finder.find(f"the {word.title()}") if word in PLACES else ()
        return any(c.how <= PARTIAL for mention in named for c in mention.candidates)

    def _link(self, question: str, entities: Sequence[str]) -> LinkedQuestion:
        """What a question names, and how its words are like the graph's."""
        text, mentions, respelt = self.spell(unframed(question, self._is_of_graph), entities)
        return LinkedQuestion(text, mentions, self.compare(text), respelt)
