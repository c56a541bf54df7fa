"""Plans the memory of a model: the smallest arena with which firmware can load and call it.

The model runs in the machine of the boards, built for WebAssembly, where records have the sizes of every 32-bit board. Its kernels do
nothing but allocate their workspaces.
"""

import os
import re
import struct
import subprocess

from executable import padded
from failure import Failure

UNIT = 8
"""Arenas grow by this many bytes."""
MOST = 1 << 30
CPU, DLTENSOR_POINTER = 1, 7


def module(clone):
    """Builds the crate of a clone, and returns the WebAssembly module."""
    crate, target = clone / "targets/model/plan", clone / "target/plan"
    command = [os.environ.get("CARGO", "cargo"), "build", "--quiet", "--release", "--target", "wasm32-unknown-unknown"]
    command += ["--manifest-path", str(crate / "Cargo.toml"), "--target-dir", str(target)]
    try:
        outcome = subprocess.run(command, env={**os.environ, "FERRITE_POOL_BYTES": "0"}).returncode
    except FileNotFoundError:
        raise Failure("cargo is missing: install Rust, or name it by the variable CARGO") from None
    if outcome:
        raise Failure("the memory could not be planned, see above: rustup target add wasm32-unknown-unknown")
    return target / "wasm32-unknown-unknown/release/ferrite_plan.wasm"


def workspaces(source):
    """Returns the workspaces of each kernel in C source: sizes in the order of their allocation, -1 where one is freed."""
    pattern = r"TVMBackendAllocWorkspace\(\d+, \w+, \(uint64_t\)(\d+)|TVMBackend(Alloc|Free)Workspace\("
    kernels = {}
    for name, body in re.findall(r"^TVM_DLL int32_t __tvm_ffi_(\w+)\([^;{]*\) \{$(.*?)^\}", source, re.M | re.S):
        kernels[name] = []
        for size, what in re.findall(pattern, body):
            if what == "Alloc":
                raise Failure(f"the workspace of the kernel {name} has a size that is known at run time only")
            kernels[name].append(int(size) if size else -1)
    return kernels


class Measurement:
    """Runs of one function of a model: a few calls, or for a language model conversations of `context` tokens."""

    def __init__(self, wasm, data, events, function, inputs, context=0):
        try:
            import wasmtime
        except ImportError:
            raise Failure("the package wasmtime is missing, which plans the memory: pip install wasmtime") from None
        self.wasmtime = wasmtime
        engine = wasmtime.Engine()
        self.module = wasmtime.Module.from_file(engine, str(wasm))
        self.engine = engine
        self.model = (padded(data), events, function, inputs)
        self.context = context

    def run(self, arena):
        """Returns the error with an arena of that many bytes; an empty string if there is none."""
        data, events, function, inputs = self.model
        store = self.wasmtime.Store(self.engine)
        linker = self.wasmtime.Linker(self.engine)
        linker.define_unknown_imports_as_traps(self.module)
        exports = linker.instantiate(store, self.module).exports(store)
        memory = exports["memory"]

        def put(content):
            address = exports["reserve"](store, len(content) or 1)
            if address == 0:
                raise Failure("the model is too large to plan its memory")
            memory.write(store, content, address)
            return address

        def kernel(item):
            name, sizes = item
            lists = put(name.encode() + b"\0"), len(name.encode()), put(struct.pack(f"<{len(sizes)}q", *sizes)), len(sizes)
            return struct.pack("<4I", *lists)

        def argument(tensor):
            shape = put(struct.pack(f"<{len(tensor.shape)}q", *tensor.shape))
            dtype = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
            fields = (put(bytes(tensor.bytes)), CPU, 0, len(tensor.shape), *dtype, shape, 0, 0)
            return struct.pack("<i4xQ", DLTENSOR_POINTER, put(struct.pack("<IiiiBBHII4xQ", *fields)))

        tables = [b"".join(map(kernel, events.items())), b"".join(map(argument, inputs))]
        name = function.encode()
        arguments = [put(data), len(data), put(tables[0]), len(events), put(name), len(name), put(tables[1]), len(inputs), self.context]
        # The pool is part of the first call that allocates: so comes the arena last.
        exports["give"](store, exports["reserve"](store, arena), arena)
        try:
            failed = exports["run"](store, *arguments)
        except self.wasmtime.WasmtimeError as error:
            raise Failure(f"the model ended the machine that plans its memory: {error}") from None
        if not failed:
            return ""
        start = exports["error"](store)
        return bytes(memory.read(store, start, start + 512)).split(b"\0")[0].decode(errors="replace")


def smallest_arena(measurement):
    """Returns the smallest number of bytes with which the model runs."""
    enough = 4096
    while error := measurement.run(enough):
        if not error.startswith("MemoryError") or enough >= MOST:
            raise Failure(f"the model does not run: {error}")
        enough *= 2
    low, high = 0, enough // UNIT
    # The pool takes the first free block that is large enough, so whatever runs in an arena runs in
    # a larger one.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if measurement.run(middle * UNIT) else (low, middle)
    return high * UNIT
