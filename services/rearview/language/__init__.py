"""Chinese and English text understanding: pure functions and rules over established libraries."""
