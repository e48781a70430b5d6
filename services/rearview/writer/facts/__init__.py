"""Facts in the write path: read from turns, made self-contained, told as history."""
