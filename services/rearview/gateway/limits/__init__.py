"""How much a tenant and a key may ask for."""
