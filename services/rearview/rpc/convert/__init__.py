"""Messages to domain values and back. What comes in is validated whole: an error names every bad field at once."""
