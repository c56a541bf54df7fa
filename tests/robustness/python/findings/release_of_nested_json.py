# JSON of 300,000 nested arrays: 600 kB of input. Upstream's stack overflows.
# upstream: signal 11
# ours: parsed
import tvm_ffi

value = tvm_ffi.get_global_func("ffi.json.Parse")("[" * 300_000 + "]" * 300_000)
del value
print("parsed")
