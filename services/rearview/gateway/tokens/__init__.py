"""Bearer tokens of an issuer beside API keys: JSON Web Tokens (RFC 7519), checked with the issuer's public keys."""
