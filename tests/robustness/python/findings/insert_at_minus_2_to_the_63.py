# An insertion at an index far below 0. Upstream makes a pointer of it, whose offset in bytes
# overflows to 0, and inserts at the front. upstream: \[9, 1, 2\]
# ours: IndexError: Index -9223372036854775808 out of bounds \[0, 2\]
import tvm_ffi

items = tvm_ffi.List([1, 2])
tvm_ffi.get_global_func("ffi.ListInsert")(items, -(2**63), 9)
print(list(items))
