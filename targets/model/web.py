"""Links a model for web pages: a WebAssembly of the library with the kernels, and a JavaScript module with types."""

import dataclasses
import gzip
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import project
import quote
import signature
import targets
from executable import BYTECODE
from failure import Failure

TRIPLE = "wasm32-unknown-unknown"
ARRAYS = {
    "float32": "Float32Array",
    "float64": "Float64Array",
    "float16": "Uint16Array",
    "bfloat16": "Uint16Array",
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "int64": "BigInt64Array",
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "uint64": "BigUint64Array",
    "bool": "Uint8Array",
}
"""Arrays of JavaScript by element type; halves are their bits."""


def archive():
    """Returns the path of the library for WebAssembly: built from the clone, unless the variable FERRITE_WEB names it."""
    if named := os.environ.get("FERRITE_WEB"):
        if not pathlib.Path(named).is_file():
            raise Failure(f"FERRITE_WEB={named} is not a file")
        return pathlib.Path(named)
    root = targets.clone()
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "model"
    command = [os.environ.get("CARGO", "cargo"), "rustc", "--quiet", "--manifest-path", root / "Cargo.toml", "--target-dir", folder]
    command += ["-p", "ferrite-ffi-capi", "--no-default-features", "--features", "web", "--profile", "mcu"]
    try:
        outcome = subprocess.run([*command, "--target", TRIPLE, "--crate-type", "staticlib"]).returncode
    except FileNotFoundError:
        raise Failure("cargo is missing: install Rust, or name it by the variable CARGO") from None
    if outcome:
        raise Failure(f"the library could not be built, see above: rustup target add {TRIPLE}")
    return folder / TRIPLE / "mcu/libtvm_ffi.a"


@dataclasses.dataclass(frozen=True)
class Linking:
    """How a model is linked with the library: with functions that begin with one of `names`, or every one, besides those that it calls."""

    names: tuple = ()
    every: bool = False
    asyncify: bool = False

    def functions(self, library, objects):
        """Returns the global functions of the library that are linked."""
        return linker().optional(library) if self.every else linker().selected(library, objects, self.names)

    def link(self, output, library, objects, functions):
        """Links the library and objects, and returns the size of the result."""
        linker().link(output, library, objects, functions, self.asyncify, shrink=True)
        return pathlib.Path(output).stat().st_size


def linker():
    """Returns the module of the wheel that links modules for web pages."""
    folder = str(targets.sources() / "targets/host/python")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import ferrite_tvm_ffi_web

    return ferrite_tvm_ffi_web


def export(executable, output, library, linking):
    """Writes TVM's executable as a WebAssembly. Returns the global functions that it has."""
    functions = set()

    def linked(path, objects, **_):
        functions.update(linking.functions(library, objects))
        linking.link(path, library, objects, functions)

    linked.object_format = "o"
    try:
        # TVM chooses the format of its result by the suffix.
        executable.export_library(str(output), fcompile=linked)
    except linker().LinkError as error:
        raise Failure(f"the model cannot be linked: {error}") from None
    return functions


class Description:
    """Functions of a model that a page can call; the first is called without a name. `outputs` returns a function's outputs, if they are known."""

    def __init__(self, target, executable, function, inputs, outputs):
        self.target, self.entry, self.inputs = target, function.name, inputs
        self.signature = signature.text(function, inputs)
        self.functions = {name: {"inputs": found} for name, found in callable_functions(executable).items()}
        for name, described in self.functions.items():
            if found := outputs(name):
                described["outputs"] = found

    def section(self):
        """Returns a custom section of WebAssembly with the description."""
        text = quote.json({"device": targets.WEB[self.target], "entry": self.entry, "functions": self.functions})
        content = bytes([len(SECTION)]) + SECTION + text.encode()
        return b"\0" + leb128(len(content)) + content

    def calls(self):
        """Yields the declarations of `run` in TypeScript; the name of the first function may be left out."""
        for name in sorted(self.functions, key=lambda name: name != self.entry):
            inputs = fields(self.functions[name]["inputs"], "{}")
            outputs = fields(self.functions[name]["outputs"], "Tensor<{}>") if "outputs" in self.functions[name] else "Record<string, Output>"
            yield f"  run(inputs: {inputs}, name{'?' * (name == self.entry)}: {quote.json(name)}): Promise<{outputs}>;"

    def example(self):
        """Returns inputs of the first function in JavaScript."""
        return "{ " + ", ".join(f"{quote.json(one.name)}: new {ARRAYS[str(one.dtype)]}({math.prod(one.shape)})" for one in self.inputs) + " }"


SECTION = b"ferrite.model"
"""Name of the custom section."""


def leb128(number):
    """Returns a number as WebAssembly encodes sizes: seven bits in each byte."""
    return bytes([number & 127 | 128]) + leb128(number >> 7) if number > 127 else bytes([number])


def fields(tensors, form):
    """Returns an object type of TypeScript with the arrays of tensors."""
    return "{ " + "; ".join(f"{quote.json(one['name'])}: {form.format(ARRAYS.get(one['dtype'], 'Uint8Array'))}" for one in tensors) + " }"


def callable_functions(executable):
    """Returns the inputs of each function that a page can call, by its name."""
    found, failures = {}, []
    for function in executable.functions:
        if function.kind != BYTECODE:
            continue
        try:
            inputs = signature.inputs(executable, function)
            found[function.name] = [{"name": one.name, "dtype": str(one.dtype), "shape": one.shape} for one in inputs]
            check_inputs(inputs)
        except Failure as failure:
            failures.append(failure)
            found.pop(function.name, None)
    if not found:
        raise failures[0]
    return found


def check_inputs(inputs):
    for one in inputs:
        if str(one.dtype) not in ARRAYS:
            raise Failure(f"JavaScript has no array for the input {one}")


def files(name, description):
    """Returns the files in text of a model's folder: those of the templates, and the JavaScript package."""
    names = {
        "NAME": name,
        "TARGET": description.target,
        "CALLS": "\n".join(description.calls()),
        "EXAMPLE": description.example(),
        "SIGNATURE": description.signature,
    }
    templates = {"model.mjs": "web.mjs", "model.d.mts": "web.d.mts", "README.md": "web.md"}
    package = targets.sources() / "targets/web/npm/src"
    return {file: project.fill(template, names) for file, template in templates.items()} | {f"ferrite/{path.name}": path.read_text() for path in sorted(package.iterdir())}


def write(folder, name, built, executable, description, linking):
    """Writes the folder of a model, and prints the sizes of its parts."""
    library = archive()
    project.write(folder, files(name, description))
    output = folder / "model.wasm"
    functions = export(built, output, library, linking)
    with output.open("ab") as module:
        module.write(description.section())
    with tempfile.TemporaryDirectory() as place:
        alone = linking.link(f"{place}/library.wasm", library, [], functions)
    print_sizes(output, executable.weight_bytes, alone)
    print(f"functions    {len(functions)} of the library's {len(linker().optional(library))}; --with NAME adds more, --all every one")


def print_sizes(output, weights, alone):
    data = output.read_bytes()
    print(f"library      {alone} bytes")
    print(f"weights      {weights} bytes")
    print(f"kernels      {len(data) - alone - weights} bytes, with the functions that call them")
    print(f"model.wasm   {len(data)} bytes, {len(gzip.compress(data, 9))} by gzip -9")
