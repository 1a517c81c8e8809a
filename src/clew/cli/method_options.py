"""Options of methods, for `clew ask`, `clew verify` and `clew compare`: which method takes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from clew.errors import UsageError

Hops = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="kg-rag (3), kaping (1): hops around the entities.")
]
K = Annotated[
    int | None,
    typer.Option(
        "--k",
        metavar="N",
        min=1,
        help="kg-rag (30), kaping (10), triple-rag (5), kg-retrieval (200): triples that are read;"
        " kg-gpt (3): relations; vector-rag (3): documents; simgrag (3): subgraphs; walk-retrieve (3): nodes,"
        " and walks of each.",
    ),
]
Frontier = Annotated[
    str | None,
    typer.Option(metavar="question|answers", help="kg-rag: where later sub-questions look for triples."),
]
Handed = Annotated[
    str | None,
    typer.Option(
        metavar="facts|sentences", help="kg-rag: what of a sub-answer goes on to the next sub-question."
    ),
]
Directed = Annotated[
    bool, typer.Option("--directed", help="kg-rag: look for triples from head to tail alone.")
]
Temperature = Annotated[
    float | None,
    typer.Option(metavar="X", min=0, max=2, help="kg-rag, llm, llm-qd (0.3): of the model's sampling."),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="kg-rag, llm, llm-qd (0): of the model; triple-rag (0): of the draw."),
]
Texts = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH", help="vector-rag: a text file or a folder of them, to read instead of the graph."
    ),
]
Shots = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="simgrag (12), synaptiqa (5), kg-rag (3), llm, llm-qd (0): examples in a prompt.",
    ),
]
ClaimShots = Annotated[
    int | None,
    typer.Option("--shots", metavar="N", min=0, help="simgrag: worked examples in each prompt (12)."),
]
Subgraphs = Annotated[
    int | None, typer.Option("--k", metavar="N", min=1, help="simgrag: subgraphs that are read (3).")
]
FewCandidates = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="simgrag: the paper's cut of candidates k(n), as 16; unlimited without."
    ),
]
FewRelations = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="simgrag, with --candidates: those of a relation, k(r) (as many)."),
]
FewTypes = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="simgrag, with --candidates: types that an unknown is of, k(t) (16)."
    ),
]
Examples = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="simgrag, kg-rag: worked examples for this graph.")
]
ClaimExamples = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="simgrag: worked examples for this graph.")
]
Schema = Annotated[
    str | None,
    typer.Option(
        metavar="typed|none",
        help="simgrag, kg-rag: show what the graph records in the first prompt; none is the papers' letter.",
    ),
]
Walks = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="walk-retrieve: walks of each node that are read (as --k)."),
]
Paths = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="walk-retrieve (16): relation paths that are read too; 0 is the paper's letter.",
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        min=0.0,
        max=1.0,
        help="auto (0.85): how likely a learned reading must be to be answered from.",
    ),
]


@dataclass(frozen=True, slots=True)
class _Taken:
    """The dataclass of a method's settings (`module:class`), and its field for each option.

    `examples` is the function of `user_files` that reads its examples.
    """

    settings: str
    fields: Mapping[str, str]
    examples: str = "read_shots"


_SIMGRAG = _Taken(
    "clew.methods.simgrag.method:Settings",
    {
        name: name
        for name in (
            "k",
            "shots",
            "candidates",
            "candidate_relations",
            "candidate_types",
            "examples",
            "schema",
        )
    },
)
_LLM = _Taken(
    "clew.methods.baselines.llm:Settings", {name: name for name in ("seed", "temperature", "shots")}
)
_TAKEN: Mapping[str, _Taken] = {
    "auto": _Taken("clew.methods.auto.method:Settings", {"confidence": "confidence"}),
    "simgrag": _SIMGRAG,
    "kg-rag": _Taken(
        "clew.methods.kg_rag.method:Settings",
        {"k": "top"}
        | {
            name: name
            for name in (
                "hops",
                "frontier",
                "handed",
                "schema",
                "directed",
                "seed",
                "temperature",
                "shots",
                "examples",
            )
        },
        "read_demonstrations",
    ),
    "llm": _LLM,
    "llm-qd": _LLM,
    "kaping": _Taken("clew.methods.baselines.kaping:Settings", {"hops": "hops", "k": "top"}),
    "triple-rag": _Taken("clew.methods.baselines.triple_rag:Settings", {"k": "count", "seed": "seed"}),
    "vector-rag": _Taken("clew.methods.baselines.vector_rag:Settings", {"k": "documents", "texts": "texts"}),
    "kg-retrieval": _Taken("clew.methods.baselines.kg_retrieval:Settings", {"k": "most"}),
    "kg-gpt": _Taken("clew.methods.baselines.kg_gpt:Settings", {"k": "relations"}),
    "walk-retrieve": _Taken(
        "clew.methods.walk_retrieve.method:WalkRetrieveSettings",
        {name: name for name in ("k", "walks", "paths")},
    ),
}


@dataclass(frozen=True, slots=True)
class SimgragOptions:
    """What the user said of how SimGRAG works; None, False and empty leave it to the method."""

    TITLE: ClassVar = "Options of methods"
    TAKEN: ClassVar[Mapping[str, _Taken]] = {"auto": _SIMGRAG, "simgrag": _SIMGRAG}
    k: Subgraphs = None
    shots: ClaimShots = None
    candidates: FewCandidates = None
    candidate_relations: FewRelations = None
    candidate_types: FewTypes = None
    examples: ClaimExamples = None
    schema: Schema = None

    def settings(self, method: str) -> object:
        """Make the settings of one method; None where nothing is given.

        Raises UsageError for an option that the method does not take, or a value that it refuses.
        """
        self._refuse_others((method,))
        return self._settings(method)

    def _given(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        # By identity: a seed of 0 is given.
        return {name: v for name, v in values.items() if v is not None and v is not False and v != []}

    def _refuse_others(self, methods: Sequence[str]) -> None:
        taken = {name for m in methods if m in self.TAKEN for name in self.TAKEN[m].fields}
        for name in self._given():
            if name not in taken:
                takers = ", ".join(m for m, its in self.TAKEN.items() if name in its.fields)
                raise UsageError(
                    f"--{name.replace('_', '-')}: for {takers}, not for {', '.join(methods)}. Leave it out"
                )

    def _settings(self, method: str) -> object:
        if method not in self.TAKEN:
            return None
        taken = self.TAKEN[method]
        values = {taken.fields[name]: v for name, v in self._given().items() if name in taken.fields}
        if not values:
            return None
        from clew import user_files

        if "texts" in values:
            values["texts"] = user_files.read_documents(values["texts"])
        if "examples" in values:
            values["examples"] = getattr(user_files, taken.examples)(values["examples"])
        module, _, name = taken.settings.partition(":")
        return getattr(import_module(module), name)(**values)


@dataclass(frozen=True, slots=True)
class MethodOptions(SimgragOptions):
    """What the user said of how methods work."""

    TAKEN: ClassVar[Mapping[str, _Taken]] = _TAKEN

    confidence: Confidence = None
    k: K = None
    shots: Shots = None
    examples: Examples = None
    hops: Hops = None
    frontier: Frontier = None
    handed: Handed = None
    walks: Walks = None
    paths: Paths = None
    directed: Directed = False
    temperature: Temperature = None
    seed: Seed = None
    texts: Texts = None

    def rank_triples(self, methods: Sequence[str]) -> bool:
        """Whether a method compares the vectors of triples."""
        from clew.methods.registry import RANK_TRIPLES

        return any(m in RANK_TRIPLES and not (m == "vector-rag" and self.texts) for m in methods)

    def settings_of_each(self, methods: Sequence[str]) -> dict[str, object]:
        """Make the settings of several methods: each gets what it takes.

        Raises UsageError for an option that no method takes.
        """
        self._refuse_others(methods)
        return {m: self._settings(m) for m in methods}
