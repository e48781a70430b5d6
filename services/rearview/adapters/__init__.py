"""Adapters: ports implemented over databases, object stores and models."""
