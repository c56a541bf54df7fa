# Space for 2**62 elements: upstream's size in bytes overflows to 0, and the next elements are
# written beyond the block. upstream: signal (11|6)
# ours: MemoryError: Out of memory: the size overflows the address space
import tvm_ffi

items = tvm_ffi.List()
tvm_ffi.get_global_func("ffi.ListReserve")(items, 2**62)
for number in range(100_000):
    items.append(number)
