"""A decoder for firmware: weights are constants of its functions, and a step has one token of one conversation."""

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache
from tvm.tirx import call_pure_extern
from tvm.tirx.op import register_intrin_lowering

from language import kernels, network
from language.options import PAGE

FUNCTIONS = ("create", "reset", "begin", "step")
SEQUENCE = 0
UNUSED = (15, 16, 18, 19, 20, 21)
"""Arguments of the cache's constructor: attention kernels for several tokens, sliding windows and token trees."""
MATH = ("exp2", "log2")
"""Operations that TVM's C target does not lower, each the name of a C function."""


class Decoder(network.Decoder):
    def step(self, token: Tensor, paged_kv_cache):
        x = op.reshape(self.embed(token), (1, 1, self.d.width))
        logits, _ = self.decode(x, paged_kv_cache)
        return op.reshape(logits, (self.d.vocab,))

    def spec(self):
        cache = nn.spec.Object(object_type=kv_cache.PagedKVCache)
        arguments = {"token": nn.spec.Tensor([1], "int32"), "paged_kv_cache": cache}
        return nn.spec.ModuleSpec.from_raw({"step": arguments | {"$": {"param_mode": "plain", "effect_mode": "none"}}}, self)


def module(description, options, stored):
    """Returns the IRModule of a decoder with the functions `create()`, which returns a cache, `reset(cache)`, `begin(cache)` and `step(token,
    cache)`, which returns logits. `stored` returns the arrays of a parameter by their names."""
    decoder = Decoder(description, options)
    mod, parameters = decoder.export_tvm(spec=decoder.spec(), allow_extern=False)[:2]
    arrays = {name: tvm.runtime.tensor(array) for parameter, _ in parameters for name, array in stored(parameter)}
    builder = relax.BlockBuilder(relax.transform.BindParams("step", arrays)(mod))
    with builder.function("create", []):
        made = kernels.cache(description, options.dtype, options.target, (1, options.context, 1, PAGE, 0), UNUSED)
        builder.emit_func_output(made._expr)
    with_cache(builder, "reset", ("kv_state_clear",), ("kv_state_add_sequence", relax.prim_value(SEQUENCE)))
    with_cache(builder, "begin", ("kv_state_begin_forward", relax.ShapeExpr([SEQUENCE]), relax.ShapeExpr([1])))
    return kernels.reachable(builder.finalize(), FUNCTIONS)


def with_cache(builder, name, *calls):
    """Adds a function that calls builtins with a cache, and returns the cache."""
    state = relax.Var("cache", relax.AnyType())
    with builder.function(name, [state], pure=False):
        for builtin, *arguments in calls:
            callee = relax.ExternFunc("vm.builtin." + builtin)
            builder.emit(relax.Call(callee, [state, *arguments], ty_args=[relax.AnyType()]))
        builder.emit_func_output(state)


def lower(call):
    """Returns the call of a C function for an operation on floats."""
    suffix = {"float32": "f", "float64": ""}.get(str(call.ty.dtype))
    return call if suffix is None else call_pure_extern(call.ty, call.op.name.removeprefix("tirx.") + suffix, *call.args)


for name in MATH:
    register_intrin_lowering(f"tirx.{name}", target="c", f=lower)
