"""Chat models: one protocol, adapters, structured output, budgets, cache and traces."""

from clew.llm.open import open_model
from clew.llm.run import iterate_sync, run_sync
from clew.llm.settings import Settings, settings_from
from clew.llm.types import ChatModel, Chunk, Message, Reply, Request, Typed, ask

__all__ = [
    "ChatModel",
    "Chunk",
    "Message",
    "Reply",
    "Request",
    "Settings",
    "Typed",
    "ask",
    "iterate_sync",
    "open_model",
    "run_sync",
    "settings_from",
]
