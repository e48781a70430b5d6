"""The domain: frozen values, invariants and mathematics, on the standard library and numpy alone."""
