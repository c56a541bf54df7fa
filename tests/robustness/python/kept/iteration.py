import tvm_ffi
items = tvm_ffi.List([{b"": "", (1.5, True): -2}, [2, "漢字漢"], 3])
for item in items:
    items.pop()
table = tvm_ffi.Dict({-4: 1, b"": b"\xff\xfe", False: "😀"})
try:
    for key in table:
        del table[key]
except KeyError:
    pass
table.clear()
table
