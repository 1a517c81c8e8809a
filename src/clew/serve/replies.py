"""What responses hold: the service's own, and all of them as types for OpenAPI.

    @router.get("/ask", response_model=reply_type(Service.ask))

A type is read off what the JSON is made of. A method that gives the JSON of a class says so, as in
`Annotated[dict[str, Any], Answer]`. That JSON has the shape with which the class's `as_json` is annotated,
else the fields of the class, as `fields_json` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import typing_extensions

from clew.index.explore import EntityHit
from clew.index.info import Info, RelationInfo, ReportForm
from clew.query.table import Column, ColumnKind, FacetsForm, PageForm
from clew.types import (
    ANSWER_JSON,
    VERIFICATION_JSON,
    Answer,
    AnswerEntity,
    Place,
    PlacedWord,
    Step,
    Verification,
)

JsonValue = str | int | float | bool | list[Any] | dict[str, Any] | None
"""What a row of a query holds."""


class GraphForm(TypedDict):
    """A graph; `note` says why its newest generation could not be taken up."""

    name: str
    generation: int
    counts: dict[str, int]
    note: str | None


class GraphsForm(TypedDict):
    """The graphs, the methods and the chat models of a server."""

    graphs: list[GraphForm]
    methods: list[str]
    models: list[str]


class AnswerRowForm(TypedDict):
    """An answer, or why there is none."""

    answer: Annotated[dict[str, Any], Answer] | None
    error: str | None


class AnswersForm(TypedDict):
    """A row a question, in their order."""

    rows: list[AnswerRowForm]


class SettingForm(TypedDict):
    """A setting of a method: what it does, its type, default, least and most, and the values it may have."""

    name: str
    about: str
    type: str
    default: bool | int | float | str | None
    least: float | None
    most: float | None
    choices: list[str]


class MethodForm(TypedDict):
    """A method, whether it needs a chat model, and its settings."""

    name: str
    needs_model: bool
    settings: list[SettingForm]


class MethodsForm(TypedDict):
    """The methods."""

    methods: list[MethodForm]


class QueryRowsForm(TypedDict):
    """Rows of a query; not `complete` where there are more."""

    columns: list[str]
    rows: list[list[JsonValue]]
    complete: bool


class RelationsForm(TypedDict):
    """A page of the `count` relations, and the types with their counts."""

    relations: list[Annotated[dict[str, Any], RelationInfo]]
    count: int
    types: dict[str, int]


class ExamplesForm(TypedDict):
    """Questions that a graph answers."""

    questions: list[str]


class EntitiesForm(TypedDict):
    """Entities, the best first."""

    entities: list[Annotated[dict[str, Any], EntityHit]]


class TypeCountForm(TypedDict):
    """A type, and how many entities are of it."""

    type: str
    count: int


class TypesForm(TypedDict):
    """The types; where the graph declares none, the ends of its relations."""

    types: list[TypeCountForm]
    declared: bool


class TableForm(PageForm):
    """A page of a table, and all columns that there are."""

    available: list[Annotated[dict[str, Any], Column]]


class ColumnFacetsForm(FacetsForm):
    """A column, and its values counted."""

    name: str
    label: str
    kind: ColumnKind
    filled: int
    distinct: int
    low: str
    high: str


class SourceForm(TypedDict):
    """A file, folder or database that was read, without where it is."""

    role: Literal["source", "types", "aliases"]
    format: str
    bytes: int
    path: str


# The types of JSON, read off those of Python.

_NAMES = {
    Answer: ANSWER_JSON,
    Verification: VERIFICATION_JSON,
    Info: "clew created bytes counts embedder types relations vectors corpus updates",
    PlacedWord: "begin end text part",
}
"""The fields that are in the JSON of a class, where not all are."""
_BESIDE: Mapping[type, Mapping[str, Any]] = {
    Answer: {"total": int, "steps": NotRequired[list[Step]]},
    Verification: {"steps": NotRequired[list[Step]]},
    RelationInfo: {"example_ids": NotRequired[list[str]]},
    AnswerEntity: {"shared": NotRequired[bool]},
    PlacedWord: {"as": Place},
    Info: {"index": str, "generation": int, "report": ReportForm, "sources": list[SourceForm]},
}
"""What is in the JSON of a class beside its fields, or of another type."""


def reply_type(made: Callable[..., object]) -> Any:  # noqa: ANN401
    """The type of the JSON that a method gives."""
    return json_type(get_type_hints(made, include_extras=True)["return"])


def part_of(form: Any, names: str, **beside: Any) -> Any:  # noqa: ANN401
    """A TypedDict with some keys of another one, and others `beside` them."""
    shape = {name: form.__annotations__[name] for name in names.split()} | beside
    return _typed_dict(form, shape)


def json_type(kind: Any) -> Any:  # noqa: ANN401
    """The type of the JSON of values of a type: of lists, mappings, and TypedDicts that pydantic takes."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return json_type(args[1])
    if origin is NotRequired:
        return NotRequired[json_type(args[0])]
    if origin in (Union, UnionType):
        return Union[tuple(json_type(each) for each in args)]  # noqa: UP007
    if origin in (tuple, list, Sequence):
        return list[json_type(args[0])]
    if origin in (dict, Mapping):
        return dict[str, json_type(args[1])]
    return _shape(kind) if is_typeddict(kind) or is_dataclass(kind) else kind


@cache
def _shape(kind: Any) -> Any:  # noqa: ANN401
    """The TypedDict of a TypedDict or a dataclass."""
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        shape = {
            name: hint
            if name in kind.__required_keys__ or get_origin(hint) is NotRequired
            else NotRequired[hint]
            for name, hint in hints.items()
        }
    else:
        made = get_type_hints(kind.as_json)["return"] if hasattr(kind, "as_json") else dict
        if get_origin(made) is not dict and made is not dict:
            return json_type(made)
        hints = get_type_hints(kind)
        names = _NAMES.get(kind, " ".join(each.name for each in fields(kind))).split()
        shape = {name: hints[name] for name in names} | dict(_BESIDE.get(kind, {}))
    return _typed_dict(kind, {name: json_type(hint) for name, hint in shape.items()})


def _typed_dict(kind: Any, shape: dict[str, Any]) -> Any:  # noqa: ANN401
    """A TypedDict that is called and described as a type is."""
    make = cast("Callable[[str, dict[str, Any]], Any]", typing_extensions.TypedDict)  # pydantic takes these
    made = make(kind.__name__.removesuffix("Form"), shape)
    made.__doc__, made.__module__ = kind.__doc__, kind.__module__
    return made
