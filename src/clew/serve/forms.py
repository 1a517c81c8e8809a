"""What requests hold, with examples that work on `examples/films.tsv`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=10_000)]
Name = Annotated[str, Field(max_length=2_000)]
Id = Annotated[str, Field(max_length=200)]
Settings = Annotated[dict[Name, bool | int | float | str], Field(max_length=30)] | None


class Form(BaseModel):
    """A JSON body; a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AskForm(Form):
    """A question."""

    question: Text = Field(examples=["Which films share a director with Memento?"])
    entities: list[Name] = Field([], max_length=20, description="Names that the question is about.")
    method: Name = Field("auto", description="How to answer; GET /v1/graphs lists the methods.")
    model: Name | None = Field(None, description='A chat model of the server; "" for none.')
    id: Id | None = Field(None, description="Handed back; else the id of the request.")
    explain: bool = Field(False, description="Also give the steps.")
    settings: Settings = Field(None, description="Of the method; GET /v1/methods lists them.")
    reading: int | None = Field(
        None, ge=1, description="Answer the alternative of this number (from 1) instead."
    )


class BatchForm(Form):
    """Several questions, answered in turn."""

    questions: list[Text] = Field(
        min_length=1, max_length=100, examples=[["Who directed Memento?", "Who directed Heat?"]]
    )
    method: Name = "auto"
    model: Name | None = None
    settings: Settings = None


class VerifyForm(Form):
    """A claim."""

    claim: Text = Field(examples=["Christopher Nolan directed Memento and Jaws."])
    closed_world: bool = Field(False, description="What the graph does not record is not so.")
    method: Name = "auto"
    model: Name | None = None
    id: Id | None = None
    explain: bool = False
    settings: Settings = None


class CompareForm(Form):
    """A question for several methods."""

    question: Text = Field(examples=["Who directed Memento?"])
    methods: list[Name] = Field(["auto"], min_length=1, max_length=20)
    entities: list[Name] = Field([], max_length=20)
    model: Name | None = None
    settings: dict[Name, Settings] = Field({}, max_length=20, description="Of methods, by their names.")


class MatchForm(Form):
    """A pattern."""

    triples: list[Annotated[list[Name], Field(min_length=3, max_length=3)]] = Field(
        min_length=1, max_length=50, examples=[[["Memento", "directed_by", "UNKNOWN 1"]]]
    )
    answer: Name | None = Field(None, examples=["UNKNOWN 1"])
    k: int = Field(3, ge=1, description="How many matches.")
    all: bool = Field(False, description="All matches that tie with the best.")
    id: Id | None = None

    def pattern(self) -> dict[str, Any]:
        """The pattern, in the form of docs/json.md."""
        told: dict[str, Any] = {"triples": self.triples}
        return told if self.answer is None else told | {"answer": self.answer}
