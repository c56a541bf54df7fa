"""Report of the extension in this process."""

from __future__ import annotations

import importlib
import os
import sys


def wanted() -> bool:
    """Return whether this process was asked to use the extension."""
    return os.environ.get("FERRITE_TVM_FFI_FAST", "1") != "0"


def state() -> dict:
    """Return the names that are fast, and those left alone with the reason."""
    if "tvm_ffi" not in sys.modules:
        return {"fast": [], "left alone": {}}
    try:
        parts = importlib.import_module("ferrite_tvm_ffi_fast").INSTALLED
    except ImportError as error:
        return {"fast": [], "left alone": {"extension": str(error)}}
    return {
        "fast": [name for name, reason in parts.items() if reason is None],
        "left alone": {name: reason for name, reason in parts.items() if reason is not None},
    }
