import tvm_ffi
hash(tvm_ffi.Map({-4: tvm_ffi.Dict({6: 2**53 + 1}), b"": b"\xff\xfe", False: "😀"}))
tvm_ffi.structural_hash(list("abcdefg"))
tvm_ffi.StructuralKey({i: str(i) for i in range(8)})
