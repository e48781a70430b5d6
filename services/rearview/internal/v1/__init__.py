"""Generated from protos/rearview/internal/v1 by `make protos`; not edited by hand."""
