"""Test TVM's own objects in a round trip through JSON, and as keys: their native hooks have the form of 0.1.14, on which
upstream's 0.1.15.post2 crashes (the first case is the shortest)."""

import ferrite_tvm_ffi
import tvm
import tvm_ffi
from tvm import te

variable = tvm.tirx.Var("x", "int32")
read = tvm.ir.load_json(tvm.ir.save_json(variable))
assert read.name == "x" and read.ty == variable.ty
assert tvm_ffi.structural_equal(variable, read, map_free_vars=True)
assert not tvm_ffi.structural_equal(variable, tvm.tirx.Var("x", "int64"), map_free_vars=True)

source = te.placeholder((16,), "float32", name="source")
output = te.compute((16,), lambda i: source[i] * source[i] + 1.0, name="output")
module = tvm.IRModule({"main": te.create_prim_func([source, output])})
read = tvm.ir.load_json(tvm.ir.save_json(module))
tvm.ir.assert_structural_equal(module, read)
assert tvm_ffi.structural_hash(module) == tvm_ffi.structural_hash(read)
assert read.script() == module.script() and repr(read) == repr(module)

names = ("int32", "float32", "int32", "bool", "int8", "float16")
types = [tvm.ir.PrimType(name) for name in names]
entries = tvm.runtime.convert({kind: index for index, kind in enumerate(types)})
assert len(entries) == 5 and [entries[kind] for kind in types] == [2, 1, 2, 3, 4, 5]
assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
