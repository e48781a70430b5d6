"""Generated proto code of the calls between the services."""
