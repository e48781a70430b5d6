"""The sealed vault, on the library cryptography."""
