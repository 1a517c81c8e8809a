"""Types as JSON schemas, and JSON values as their instances: msgspec, with our schemas and errors.

Shapes are frozen dataclasses; bounds and descriptions are `Annotated[…, msgspec.Meta(…)]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec

from clew.foundation.json_form import converted

T = TypeVar("T")


class ShapeError(ValueError):
    """A value that does not fit: `path` in the value (`$.triples[3][1]`) and what is wrong there."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"at {path}: {problem}")


def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401
    """Make the JSON schema of a type, whole, without references.

    All fields are required and no others allowed, as strict servers want it. Raises TypeError: a type that
    JSON has no form for.
    """
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="{name}")
    return _strict(schema, parts)


def _strict(schema: Any, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if isinstance(schema, list):
        return [_strict(item, parts) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    source_schema = cast("dict[str, Any]", schema)
    if "$ref" in source_schema:
        return _strict(
            parts[source_schema["$ref"]] | {k: v for k, v in source_schema.items() if k != "$ref"}, parts
        )
    strict_schema = {
        word: _strict(value, parts)
        for word, value in source_schema.items()
        if word not in ("title", "default")
    }
    if "properties" in source_schema:
        strict_schema["properties"] = {
            name: _strict(part, parts) for name, part in source_schema["properties"].items()
        }
        strict_schema |= {"required": list(source_schema["properties"]), "additionalProperties": False}
    if "prefixItems" in source_schema:
        # Few servers know tuples; ours have members of one type.
        strict_schema["items"] = strict_schema.pop("prefixItems")[0]
    return strict_schema


def build(shape: type[T], value: Any) -> T:  # noqa: ANN401
    """Make an instance of a type from a JSON value, strictly: no text for numbers, no 1 for true.

    Members that the type does not have are ignored; missing ones take the field's default. Raises ShapeError:
    the value does not fit.
    """
    try:
        return converted(value, shape)
    except (msgspec.ValidationError, OverflowError) as error:
        problem, _, path = str(error).partition(" - at `")
        raise ShapeError(path.rstrip("`") or "$", problem) from error
