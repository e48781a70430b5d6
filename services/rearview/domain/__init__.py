<<<<<<< HEAD
"""What memories, events and forgets are, and the mathematics of finding them. Standard library and numpy only."""
=======
"""The domain: pure values, invariants and mathematics over the standard library and numpy."""
>>>>>>> models
