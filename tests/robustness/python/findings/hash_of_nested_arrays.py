# The structural hash of 100,000 nested Arrays. Upstream's stack overflows.
# upstream: signal 11
# ours: True
import tvm_ffi

nested = tvm_ffi.Array([])
for _ in range(100_000):
    nested = tvm_ffi.Array([nested])
print(tvm_ffi.structural_hash(nested) != 0)
