"""Taking in exports: read, remapped, checked against what was forgotten, redacted, stored part by part."""
