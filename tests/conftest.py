"""For all tests: llama.cpp is loaded first; loaded after ladybug has run a query, it ends the process."""

import contextlib

with contextlib.suppress(ImportError):
    import xllamacpp  # noqa: F401
