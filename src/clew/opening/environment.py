"""What the environment says: folders, keys and addresses. Only this file and `cli/` read it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.index.vectors.backends import VectorAccess, VectorChoice, VectorKind
    from clew.llm.managed import ManagedModel
    from clew.llm.reply import ChatModel
    from clew.stores.opening import Login
    from clew.text.embedders import Embedder

CALLS = 40
"""Calls of a chat model that one question may take, unless more or fewer are said."""


def make_embedder(spec: str | Embedder | None) -> Embedder:
    """Make the embedder of a spec; the key and address of an endpoint come from the environment."""
    if spec is not None and not isinstance(spec, str):
        return spec
    from clew.text.embedders import DEFAULT, embedder

    base_url, api_key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    return embedder(spec or DEFAULT, base_url=base_url, api_key=api_key)


def neo4j_login() -> Login:
    """Return who asks Neo4j: $NEO4J_USERNAME (else neo4j), $NEO4J_PASSWORD, $NEO4J_DATABASE."""
    from clew.stores.opening import Login

    environ = os.environ
    return Login(
        environ.get("NEO4J_USERNAME") or "neo4j",
        environ.get("NEO4J_PASSWORD", ""),
        environ.get("NEO4J_DATABASE") or None,
    )


def neo4j_address() -> str | None:
    """Return $NEO4J_URI, None if it is not set."""
    return os.environ.get("NEO4J_URI") or None


def milvus_access() -> VectorAccess:
    """Return how to reach Milvus: $MILVUS_URI, else what the index has noted, and $MILVUS_TOKEN."""
    from clew.index.vectors.backends import VectorAccess

    return VectorAccess(os.environ.get("MILVUS_URI") or None, os.environ.get("MILVUS_TOKEN") or None)


def vector_choice(kind: VectorKind, milvus: str | None = None) -> VectorChoice:
    """Choose with what vectors are searched; `milvus` is a URI, else $MILVUS_URI.

    Raises UsageError for a URI that is wrong or lacking, MissingExtra if the package is not installed.
    """
    from clew.index.vectors.backends import MilvusPlace, VectorChoice

    access = milvus_access()
    if milvus is not None and kind != "milvus":
        raise UsageError("--milvus is for --vectors milvus. Add that, or leave it out")
    uri = milvus or access.uri
    place = None
    if kind == "milvus" and uri is not None:
        place = MilvusPlace(str(Path(uri).resolve()) if uri.endswith(".db") else uri, access.token)
    return VectorChoice(kind, place)


def cache_folder(directory: str | Path | None = None) -> Path:
    """Where indexes of plain files are kept: `directory`, $CLEW_CACHE_DIR, else the caches of the system."""
    if directory is not None:
        return Path(directory)
    if path := os.environ.get("CLEW_CACHE_DIR"):
        return Path(path)
    from platformdirs import user_cache_path

    with suppress(RuntimeError):  # a user without a home directory
        folder = user_cache_path("clew", appauthor=False)
        if folder.is_absolute():  # older versions give ~/.cache then
            return folder
    from clew.index.store.files import private_folder

    return private_folder()


def users_data() -> Path | None:
    """Where this system keeps what users made with Clew; None for a user without a home directory."""
    from platformdirs import user_data_path

    try:
        return user_data_path("clew", appauthor=False)
    except RuntimeError:
        return None


class NamedModels:
    """Chat models by their specs (`ollama/llama3.1`), each opened when it is first asked for."""

    def __init__(self) -> None:
        self._models: dict[str, ManagedModel] = {}

    def model(self, model_or_spec: ChatModel | str | None) -> ChatModel | None:
        """The model of a spec, with keys and addresses of the environment; any other as it is.

        A question takes at most `CALLS` calls. Raises UsageError for a spec or key that is wrong,
        MissingExtra if the provider's SDK is not installed.
        """
        if not isinstance(model_or_spec, str):
            if model_or_spec is not None and not hasattr(model_or_spec, "complete"):
                kind = type(model_or_spec).__name__
                raise UsageError(f"A model is a spec, as ollama/llama3.1, or an open one, not {kind}")
            return model_or_spec
        if model_or_spec not in self._models:
            from clew.llm import open_model, settings_from
            from clew.llm.budget import Limits

            settings = settings_from(os.environ, model_or_spec, per_question=Limits(CALLS))
            self._models[model_or_spec] = open_model(settings)
        return self._models[model_or_spec]

    def close(self) -> None:
        """Close those that were opened here."""
        if self._models:
            from clew.llm import run_sync

            while self._models:
                run_sync(self._models.popitem()[1].close())


def keep_machine_code() -> None:
    """Choose where machine code is kept: $NUMBA_CACHE_DIR, else beside the cached indexes."""
    from clew.foundation.system import COMPILING

    if folder := os.environ.get("NUMBA_CACHE_DIR"):
        COMPILING.folder = Path(folder)
    elif COMPILING.folder is None:
        from clew.index.store.files import usable

        COMPILING.folder = usable(cache_folder())[0] / "kernels"
