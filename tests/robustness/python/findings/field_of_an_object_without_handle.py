# A field of an instance that `__init__` has not made. The Python package adds the offset of the
# field to null. upstream: signal 11
# ours: signal 11
import tvm_ffi
from tvm_ffi import dataclasses


@dataclasses.py_class("findings.Box")
class Box(dataclasses.Object):
    value: int = 1


tvm_ffi.Object.__new__(Box).value
