"""Odd and hostile requests, made from the public schemas: protobuf descriptors and the JSON schemas of MCP tools.

Everything is drawn from a `random.Random`, so that a seed, a method and a number give the same request again.
"""
