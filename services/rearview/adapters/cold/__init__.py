"""Cold segments: their format, their objects, and the reader that searches them."""
