"""The files of the page: a browser keeps them, and asks whether they are still the same."""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope


class PageFiles(StaticFiles):
    """Files with an ETag of what is in them.

    Their times say little: installers and images of containers give files of two versions the same one.
    """

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, or 304 without a body where the browser has it."""
        tag = _tag(os.fspath(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        response = FileResponse(full_path, status_code, {"etag": tag, "cache-control": "no-cache"})
        response.set_stat_headers(stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response


@cache
def _tag(path: str, modified: int, size: int) -> str:
    del modified, size  # a file that changed is read again
    return f'"{sha256(Path(path).read_bytes()).hexdigest()[:32]}"'
