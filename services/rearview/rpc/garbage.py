"""When a service's process looks for garbage.

What it loads at its start, models, dictionaries and classes, is some hundred thousand objects that live as long as it
does. Python's collector walked through all of them every few dozen recalls: a tenth of the retriever's CPU, and a pause
of a tenth of a second for the call that it met.
"""

import gc

_ALLOCATIONS, _YOUNG, _MIDDLE = 10_000, 20, 20
"""Objects made and not yet freed before the youngest are looked at, and how many looks at the younger ones come before
one at the older. What a call leaves behind has no cycles as a rule and needs none of them."""


def spare_what_is_loaded() -> None:
    """Let the collector pass over everything that the process holds by now; to be called as it begins to serve."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, _YOUNG, _MIDDLE)
