"""`Clew`: open an index or a graph file, ask it, match patterns in it, look into it."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from clew.errors import UsageError
from clew.methods.registry import Asks, made_settings, make_method, make_verifier
from clew.methods.settings import partial_settings
from clew.opening.environment import cache_folder, keep_machine_code, make_embedder, milvus_access
from clew.opening.graph_view import (
    FilesOrTriples,
    GraphView,
    index_in_memory,
    index_sources,
    is_index,
    local_paths,
    refuse_options,
    sound,
    update_index_by,
)
from clew.text.normalise import clean, clean_question
from clew.types import Answer, Thread, Verification

if TYPE_CHECKING:
    from clew.graph.readers.batch import OnError
    from clew.graph.readers.hints import Hints
    from clew.index.build import IndexOptions
    from clew.index.cache import CachedIndex, SideFiles
    from clew.index.corpus import CorpusSettings
    from clew.index.store.directory import Index
    from clew.index.store.writing import Progress
    from clew.index.update.edits import EditRules
    from clew.index.update.update import Updated
    from clew.llm.reply import ChatModel
    from clew.methods.built_in import BuiltInReader
    from clew.methods.registry import Method, MethodFactory, Verifier
    from clew.text.embedders import Embedder
    from clew.vocabulary.file import TeamVocabulary
    from clew.vocabulary.terms import VocabularyReport


Source = str | Path | Sequence[str | Path] | object
"""An index directory, graph files, data frames or a graph of NetworkX."""


def _is_path(source: object) -> bool:
    """Whether a source is a path or several."""
    return isinstance(source, str | Path) or (
        isinstance(source, list | tuple)
        and all(isinstance(each, str | Path) for each in cast("Sequence[object]", source))
    )


class Clew(GraphView, Asks):
    """An open index. Make one with `Clew.open` or `Clew.index`; it may be used as a context manager.

    `built` says that a plain file was indexed just now, in `seconds`; `path` is where the index is, `note`
    says so if that is not the cache; `side_files` were read beside the source.
    """

    def __init__(self, index: Index, embedder: Embedder, *, cached: CachedIndex | None = None) -> None:
        """Use an index and the embedder that made it; raises EmbedderMismatch if another one did."""
        GraphView.__init__(self, index, embedder)
        Asks.__init__(self)
        self._cached = cached is not None
        self.built = cached is not None and cached.built
        self.note = None if cached is None else cached.note
        self.side_files: SideFiles | None = None if cached is None else cached.side_files
        self.seconds = 0.0

    @classmethod
    def open(
        cls,
        source: Source,
        *,
        embedder: str | Embedder | None = None,
        cache_dir: str | Path | None = None,
        types: str | Path | None = None,
        aliases: str | Path | None = None,
        format: str | None = None,
        on_error: OnError = "fail",
        hints: Hints | None = None,
        corpus: CorpusSettings | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Open `source`: an index directory, or graph files (or a folder), indexed once into a cache.

        Data frames (one, a list, or by their names) and a graph of NetworkX are taken as `from_frames` and
        `from_networkx` take them.

        `embedder` is a spec or an object; without one, that of the index. The options after it are for graph
        files: `hints` say what the columns of a table are; with `corpus` walks are stored too. Raises
        InputError if there is no such source, ParseError for a line that cannot be read, FormatError and
        EmbedderMismatch for an index that cannot be used, UsageError for options that do not go with an
        index, or the address of a database.
        """
        keep_machine_code()
        side_names = {"types": types, "aliases": aliases}
        side = {name: None if file is None else Path(file) for name, file in side_names.items()}
        if hints is not None and not hasattr(hints, "columns"):
            raise UsageError(
                f"`hints` is a Hints, as in Hints(columns={{'head': 'from'}}), not {type(hints).__name__}"
            )
        if not _is_path(source):
            for name, value in (side | {"format": format, "corpus": corpus}).items():
                if value is not None:
                    raise UsageError(f"{name!r} is for graph files. Leave it out")
            return cls._of_object(source, embedder, hints)
        paths = local_paths(cast("str | Path | Sequence[str | Path]", source))
        index = next(filter(is_index, paths), None)
        if index is None:
            reading = {"format": format, "on_error": on_error, "hints": hints, "corpus": corpus} | side
            return cls._open_files(paths, embedder, cache_folder(cache_dir), progress, reading)
        if len(paths) > 1:
            raise UsageError(f"{index} is an index, and one is opened alone. Give graph files, or it alone")
        refuse_options(index, side | {"format": format, "corpus": corpus, "hints": hints})
        from clew.index.store.directory import open_index

        opened = open_index(index, access=milvus_access())
        made_with = opened.manifest.about.embedder
        if embedder is None and made_with is not None:
            embedder = made_with.name
        return cls(opened, make_embedder(embedder))

    @classmethod
    def _open_files(
        cls,
        paths: Sequence[Path],
        embedder: str | Embedder | None,
        cache_dir: Path,
        progress: Progress | None,
        reading: Mapping[str, Any],
    ) -> Self:
        from clew.index.cache import cached_index

        maker, start = make_embedder(embedder), time.monotonic()
        cached = cached_index(paths, cache_dir=cache_dir, embedder=maker, progress=progress, **reading)
        clew = cls(cached.index, maker, cached=cached)
        clew.seconds = time.monotonic() - start
        return clew

    @classmethod
    def _of_object(cls, source: Any, embedder: str | Embedder | None, hints: Hints | None) -> Self:  # noqa: ANN401
        """Open frames or a graph of NetworkX; UsageError for what is neither."""
        if all(hasattr(source, name) for name in ("nodes", "edges", "is_directed")):
            return cls.from_networkx(source, embedder=embedder, hints=hints)
        frames = source if isinstance(source, list | Mapping) else [source]
        named = {f"table{number}": frame for number, frame in enumerate(frames, 1)}
        named = cast("Mapping[str, Any]", frames) if isinstance(frames, Mapping) else named
        if not all(hasattr(frame, "columns") for frame in named.values()):
            kinds = "a path, or several; data frames, also by their names; or a graph of NetworkX"
            raise UsageError(f"A source is {kinds}; this is {type(source).__name__}")
        return cls.from_frames(named, embedder=embedder, hints=hints)

    @classmethod
    def index(
        cls,
        sources: str | Path | Sequence[str | Path],
        out: str | Path | None = None,
        *,
        embedder: str | Embedder | None = None,
        **options: Unpack[IndexOptions],
    ) -> Self:
        """Index graph files (a name, or several) in the directory `out`, and open the index.

        Without `out` it is made in the working directory, called after the first file (`films.clew` of
        `films.tsv`); an index of that name is replaced. `options` are those of
        `clew.index.build.IndexOptions`; `clew.opening.graph_view.index_sources` says what is raised.
        """
        if not _is_path(sources):
            kind = type(sources).__name__
            raise UsageError(f"An index is made of files, not of {kind}. See Clew.from_frames")
        if out == "":
            raise UsageError("The name of the index is empty. Give one (NAME.clew), or leave it out")
        given = None if out is None else Path(out)
        built = index_sources(local_paths(sources), given, embedder=embedder, **options)
        return cls.open(built.path, embedder=embedder)

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[str, str, str]],
        *,
        types: Mapping[str, Iterable[str]] | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        embedder: str | Embedder | None = None,
    ) -> Self:
        """Index triples (head, relation, tail), and types and aliases of entities, until it is closed.

        Numbers are taken as they are written. Raises UsageError for what is no triple of texts, InputError if
        there are none.
        """
        from clew.graph.readers.networks import write_pairs, write_triples

        if not isinstance(triples, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] (of a user)
            raise UsageError(f"Triples are several (head, relation, tail), not {triples!r:.80}")

        def write(folder: Path) -> tuple[Path, IndexOptions]:
            side: IndexOptions = {
                "types": write_pairs(folder / "types.tsv", "type", types),
                "aliases": write_pairs(folder / "aliases.tsv", "alias", aliases),
                "format": "tsv",
            }
            return write_triples(folder / "triples.tsv", triples), side

        return cls._from_memory(write, embedder)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,  # noqa: ANN401 (of NetworkX)
        *,
        embedder: str | Embedder | None = None,
        hints: Hints | None = None,
    ) -> Self:
        """Index a graph of NetworkX with the attributes of its nodes and edges, until it is closed.

        Nodes are called by their *name*, *label* or *title*, relations by *relation*, *type* or *label*.
        Raises UsageError for another object, InputError without edges and attributes.
        """
        from clew.graph.readers.networks import write_network

        options: IndexOptions = {"format": "json", "hints": hints}
        return cls._from_memory(
            lambda folder: (write_network(folder / "graph.json", graph), options), embedder
        )

    @classmethod
    def from_frames(
        cls, frames: Mapping[str, Any], *, embedder: str | Embedder | None = None, hints: Hints | None = None
    ) -> Self:
        """Index data frames of pandas or polars by the names of their tables, until it is closed.

        >>> Clew.from_frames({"films": films, "people": people})  # doctest: +SKIP

        They are read as a folder of tables is. Raises UsageError for another object, InputError and
        ParseError as `open`.
        """
        from clew.graph.readers.networks import write_frames

        options: IndexOptions = {"hints": hints}
        return cls._from_memory(lambda folder: (write_frames(folder / "tables", frames), options), embedder)

    @classmethod
    def _from_memory(
        cls, write: Callable[[Path], tuple[Path, IndexOptions]], embedder: str | Embedder | None
    ) -> Self:
        """Index what `write` puts into a folder: a source, and how it is read."""
        from clew.foundation.scratch import Scratch

        maker, temporary = make_embedder(embedder), Scratch("memory")
        try:
            source, options = write(folder := Path(temporary.name))
            clew = cls(index_in_memory(folder, source, maker, **options), maker)
        except BaseException:
            temporary.cleanup()
            raise
        clew._temporary = weakref.finalize(clew, temporary.cleanup)
        return clew

    def hold(self, share: float = 0.125) -> None:
        """Read the index into memory, where it is at most a `share` of the machine's.

        What is mapped from files ends the process if another one truncates them. Raises as `open`.
        """
        from clew.foundation.system import physical_memory

        if sum(file.bytes for file in self.opened.manifest.files) <= share * physical_memory():
            self._reopen(held=True)

    @sound
    def ask(
        self,
        question: str,
        *,
        id: str | None = None,
        entities: str | Sequence[str] = (),
        method: str | MethodFactory = "auto",
        model: ChatModel | str | None = None,
        settings: object = None,
        reading: int | None = None,
        partial: bool = False,
        previous: Answer | Thread | Mapping[str, object] | None = None,
    ) -> Answer:
        """Answer a question, or abstain with a reason.

        `entities` is a name of an entity that the question is about, or several, where the caller knows them:
        as written, with an id (*Anna Keller (E08)*), or words that one name alone holds (*HP-40*). `id` is
        handed back. `method` is a name, `module:class` of your own, or the class (`docs/python.md`). `model`
        is used by the methods that can use one: an open one, or its spec (`ollama/llama3.1`). `settings` is a
        dict (`{"k": 5}`; `clew methods` lists them) or the dataclass of the method. `reading` is the number,
        from 1, of one of the `alternatives` of the answer of `auto`: it is answered instead, without a model.
        `partial`: where words of a question to `auto` have no place in the graph, the rest is answered, and
        a note says so. `previous` is the last answer, its JSON form, or the `thread` of that: the question
        may go on from it (*And the Cologne Depot?*, *only those in Berlin*). Raises UsageError for an empty
        or endless question, an unknown method or such a number, LlmError if the model fails.
        """
        question = clean_question(question)
        names = self._names_in_graph(entities)
        if not isinstance(cast("object", reading), int | None):
            raise UsageError(f"`reading` is the number of one of the alternatives, from 1, not {reading!r}")
        if not isinstance(cast("object", partial), bool):
            raise UsageError(f"`partial` is True or False, not {partial!r:.80}")
        if reading is not None and previous is not None:
            raise UsageError("`reading` is of a whole question. Leave it out, or `previous`")
        if reading is not None and method != "auto":
            raise UsageError(f"Other readings are those of auto, not of {method}. Leave out one of the two")
        if partial:
            settings = partial_settings(method, made_settings(method, settings))
        thread, chat_model = Thread.of(previous), None if reading else self._models.model(model)
        answerer = self._method(method, chat_model, settings)

        def work() -> Answer:
            if reading is None and thread is None:
                return answerer.answer(question, id=id, entities=names)
            from clew.methods.auto.method import answer_alternative, answer_follow_up

            if reading is not None:
                plain = cast("BuiltInReader", answerer)
                return answer_alternative(plain, question, reading, id=id, entities=names)
            known_names, last = self.opened.names, cast("Thread", thread)
            return answer_follow_up(answerer, chat_model, known_names, question, last, id=id, entities=names)

        from clew.vocabulary.terms import with_meanings

        answer = with_meanings(self.opened, self._answered(answerer, question, id, work))
        after = answer.thread or Thread.after(answer, question)
        return replace(answer, thread=after.behind(thread), asker=self.ask)

    async def ask_async(self, question: str, **options: Any) -> Answer:  # noqa: ANN401 (those of `ask`)
        """Answer as `ask` does, in a thread, so that an event loop goes on meanwhile; raises as `ask`."""
        import asyncio  # an eighth of what a question imports, for none that is not awaited

        return await asyncio.to_thread(partial(self.ask, question, **options))

    async def verify_async(self, claim: str, **options: Any) -> Verification:  # noqa: ANN401
        """Check as `verify` does, in a thread; raises as `verify`."""
        import asyncio

        return await asyncio.to_thread(partial(self.verify, claim, **options))

    def _names_in_graph(self, entities: str | Sequence[str]) -> tuple[str, ...]:
        """The names that a user gives for a question's entities, as the graph has them."""
        given = [entities] if isinstance(entities, str) else cast("object", entities)
        texts = list(cast("Sequence[object]", given)) if isinstance(given, Sequence) else [given]
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"`entities` is a name, or a list of names, not {entities!r:.80}")
        names = tuple(name for text in texts if (name := clean(str(text))))
        if not names:
            return ()
        from clew.methods.question import names_of_graph

        return names_of_graph(self.opened.names, names)

    def _make_method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        return make_method(name, self.opened, self.embedder, model, settings)

    def _make_verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        return make_verifier(name, self.opened, self.embedder, model, settings)

    def embed_triples(self, progress: Progress | None = None) -> None:
        """Make the vectors of triples where the index has none, for methods that rank triples.

        Without it the first question of such a method does so. Raises as
        `clew.index.vectors.triples.with_triple_vectors`.
        """
        from clew.index.vectors.triples import with_triple_vectors

        self._opened = with_triple_vectors(self.opened, self.embedder, progress)

    def update(
        self,
        add: FilesOrTriples = (),
        remove: FilesOrTriples = (),
        *,
        rules: EditRules | None = None,
        **edit_options: Any,  # noqa: ANN401 (of `EditFiles`)
    ) -> Updated:
        """Change the index on the disk, as a whole or not at all, and go on with what it is then.

        `add` and `remove` are files, or triples (head, relation, tail); `edit_options` are other fields of
        `EditFiles`. Raises as `update_index_files`, and UsageError for a graph file that was indexed into the
        cache: that is indexed anew when it changes.
        """
        self._refuse_cached("update")
        updated = update_index_by(self.path, add, remove, rules=rules, embedder=self.embedder, **edit_options)
        self._reopen()
        return updated

    @sound
    def verify(self, claim: str, **options: Any) -> Verification:  # noqa: ANN401 (of `Asks.verify`)
        """Check a claim as `Asks.verify`; terms of a vocabulary are shown as what they stand for."""
        from clew.vocabulary.terms import verified_with_meanings

        return verified_with_meanings(self.opened, super().verify(claim, **options))

    @property
    def vocabulary(self) -> TeamVocabulary:
        """What a team calls things, as it was set; empty where nothing was."""
        from clew.vocabulary.terms import team_vocabulary

        return team_vocabulary(self.opened)

    def draft_vocabulary(self, model: ChatModel | str | None = None) -> str:
        """Write the vocabulary as a file to correct: what is set, and what Clew infers behind #.

        A `model` drafts labels, words, descriptions and terms, each behind # and marked as a draft. It is
        sent the names of relations and types with sample values. Raises LlmError as the model does.
        """
        from clew.index.store.writing import schema_of_index
        from clew.query.vocabulary import Vocabulary
        from clew.vocabulary.file import draft

        team = self.vocabulary
        words = Vocabulary.of(self.opened.graph, schema_of_index(self.opened), terms=team.terms.keys())
        chat_model = self._models.model(model)
        if chat_model is None:
            return draft(words, team, self.path.name)
        from clew.vocabulary.drafting import model_draft

        drafted = model_draft(self.opened, words, team, chat_model)
        return draft(words, team, self.path.name, drafted=drafted.team, note=drafted.note)

    def set_vocabulary(self, vocabulary: str | Path | TeamVocabulary) -> VocabularyReport:
        """Check a vocabulary (a file, its text, or one that was read), keep it in the index, and use it.

        Raises InputError for what does not fit the graph, ParseError for what is no TOML, UsageError for a
        graph file that was indexed into the cache, and as `update`.
        """
        from clew.vocabulary.file import open_vocabulary
        from clew.vocabulary.terms import set_vocabulary

        self._refuse_cached("give it a vocabulary")
        team, file = open_vocabulary(vocabulary)
        report = set_vocabulary(self.path, team, embedder=self.embedder, file=file, access=milvus_access())
        self._reopen()
        return report

    def _refuse_cached(self, what: str) -> None:
        if self._cached:
            raise UsageError(
                f"{self.path} is the cache of a graph file. Make an index to {what}: Clew.index(SOURCE, OUT)"
            )

    @sound
    def example_questions(self, limit: int = 6) -> tuple[str, ...]:
        """Questions about this graph that are answered here, without a model, as the graph has it."""
        from clew.query.vocabulary import questions_about

        questions: list[str] = []
        for number, relation in enumerate(self.info().relations[: 4 * limit]):
            if len(questions) == limit:
                break
            triple = self._explorer.sample_triple(relation.name, 0.618 * number % 1)
            head, tail = (
                next((s.type for s in shares if s.declared or s.type in ("number", "date")), "")
                for shares in (relation.head_types, relation.tail_types)
            )
            for question, right in questions_about(triple, head, tail):
                if right in {answer.label for answer in self.ask(question).answers}:
                    questions.append(question)
                    break
        return tuple(questions)

    def let_go(self) -> None:
        """End what was made for asking: models, methods, processes. The next question makes it again."""
        super().close()
        self._forget()

    def close(self) -> None:
        """Let go of the index, and of what was made for asking; what is used later raises UsageError."""
        self.let_go()
        self._opened = None
        if self._temporary is not None:
            self._temporary()

    def _reopen(self, *, held: bool = False) -> None:
        """Go on with what the index is now on the disk."""
        from clew.index.store.directory import open_index

        self._forget()
        self._opened = open_index(self.path, access=milvus_access(), held=held)

    def _forget(self) -> None:
        """Let go of what was made of the index that is open."""
        self._made.clear()
        super()._forget()
