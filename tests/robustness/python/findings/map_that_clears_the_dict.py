# The callback of a structural map clears the Dict that is mapped. Upstream reads entries that are
# freed. upstream: (?!ended$)
# ours: ended
import tvm_ffi

table = tvm_ffi.Dict({str(number) * 9: tvm_ffi.List([number]) for number in range(50)})
tvm_ffi.structural_map(table, lambda value: (table.clear(), value)[1])
print("ended")
