"""Signing keys of an issuer, from a JSON Web Key Set (RFC 7517)."""
