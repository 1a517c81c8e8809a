"""A small graph with all that reads questions over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clew.graph.build.build import graph_of
from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.query.vocabulary import Vocabulary
from clew.reading.candidates import Enumerator, Option
from clew.reading.features import Describer
from clew.reading.likeness import WordMatcher
from clew.reading.mention_finder import MentionFinder
from clew.reading.mentions import Mention
from clew.text.embedders.static import StaticEmbedder
from clew.text.lexicon import Lexicon

EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()


class SmallGraph:
    """Lines of head | relation | tail, with what is needed to read questions; `ids` by label."""

    def __init__(
        self,
        lines: str,
        types: Mapping[str, Iterable[str]] | None = None,
        aliases: Mapping[str, list[str]] | None = None,
    ) -> None:
        triples = [tuple(part.strip() for part in line.split("|")) for line in lines.strip().splitlines()]
        of = {name: [type_] for type_, names in (types or {}).items() for name in names}
        self.graph = graph_of(triples, of, aliases)
        self.vocabulary = Vocabulary.of(self.graph, schema_of(self.graph))
        self.ids = {label: node for node, label in enumerate(self.graph.labels)}
        self.types = {name: i for i, name in enumerate(self.graph.types.names)}
        self.matcher = WordMatcher(self.vocabulary, EMBEDDER, LEXICON)
        self.finder = MentionFinder.of(NamesIndex.of(self.graph), self.vocabulary, LEXICON)

    def step(self, name: str) -> int:
        """The step of `relation`, or of `^relation`, from tail to head."""
        return 2 * list(self.graph.relations).index(name.lstrip("^")) + name.startswith("^")

    def mentions(self, question: str, given: Iterable[str] = ()) -> list[Mention]:
        """The mentions of a question."""
        return self.finder.find(question, list(given))

    def options(self, question: str) -> list[Option]:
        """The candidates of a question."""
        likeness = self.matcher.compare(question)
        return Enumerator(self.vocabulary).enumerate(question, self.mentions(question), likeness)

    def describer(self, question: str) -> Describer:
        """What describes the candidates of a question."""
        return Describer(self.vocabulary, question, self.mentions(question), self.matcher.compare(question))
