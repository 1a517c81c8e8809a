"""Settings of the baselines; all raise UsageError for values out of range."""

from __future__ import annotations

from dataclasses import dataclass

from clew.methods.options import check_options, option


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Of `llm` and `llm-qd`. The paper that has them has no `shots`; SimGRAG gives `llm` 12 (section C.2)."""

    seed: int = option(0, "seed of the model's sampling")
    temperature: float = option(0.3, "temperature of the model's sampling", least=0, most=2)
    shots: int = option(0, "examples in a prompt", least=0)

    def __post_init__(self) -> None:
        check_options("llm", self)


@dataclass(frozen=True, slots=True)
class KapingSettings:
    """Hops around the entities, and triples that are read."""

    hops: int = option(1, "hops around the entities", least=1)
    k: int = option(10, "triples that are read", least=1)

    def __post_init__(self) -> None:
        check_options("kaping", self)


@dataclass(frozen=True, slots=True)
class TripleRagSettings:
    """Facts that are drawn, and the seed of the draw."""

    k: int = option(5, "triples that are read", least=1)
    seed: int = option(0, "seed of the draw")

    def __post_init__(self) -> None:
        check_options("triple-rag", self)


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the user's own, or a part of one, and what it is called."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class VectorRagSettings:
    """Documents that are read; `texts` are read instead of the graph."""

    k: int = option(3, "documents that are read", least=1)
    texts: tuple[Document, ...] = option(
        (),
        "a text file or a folder of them, to read instead of the graph",
        kind=list,
        reads="clew.methods.baselines.vector_rag:read_documents",
    )

    def __post_init__(self) -> None:
        check_options("vector-rag", self)

    @property
    def ranks_triples(self) -> bool:
        """Whether vectors of triples are compared."""
        return not self.texts


@dataclass(frozen=True, slots=True)
class KgRetrievalSettings:
    """Triples that are read at most."""

    k: int = option(200, "triples that are read", least=1)

    def __post_init__(self) -> None:
        check_options("kg-retrieval", self)


@dataclass(frozen=True, slots=True)
class KgGptSettings:
    """Relations that are chosen for a sub-sentence, and triples that are read at most."""

    k: int = option(3, "relations of a sub-sentence", least=1)
    most: int = option(200, "triples that are read", least=1, offered=False)

    def __post_init__(self) -> None:
        check_options("kg-gpt", self)
