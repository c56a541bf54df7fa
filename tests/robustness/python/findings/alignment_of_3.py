# An alignment that is not a power of two is accepted if the address is a multiple of it by chance.
# upstream: 3 [1-9]\d*|RuntimeError: FromDLPack: Data is not aligned to 3 bytes
# ours: ValueError: FromDLPack: the alignment 3 is not a power of two
import numpy as np
import tvm_ffi

aligned = 0
arrays = [np.arange(1000 + count) for count in range(100)]  # at addresses with each remainder
for array in arrays:
    try:
        tvm_ffi.from_dlpack(array, require_alignment=3)
        aligned += 1
    except RuntimeError:
        pass
print(3, aligned)
