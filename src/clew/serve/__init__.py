"""`clew serve`: a web page, an HTTP API and MCP over open indexes (extra `serve`; `mcp` for MCP).

    HTTP ──guard──▶ api ──▶ work (threads, time, limits) ──▶ graphs (open indexes, reloaded) ──▶ engine
    MCP  ──────────────────▶

Nothing here answers a question: every answer is that of `clew.engine`, in the form of docs/json.md.
"""
