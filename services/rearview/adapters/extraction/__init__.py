"""Where facts come from: the rules, or a model with the rules behind it."""
