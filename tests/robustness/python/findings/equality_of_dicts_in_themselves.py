# Structural equality of two Dicts that contain themselves. Upstream's stack overflows.
# upstream: signal 11
# ours: ValueError: StructuralEqual: maximum stack depth
import tvm_ffi

first, second = tvm_ffi.Dict(), tvm_ffi.Dict()
first["self"], second["self"] = first, second
tvm_ffi.structural_equal(first, second)
