# An alignment that is no power of two is accepted if the address is a multiple of it by chance.
# upstream: 3 [1-9]\d*|RuntimeError: FromDLPack: Data is not aligned to 3 bytes
# ours: ValueError: FromDLPack: the alignment 3 is not a power of two
import numpy as np
import tvm_ffi

aligned = 0
for _ in range(100):
    try:
        tvm_ffi.from_dlpack(np.arange(1000), require_alignment=3)
        aligned += 1
    except RuntimeError:
        pass
print(3, aligned)
