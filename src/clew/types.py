"""The value types that cross Clew's seams; all are frozen, all are plain Python.

The road of a question: mentions → pattern → evidence (matches) → `Answer`. The JSON forms are stable.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NotRequired, TypedDict, cast

from clew.errors import UsageError
from clew.foundation.forms import (
    answer_html,
    converted,
    fields_json,
    frame_of,
    id_beside,
    json_form,
    shorten,
    verification_html,
)

Reason = Literal[
    "no_entity",
    "ambiguous_entity",
    "no_relation",
    "unplaced",
    "empty_result",
    "not_in_evidence",
    "ungrounded",
    "budget",
]
"""Why Clew abstains."""

LONGEST_DETAIL = 4_000
"""Characters of an abstention's detail."""

Verdict = Literal["supported", "refuted", "not_enough_info"]
"""What a graph says of a claim."""


class _Fields:
    """What has all of its fields in its JSON form, by their names."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """All fields, by their names."""
        return fields_json(self)


@dataclass(frozen=True, slots=True)
class PatternNode:
    """A node of a pattern: known by `name`, or unknown with an optional `type` (both of `UNKNOWN type n`).

    `entity` is set where a linker has already fixed the entity; the distance of that entity is then 0
    and no other entity is a candidate.
    """

    name: str
    known: bool
    type: str | None = None
    entity: int | None = None


@dataclass(frozen=True, slots=True)
class EdgeCondition:
    """What a property of an edge has to be: `key` `sign` `value`, of which the sign is = != < <= > or >=."""

    key: str
    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class PatternEdge:
    """An edge of a pattern between node positions; `relation` is None where it is unknown.

    `fixed` is set where the relation is already that relation id of the graph (distance 0, no other). `where`
    are conditions on properties of the edge, of which `Clew.match` takes notice.
    """

    head: int
    relation: str | None
    tail: int
    fixed: int | None = None
    where: tuple[EdgeCondition, ...] = ()


class PatternForm(TypedDict):
    """`[head, relation, tail]` of each edge, with its conditions behind, and the node that is asked for."""

    triples: list[list[str | dict[str, str]]]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A small connected graph with unknowns (SimGRAG section 4); `answer` is the node asked for, if any."""

    nodes: tuple[PatternNode, ...]
    edges: tuple[PatternEdge, ...]
    answer: int | None = None

    def as_json(self) -> PatternForm:
        """`{"triples": [[head, relation, tail], …], "answer": name}`, the form that `clew match` reads."""
        triples: list[list[str | dict[str, str]]] = [
            [
                self.nodes[e.head].name,
                e.relation or "UNKNOWN relation",
                self.nodes[e.tail].name,
                *([{c.key: f"{c.sign}{c.value}" for c in e.where}] if e.where else []),
            ]
            for e in self.edges
        ]
        answer = None if self.answer is None else self.nodes[self.answer].name
        return {"triples": triples, "answer": answer}


@dataclass(frozen=True, slots=True)
class Match:
    """An assignment of a pattern: `nodes[i]` and `triples[j]` (triple ids) for pattern node i and edge j.

    `gsd` is the graph semantic distance (SimGRAG eq. 3), `direction_misses` the number of edges that
    run against the pattern's direction. `labels` and `texts` are what people read of nodes and triples, where
    `Clew.match` found them.
    """

    gsd: float
    direction_misses: int
    nodes: tuple[int, ...]
    triples: tuple[int, ...]
    labels: tuple[str, ...] = ()
    texts: tuple[TripleText, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class MatchResult:
    """Matches in order of (gsd, direction misses, node ids, triple ids).

    `complete` is False when a budget ended the search first; no match that is missing has a smaller
    GSD than `bound`.
    """

    matches: tuple[Match, ...]
    complete: bool = True
    bound: float = float("inf")

    def __repr__(self) -> str:
        best = f", the best at {self.matches[0].gsd:.4f}" if self.matches else ""
        return f"<MatchResult: {len(self.matches)} matches{best}>"


@dataclass(frozen=True, slots=True, repr=False)
class TripleText:
    """A triple as people read it; a name that several share has its id beside it.

    `properties` are those of each edge that the source has of it: ((key, value), …).
    """

    head: str
    relation: str
    tail: str
    properties: tuple[tuple[tuple[str, str], ...], ...] = ()
    inferred: bool = False
    """Whether it follows from an ontology, and no source states it."""
    ids: tuple[str, str, str] | None = field(default=None, compare=False)
    """What the source calls head, relation and tail; None where that is what people read."""

    def __repr__(self) -> str:
        return f"TripleText({self.head!r}, {self.relation!r}, {self.tail!r})"

    @property
    def by_id(self) -> tuple[str, str, str]:
        """Head, relation and tail as the source calls them."""
        return self.ids or (self.head, self.relation, self.tail)

    def as_json(self) -> list[str]:
        """`[head, relation, tail]`."""
        return [self.head, self.relation, self.tail]

    def properties_json(self) -> PropertiesForm:
        """`[{key: [value, …]}, …]`, one for each edge that the source has of the triple."""
        forms: PropertiesForm = []
        for statement in self.properties:
            values_by_key: dict[str, list[str]] = {}
            for key, value in statement:
                values_by_key.setdefault(key, []).append(value)
            forms.append(values_by_key)
        return forms


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a graph: as the source names it, what people read, and its declared types."""

    name: str
    label: str
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerEntity:
    """One answer: `entity` as the source names it, `label` for people, `score` in [0, 1].

    `shared` says that others of the graph are called so too.
    """

    entity: str
    label: str
    score: float
    shared: bool = False

    @property
    def shown(self) -> str:
        """The label, with the id beside it where it is shared: *Anna Keller (E08)*."""
        return f"{self.label} ({id_beside(self.label, self.entity)})" if self.shared else self.label

    def as_json(self) -> dict[str, Any]:
        """`{"entity", "label", "score"}`, and `"shared": true` where others are called so too."""
        return fields_json(self, "entity label score shared" if self.shared else "entity label score")


PropertiesForm = list[dict[str, list[str]]]
"""Of each edge that the source has of a triple: {key: [value, …]}."""


class TriplesForm(TypedDict):
    """Triples `[head, relation, tail]` of names, and lists of the same length where there is more to say.

    `ids` are what the source calls them, `properties` those of their edges; `inferred` ones no source states.
    """

    triples: list[list[str]]
    ids: NotRequired[list[list[str]]]
    properties: NotRequired[list[PropertiesForm]]
    inferred: NotRequired[list[bool]]


class CitationForm(TriplesForm):
    """The path of triples that proves one answer: its id, its name, and the triples."""

    answer: str
    label: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The path of triples that proves one answer, from the question's entities to the answer.

    `answer` is the answer as the source names it, `label` as people read it.
    """

    answer: str
    triples: tuple[TripleText, ...]
    triple_ids: tuple[int, ...] = ()
    label: str = ""

    def as_json(self) -> CitationForm:
        """`{"answer", "label", "triples"}`, and what `triples_json` gives."""
        return {"answer": self.answer, "label": self.label or self.answer, **triples_json(self.triples)}


def triples_json(triples: Sequence[TripleText]) -> TriplesForm:
    """`{"triples": [[head, relation, tail], …]}`: names, as people read them.

    A list of the same length is beside it where there is something to say: `ids`, what the source calls them;
    `properties` of their edges; whether each is `inferred`.
    """
    form: TriplesForm = {"triples": [t.as_json() for t in triples]}
    if any(t.ids for t in triples):
        form["ids"] = [list(t.by_id) for t in triples]
    if any(t.properties for t in triples):
        form["properties"] = [t.properties_json() for t in triples]
    if any(t.inferred for t in triples):
        form["inferred"] = [t.inferred for t in triples]
    return form


class MatchForm(TriplesForm):
    """A match of a pattern: nodes in the order in which the pattern first names them."""

    gsd: float
    direction_misses: int
    nodes: list[str]
    node_ids: NotRequired[list[str]]


class MatchesForm(TypedDict):
    """Matches, the nearest first; where not `complete`, none that is missing is nearer than `bound`."""

    id: str | None
    matches: list[MatchForm]
    complete: bool
    bound: float | None
    timings_ms: dict[str, float]


@dataclass(frozen=True, slots=True)
class Abstention(_Fields):
    """Why there is no answer; `candidates` are names that the user may have meant.

    A `detail` that quotes too much is cut, and says so.
    """

    reason: Reason
    detail: str
    candidates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Cut the detail."""
        if len(self.detail) > LONGEST_DETAIL:
            cut = f"{self.detail[:LONGEST_DETAIL]} … (cut; {len(self.detail):,} characters in all)"
            object.__setattr__(self, "detail", cut)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a question cost: calls of a chat model and tokens."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One unit of a method's work, for `--explain`: a name and what came out of it."""

    name: str
    detail: Mapping[str, Any]

    @classmethod
    def taken(cls, name: str, detail: Mapping[str, Any]) -> Step:
        """A step that is taken now: `watch_steps` hears of it."""
        step, watcher = cls(name, detail), _watcher.get()
        if watcher is not None:
            watcher(step)
        return step

    def as_json(self) -> dict[str, Any]:
        """`{"name", "detail"}`."""
        return {"name": self.name, "detail": json_form(self.detail)}


_watcher: ContextVar[Callable[[Step], None] | None] = ContextVar("clew_steps", default=None)


@contextmanager
def watch_steps(watcher: Callable[[Step], None]) -> Generator[None]:
    """Tell `watcher` each step that is taken in this context, when it is taken and not with the answer."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass(frozen=True, slots=True)
class SubAnswer(_Fields):
    """One link of a reasoning chain.

    `question` is as the decomposition has it, `asked` with earlier answers in place; `text` what was
    answered, `answers` the names in it that the evidence proves, `evidence` the triples that were given,
    `notes` what was odd.
    """

    question: str
    asked: str
    text: str
    answers: tuple[str, ...] = ()
    evidence: tuple[TripleText, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain(_Fields):
    """How a question was taken apart and answered (KG-RAG): why, and each sub-question in turn."""

    reasoning: str
    links: tuple[SubAnswer, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way to read a question, in words, with its probability in [0, 1]."""

    reading: str
    score: float


@dataclass(frozen=True, slots=True)
class Rows(_Fields):
    """An answer of several columns: *how many orders per team* has a row a team.

    A cell is a name, a number, or a list of names (the members of a group).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | tuple[str, ...], ...], ...]


Place = Literal["name", "relation", "type", "value", "operator", "frame", "unplaced"]
"""What a word of a question is in the query graph that it is read as."""


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of a question, its characters [begin, end), and what it is in how the question was read.

    `part` is what it stands for there: a name, a label, an operator; empty where that is nothing.
    """

    begin: int
    end: int
    text: str
    as_: Place
    part: str = ""

    def as_json(self) -> dict[str, Any]:
        """`{"begin", "end", "text", "as", "part"}`."""
        return {"begin": self.begin, "end": self.end, "text": self.text, "as": self.as_, "part": self.part}


@dataclass(frozen=True, slots=True)
class Thread(_Fields):
    """What a follow-up needs of the last question: the question as a whole, its query, and its answers.

    `query` is in Clew's notation, None where it has none; `ids` are those of the first 20 of `total` answers.
    `earlier` are the queries of four turns before, the last one first. A question that was not answered has
    a `total` of 0, and a query only where nothing fulfils it; *And Krakow?* leaves that of the turn before.
    """

    question: str
    query: str | None = None
    ids: tuple[str, ...] = ()
    total: int = 0
    earlier: tuple[str, ...] = ()

    @classmethod
    def after(cls, answer: Answer, question: str, query: str | None = None) -> Thread:
        """What an answer leaves for a follow-up."""
        ids = tuple(a.entity for a in answer.answers)
        return cls(question, query, ids[:20], len(ids) if answer.total is None else answer.total)

    def behind(self, thread: Thread | None) -> Thread:
        """The thread of this turn behind another one."""
        if thread is None:
            return self
        if (thread.question, thread.query) == (self.question, self.query):
            return replace(self, earlier=thread.earlier)
        queries = thread.earlier if thread.query is None else (thread.query, *thread.earlier)
        return replace(self, earlier=queries[:4])

    @classmethod
    def of(cls, previous: object) -> Thread | None:
        """The thread of an answer, of its JSON form, or of the JSON form of a thread; None of an abstention.

        Raises UsageError for anything else.
        """
        if previous is None or isinstance(previous, Thread):
            return previous
        if isinstance(previous, Answer):
            return previous.thread
        if isinstance(previous, Mapping):
            form = dict(cast("Mapping[str, object]", previous))
            if "thread" in form:
                return cls.of(form["thread"])
            with suppress(ValueError):
                if form.keys() >= {"question", "ids", "total"}:
                    return converted(form, cls)
        raise UsageError(
            "`previous` is the last answer, its JSON form, or the `thread` of that, not"
            f" {shorten(repr(previous), 80)}"
        )


ANSWER_JSON = (
    "id question answers text abstained citations pattern method model grounded complete usage timings_ms"
    " chain query confidence notes reading account alternatives total rows"
    " thread"
)
"""Fields of an answer's JSON, in its order; the steps come last, where they are wanted."""
VERIFICATION_JSON = "id claim verdict abstained parts citations method model complete usage timings_ms notes"
"""Fields of a verification's JSON."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """An answer with its proof, or an abstention; the one result type of every method."""

    question: str
    answers: tuple[AnswerEntity, ...] = ()
    text: str = ""
    abstained: Abstention | None = None
    citations: tuple[Citation, ...] = ()
    pattern: Pattern | None = None
    method: str = "auto"
    model: str | None = None
    grounded: bool = True
    complete: bool = True
    usage: Usage = Usage()
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    steps: tuple[Step, ...] = ()
    id: str | None = None
    chain: Chain | None = None
    query: str | None = None
    """The database query whose rows are the answer, where a method asks by one."""
    confidence: float | None = None
    """How sure a model says to be of an answer of its own (`grounded` is False), in [0, 1]."""
    notes: tuple[str, ...] = ()
    """What has to be known to take the answer as it is meant."""
    reading: str | None = None
    """How the question was read, in words, where the built-in reader answered it."""
    account: tuple[PlacedWord, ...] = ()
    """What each word is in that reading, where it was read by the built-in reader; places are of `asked`."""
    alternatives: tuple[Alternative, ...] = ()
    """The nearest other readings, the likeliest first."""
    total: int | None = None
    """How many answers there are, where more than are listed."""
    rows: Rows | None = None
    """Rows of several columns, of a question by group or in order; `answers` are their first column."""
    thread: Thread | None = None
    """What a follow-up needs; that of the question before where this one is not answered."""
    asker: Callable[..., Answer] | None = field(default=None, compare=False)
    """What answers a follow-up: `Clew.ask` of the graph that was asked."""

    def ask(self, question: str, **options: Any) -> Answer:  # noqa: ANN401 (of `Clew.ask`)
        """Ask a follow-up: `answer.ask("And the Cologne Depot?")`; raises as `Clew.ask`."""
        if self.asker is None:
            raise UsageError("This answer came without its graph. Use Clew.ask(question, previous=answer)")
        return self.asker(question, previous=self, **options)

    def __getstate__(self) -> list[object]:
        """All but the open graph, which stays where it is."""
        return [None if f.name == "asker" else getattr(self, f.name) for f in fields(self)]

    def as_json(self, *, steps: bool = False) -> dict[str, Any]:
        """The stable JSON form (documented in docs/json.md), with the `steps` if they are wanted."""
        form = fields_json(self, ANSWER_JSON)
        form["total"] = len(self.answers) if self.total is None else self.total
        return _with_steps(form, self.steps) if steps else form

    def to_frame(self) -> Any:  # noqa: ANN401 (of pandas or polars)
        """A data frame with a row an answer: `entity`, `label`, `score`, `triples`.

        Of a question by group or in order, the columns of `rows` are there too. Raises MissingExtra without
        pandas and polars.
        """
        cited = {citation.answer: [t.as_json() for t in citation.triples] for citation in self.citations}
        columns, cells = (self.rows.columns, self.rows.rows) if self.rows is not None else ((), ())
        rows: list[dict[str, Any]] = []
        for at, answer in enumerate(self.answers):
            row = dict(zip(columns, cells[at], strict=True)) if cells else {}
            triples = cited.get(answer.entity, [])
            own = {"entity": answer.entity, "label": answer.shown, "score": answer.score, "triples": triples}
            rows.append(row | own)
        return frame_of(rows)

    def __repr__(self) -> str:
        found = f"abstained: {self.abstained.reason}" if self.abstained is not None else self.text
        return f"<Answer {shorten(self.question, 80)!r}: {shorten(found, 160)}>"

    def _repr_html_(self) -> str:
        return answer_html(self.as_json())


class ClaimPartForm(TriplesForm):
    """A part of a claim (its words), what the graph says of it, and the triples that show it."""

    text: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """A part of a claim (its words), what the graph says of it, and the triples that show it."""

    text: str
    verdict: Verdict
    triples: tuple[TripleText, ...] = ()
    triple_ids: tuple[int, ...] = ()

    def as_json(self) -> ClaimPartForm:
        """`{"text", "verdict", "triples"}`, and what `triples_json` gives."""
        return {"text": self.text, "verdict": self.verdict, **triples_json(self.triples)}


@dataclass(frozen=True, slots=True, repr=False)
class Verification:
    """A verdict on a claim, part by part; `citations` are the triples of each part that has some."""

    claim: str
    verdict: Verdict
    parts: tuple[ClaimPart, ...] = ()
    citations: tuple[Citation, ...] = ()
    method: str = "auto"
    model: str | None = None
    usage: Usage = Usage()
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    pattern: Pattern | None = None
    steps: tuple[Step, ...] = ()
    id: str | None = None
    abstained: Abstention | None = None
    """Why there is no verdict, where that is not what the graph holds."""
    complete: bool = True
    """Whether all was read that may decide it."""
    notes: tuple[str, ...] = ()
    """What has to be known to take the verdict as it is meant."""

    def as_json(self, *, steps: bool = False) -> dict[str, Any]:
        """The stable JSON form (documented in docs/json.md), with the `steps` if they are wanted."""
        form = fields_json(self, VERIFICATION_JSON)
        return _with_steps(form, self.steps) if steps else form

    def __repr__(self) -> str:
        return f"<Verification {shorten(self.claim, 80)!r}: {self.verdict}>"

    def to_frame(self) -> Any:  # noqa: ANN401 (of pandas or polars)
        """A data frame with a row a part: `text`, `verdict`, `triples`. Raises as `Answer.to_frame`."""
        return frame_of([part.as_json() for part in self.parts])

    def _repr_html_(self) -> str:
        return verification_html(self.as_json())


def _with_steps(form: dict[str, Any], steps: tuple[Step, ...]) -> dict[str, Any]:
    return form | {"steps": [step.as_json() for step in steps]}
