"""The processor that TVM compiles for."""

import pathlib
import platform

COMMON = "x86-64-v3"
"""Processors since 2013: AVX2 and FMA."""
NATIVE = "native"
REASSOCIATION = {"fast-math-reassoc": True, "fast-math-contract": True}
"""Lets LLVM add in several partial sums, and multiply and add in one instruction. NaNs and infinities keep their meaning."""


def target(cpu=None):
    """Returns TVM's target for LLVM's name of a processor, for this machine's (`native`), or for most of its architecture."""
    if cpu == NATIVE:
        from tvm.target import codegen

        cpu = codegen.llvm_get_system_cpu()
    elif cpu is None and {"avx2", "fma"} <= features():
        cpu = COMMON
    return {"kind": "llvm", **REASSOCIATION} | ({"mcpu": cpu} if cpu else {})


def web(simd):
    """Returns TVM's target for WebAssembly in web pages."""
    return {"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm", "vector-width": 128, **REASSOCIATION} | ({"mattr": ["+simd128"]} if simd else {})


def features():
    """Returns the features of an x86-64 processor by Linux's names."""
    info = pathlib.Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not info.is_file():
        return set()
    return next((set(line.split()) for line in info.read_text().splitlines() if line.startswith("flags")), set())
