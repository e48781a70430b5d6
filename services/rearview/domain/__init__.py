"""The domain: pure values, invariants and mathematics over the standard library and numpy."""
