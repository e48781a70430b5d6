"""Redis and Valkey behind the working-memory and cache ports."""
