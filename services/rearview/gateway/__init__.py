"""The one public door: who calls, what they may reach, and to which service it goes."""
