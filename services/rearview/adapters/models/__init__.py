"""Embedding and reranking models: local runtimes, endpoints, and the cards that describe them."""
