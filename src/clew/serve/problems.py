"""Errors as problem documents (RFC 9457), with the words of the command line."""

from __future__ import annotations

from typing import Any

from clew.errors import ClewError, InputError, LlmError, MissingExtra, UsageError

PROBLEM_MEDIA = "application/problem+json"


class Problem(Exception):
    """A request that is refused or failed: `kind` is a word for programs, `detail` one for people."""

    def __init__(self, status: int, kind: str, title: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.kind, self.title, self.detail = status, kind, title, detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def as_json(self, request: str | None = None) -> dict[str, Any]:
        """`{"type", "title", "status", "detail", "instance"}`; `instance` is the id of the request."""
        return {
            "type": f"urn:clew:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": None if request is None else f"urn:clew:request:{request}",
        }


def problem_of(error: Exception) -> Problem:
    """Turn an error of Clew into a problem; any other is internal, and its cause is not shown."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LlmError):
        return Problem(502, "model", "The chat model failed", str(error))
    if isinstance(error, MissingExtra):
        return Problem(501, "missing-extra", "Not installed on the server", str(error))
    if isinstance(error, (UsageError, InputError)):
        return Problem(400, "usage", "The request is wrong", str(error))
    if isinstance(error, ClewError):
        status = 400 if error.exit_code == 2 else 500
        return Problem(status, "failure", "The request failed", str(error))
    detail = "The server failed; its log has the cause under the id of this request"
    return Problem(500, "internal", "Internal error", detail)
