import tvm_ffi
tvm_ffi.get_global_func("testing.schema_id_dtype")(b"\xff\xfe")
