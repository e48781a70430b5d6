"""A language model behind an OpenAI-compatible endpoint, reading turns."""
