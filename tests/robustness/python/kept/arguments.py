import tvm_ffi
tvm_ffi.get_global_func("ffi.ArrayGetItem")({128: [9]}, float("inf"))
tvm_ffi.get_global_func("ffi.ArrayGetItem")(tvm_ffi.Array([1]), float("inf"))
tvm_ffi.get_global_func("ffi.StructuralEqual")(1.5, 1.5, 0, "no")
tvm_ffi.get_global_func("ffi.MakeObjectFromPackedArgs")()
tvm_ffi.structural_walk(tvm_ffi.Array([1]), lambda value: 2**63 - 1)
tvm_ffi.get_global_func("ffi.ListInsert")(tvm_ffi.List([1]), -2**63, 1)
