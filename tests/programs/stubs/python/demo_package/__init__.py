"""Registers functions and, by a library, classes. DEMO_LIBRARY names the library."""

import os

import tvm_ffi

library = tvm_ffi.load_module(os.environ["DEMO_LIBRARY"])


@tvm_ffi.register_global_func("demo_package.add")
def add(x, y):
    return x + y


@tvm_ffi.register_global_func("demo_package.text.join")
def join(*parts):
    return "".join(parts)
