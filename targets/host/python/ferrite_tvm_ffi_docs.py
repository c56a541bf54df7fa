"""Shows the documentation of a library's functions: `help(module.softmax)` prints the text and the signature that the library has.

`install` is called once tvm_ffi.module is imported. A function that is an attribute of a module gets its name and documentation
when it is looked up for the first time; calls, and lookups by `get_function`, are as before.
"""

from __future__ import annotations

import functools
import json

# The addition to tvm_ffi, and why it was left out (None if it was not).
INSTALLED: dict[str, str | None] = {}


def install(module) -> None:
    """Extend the class Module of tvm_ffi.module, unless it has no documentation of functions; fill INSTALLED."""
    missing = [name for name in ("__getattr__", "get_function_doc", "get_function_metadata") if not hasattr(module.Module, name)]
    INSTALLED["documentation in help"] = f"modules have no {', '.join(missing)}" if missing else None
    if missing:
        return
    look_up = module.Module.__getattr__

    @functools.wraps(look_up)
    def __getattr__(self, name):
        function = look_up(self, name)
        describe(self, name, function)
        return function

    module.Module.__getattr__ = __getattr__


def describe(module, name: str, function) -> None:
    """Set name and documentation of a function of a module."""
    attributes = getattr(function, "__dict__", None)
    if attributes is None or "__doc__" in attributes:
        return
    if text := documentation(module, name):
        attributes.update(__name__=name, __doc__=text)


def documentation(module, name: str) -> str:
    """Return signature and documentation of a function; empty if the library has neither."""
    try:
        parts = (signature(module.get_function_metadata(name)), module.get_function_doc(name))
    except (AttributeError, RuntimeError, TypeError, ValueError):  # whatever else a module raises is not the caller's concern
        return ""
    return "\n\n".join(part for part in parts if part)


def signature(metadata) -> str | None:
    """Return the signature that a function's metadata has: `softmax(x: Tensor([m, n], float32), out=None)`."""
    if isinstance(metadata, str):
        metadata = json.loads(metadata)
    found = metadata.get("signature") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) else None
