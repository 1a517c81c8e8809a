"""Ask a graph as an agent does, over MCP (needs: pip install 'clew[mcp]')."""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters

FILMS = Path(__file__).with_name("films.tsv")


async def main() -> None:
    """Start the server, see its tools, and use one."""
    arguments = ["-m", "clew", "mcp", str(FILMS)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        print([tool.name for tool in (await client.list_tools()).tools])
        result = await client.call_tool("ask", {"question": "Who directed Memento?"})
        print((result.structured_content or {})["text"])


asyncio.run(main())
