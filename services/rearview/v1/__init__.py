"""Generated from protos/rearview/v1 by `make protos`; not edited by hand."""
