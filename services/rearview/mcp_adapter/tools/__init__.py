"""The tools, one a file."""

from rearview.mcp_adapter.tool import Tool
from rearview.mcp_adapter.tools.append import APPEND
from rearview.mcp_adapter.tools.context import CONTEXT
from rearview.mcp_adapter.tools.explain import EXPLAIN
from rearview.mcp_adapter.tools.forget import FORGET
from rearview.mcp_adapter.tools.search import SEARCH
from rearview.mcp_adapter.tools.update import UPDATE
from rearview.mcp_adapter.tools.write import WRITE

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (WRITE, SEARCH, UPDATE, FORGET, APPEND, CONTEXT, EXPLAIN)}
"""By name, in the order in which they are listed."""
