import tvm_ffi
tvm_ffi.get_global_func("ffi.json.Parse")('"\\u00e9"')
tvm_ffi.get_global_func("ffi.json.Parse")('"\\u00e9" "')
tvm_ffi.get_global_func("ffi.json.Stringify")(tvm_ffi.Array([3]), 2)
tvm_ffi.get_global_func("ffi.json.Stringify")(tvm_ffi.Array([3] * 9), 2)
tvm_ffi.get_global_func("ffi.ReprPrint")(tvm_ffi.List([]))
loaded = tvm_ffi.serialization.from_json_graph_str(tvm_ffi.serialization.to_json_graph_str('q"q'))
type(loaded).__name__
