# A callback of a walk returns 2**32 + 2, which is not a WalkResult. Upstream drops the upper bits
# and takes it for SKIP or INTERRUPT. upstream: None
# ours: RuntimeError: Integer 4294967298 is out of range
import tvm_ffi

print(tvm_ffi.structural_walk(tvm_ffi.Array([1]), lambda value: 2**32 + 2))
