"""The command line: `rearview`."""
