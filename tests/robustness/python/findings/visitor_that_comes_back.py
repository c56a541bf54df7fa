# A visitor that visits the value it was called with. Upstream's stack overflows; with ours Python's
# own limit ends it. upstream: signal 11
# ours: RuntimeError: maximum recursion depth exceeded
import tvm_ffi

items = tvm_ffi.Array([1])
tvm_ffi.structural_visit(items, (tvm_ffi.Array, lambda value, visitor: visitor.visit(items)))
