"""Endpoints that speak OpenAI's `/v1/embeddings`: OpenAI, Ollama, vLLM and others (extra `openai`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32
from clew.foundation.bounded_http import ReplyRefused, limits, refused
from clew.text.embedder import in_batches, probe_fingerprint, with_content
from clew.text.embedders.extras import require

TEXTS_OF_REQUEST = 256
"""Texts in one request."""


class OpenAIEmbedder:
    """One model of an endpoint, through a ready `openai.OpenAI` client."""

    def __init__(self, client: Any, model: str, *, batch: int = TEXTS_OF_REQUEST) -> None:  # noqa: ANN401
        self.name = f"openai/{model}"
        self._client = client
        self._model = model
        self._fingerprint = ""
        self._batch = batch
        self.dimension = self._request(["probe"]).shape[1]

    @classmethod
    def connect(
        cls,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        batch: int = TEXTS_OF_REQUEST,
    ) -> Self:
        """Connect to an endpoint and ask for one vector, to learn the dimension.

        `base_url` ends in `/v1`; None is OpenAI itself. `api_key` may be None for a local server; `timeout`
        is in seconds. Raises MissingExtra, EmbedderError (it is not reached, refuses, or has no vectors).
        """
        package = require("openai", "openai")
        client = package.OpenAI(
            base_url=base_url or "https://api.openai.com/v1",
            api_key=api_key or "none",
            timeout=timeout,
            max_retries=retries,
            http_client=package.DefaultHttpxClient(timeout=timeout, **limits(asynchronous=False)),
        )
        return cls(client, model, batch=batch)

    @property
    def fingerprint(self) -> str:
        """Hash of the name, the dimension and the answers to a few texts."""
        self._fingerprint = self._fingerprint or probe_fingerprint(self)
        return self._fingerprint

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension]; blank ones are 0. Raises EmbedderError."""
        return in_batches(self, texts, with_content(texts), self._batch, self._request)

    def _request(self, texts: list[str]) -> NDArray[np.float32]:
        """Ask for the vectors of one batch: float32 [len(texts), whatever the model has]."""
        package = require("openai", "openai")
        place = f"{self.name} at {self._client.base_url}"
        try:
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            items = sorted(answer.data, key=lambda item: item.index)
            rows = np.array([item.embedding for item in items], np.float32)
        except package.AuthenticationError as error:
            raise EmbedderError(f"{place} refused the key ({error}). Check the API key.") from error
        except package.NotFoundError as error:
            reason = f": not found ({error}). Check the model name and the base URL."
            raise EmbedderError(place + reason) from error
        except package.APIStatusError as error:
            raise EmbedderError(f"{place} answered with status {error.status_code} ({error}).") from error
        except (package.APIConnectionError, ReplyRefused) as error:
            connection_reason = f"cannot be reached ({error}). Check the base URL and the server."
            limit_reason = refused(error)
            raise EmbedderError(
                f"{place} {connection_reason if limit_reason is None else f'{limit_reason}.'}"
            ) from error
        except (package.OpenAIError, AttributeError, TypeError, ValueError, RecursionError) as error:
            reason = f" did not answer with embeddings ({error}). Check that the base URL ends in /v1."
            raise EmbedderError(place + reason) from error
        if rows.ndim != 2 or len(rows) != len(texts) or rows.shape[1] == 0:
            raise EmbedderError(f"{place} returned {len(rows)} vectors of one length for {len(texts)} texts.")
        return rows
