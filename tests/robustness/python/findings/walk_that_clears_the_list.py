# The callback of a walk clears the List that is walked. Upstream reads elements that are freed.
# upstream: signal (11|6)|takes too long
# ours: 0
import tvm_ffi

items = tvm_ffi.List([tvm_ffi.List([number]) for number in range(50)])
tvm_ffi.structural_walk(items, lambda value: items.clear() if len(items) else None)
print(len(items))
