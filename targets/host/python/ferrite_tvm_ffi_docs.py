"""Shows the documentation of a library's functions: `help(module.softmax)` prints the text and the signature that the library has.

`install` is called once tvm_ffi.module is imported. A function that is an attribute of a module gets its name, documentation and
signature when it is looked up for the first time. `describe_globals` needs the extension of ferrite_tvm_ffi_fast.py: a global function
gets its own when one of them is read. Calls, and lookups by `get_function` and `get_global_func`, are as before.
"""

from __future__ import annotations

import functools
import json

# The additions to tvm_ffi, and why one was left out (None if it was not).
INSTALLED: dict[str, str | None] = {}
# The attributes that functions get.
ATTRIBUTES = ("__name__", "__doc__", "__signature__")


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
    """Set name, documentation and signature of a function of a module."""
    attributes = getattr(function, "__dict__", None)
    if attributes is None or "__doc__" in attributes:
        return
    attributes.update(description(name, *metadata_of(module, name)))


def description(name: str, metadata, text: str | None) -> dict:
    """Return the attributes of a function with that metadata and documentation; nothing if it has neither."""
    import tvm_ffi  # noqa: PLC0415 - imported only when needed

    import ferrite_tvm_ffi_signature  # noqa: PLC0415 - the same

    try:
        signature = ferrite_tvm_ffi_signature.of_metadata(metadata, tvm_ffi.core)
    except (AttributeError, RuntimeError, TypeError, ValueError):  # an earlier release, or damaged metadata
        signature = None
    line = metadata.get("signature")
    if not isinstance(line, str):
        line = f"{name}{signature}" if signature else None
    lines = [part for part in (line, text) if part]
    if not lines:
        return {}
    return {"__name__": name, "__doc__": "\n\n".join(lines), **({"__signature__": signature} if signature else {})}


def metadata_of(module, name: str) -> tuple[dict, str | None]:
    """Return metadata and documentation of a module's function; empty ones if they cannot be read."""
    try:
        metadata, text = module.get_function_metadata(name), module.get_function_doc(name)
        if isinstance(metadata, str):
            metadata = json.loads(metadata)
    except (AttributeError, RuntimeError, TypeError, ValueError):  # whatever else a module raises is not the caller's concern
        return {}, None
    return metadata if isinstance(metadata, dict) else {}, text


def metadata_of_global(name: str) -> dict:
    """Return the metadata of a global function; empty if it has none."""
    import tvm_ffi  # noqa: PLC0415 - imported only when needed

    try:
        metadata = tvm_ffi.get_global_func_metadata(name)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


class Described:
    """Attribute of the class Function: asks for the description of a function when it is read, and keeps it in the function."""

    def __init__(self, name: str, default) -> None:
        self.name, self.default = name, default

    def __get__(self, function, owner):
        attributes = getattr(function, "__dict__", None)
        if attributes is not None and self.name not in attributes:
            for name, value in described(function).items():
                attributes.setdefault(name, value)
        if attributes is not None and self.name in attributes:
            return attributes[self.name]
        if self.default is None:
            kind = "type object" if function is None else f"'{type(function).__module__}.{type(function).__name__}' object"
            raise AttributeError(f"{kind} has no attribute '{self.name}'")
        return self.default


def described(function) -> dict:
    """Return the attributes of a function that was looked up as a global one; nothing for other functions."""
    import ferrite_tvm_ffi_modules  # noqa: PLC0415 - imported only when needed

    source = ferrite_tvm_ffi_modules.noted(function)
    if not isinstance(source, ferrite_tvm_ffi_modules.FunctionSource) or source.module is not None:
        return {}
    return description(source.name, metadata_of_global(source.name), None)


def describe_globals(extension, core) -> None:
    """Give global functions a description that is looked up when it is read; fill INSTALLED."""
    key = "documentation of global functions"
    present = [name for name in ATTRIBUTES if name != "__doc__" and name in vars(core.Function)]
    INSTALLED[key] = f"Function has {', '.join(present)}" if present else None
    if not present:
        extension.describe({name: Described(name, core.Function.__doc__ if name == "__doc__" else None) for name in ATTRIBUTES})
