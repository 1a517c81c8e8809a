"""Clew answers questions over a knowledge graph that you already have; triples prove every answer.

>>> from clew import Clew
>>> with Clew.open("films.tsv") as films:
...     answer = films.ask("Which films share a director with Memento?")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from clew.version import __version__ as __version__

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.errors import (
        ClewError,
        EmbedderError,
        EmbedderMismatch,
        FormatError,
        IndexAccessError,
        InputError,
        LlmError,
        LockedError,
        MissingExtra,
        OutputError,
        ParseError,
        PatternError,
        UsageError,
    )
    from clew.graph.readers.hints import Hints
    from clew.index.info import Info, RelationInfo
    from clew.text.embedders import Embedder
    from clew.types import (
        Abstention,
        Alternative,
        Answer,
        AnswerEntity,
        Chain,
        Citation,
        ClaimPart,
        EdgeCondition,
        Entity,
        Match,
        MatchResult,
        Pattern,
        PatternEdge,
        PatternNode,
        PlacedWord,
        Rows,
        Step,
        SubAnswer,
        Thread,
        TripleText,
        Usage,
        Verification,
    )

__all__ = [
    "Abstention",
    "Alternative",
    "Answer",
    "AnswerEntity",
    "Chain",
    "Citation",
    "ClaimPart",
    "Clew",
    "ClewError",
    "EdgeCondition",
    "Embedder",
    "EmbedderError",
    "EmbedderMismatch",
    "Entity",
    "FormatError",
    "Hints",
    "IndexAccessError",
    "Info",
    "InputError",
    "LlmError",
    "LockedError",
    "Match",
    "MatchResult",
    "MissingExtra",
    "OutputError",
    "ParseError",
    "Pattern",
    "PatternEdge",
    "PatternError",
    "PatternNode",
    "PlacedWord",
    "RelationInfo",
    "Rows",
    "Step",
    "SubAnswer",
    "Thread",
    "TripleText",
    "Usage",
    "UsageError",
    "Verification",
]

_ELSEWHERE = {
    "Clew": "clew.engine",
    "Embedder": "clew.text.embedders",
    "Hints": "clew.graph.readers.hints",
    "Info": "clew.index.info",
    "RelationInfo": "clew.index.info",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import clew` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    places = [_ELSEWHERE[name]] if name in _ELSEWHERE else ["clew.errors", "clew.types"]
    value = next(v for v in (getattr(import_module(p), name, None) for p in places) if v is not None)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
