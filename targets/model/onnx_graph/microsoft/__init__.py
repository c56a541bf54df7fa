"""Operators of the domain com.microsoft, which ONNX Runtime's tools write, by those of the ONNX standard."""

from . import attention, fused, integers, normalisation

DOMAIN = "com.microsoft"
REPLACEMENTS = attention.REPLACEMENTS | fused.REPLACEMENTS | integers.REPLACEMENTS | normalisation.REPLACEMENTS
"""Functions that return the nodes in place of one, or None to leave it."""
STANDARD = normalisation.STANDARD
"""Replacements of operators that ONNX Runtime adds to the domain of the standard."""
