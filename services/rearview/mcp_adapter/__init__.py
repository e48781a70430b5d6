"""The MCP adapter: Rearview for agents that speak the Model Context Protocol, over stdio or streamable HTTP.

A face over the public API: every tool is one or two calls of `rearview.client`, made with the caller's own key.
"""
