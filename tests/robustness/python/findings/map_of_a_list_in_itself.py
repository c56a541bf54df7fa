# A structural map over a List that contains itself. Upstream's stack overflows.
# upstream: signal 11
# ours: ValueError: StructuralMutate: maximum stack depth
import tvm_ffi

items = tvm_ffi.List([1])
items.append(items)
tvm_ffi.structural_map(items, (int, lambda value: value + 1))
