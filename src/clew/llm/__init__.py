"""Chat models of any provider, through pydantic-ai; budgets, recorded replies and traces around them.

model = open_model(settings_from(os.environ, "ollama/llama3.1:8b"))
reply = run_sync(model.complete(ask("What is the capital of Norway?")))
"""

from clew.llm.managed import run_sync
from clew.llm.open import open_model
from clew.llm.providers import Settings, settings_from
from clew.llm.reply import ChatModel
from clew.llm.types import Message, Reply, Request, Typed, ask

__all__ = [
    "ChatModel",
    "Message",
    "Reply",
    "Request",
    "Settings",
    "Typed",
    "ask",
    "open_model",
    "run_sync",
    "settings_from",
]
