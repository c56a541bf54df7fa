# The search for a device in a List that contains itself. Upstream's stack overflows; ours visits
# each container once. upstream: signal 11
# ours: cpu:0
import tvm_ffi

items = tvm_ffi.List([1])
items.append(items)
print(tvm_ffi.get_global_func("ffi.ContainerFindFirstNonCPUDevice")(items))
