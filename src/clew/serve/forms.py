"""What requests hold, with examples that work on `examples/films.tsv`."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _finite(value: bool | int | float | str) -> bool | int | float | str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("it has to be a finite number")
    return value


SettingValue = Annotated[bool | int | float | str, AfterValidator(_finite)]
Text = Annotated[str, Field(max_length=10_000)]
NameText = Annotated[str, Field(max_length=2_000)]
Id = Annotated[str, Field(max_length=200)]
SettingValues = Annotated[dict[NameText, SettingValue], Field(max_length=30)] | None

GraphName = Annotated[str, Path(description="Name of a graph; GET /v1/graphs lists them.")]
Page = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0)]


async def _id_of(request: Request) -> str:
    return request.state.request_id


RequestId = Annotated[str, Depends(_id_of)]


class RequestForm(BaseModel):
    """A JSON body; a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AskForm(RequestForm):
    """A question."""

    question: Text = Field(examples=["Which films share a director with Memento?"])
    entities: list[NameText] = Field([], max_length=20, description="Names that the question is about.")
    method: NameText = Field("auto", description="How to answer; GET /v1/graphs lists the methods.")
    model: NameText | None = Field(None, description='A chat model of the server; "" for none.')
    id: Id | None = Field(None, description="Handed back; else the id of the request.")
    explain: bool = Field(False, description="Also give the steps.")
    settings: SettingValues = Field(None, description="Of the method; GET /v1/methods lists them.")
    reading: int | None = Field(
        None, ge=1, description="Answer the alternative of this number (from 1) instead."
    )
    partial: bool = Field(False, description="Answer the rest where words have no place in the graph.")
    previous: dict[str, Any] | None = Field(
        None, description="The last answer, or its `thread`, from which the question may go on."
    )


class BatchForm(RequestForm):
    """Several questions, answered in turn."""

    questions: list[Text] = Field(
        min_length=1, max_length=100, examples=[["Who directed Memento?", "Who directed Heat?"]]
    )
    method: NameText = "auto"
    model: NameText | None = None
    settings: SettingValues = None


class VerifyForm(RequestForm):
    """A claim."""

    claim: Text = Field(examples=["Christopher Nolan directed Memento and Jaws."])
    closed_world: bool = Field(False, description="What the graph does not record is not so.")
    method: NameText = "auto"
    model: NameText | None = None
    id: Id | None = None
    explain: bool = False
    settings: SettingValues = None


class CompareForm(RequestForm):
    """A question for several methods."""

    question: Text = Field(examples=["Who directed Memento?"])
    methods: list[NameText] = Field(["auto"], min_length=1, max_length=20)
    entities: list[NameText] = Field([], max_length=20)
    model: NameText | None = None
    settings: dict[NameText, SettingValues] = Field(
        {}, max_length=20, description="Of methods, by their names."
    )


class MatchForm(RequestForm):
    """A pattern."""

    triples: list[Annotated[list[NameText], Field(min_length=3, max_length=3)]] = Field(
        min_length=1, max_length=50, examples=[[["Memento", "directed_by", "UNKNOWN 1"]]]
    )
    answer: NameText | None = Field(None, examples=["UNKNOWN 1"])
    k: int = Field(3, ge=1, description="How many matches.")
    all: bool = Field(False, description="All matches that tie with the best.")
    id: Id | None = None

    def pattern(self) -> dict[str, Any]:
        """The pattern, in the form of docs/json.md."""
        pattern: dict[str, Any] = {"triples": self.triples}
        return pattern if self.answer is None else pattern | {"answer": self.answer}


class FilterForm(RequestForm):
    """A condition on a column."""

    column: NameText = Field(examples=["release_year"])
    comparison: Literal["=", "!=", ">", ">=", "<", "<=", "contains", "missing", "present"] = Field(
        "=", alias="is"
    )
    value: NameText = ""


class RowsForm(RequestForm):
    """Which entities: all of a type, the members of a query in Clew's notation, or those that are named."""

    type: NameText | None = Field(None, examples=["head of directed_by"])
    query: Text | None = None
    entities: list[NameText] | None = Field(None, max_length=10_000)
    filters: list[FilterForm] = Field([], max_length=20)


class TableForm(RowsForm):
    """A page of entities with columns."""

    columns: list[NameText] | None = Field(None, max_length=30, description="Relations; NAME^ is backwards.")
    sort: NameText | None = Field(None, description='A column; "" is the name.')
    descending: bool = False
    offset: int = Field(0, ge=0)
    limit: int = Field(50, ge=1, le=1000)


class FacetsForm(RowsForm):
    """The values of one column, counted."""

    column: NameText = Field(examples=["genre"])


class QueryForm(RequestForm):
    """A query in Cypher or SPARQL that only reads."""

    query: Annotated[str, Field(max_length=20_000)] = Field(
        examples=["MATCH (f)-[:directed_by]->(p) RETURN p.name, count(f) LIMIT 10"]
    )
    rows: int = Field(50, ge=1, le=200, description="How many rows are returned.")
