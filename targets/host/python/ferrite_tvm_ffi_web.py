"""Link what TVM compiled with Ferrite's library into a WebAssembly module for web pages, by the linker of the Rust toolchain.

    lib.export_library("model.wasm", fcompile=ferrite_tvm_ffi.web.fcompile)

A global function of the library is linked if the objects contain its name, or a JavaScript runtime calls it. The library refers to
`entry.NAME`, which has no data, and the linker's option `--wrap=entry.NAME` selects `__wrap_entry.NAME`, the function's data. In
the same way `NAME`, which raises an error, and `__wrap_NAME` are its body, or that of a method of a machine. `device.webgpu` is the
back end of WebGPU, which is linked with kernels for it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Functions that JavaScript calls. Other C symbols are linked only if one of them, or a model, does.
EXPORTS = (
    *("TVMFFIAnyViewToOwnedAny", "TVMFFIDataTypeToString", "TVMFFIErrorSetRaisedFromCStr", "TVMFFIFunctionCall"),
    *("TVMFFIFunctionGetGlobal", "TVMFFIFunctionSetGlobal", "TVMFFIGetTypeInfo", "TVMFFIObjectDecRef", "TVMFFIObjectIncRef"),
    *("TVMFFITypeKeyToIndex", "TVMFFIWasmFunctionCreate", "TVMFFIWasmGetLastError", "TVMWasmAllocSpace", "TVMWasmFreeSpace"),
    "_initialize",
)
# What JavaScript provides; any other unknown symbol is an error.
IMPORTS = ("TVMFFIWasmFunctionDeleter", "TVMFFIWasmSafeCall", "__console_log")
# Global functions that JavaScript runtimes call to load a model, and to make and copy tensors.
CALLED = (
    *("ffi.Array", "ffi.ArrayGetItem", "ffi.ArraySize", "ffi.FunctionListGlobalNamesFunctor", "ffi.ModuleGetFunction"),
    *("ffi.ModuleImportModule", "ffi.Shape", "ffi.SystemLib", "ferrite.web.set_memory_limit"),
    *("runtime.TVMTensorAllocWithScope", "runtime.TVMTensorCopyFromTo", "runtime.TVMTensorCreateView"),
    *("tvmjs.runtime.TensorCopyFromBytes", "tvmjs.runtime.TensorCopyToBytes", "relax.VirtualMachine.set_instrument"),
)
# Global functions that tvmjs and WebLLM look up when they start, whether or not they call them.
FOUND = (
    *("tvmjs.array.decode_storage", "tvmjs.runtime.ArrayConcat", "tvmjs.runtime.ConcatEmbeddings"),
    *("vm.builtin.apply_", "vm.builtin.param_module_from_cache", "vm.builtin.sample_top_p_from_", "vm.builtin.tensor_cache."),
    *("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq", "vm.builtin.kv_state_"),
)
# Loaders are looked up by the first prefix and a module's kind; back ends have the second.
LOADER, DEVICE = "ffi.Module.load_from_bytes.", "device."
# The stack is below the data: one that is exhausted traps, and overwrites nothing.
OPTIONS = ("--no-entry", "--gc-sections", "--strip-all", "--stack-first", "-z", "stack-size=1048576")
# Features that rustc and TVM emit; older versions of Binaryen do not enable them.
FEATURES = ("bulk-memory", "mutable-globals", "nontrapping-float-to-int", "sign-ext", "simd")
# Whole libraries, by the variable and in the wheel.
VARIABLE = "FERRITE_WEB"
BUILD = (
    "cargo rustc -p ferrite-ffi-capi --no-default-features --features web --profile mcu"
    " --target wasm32-unknown-unknown --crate-type staticlib"
)


class LinkError(RuntimeError):
    """A module cannot be linked."""


def fcompile(output, objects, *, archive=None, functions=(), every_function=False, asyncify=False, shrink=True, **_) -> None:
    """Link objects, as `fcompile` of TVM's `export_library`, which passes these options on.

    `archive` is the library, by default what FERRITE_WEB names. `functions` are names of global functions that JavaScript calls by
    name, or their beginnings; `every_function` links all. With `asyncify`, calls into JavaScript may suspend the module. Unless `shrink`
    is false, Binaryen makes the module smaller, if it is installed.
    """
    archive = archive or library()
    link(output, archive, objects, None if every_function else selected(archive, objects, functions), asyncify, shrink)


# The format that TVM writes the objects in. Only system libraries register their functions.
fcompile.object_format = "o"
fcompile.need_system_lib = True


def library() -> Path:
    """Return the library for web pages that the environment names."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    raise LinkError(f"the library for web pages is missing: name it by the variable {VARIABLE}, after `{BUILD}` in a clone of Ferrite")


def optional(archive) -> set[str]:
    """Return the names of the library's global functions."""
    return {name.decode() for name in re.findall(rb"__wrap_(?:entry\.)?([\w.]+)", content(archive))}


def selected(archive, objects, names=()) -> set[str]:
    """Return the global functions that objects name, that JavaScript runtimes call, and that begin with one of `names`."""
    functions, data = optional(archive), [content(file) for file in objects]
    for name in names:
        if not any(function.startswith(name) for function in functions):
            raise LinkError(f"the library has no function {name}")
    return {
        function
        for function in functions
        if function in CALLED or function.startswith(tuple(names)) or any(function.removeprefix(LOADER).removeprefix(DEVICE).encode() in one for one in data)
    }


def content(file) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise LinkError(f"{file} cannot be read: {error.strerror}") from None


def link(output, archive, objects, functions=None, asyncify=False, shrink=False) -> None:
    """Link the library with objects, and with those of its global functions, by default all."""
    known = optional(archive)
    linked = known if functions is None else functions
    found = linked | {name for name in known if name.startswith(FOUND)}
    wrapped = sorted([*linked, *(f"entry.{name}" for name in found)])
    options = [*OPTIONS, *(f"--export={name}" for name in EXPORTS), *(f"--wrap={name}" for name in wrapped)]
    run([linker(), "-flavor", "wasm", *options, archive, *objects, "-o", output])
    if asyncify:
        suspend(output)
    elif shrink and shutil.which("wasm-opt"):
        make_smaller(output)


def linker() -> Path:
    """Return the linker of the Rust toolchain."""
    rustc = os.environ.get("RUSTC", "rustc")
    if not shutil.which(rustc):
        raise LinkError(f"{rustc} is missing, whose linker makes the module: install Rust by rustup")
    host = re.search(r"(?m)^host: (\S+)$", run([rustc, "-vV"]))[1]
    found = Path(run([rustc, "--print", "sysroot"]).strip(), "lib/rustlib", host, "bin/rust-lld")
    if not found.is_file():
        raise LinkError(f"there is no {found}: install Rust by rustup, whose toolchains have it")
    return found


def suspend(module) -> None:
    """Let calls into JavaScript suspend a module."""
    if not shutil.which("wasm-opt"):
        raise LinkError("wasm-opt is missing, which makes modules that can be suspended: install Binaryen")
    imports = ",".join(f"env.{name}" for name in IMPORTS)
    optimise(module, "-O2", "--asyncify", f"--pass-arg=asyncify-imports@{imports}")


def make_smaller(module) -> None:
    """Make a module smaller. One that this version of Binaryen cannot read stays as it is."""
    try:
        optimise(module, "-Oz")
    except LinkError as error:
        print(f"warning: wasm-opt did not make the module smaller: {error}", file=sys.stderr)


def optimise(module, *passes) -> None:
    """Run passes of Binaryen on a module."""
    run(["wasm-opt", module, *(f"--enable-{feature}" for feature in FEATURES), *passes, "-o", module])


def run(command) -> str:
    """Run a program, and return its output."""
    outcome = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if outcome.returncode:
        raise LinkError(outcome.stderr.strip() or f"{command[0]} failed")
    return outcome.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Links objects of models with Ferrite's library into a module for web pages.")
    parser.add_argument("output", help="file of the module")
    parser.add_argument("archive", help="libtvm_ffi.a of the feature `web`")
    parser.add_argument("objects", nargs="*", help="objects that TVM exports for wasm32-unknown-unknown-wasm")
    parser.add_argument("--called", action="store_true", help="only global functions that the objects or JavaScript runtimes call")
    parser.add_argument("--with", dest="functions", metavar="NAME", action="append", default=[], help="with --called: a function, or functions that begin so")
    parser.add_argument("--asyncify", action="store_true", help="calls into JavaScript may suspend the module; needs Binaryen")
    parser.add_argument("--shrink", action="store_true", help="Binaryen makes the module smaller, if it is installed")
    args = parser.parse_args()
    chosen = selected(args.archive, args.objects, args.functions) if args.called else None
    link(args.output, args.archive, args.objects, chosen, args.asyncify, args.shrink)


if __name__ == "__main__":
    try:
        main()
    except LinkError as error:
        sys.exit(f"error: {error}")
