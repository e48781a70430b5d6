"""The memory test set: scenarios in YAML, steps and expectations through the public API."""
