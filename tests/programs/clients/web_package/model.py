"""A model with two functions: sums of two vectors, and a tensor of 64 MiB."""

from tvm import relax

builder = relax.BlockBuilder()
one, other = (relax.Var(name, relax.TensorType((4,), "float32")) for name in ("one", "other"))
with builder.function("main", [one, other]):
    builder.emit_func_output(relax.Tuple([builder.emit(relax.op.add(one, other)), one]))
x = relax.Var("x", relax.TensorType((1,), "float32"))
with builder.function("large", [x]):
    builder.emit_func_output(builder.emit(relax.op.broadcast_to(x, (16 << 20,))))
model = builder.get()
