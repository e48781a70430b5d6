"""A long run under faults: clients record what they did and saw, and a checker holds it against a model.

`python -m tests.support.soak --help`; what it found stands in docs/soak.md.
"""
