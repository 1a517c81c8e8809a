"""Dataclass types as JSON schemas, and JSON values as instances of them.

A field's `metadata` may have `description`, and the bounds `max_length` (characters of a string) and
`max_items` (members of a list or tuple). Bounds go into the schema for servers that know them, and are always
checked.
"""

from __future__ import annotations

import reprlib
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_SCALARS: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


class ShapeError(ValueError):
    """A value that does not fit: `path` in the value (`$.triples[3][1]`) and what is wrong there."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"at {path}: {problem}")


def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401
    """Make the JSON schema of a type.

    It may be a dataclass, str, int, float, bool, None, Literal, a union, list, tuple or dict[str, …]. All
    fields are required and no others allowed, as strict servers want it.

    Raises:
        TypeError: a type that JSON has no form for.

    """
    if shape in _SCALARS:
        return {"type": _SCALARS[shape]}
    if isinstance(shape, type) and is_dataclass(shape):
        return _object_schema(shape)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(a) for a in arguments]}
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is tuple and len(set(arguments)) == 1:
        size = len(arguments)
        return {"type": "array", "items": schema_of(arguments[0]), "minItems": size, "maxItems": size}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    raise TypeError(f"{shape!r} has no JSON schema")


def _object_schema(shape: type) -> dict[str, Any]:
    hints = get_type_hints(shape)
    properties: dict[str, Any] = {}
    for each in fields(shape):
        schema = schema_of(hints[each.name])
        if "description" in each.metadata:
            schema["description"] = each.metadata["description"]
        if "max_length" in each.metadata:
            schema["maxLength"] = each.metadata["max_length"]
        if "max_items" in each.metadata:
            schema["maxItems"] = each.metadata["max_items"]
        properties[each.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def without(schema: Any, words: Iterable[str]) -> Any:  # noqa: ANN401
    """Copy a schema without some words (names of properties are not touched)."""
    dropped = frozenset(words)
    if isinstance(schema, list):
        return [without(item, dropped) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for word, value in cast("dict[str, Any]", schema).items():
        if word == "properties":
            kept[word] = {name: without(part, dropped) for name, part in value.items()}
        elif word not in dropped:
            kept[word] = without(value, dropped)
    return kept


def build(shape: type[T], value: Any) -> T:  # noqa: ANN401
    """Make an instance of a type from a JSON value, strictly: no text for numbers, no 1 for true.

    Members that the type does not have are ignored; missing ones take the field's default.

    Raises:
        ShapeError: the value does not fit.

    """
    return _build(shape, value, "$")


def _build(shape: Any, value: Any, path: str) -> Any:  # noqa: ANN401
    if shape in _SCALARS:
        return _scalar(shape, value, path)
    if isinstance(shape, type) and is_dataclass(shape):
        return _build_object(shape, value, path)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Literal:
        if any(type(value) is type(a) and value == a for a in arguments):
            return value
        raise ShapeError(path, f"{_show(value)} is not one of {', '.join(map(repr, arguments))}")
    if origin in (Union, types.UnionType):
        return _build_union(arguments, value, path)
    if origin in (list, tuple):
        return _build_sequence(origin, arguments, value, path)
    if origin is dict:
        if not isinstance(value, dict):
            raise ShapeError(path, f"an object is needed, not {_show(value)}")
        items = cast("dict[str, Any]", value).items()
        return {name: _build(arguments[1], part, f"{path}.{name}") for name, part in items}
    raise TypeError(f"{shape!r} has no JSON schema")


def _scalar(shape: Any, value: Any, path: str) -> Any:  # noqa: ANN401
    if shape is float and type(value) is int:
        try:
            return float(value)
        except OverflowError as error:
            raise ShapeError(path, "the number is too large") from error
    if type(value) is shape:
        return value
    raise ShapeError(path, f"{_SCALARS[shape]} is needed, not {_show(value)}")


def _build_object(shape: type, value: Any, path: str) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        raise ShapeError(path, f"an object is needed, not {_show(value)}")
    members = cast("dict[str, Any]", value)
    hints = get_type_hints(shape)
    arguments: dict[str, Any] = {}
    for each in fields(shape):
        where = f"{path}.{each.name}"
        if each.name in members:
            arguments[each.name] = _bounded(each, _build(hints[each.name], members[each.name], where), where)
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ShapeError(where, "is missing")
    return shape(**arguments)


def _bounded(each: Field[Any], value: Any, path: str) -> Any:  # noqa: ANN401
    for bound, kind, unit in (
        ("max_length", str, "characters"),
        ("max_items", (list, tuple), "members"),
    ):
        most = each.metadata.get(bound)
        if most is not None and isinstance(value, kind) and len(cast("str", value)) > most:
            raise ShapeError(path, f"at most {most} {unit}, not {len(cast('str', value))}")
    return value


def _build_union(arguments: tuple[Any, ...], value: Any, path: str) -> Any:  # noqa: ANN401
    problems: list[ShapeError] = []
    for argument in arguments:
        try:
            return _build(argument, value, path)
        except ShapeError as error:
            problems.append(error)
    raise max(problems, key=lambda error: len(error.path))


def _build_sequence(origin: Any, arguments: tuple[Any, ...], value: Any, path: str) -> Any:  # noqa: ANN401
    if not isinstance(value, list):
        raise ShapeError(path, f"an array is needed, not {_show(value)}")
    items = cast("list[Any]", value)
    if origin is tuple and arguments[1:] != (...,):
        if len(items) != len(arguments):
            raise ShapeError(path, f"{len(arguments)} members are needed, not {len(items)}")
        shapes = arguments
    else:
        shapes = (arguments[0],) * len(items)
    built = [_build(s, item, f"{path}[{i}]") for i, (s, item) in enumerate(zip(shapes, items, strict=True))]
    return origin(built)


def _show(value: Any) -> str:  # noqa: ANN401
    return reprlib.repr(value)
