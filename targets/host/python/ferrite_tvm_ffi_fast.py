"""Makes calls of tvm_ffi faster: replaces slots of the extension `tvm_ffi.core` in the running process.

`install` is called once tvm_ffi is imported. The replacement is an extension in Rust, one file per CPython. It probes the layout of
upstream's types, and leaves to upstream's code whatever differs. FERRITE_TVM_FFI_FAST=0 in the environment leaves all to upstream's code.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

SWITCH = "FERRITE_TVM_FFI_FAST"
FOLDER = Path(__file__).resolve().parent / "ferrite_tvm_ffi.libs"
NAME = "ferrite_python"
# Functions of tvm_ffi.core that change which class is registered for a type.
REGISTRATIONS = ("_register_object_by_index", "_register_py_class", "_rollback_py_class", "_set_type_cls")

# The parts, and why one was left to upstream's code (None if it was not).
INSTALLED: dict[str, str | None] = {}


def install(tvm_ffi) -> None:
    """Make tvm_ffi faster, unless the environment or a probe forbids it; fill INSTALLED."""
    if not any(FOLDER.glob(f"{NAME}.*")):
        return  # a wheel without the extension
    if reason := forbidden():
        INSTALLED["fast calls"] = reason
        return
    try:
        extension = load()
    except ImportError as error:
        INSTALLED["fast calls"] = f"the extension cannot be loaded: {error}"
        return
    INSTALLED.update((f"fast {part}", reason) for part, reason in extension.activate(tvm_ffi.core, tvm_ffi.LIB._handle).items())
    if None in INSTALLED.values():
        follow_registrations(tvm_ffi.core, extension.forget_classes)


def forbidden() -> str | None:
    """Return why this process uses upstream's code alone; None if it does not."""
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH}=0"
    if not getattr(sys, "_is_gil_enabled", lambda: True)() or "t" in getattr(sys, "abiflags", ""):
        return "free-threaded builds of CPython are not supported"
    if not file().is_file():
        return f"there is no {file().name}"
    return None


def file() -> Path:
    """Return the extension's file for this interpreter."""
    return FOLDER / (NAME + importlib.machinery.EXTENSION_SUFFIXES[0])


def load():
    """Load the extension, which no package contains."""
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(file()))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(NAME, loader))
    loader.exec_module(module)
    return module


def follow_registrations(core, forget_classes) -> None:
    """Forget the remembered classes after each change of the registry."""
    for name in REGISTRATIONS:
        setattr(core, name, followed(getattr(core, name), forget_classes))


def followed(register, forget_classes):
    @functools.wraps(register)
    def call(*args, **options):
        try:
            return register(*args, **options)
        finally:
            forget_classes()

    return call
