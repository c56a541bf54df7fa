# A List is used after `_move()`. The Python package passes its null handle as an object: no library
# can prevent it. upstream: signal 11
# ours: signal 11
import tvm_ffi

items = tvm_ffi.List([1])
tvm_ffi.convert(lambda value: None)(items._move())
len(items)
