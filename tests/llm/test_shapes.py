from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from clew.llm.shapes import ShapeError, build, schema_of


@dataclass(frozen=True)
class Edge:
    ends: tuple[str, str]
    weight: float = 1.0


@dataclass(frozen=True)
class Drawing:
    kind: Literal["tree", "ring"]
    edges: Annotated[list[Edge], Meta(max_length=2, description="what is drawn")]
    title: str | None = None
    notes: dict[str, int] = field(default_factory=dict)
    label: Annotated[str, Meta(max_length=5)] = ""


def test_the_schema_is_strict():
    schema = schema_of(Drawing)
    assert schema["required"] == ["kind", "edges", "title", "notes", "label"]
    assert schema["additionalProperties"] is False
    edges = schema["properties"]["edges"]
    assert (edges["type"], edges["maxItems"], edges["description"]) == ("array", 2, "what is drawn")
    assert edges["items"]["properties"]["ends"] == {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 2,
        "maxItems": 2,
    }
    assert schema["properties"]["title"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["properties"]["kind"] == {"enum": ["ring", "tree"]}


def test_a_type_without_a_json_form_is_a_mistake_of_the_caller():
    with pytest.raises(TypeError, match="JSON schema"):
        schema_of(complex)


def test_a_value_is_built_with_defaults_and_without_strangers():
    value = {"kind": "ring", "edges": [{"ends": ["a", "b"], "weight": 2}], "stranger": 1}
    assert build(Drawing, value) == Drawing("ring", [Edge(("a", "b"), 2.0)])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"kind": "cloud"}, "$.kind"),
        ({"kind": 1}, "$.kind"),
        ({"edges": {}}, "$.edges"),
        ({"edges": [{"ends": ["a"]}]}, "$.edges[0].ends"),
        ({"edges": [{"ends": ["a", 2]}]}, "$.edges[0].ends[1]"),
        ({"edges": [{"ends": ["a", "b"], "weight": "2"}]}, "$.edges[0].weight"),
        ({"edges": [{"ends": ["a", "b"], "weight": 10**400}]}, "$.edges[0].weight"),
        ({"edges": [{"ends": ["a", "b"]}] * 3}, "$.edges"),
        ({"title": 3}, "$.title"),
        ({"notes": {"x": "y"}}, "$.notes[...]"),
        ({"notes": []}, "$.notes"),
        ({"label": "too long"}, "$.label"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(change: dict[str, Any], path: str):
    with pytest.raises(ShapeError) as caught:
        build(Drawing, {"kind": "tree", "edges": [], **change})
    assert caught.value.path == path
