"""Settings of methods: one dataclass a method, whose fields say what they mean, and where the paper has them.

The command line, experiments, the server, the docs and `clew methods` read the same fields:

    options_of(KgRagSettings)["k"]        # (MethodOption("triples that are read", int, …), 30)
    parsed(KgRagSettings, ["k=5"])        # KgRagSettings(k=5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.methods.kg_rag.decompose import Demonstration
    from clew.methods.simgrag.write_pattern import Shots
    from clew.methods.synaptiqa.queried import Solved

_KEY = "clew.option"
MOST_K = 100
SettingsT = TypeVar("SettingsT")


@dataclass(frozen=True, slots=True)
class MethodOption:
    """A field of settings as users see it; `section` is where the paper of the method has it.

    `reads` names a function (`module:name`) that makes the value of a path; `unset` says what None means.
    """

    help: str
    kind: type
    section: str = ""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    reads: str = ""
    unset: str = ""


def option(
    default: Any,  # noqa: ANN401
    help: str,
    section: str = "",
    *,
    kind: type | None = None,
    **details: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Make a field of settings; `kind` is of the default unless given, `details` are of `MethodOption`."""
    described = MethodOption(help, kind or type(default), section, **details)
    return field(default=default, metadata={_KEY: described})


def options_of(settings: type) -> dict[str, tuple[MethodOption, Any]]:
    """Return the options of a dataclass of settings, by name, with their defaults."""
    return {f.name: (f.metadata[_KEY], f.default) for f in fields(settings) if _KEY in f.metadata}


def read_options(settings: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of options with files in place of their paths. Raises as the functions that read them."""
    from clew.plugins import imported

    options, converted = options_of(settings), dict(values)
    for name, value in values.items():
        field_option = options[name][0] if name in options else None
        if field_option is not None and field_option.reads:
            converted[name] = cast("Any", imported(field_option.reads, "option"))(Path(str(value)))
    return converted


def parsed(settings: type[SettingsT], given: Sequence[str]) -> SettingsT:
    """Make settings of texts such as `k=5` and `directed=yes`; raises as `made`."""
    options, values = options_of(settings), dict[str, Any]()
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"{text!r} sets nothing. Write NAME=VALUE with one of: {', '.join(options)}")
        values[name] = _of_kind(options[name][0].kind if name in options else str, value.strip())
    return made(settings, values)


def made(settings: type[SettingsT], values: Mapping[str, Any], called: str = "the method") -> SettingsT:
    """Make settings of values by name. UsageError for a name, a type or a value that they do not take."""
    options = options_of(settings)
    for name, value in values.items():
        if name not in options:
            raise UsageError(f'{called} has no setting "{name}". There are: {", ".join(options) or "none"}')
        kind = options[name][0].kind
        fits = isinstance(value, (int, float) if kind is float else kind)
        if not fits or (isinstance(value, bool) and kind is not bool) or value != value:
            raise UsageError(f"{called}: the setting {name} is {_KINDS.get(kind, kind)}, not {value!r}")
    return settings(**read_options(settings, values))


_KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _of_kind(kind: type, text: str) -> Any:  # noqa: ANN401
    """The value of a text; the text where it is none of that kind."""
    if kind is bool:
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
    with suppress(ValueError):
        return kind(text)
    return text


@dataclass(frozen=True)
class MethodSettings:
    """What all settings check: UsageError for the first value out of range, or none of its choices."""

    METHOD: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name, (field_option, default) in options_of(type(self)).items():
            value: Any = getattr(self, name)
            flag = f"{self.METHOD}: {name}"
            if value is None and default is None:
                continue
            if field_option.choices and value not in field_option.choices:
                raise UsageError(f"{flag} is {value!r}; give one of: {', '.join(field_option.choices)}")
            low, high, number = field_option.least, field_option.most, cast("float", value)
            if (low is not None and number < low) or (high is not None and number > high):
                expected = f"{low:g} or more" if high is None else f"a number from {low or 0:g} to {high:g}"
                raise UsageError(f"{flag} is {value}; give {expected}")


_UNGROUNDED = "give what the model says where no triple proves it, marked ungrounded"


@dataclass(frozen=True)
class AutoSettings(MethodSettings):
    """How sure the built-in reader must be, which day it is, and how far a model is believed."""

    METHOD = "auto"
    confidence: float = option(0.6, "how likely a reading must be to be answered from", least=0, most=1)
    today: str | None = option(
        None, "the day of *now* and *last year*, as 2026-05-31", kind=str, unset="the clock's"
    )
    partial: bool = option(
        False, "answer the rest of a question where words of it have no place in the graph"
    )
    second_look: bool = option(True, "ask a model once more what it chooses, where the reader is not with it")

    def __post_init__(self) -> None:
        """Check all. Raises UsageError for a value out of range, or a day that is none."""
        super().__post_init__()
        _ = self.day

    @property
    def day(self) -> date | None:
        """The day that was set, None for that of the clock."""
        try:
            return None if self.today is None else date.fromisoformat(self.today)
        except ValueError:
            raise UsageError(f"auto: today is {self.today!r}; give a day, as 2026-05-31") from None


def partial_settings(method: object, settings: object) -> AutoSettings:
    """The settings of `auto`, with `partial`. Raises UsageError for those of another method."""
    if method != "auto" or not isinstance(settings, AutoSettings | None):
        raise UsageError(f"`partial` is for auto, not for {method}. Leave it out")
    return replace(settings or AutoSettings(), partial=True)


@dataclass(frozen=True)
class SimgragSettings(MethodSettings):
    """How SimGRAG works; `candidates` and what goes with it are the paper's cut of candidates."""

    METHOD = "simgrag"
    k: int = option(3, "subgraphs that are read", "4.3, C.1", least=1)
    shots: int = option(12, "examples in a prompt", "C.1", least=0)
    candidates: int | None = option(
        None, "the paper's cut of candidates k(n), as 16", "C.1", kind=int, least=1, unset="unlimited"
    )
    candidate_relations: int | None = option(
        None, "with candidates, those of a relation, k(r)", "C.1", kind=int, least=1, unset="as many"
    )
    candidate_types: int | None = option(
        None, "with candidates, types that an unknown is of, k(t)", "C.1", kind=int, least=1, unset="16"
    )
    examples: Shots | None = option(
        None,
        "worked examples for this graph",
        kind=str,
        reads="clew.methods.simgrag.write_pattern:read_shots",
    )
    allow_ungrounded: bool = option(False, _UNGROUNDED)

    def __post_init__(self) -> None:
        MethodSettings.__post_init__(self)
        if self.candidates is None and (self.candidate_relations or self.candidate_types):
            raise UsageError("Relations and types are cut where candidates are. Give candidates too")


@dataclass(frozen=True)
class KgRagSettings(MethodSettings):
    """How KG-RAG works: N `hops`, K triples for a sub-question, and whether by the paper's letter."""

    METHOD = "kg-rag"
    hops: int = option(3, "hops around the entities", "3.4.2, 4.3.1", least=1)
    k: int = option(30, "triples that are read", "3.4.3, 4.3.1", least=1)
    letter: bool = option(
        False, "triples around the question's entities alone, sentences that go on, no schema, no records",
        "3.4",
    )  # fmt: skip
    directed: bool = option(False, "by the letter, follow triples from head to tail alone", "3.4.2")
    records: Literal["once", "steps"] = option(
        "once", "whole records are read: at once where they fit, or step by step", choices=("once", "steps")
    )
    seed: int = option(0, "seed of the model's sampling", "4.2.1")
    temperature: float = option(0.3, "temperature of the model's sampling", "Table 3", least=0, most=2)
    shots: int = option(3, "examples in a prompt", "3.4.1", least=0)
    examples: tuple[Demonstration, ...] | None = option(
        None, "worked examples for this graph", kind=str,
        reads="clew.methods.kg_rag.decompose:read_demonstrations",
    )  # fmt: skip
    allow_ungrounded: bool = option(False, _UNGROUNDED)

    def __post_init__(self) -> None:
        MethodSettings.__post_init__(self)
        if self.directed and not self.letter:
            raise UsageError("Triples are followed both ways, but by the letter. Give letter=yes too")


@dataclass(frozen=True)
class LlmSettings(MethodSettings):
    """Of `llm` and `llm-qd`. The paper that has them has no `shots`; SimGRAG gives `llm` 12 (section C.2)."""

    METHOD = "llm"
    seed: int = option(0, "seed of the model's sampling", "4.2.1")
    temperature: float = option(0.3, "temperature of the model's sampling", "Table 3", least=0, most=2)
    shots: int = option(0, "examples in a prompt", "C.2", least=0)


@dataclass(frozen=True)
class KapingSettings(MethodSettings):
    """Hops around the entities, and triples that are read."""

    METHOD = "kaping"
    hops: int = option(1, "hops around the entities", least=1)
    k: int = option(10, "triples that are read", least=1)
    allow_ungrounded: bool = option(False, _UNGROUNDED)


@dataclass(frozen=True)
class TripleRagSettings(MethodSettings):
    """Facts that are drawn, and the seed of the draw."""

    METHOD = "triple-rag"
    k: int = option(5, "triples that are read", "3", least=1)
    seed: int = option(0, "seed of the draw")
    allow_ungrounded: bool = option(False, _UNGROUNDED)


@dataclass(frozen=True)
class VectorRagSettings(MethodSettings):
    """Documents that are read."""

    METHOD = "vector-rag"
    k: int = option(3, "documents that are read", least=1)
    allow_ungrounded: bool = option(False, _UNGROUNDED)


@dataclass(frozen=True)
class KgRetrievalSettings(MethodSettings):
    """Triples that are read at most."""

    METHOD = "kg-retrieval"
    k: int = option(200, "triples that are read", least=1)
    allow_ungrounded: bool = option(False, _UNGROUNDED)


@dataclass(frozen=True)
class KgGptSettings(MethodSettings):
    """Relations that are chosen for a sub-sentence."""

    METHOD = "kg-gpt"
    k: int = option(3, "relations of a sub-sentence", least=1)
    allow_ungrounded: bool = option(False, _UNGROUNDED)


PARTS = ("clean", "names", "directions", "values")
"""Parts of the query optimisation (section III.B) that an ablation may leave out."""


@dataclass(frozen=True)
class SynaptiqaSettings(MethodSettings):
    """How SynaptiQA works; `examples` are solved questions."""

    METHOD = "synaptiqa"
    shots: int = option(5, "examples in a prompt", "III.A", least=0)
    schema_tokens: int = option(1_500, "tokens of the schema in a prompt", "III.A", least=100)
    repairs: int = option(2, "times that a query is asked for again", least=0)
    clean: Literal["needed", "always"] = option(
        "needed", "when the model cleans a query", "III.B", choices=("needed", "always")
    )
    without: str = option("", f"corrections to leave out, with commas: {', '.join(PARTS)}", "IV.D")
    allow_ungrounded: bool = option(False, "let the model answer by itself where the graph does not", "III.C")
    examples: tuple[Solved, ...] = option(
        (), "solved questions of this graph", "III.A", kind=str,
        reads="clew.methods.synaptiqa.queried:read_solved",
    )  # fmt: skip

    def __post_init__(self) -> None:
        MethodSettings.__post_init__(self)
        wrong = sorted(self.left_out - set(PARTS))
        if wrong:
            raise UsageError(f"There is no part {wrong[0]!r} to leave out. Parts are: {', '.join(PARTS)}")

    @property
    def left_out(self) -> frozenset[str]:
        """The parts that are left out."""
        return frozenset(part.strip() for part in self.without.split(",") if part.strip())


@dataclass(frozen=True)
class WalkRetrieveSettings(MethodSettings):
    """`k` nodes and `walks` of each; `paths` of the question's entities, 0 for eq. 3 alone."""

    METHOD = "walk-retrieve"
    k: int = option(3, "nodes, and walks of each", "2.2, footnote 4", least=1, most=MOST_K)
    walks: int | None = option(
        None, "walks of each node that are read", "2.2", kind=int, least=1, most=MOST_K, unset="as k"
    )
    paths: int = option(16, "relation paths that are read too; 0 is the paper's letter", least=0, most=MOST_K)
    allow_ungrounded: bool = option(False, _UNGROUNDED)
