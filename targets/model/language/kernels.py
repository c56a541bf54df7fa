"""Kernels of language models: products with weights, and the frontend's cache with its repairs."""

import contextlib

import tvm
from tvm import relax, tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op
from tvm.relax.frontend.nn.llm import kv_cache
from tvm.script import tirx as T

from language import attention
from language.parameters import GROUP, LARGEST, PER_WORD

LANES = (32, 16, 8, 4, 2, 1)
"""Numbers of partial sums of a product, from the best: elements that a processor adds in one instruction, several times over."""
PARALLEL = 1 << 18
"""Weights above which the rows of a product are divided among threads."""


def weight_at(weights, dtype):
    """Returns the function from row and column to a weight: of a matrix, or of words and scales."""
    if len(weights) == 1:
        return lambda row, column: weights[0][row, column].astype(dtype)
    words, scales = weights
    four, fifteen = tirx.const(4, "uint32"), tirx.const(15, "uint32")

    def at(row, column):
        level = (words[row, column // PER_WORD] >> ((column % PER_WORD).astype("uint32") * four)) & fifteen
        # A signed integer converts to a float in one instruction; an unsigned one does not.
        return (level.astype("int32") - tirx.const(LARGEST, "int32")).astype(dtype) * scales[row, column // GROUP].astype(dtype)

    return at


def rows_of(table, ids, width, dtype):
    """Looks up rows of an embedding table, and converts only those."""

    def lookup(ids, *weights):
        at = weight_at(weights, dtype)
        return tvm.te.compute((ids.shape[0], width), lambda row, column: at(ids[row], column), name="rows")

    return op.tensor_expr_op(lookup, "rows", [ids, *table])


def product(x, table, outputs, dtype, target):
    """Multiplies the rows of `x`, of three dimensions, by the transposed matrix of `table`."""
    batch, length, inputs = x.shape
    flat = op.reshape(x, (batch * length, inputs))
    if "gpu" in target.keys:
        out = op.tensor_expr_op(lambda x, *weights: plain_product(x, weights, outputs, dtype), "product", [flat, *table])
    else:
        function = cpu_product(int(inputs), outputs, x.dtype, [(tuple(map(int, t.shape)), t.dtype) for t in table], dtype, target)
        out = op.tensor_ir_op(function, "product", [flat, *table], nn.Tensor.placeholder((batch * length, outputs), dtype))
    return op.reshape(out, (batch, length, outputs))


def plain_product(x, weights, outputs, dtype):
    k, at = tvm.te.reduce_axis((0, x.shape[1]), "k"), weight_at(weights, dtype)
    return tvm.te.compute((x.shape[0], outputs), lambda i, j: tvm.te.sum(x[i, k].astype(dtype) * at(j, k), k), name="product")


def cpu_product(inputs, outputs, x_dtype, shapes, dtype, target):
    """Returns the kernel for CPUs. It adds in float32, in partial sums: one sum could not be vectorised, since the order of its additions is fixed."""
    lanes = next(n for n in LANES if inputs % n == 0)
    rows = tirx.Var("rows", "int64")
    x = tvm.te.placeholder((rows, inputs), x_dtype, "x")
    weights = [tvm.te.placeholder(shape, weight_dtype, "w") for shape, weight_dtype in shapes]
    at = weight_at(weights, "float32")
    if len(weights) > 1:
        # Converted once for all rows of `x`.
        unpacked = tvm.te.compute((outputs, inputs), at, name="unpacked")
    weight = at if len(weights) == 1 else lambda row, column: unpacked[row, column]
    k, lane = tvm.te.reduce_axis((0, inputs // lanes), "k"), tvm.te.reduce_axis((0, lanes), "lane")
    partial = tvm.te.compute(
        (rows, outputs, lanes),
        lambda i, j, v: tvm.te.sum(x[i, k * lanes + v].astype("float32") * weight(j, k * lanes + v), k),
        name="partial",
    )
    total = tvm.te.compute((rows, outputs), lambda i, j: tvm.te.sum(partial[i, j, lane], lane), name="total")
    stages = [total] if dtype == "float32" else [total, tvm.te.compute((rows, outputs), lambda i, j: total[i, j].astype(dtype), name="out")]
    function = tvm.te.create_prim_func([x, *weights, stages[-1]])
    schedule = tvm.s_tir.Schedule(function)
    outer = schedule.get_sblock("out" if len(stages) > 1 else "total")
    i, j, *_ = schedule.get_loops(outer)
    schedule.reorder(j, i)
    if inputs * outputs >= PARALLEL and target.kind.name == "llvm":
        schedule.parallel(j)
    if len(stages) > 1:
        schedule.compute_at(schedule.get_sblock("total"), i)
    block = schedule.get_sblock("partial")
    schedule.compute_at(block, i)
    *_, v, k = schedule.get_loops(block)
    schedule.reorder(k, v)
    if target.kind.name == "llvm":
        schedule.vectorize(v)
    schedule.decompose_reduction(block, k)
    if len(weights) > 1:
        block = schedule.get_sblock("unpacked")
        schedule.compute_at(block, j)
        _, group = schedule.split(schedule.get_loops(block)[-1], [None, GROUP])
        if target.kind.name == "llvm":
            schedule.vectorize(group)
    return schedule.mod["main"].without_attr("global_symbol").with_attr("tirx.is_scheduled", True)


class Cache(kv_cache.TIRPagedKVCache):
    """The frontend's paged key-value cache, with the repairs of apache-tvm 0.27, and faster kernels for CPUs."""

    def __init__(self, **options):
        target = options["target"]
        with replaced(target):
            # The frontend takes any target but LLVM's for a GPU's; its kernels for LLVM fit C.
            super().__init__(**options | {"target": tvm.target.Target("llvm") if target.kind.name == "c" else target})


@contextlib.contextmanager
def replaced(target):
    """Replaces kernels of the frontend.

    For CPUs it passes the two kernels of token trees in the opposite order to the runtime's, so they change places. For GPUs several
    threads of its merge kernel read sums that one of them replaces, which is wrong where threads do not run in step. Its attention for
    CPUs calculates one position after the other, in scalars, which stay for C: it has no vectors.
    """
    changed = {
        "tree_attn_cpu": kv_cache.tree_attn_with_paged_kv_cache_cpu,
        "tree_attn_with_paged_kv_cache_cpu": kv_cache.tree_attn_cpu,
        "_merge_state_inplace": merge_of_rows,
    }
    if target.kind.name == "llvm":
        changed |= {
            "_attention_decode_cpu": without_windows(attention.decode, kv_cache._attention_decode_cpu),
            "_attention_prefill_cpu": without_windows(attention.prefill, kv_cache._attention_prefill_cpu),
            "_attention_prefill_ragged_cpu": lambda kv_heads, heads, width, _, dtype, scaling: attention.ragged(kv_heads, heads, width, dtype, scaling),
        }
    before = {name: getattr(kv_cache, name) for name in changed}
    try:
        for name, function in changed.items():
            setattr(kv_cache, name, function)
        yield
    finally:
        for name, function in before.items():
            setattr(kv_cache, name, function)


def without_windows(own, frontend):
    """Returns a function that makes the kernel `own`, or the frontend's for sequences with sliding windows, whose keys are cached without rotation."""

    def make(kv_heads, heads, width, dtype, windows, *others, **options):
        return frontend(kv_heads, heads, width, dtype, windows, *others, **options) if windows else own(kv_heads, heads, width, dtype)

    return make


def merge_of_rows(heads, dim, dtype, target, global_symbol=None):
    """Returns a kernel that merges two partial results of attention, with a thread for each row."""

    @T.prim_func(s_tir=True)
    def merge_state(values: T.handle, sums: T.handle, other_values: T.handle, other_sums: T.handle):
        T.func_attr({"tirx.is_scheduled": True})
        n = T.int32()
        V = T.match_buffer(values, (n, heads, dim), dtype)
        S = T.match_buffer(sums, (n, heads), "float32")
        V_other = T.match_buffer(other_values, (n, heads, dim), dtype)
        S_other = T.match_buffer(other_sums, (n, heads), "float32")
        for row in T.thread_binding(n, thread="blockIdx.x"):
            for head in T.thread_binding(heads, thread="threadIdx.x"):
                with T.sblock("merge"):
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    mine = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    other = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    top[0] = T.max(S[row, head], S_other[row, head])
                    mine[0] = T.exp2(S[row, head] - top[0])
                    other[0] = T.exp2(S_other[row, head] - top[0])
                    for k in T.serial(dim):
                        V[row, head, k] = T.Cast(
                            dtype,
                            (T.Cast("float32", V[row, head, k]) * mine[0] + T.Cast("float32", V_other[row, head, k]) * other[0])
                            / (mine[0] + other[0]),
                        )
                    S[row, head] = T.log2(mine[0] + other[0]) + top[0]

    return merge_state.with_attr("global_symbol", global_symbol) if global_symbol else merge_state


def cache(description, dtype, target, sizes, unused=()):
    """Creates the cache of a model in the function that is being built. `sizes` are the five numbers that its caller gives, `unused` the
    arguments of the constructor for kernels that no step needs."""
    d, (batch, total, chunk, page, windows) = description, sizes
    made = Cache(
        attn_kind="mha",
        max_batch_size=batch,
        max_total_seq_len=total,
        prefill_chunk_size=chunk,
        page_size=page,
        support_sliding_window=windows,
        layer_partition=relax.ShapeExpr([0, d.layers]),
        num_hidden_layers=d.layers,
        num_attention_heads=d.heads,
        num_key_value_heads=d.kv_heads,
        qk_head_dim=d.head,
        v_head_dim=d.head,
        mla_original_qk_head_dim=0,
        mla_original_v_head_dim=0,
        rope_mode=kv_cache.RopeMode.NORMAL,
        rope_scale=1,
        rope_theta=int(d.theta) if d.theta == int(d.theta) else d.theta,
        rope_scaling=d.scaling,
        rope_ext_factors=relax.prim_value(0),
        rotary_dim=d.head,
        enable_disaggregation=False,
        dtype=dtype,
        target=target,
    )
    if unused:
        builder = relax.BlockBuilder.current()
        call = builder.lookup_binding(made._expr)
        # The first argument is the name of the builtin.
        arguments = [relax.Tuple([]) if at - 1 in unused else argument for at, argument in enumerate(call.args)]
        made._expr = builder.emit(relax.Call(call.op, arguments, call.attrs, call.ty_args))
    return made


def reachable(mod, names):
    """Returns a module with the functions of the given names and those that they call."""
    mod = relax.transform.DeadCodeElimination(list(names))(mod)
    used = {variable.name_hint for name in names for variable in relax.analysis.all_global_vars(mod[name])} | set(names)
    return tvm.IRModule({variable: function for variable, function in mod.functions.items() if variable.name_hint in used})
