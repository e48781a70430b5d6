"""What redaction makes of events, commands and stored memories, for the services that write texts and rewrite them."""
