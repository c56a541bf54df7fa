# The release of 300,000 nested Lists. Upstream's stack overflows.
# upstream: signal 11
# ours: released
import tvm_ffi

nested = tvm_ffi.List()
for _ in range(300_000):
    nested = tvm_ffi.List([nested])
del nested
print("released")
