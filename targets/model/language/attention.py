"""Attention kernels for CPUs: sixteen positions at a time, in vectors along a head, for all query heads of a key head."""

import math

from tvm.relax.frontend.nn.llm._kernel_common import _rope as rotated
from tvm.script import tirx as T

TILE = 16
"""Positions that are computed together: those of a page of the frontend."""
LOWEST = -5e4
"""Score of a row that sees nothing."""
LANES = (8, 4, 2, 1)
"""Numbers of partial sums of a product, from the best."""
LOG2_E = math.log2(math.e)


def sum_of(buffer, first, count):
    """Returns the sum of elements in pairs, which do not wait for each other."""
    if count == 1:
        return buffer[first]
    return sum_of(buffer, first, count // 2) + sum_of(buffer, first + count // 2, count // 2)


class Steps:
    """The steps of attention of a group of query heads, with a maximum, a sum of weights and a weighted sum of values for each.

    The kernels declare no reads and writes of their blocks: the parser would take variables of inner blocks for those of outer ones.
    """

    def __init__(self, group, width):
        lanes = next(n for n in LANES if width % n == 0)

        @T.macro
        def begin(top: T.Buffer, total: T.Buffer, out: T.Buffer):
            for g in T.serial(group):
                top[g] = T.float32(LOWEST)
                total[g] = T.float32(1)
                for i in T.serial(width):
                    out[g, i] = T.float32(0)

        @T.macro
        def attend(
            count, scale, q: T.Buffer, k: T.Buffer, v: T.Buffer, part: T.Buffer, weight: T.Buffer, top: T.Buffer, total: T.Buffer, out: T.Buffer
        ):
            for g in T.serial(group):
                # The last weight is the maximum, and then the factor of what was added before.
                weight[TILE] = top[g]
                for j in T.serial(count):
                    for lane in T.vectorized(lanes):
                        part[lane] = T.float32(0)
                    for i in T.serial(width // lanes):
                        for lane in T.vectorized(lanes):
                            part[lane] = part[lane] + q[g, i * lanes + lane] * T.Cast("float32", k[j, i * lanes + lane])
                    weight[j] = sum_of(part, 0, lanes) * scale
                    weight[TILE] = T.max(weight[TILE], weight[j])
                part[0] = top[g]
                top[g] = weight[TILE]
                weight[TILE] = T.exp2(part[0] - top[g])
                total[g] = total[g] * weight[TILE]
                for j in T.serial(count):
                    weight[j] = T.exp2(weight[j] - top[g])
                    total[g] = total[g] + weight[j]
                for i in T.serial(width // lanes):
                    for lane in T.vectorized(lanes):
                        part[lane] = out[g, i * lanes + lane] * weight[TILE]
                    for j in T.serial(count):
                        for lane in T.vectorized(lanes):
                            part[lane] = part[lane] + weight[j] * T.Cast("float32", v[j, i * lanes + lane])
                    for lane in T.vectorized(lanes):
                        out[g, i * lanes + lane] = part[lane]

        @T.macro
        def finish(row, head, dtype, top: T.Buffer, total: T.Buffer, out: T.Buffer, values: T.Buffer, sums: T.Buffer):
            for g in T.serial(group):
                for i in T.serial(width):
                    values[row, head * group + g, i] = T.Cast(dtype, out[g, i] / total[g])
                sums[row, head * group + g] = top[g] + T.log2(total[g])

        self.begin, self.attend, self.finish = begin, attend, finish


def decode(kv_heads, heads, width, dtype):
    """Returns the kernel of single tokens over pages, whose keys are rotated."""
    group = heads // kv_heads
    steps = Steps(group, width)
    begin, attend, finish = steps.begin, steps.attend, steps.finish

    @T.prim_func(s_tir=True)
    def attention_decode(
        q_handle: T.handle,
        pages_handle: T.handle,
        page_ends_handle: T.handle,
        page_numbers_handle: T.handle,
        lengths_handle: T.handle,
        key_offsets_handle: T.handle,
        positions_handle: T.handle,
        values_handle: T.handle,
        sums_handle: T.handle,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        factor: T.float32,
    ):
        T.func_attr({"tirx.is_scheduled": True})
        batch = T.int32()
        page_count = T.int32()
        used_pages = T.int32()
        ends_at = T.int32()
        numbers_at = T.int32()
        lengths_at = T.int32()
        Q = T.match_buffer(q_handle, (batch, heads, width), dtype)
        pages = T.match_buffer(pages_handle, (page_count, 2, kv_heads, TILE, width), dtype)
        page_ends = T.match_buffer(page_ends_handle, (batch + 1,), "int32", elem_offset=ends_at)
        numbers = T.match_buffer(page_numbers_handle, (used_pages,), "int32", elem_offset=numbers_at)
        lengths = T.match_buffer(lengths_handle, (batch,), "int32", elem_offset=lengths_at)
        values = T.match_buffer(values_handle, (batch, heads, width), dtype)
        sums = T.match_buffer(sums_handle, (batch, heads), "float32")
        for row, head in T.grid(batch, kv_heads):
            with T.sblock("attention"):
                T.reads()
                T.writes()
                q = T.sblock_alloc_buffer((group, width), "float32")
                out = T.sblock_alloc_buffer((group, width), "float32")
                part = T.sblock_alloc_buffer((8,), "float32")
                weight = T.sblock_alloc_buffer((TILE + 1,), "float32")
                top = T.sblock_alloc_buffer((group,), "float32")
                total = T.sblock_alloc_buffer((group,), "float32")
                begin(top, total, out)
                for g, i in T.grid(group, width):
                    q[g, i] = T.Cast("float32", Q[row, head * group + g, i])
                for index in T.serial(page_ends[row + 1] - page_ends[row]):
                    page: T.let[T.int32] = numbers[page_ends[row] + index]
                    count: T.let[T.int32] = T.if_then_else(page_ends[row] + index + 1 == page_ends[row + 1], lengths[row], TILE)
                    with T.sblock("page"):
                        T.reads()
                        T.writes()
                        k = T.match_buffer(pages[page, 0, head, 0:TILE, 0:width], (TILE, width), dtype, strides=[width, 1], offset_factor=1)
                        v = T.match_buffer(pages[page, 1, head, 0:TILE, 0:width], (TILE, width), dtype, strides=[width, 1], offset_factor=1)
                        attend(count, factor * T.float32(LOG2_E), q, k, v, part, weight, top, total, out)
                finish(row, head, dtype, top, total, out, values, sums)

    return attention_decode


def prefill(kv_heads, heads, width, dtype):
    """Returns the kernel of several tokens of each sequence over pages, whose keys are rotated."""
    group = heads // kv_heads
    steps = Steps(group, width)
    begin, attend, finish = steps.begin, steps.attend, steps.finish

    @T.prim_func(s_tir=True)
    def attention_prefill(
        q_handle: T.handle,
        query_ends_handle: T.handle,
        pages_handle: T.handle,
        page_ends_handle: T.handle,
        page_numbers_handle: T.handle,
        lengths_handle: T.handle,
        key_offsets_handle: T.handle,
        positions_handle: T.handle,
        values_handle: T.handle,
        sums_handle: T.handle,
        causal: T.int32,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        factor: T.float32,
    ):
        T.func_attr({"tirx.is_scheduled": True})
        batch = T.int32()
        rows = T.int32()
        page_count = T.int32()
        used_pages = T.int32()
        queries_at = T.int32()
        ends_at = T.int32()
        numbers_at = T.int32()
        lengths_at = T.int32()
        Q = T.match_buffer(q_handle, (rows, heads, width), dtype)
        query_ends = T.match_buffer(query_ends_handle, (batch + 1,), "int32", elem_offset=queries_at)
        pages = T.match_buffer(pages_handle, (page_count, 2, kv_heads, TILE, width), dtype)
        page_ends = T.match_buffer(page_ends_handle, (batch + 1,), "int32", elem_offset=ends_at)
        numbers = T.match_buffer(page_numbers_handle, (used_pages,), "int32", elem_offset=numbers_at)
        lengths = T.match_buffer(lengths_handle, (batch,), "int32", elem_offset=lengths_at)
        values = T.match_buffer(values_handle, (rows, heads, width), dtype)
        sums = T.match_buffer(sums_handle, (rows, heads), "float32")
        for sequence, head in T.grid(batch, kv_heads):
            used: T.let[T.int32] = page_ends[sequence + 1] - page_ends[sequence]
            cached: T.let[T.int32] = T.if_then_else(used > 0, (used - 1) * TILE + lengths[sequence], 0)
            new: T.let[T.int32] = query_ends[sequence + 1] - query_ends[sequence]
            for query in T.serial(new):
                visible: T.let[T.int32] = T.if_then_else(causal > 0, cached - new + query + 1, cached)
                with T.sblock("attention"):
                    T.reads()
                    T.writes()
                    q = T.sblock_alloc_buffer((group, width), "float32")
                    out = T.sblock_alloc_buffer((group, width), "float32")
                    part = T.sblock_alloc_buffer((8,), "float32")
                    weight = T.sblock_alloc_buffer((TILE + 1,), "float32")
                    top = T.sblock_alloc_buffer((group,), "float32")
                    total = T.sblock_alloc_buffer((group,), "float32")
                    begin(top, total, out)
                    for g, i in T.grid(group, width):
                        q[g, i] = T.Cast("float32", Q[query_ends[sequence] + query, head * group + g, i])
                    for index in T.serial((visible + (TILE - 1)) // TILE):
                        page: T.let[T.int32] = numbers[page_ends[sequence] + index]
                        count: T.let[T.int32] = T.min(visible - index * TILE, TILE)
                        with T.sblock("page"):
                            T.reads()
                            T.writes()
                            k = T.match_buffer(pages[page, 0, head, 0:TILE, 0:width], (TILE, width), dtype, strides=[width, 1], offset_factor=1)
                            v = T.match_buffer(pages[page, 1, head, 0:TILE, 0:width], (TILE, width), dtype, strides=[width, 1], offset_factor=1)
                            attend(count, factor * T.float32(LOG2_E), q, k, v, part, weight, top, total, out)
                    finish(query_ends[sequence] + query, head, dtype, top, total, out, values, sums)

    return attention_prefill


def ragged(kv_heads, heads, width, dtype, scaling):
    """Returns the kernel of the tokens of a step among themselves. It rotates queries and keys where the cache has sliding windows."""
    group = heads // kv_heads
    steps = Steps(group, width)
    begin, attend, finish = steps.begin, steps.attend, steps.finish

    @T.prim_func(s_tir=True)
    def attention_ragged(
        q_handle: T.handle,
        query_ends_handle: T.handle,
        k_handle: T.handle,
        v_handle: T.handle,
        key_ends_handle: T.handle,
        positions_handle: T.handle,
        key_offsets_handle: T.handle,
        values_handle: T.handle,
        sums_handle: T.handle,
        causal: T.int32,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        factor: T.float32,
    ):
        T.func_attr({"tirx.is_scheduled": True})
        batch = T.int32()
        rows = T.int32()
        key_rows = T.int32()
        queries_at = T.int32()
        keys_at = T.int32()
        positions_at = T.int32()
        offsets_at = T.int32()
        Q = T.match_buffer(q_handle, (rows, heads, width), dtype)
        query_ends = T.match_buffer(query_ends_handle, (batch + 1,), "int32", elem_offset=queries_at)
        K = T.match_buffer(k_handle, (key_rows, kv_heads, width), dtype)
        V = T.match_buffer(v_handle, (key_rows, kv_heads, width), dtype)
        key_ends = T.match_buffer(key_ends_handle, (batch + 1,), "int32", elem_offset=keys_at)
        positions = T.match_buffer(positions_handle, (rows,), "int32", elem_offset=positions_at)
        key_offsets = T.match_buffer(key_offsets_handle, (batch,), "int32", elem_offset=offsets_at)
        values = T.match_buffer(values_handle, (rows, heads, width), dtype)
        sums = T.match_buffer(sums_handle, (rows, heads), "float32")
        for sequence, head in T.grid(batch, kv_heads):
            keys: T.let[T.int32] = key_ends[sequence + 1] - key_ends[sequence]
            new: T.let[T.int32] = query_ends[sequence + 1] - query_ends[sequence]
            for query in T.serial(new):
                row: T.let[T.int32] = query_ends[sequence] + query
                visible: T.let[T.int32] = T.if_then_else(causal > 0, keys - new + query + 1, keys)
                with T.sblock("attention"):
                    T.reads()
                    T.writes()
                    q = T.sblock_alloc_buffer((group, width), "float32")
                    k = T.sblock_alloc_buffer((TILE, width), "float32")
                    v = T.sblock_alloc_buffer((TILE, width), "float32")
                    out = T.sblock_alloc_buffer((group, width), "float32")
                    part = T.sblock_alloc_buffer((8,), "float32")
                    weight = T.sblock_alloc_buffer((TILE + 1,), "float32")
                    top = T.sblock_alloc_buffer((group,), "float32")
                    total = T.sblock_alloc_buffer((group,), "float32")
                    begin(top, total, out)
                    for g, i in T.grid(group, width):
                        q[g, i] = T.Cast("float32", Q[row, head * group + g, i])
                    if rotary_mode == 1:
                        for g, i in T.grid(group, width):
                            q[g, i] = rotated(Q, positions[row], width, rope_theta, rope_scale, (row, head * group + g, i), "float32", scaling)
                    for index in T.serial((visible + (TILE - 1)) // TILE):
                        first: T.let[T.int32] = key_ends[sequence] + index * TILE
                        count: T.let[T.int32] = T.min(visible - index * TILE, TILE)
                        for j, i in T.grid(count, width):
                            k[j, i] = T.Cast("float32", K[first + j, head, i])
                            v[j, i] = T.Cast("float32", V[first + j, head, i])
                        if rotary_mode == 1:
                            for j, i in T.grid(count, width):
                                position: T.let[T.int32] = key_offsets[sequence] + index * TILE + j
                                k[j, i] = rotated(K, position, width, rope_theta, rope_scale, (first + j, head, i), "float32", scaling)
                        attend(count, factor * T.float32(LOG2_E), q, k, v, part, weight, top, total, out)
                    finish(row, head, dtype, top, total, out, values, sums)

    return attention_ragged
