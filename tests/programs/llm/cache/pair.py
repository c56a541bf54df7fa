"""A paged key-value cache and one without pages, which do the same and are compared."""

import functools

import numpy as np
import tvm_ffi

from attention import LOWEST, attend, causal, merged
from kernels import MLA, SLIDING, Kernels
from plain import Plain

TOLERANCE = 2e-4


@functools.cache
def builtin(name):
    return tvm_ffi.get_global_func("vm.builtin." + name)


def method(name):
    return builtin("attention_kv_cache_" + name)


def state(name):
    return builtin("kv_state_" + name)


def shape(values):
    return tvm_ffi.Shape([int(value) for value in values])


class Difference(AssertionError):
    """A result that differs from that of the model."""


class Pair:
    """A paged cache and a plain one, which do the same."""

    def __init__(self, config, seed=0):
        self.config, self.kernels, self.plain = config, Kernels(config), Plain(config)
        self.cache = self.kernels.create()
        self.numbers = np.random.default_rng(seed)
        self.log, self.record = [], None

    # ---- operations

    def add(self, name):
        state("add_sequence")(self.cache, name)
        self.plain.add(name)

    def remove(self, name):
        state("remove_sequence")(self.cache, name)
        self.plain.remove(name)

    def fork(self, parent, child, position=-1):
        state("fork_sequence")(self.cache, parent, child, position)
        self.plain.fork(parent, child, position)

    def popn(self, name, count):
        state("popn")(self.cache, name, count)
        self.plain.popn(name, count)

    def window(self, name, window, sink):
        method("enable_sliding_window_for_seq")(self.cache, name, window, sink)
        self.plain.window(name, window, sink)

    def clear(self):
        state("clear")(self.cache)
        self.plain.clear()

    def commit(self, names, leaves):
        method("commit_accepted_token_tree_nodes")(self.cache, shape(names), shape(leaves))
        self.plain.commit(names, leaves)

    def step(self, names, lengths, parents=None, shared=False, padding=0, fits=True, may_be_refused=False):
        """A step of all layers; `shared`: a layer's keys are used by another one, too. `fits` is None if that is unknown."""
        extra = [] if parents is None else [shape(parents)]
        try:
            state("begin_forward")(self.cache, shape(names), shape(lengths), *extra)
        except Exception as error:  # noqa: BLE001
            if not may_be_refused or fits or "The KV cache is full" not in str(error):
                raise
            return
        if fits is False:
            raise Difference("a step that does not fit was accepted")
        positions = self.plain.begin(names, lengths, parents)
        self.same("positions", positions, method("get_query_positions")(self.cache))
        for layer, kind in enumerate(self.config.kinds):
            if kind == MLA:
                self.latent_layer(layer, sum(lengths))
            else:
                self.layer(layer, sum(lengths), padding)
                if shared:
                    self.shared_layer(layer, sum(lengths))
        state("end_forward")(self.cache)
        self.plain.end()

    def drawn(self, *dimensions):
        return self.numbers.standard_normal(dimensions).astype(self.config.dtype)

    def layer(self, layer, rows, padding):
        c, factor = self.config, 0.35
        qkv = self.drawn(rows + padding, c.heads + 2 * c.key_heads, c.width)
        out = np.full((rows + padding, c.heads, c.value_width), 7.0, c.dtype)
        given = tvm_ffi.from_dlpack(out)
        method("attention_with_fused_qkv")(self.cache, layer, factor, tvm_ffi.from_dlpack(qkv), given)
        self.same(f"layer {layer}", self.plain.attention(layer, qkv[:rows], factor), given, rows)
        self.equal("padding", (out[rows:] == 7.0).all(), True)

    def shared_layer(self, layer, rows):
        c, factor = self.config, 0.6
        q = self.drawn(rows, c.heads, c.width)
        tokens = [sequence.tokens[len(sequence) - n :, layer] for sequence, n in zip(self.plain.batch, self.plain.lengths)]
        k, v = (np.ascontiguousarray(np.concatenate(tokens)[:, part]) for part in (0, 1))
        given = tvm_ffi.from_dlpack(np.zeros((rows, c.heads, c.value_width), c.dtype))
        method("attention_with_shared_kv")(self.cache, layer, factor, *map(tvm_ffi.from_dlpack, (q, k, v)), given)
        self.same(f"shared layer {layer}", self.plain.over_tokens(layer, q, factor), given)

    def latent_layer(self, layer, rows):
        """A layer of multi-head latent attention: new tokens in full width, cached ones as latent rows."""
        c, factor = self.config, 0.35
        values = self.drawn(rows, c.width)
        method("append_mla_kv")(self.cache, layer, tvm_ffi.from_dlpack(values))
        self.plain.append_latent(layer, values)
        q, k, v = self.drawn(rows, c.heads, 10), self.drawn(rows, c.heads, 10), self.drawn(rows, c.heads, c.value_width)
        latent_q = self.drawn(rows, c.heads, c.width)
        out, sums, other, other_sums = (
            tvm_ffi.from_dlpack(np.zeros((rows, c.heads, *width), dtype))
            for width, dtype in (((c.value_width,), c.dtype), ((), "float32")) * 2
        )
        decode = all(length == 1 for length in self.plain.lengths)
        if not decode:
            method("self_attention")(self.cache, layer, factor, *map(tvm_ffi.from_dlpack, (q, k, v)), out, sums)
            own, own_sums = np.zeros((rows, c.heads, c.value_width)), np.zeros((rows, c.heads))
            for begin, end in zip(self.plain.rows, self.plain.rows[1:]):
                part, length = slice(begin, end), end - begin
                own[part], own_sums[part] = attend(q[part], k[part], v[part], causal(length, length), factor)
            self.same(f"own rows {layer}", own, out)
            self.same(f"own sums {layer}", own_sums, sums)
        if decode or any(self.plain.past):
            method("cross_attention")(self.cache, layer, factor, tvm_ffi.from_dlpack(latent_q), other, other_sums)
            cross, cross_sums = self.plain.cross(layer, latent_q, factor)
            self.same(f"cross {layer}", cross, other)
            self.same(f"cross sums {layer}", cross_sums, other_sums)
        if not decode and any(self.plain.past):
            both = method("merge_attn_output_inplace")(self.cache, out, sums, other, other_sums)
            for value, expected in zip(both, merged(own, own_sums, cross, cross_sums)):
                self.same(f"merged {layer}", expected, value)

    # ---- comparisons

    def note(self, what, value):
        if self.record is not None:
            self.record.append((what, np.array(value)))

    def equal(self, what, expected, value):
        self.note(what, value)
        if expected != value:
            raise Difference(f"{what}: {value} in place of {expected}")

    def same(self, what, expected, tensor, rows=None):
        value = np.from_dlpack(tensor)[:rows]
        if "sums" in what:
            # Merging rows that see nothing adds to the lowest score.
            value, expected = (np.maximum(x, 0.9 * LOWEST) for x in (value, expected))
        self.note(what, value)
        if value.shape != expected.shape:
            raise Difference(f"{what}: shape {value.shape} in place of {expected.shape}")
        far = float(np.abs(value - expected).max(initial=0))
        if not far <= TOLERANCE:
            rows = np.unique(np.argwhere(~(np.abs(value - expected) <= TOLERANCE))[:, 0])
            raise Difference(f"{what}: off by {far:.2e}, in rows {rows.tolist()}")

    def free_pages(self):
        return method("get_num_available_pages")(self.cache)

    def compare(self):
        """Lengths and emptiness, which every operation may change."""
        for name, sequence in self.plain.sequences.items():
            self.equal(f"length of {name}", len(sequence), method("get_sequence_length")(self.cache, name))
        self.equal("total", self.plain.total(), method("get_total_sequence_length")(self.cache))
        free = self.free_pages()
        self.note("free pages", free)
        if not self.plain.sequences:
            self.equal("free pages", self.config.pages, free)
        self.equal("empty", not self.plain.sequences, bool(method("empty")(self.cache)))

    def contents(self):
        """Cached keys and values of each sequence, as the debug functions read them."""
        c = self.config
        if SLIDING in c.kinds:
            return
        for name, sequence in self.plain.sequences.items():
            if not len(sequence):
                continue
            begin = int(self.numbers.integers(0, len(sequence)))
            tokens = sequence.tokens[begin:].swapaxes(0, 1)
            if MLA in c.kinds:
                given = [tvm_ffi.from_dlpack(np.zeros(tokens[:, :, 0, 0].shape, c.dtype))]
                method("debug_get_kv_mla")(self.cache, name, begin, len(sequence), *given)
                self.same(f"latent rows of {name}", tokens[:, :, 0, 0], *given)
                continue
            given = [tvm_ffi.from_dlpack(np.zeros(tokens[:, :, 0].shape, c.dtype)) for _ in "kv"]
            method("debug_get_kv")(self.cache, name, begin, len(sequence), *given)
            for part, value in enumerate(given):
                self.same(f"{'kv'[part]} of {name}", tokens[:, :, part], value)
