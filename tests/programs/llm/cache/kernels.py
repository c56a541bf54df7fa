"""Kernels of a paged key-value cache as Python functions: they check every index, length and shape before they use it."""

import collections
from dataclasses import dataclass

import numpy as np
import tvm_ffi

from attention import attend, causal, merged, rotate

MHA, MLA, SLIDING = 0, 1, 3
NONE, NORMAL, INLINE = 0, 1, 2


@dataclass(frozen=True)
class Config:
    """Arguments of the constructor of a cache."""

    kinds: tuple = (MHA, MHA)
    heads: int = 4
    key_heads: int = 2
    width: int = 8
    value_width: int = 8
    rope: int = NORMAL
    windows: bool = False
    layer_window: int = 1024
    sequences: int = 6
    tokens: int = 200
    chunk: int = 64
    page: int = 4
    theta: float = 10000.0
    scale: float = 1.0
    dtype: str = "float32"

    @property
    def sliding(self):
        return self.windows and SLIDING not in self.kinds

    @property
    def inline(self):
        return self.rope == INLINE or self.windows and self.rope != NONE

    @property
    def pages(self):
        return -(-self.tokens // self.page) + 1 + (2 * self.sequences if self.sliding else 0)


def require(condition, *details):
    if not condition:
        raise AssertionError(f"a kernel was called with wrong arguments: {details}")


def view(tensor):
    return np.from_dlpack(tensor)


def integers(tensor, count=None):
    array = view(tensor)
    require(array.dtype == np.int32 and array.flags.c_contiguous, array.dtype, array.strides)
    require(count is None or array.size == count, array.shape, count)
    return array


def ends(tensor, count, total=None):
    """Running sums that begin at 0."""
    array = integers(tensor, count + 1)
    require(array[0] == 0 and (np.diff(array) >= 0).all(), array)
    require(total is None or array[-1] == total, array, total)
    return array


class Kernels:
    """The kernels of one cache, and the number of calls of each."""

    def __init__(self, config):
        self.config, self.calls = config, collections.Counter()

    def create(self, name="vm.builtin.paged_attention_kv_cache_create", **other):
        return tvm_ffi.get_global_func(name)(*self.arguments(**other))

    def arguments(self, **other):
        """The 28 arguments of the constructor; `other` replaces functions by name."""
        c = self.config
        kernel = lambda name: tvm_ffi.convert(other.get(name, self.counted(name)))  # noqa: E731
        table = lambda name: tvm_ffi.convert(["tirx", kernel(name)])  # noqa: E731
        nothing = tvm_ffi.convert([])
        latent = MLA in c.kinds
        heads = [nothing] * 6 if latent else list(
            map(table, ("prefill", "decode", "prefill_in_window", "decode_in_window", "tree_over_pages", "tree_over_rows"))
        )
        return [
            tvm_ffi.Shape([c.sequences, c.tokens, c.chunk, c.page, int(c.windows), c.layer_window]),
            tvm_ffi.Shape([0, len(c.kinds)]), c.heads, c.key_heads, c.width, c.value_width, tvm_ffi.Shape(list(c.kinds)), False,
            c.rope, c.scale, c.theta, 0, tvm_ffi.from_dlpack(np.zeros((), c.dtype)), kernel("append"), kernel("append_latent"),
            table("ragged"), *heads, table("latent") if latent else nothing, tvm_ffi.convert([kernel("merge"), kernel("merge")]),
            kernel("split"), kernel("copy_page_latent" if latent else "copy_page"), kernel("read_latent" if latent else "read"),
            kernel("compact"),
        ]  # fmt: skip

    def counted(self, name):
        body = getattr(self, name)

        def run(*arguments):
            self.calls[name] += 1
            body(*arguments)

        return run

    # ---- arguments

    def pages_of(self, tensor, shape):
        pages = view(tensor)
        require(pages.shape == (self.config.pages, *shape), pages.shape)
        return pages

    def heads_pages(self, tensor):
        return self.pages_of(tensor, (2, self.config.key_heads, self.config.page, self.config.width))

    def latent_pages(self, tensor):
        return self.pages_of(tensor, (self.config.page, self.config.width))

    def slots(self, page_ends, numbers, lengths, row):
        """Pages and places of the positions of one row of a table."""
        pages, size = numbers[page_ends[row] : page_ends[row + 1]], self.config.page
        last, offset, sink = lengths[:, row] if lengths.ndim == 2 else (lengths[row], 0, 0)
        require(0 <= sink and 0 <= offset and 0 <= last <= size, last, offset, sink)
        if not len(pages):
            require(last == 0, last)
            return np.zeros((2, 0), int)
        require(last > 0, last)
        count = (len(pages) - 1) * size + last - offset + sink
        require(count > 0 and sink <= count, count, sink)
        at = np.arange(count)
        at = np.where(at < sink, at, at - sink + offset)
        require((pages >= 0).all() and (pages < self.config.pages).all(), pages)
        return np.stack([pages[at // size], at % size])

    def rotated(self, x, positions, mode, scale, theta):
        require(mode in (0, 1), mode)
        return rotate(x, positions, theta, scale) if mode else x

    # ---- kernels

    def split(self, qkv, positions, q, k, v, rotation):
        c, positions = self.config, integers(positions)
        qkv, q, k, v = view(qkv), view(q), view(k), view(v)
        n = len(positions)
        require(qkv.shape == (n, c.heads + 2 * c.key_heads, c.width) and q.shape == (n, c.heads, c.width), qkv.shape, q.shape)
        require(k.shape == v.shape == (n, c.key_heads, c.width) and rotation in (0, 1), k.shape, v.shape)
        require((positions >= 0).all(), positions)
        q[...], k[...], v[...] = np.split(qkv, [c.heads, c.heads + c.key_heads], 1)
        if rotation:
            q[...], k[...] = rotate(q, positions, c.theta, c.scale), rotate(k, positions, c.theta, c.scale)

    def append_to(self, pages, place, where, values):
        where = integers(where, len(values))
        require((where >= -1).all() and (where < self.config.pages * self.config.page).all(), where)
        kept = where[where >= 0]
        require(len(set(kept.tolist())) == len(kept), where)
        pages[(kept // self.config.page, *place, kept % self.config.page)] = values[where >= 0]

    def append(self, pages, k, v, where):
        pages = self.heads_pages(pages)
        for part, values in enumerate((view(k), view(v))):
            for head in range(self.config.key_heads):
                self.append_to(pages, (part, head), where, values[:, head])

    def append_latent(self, pages, values, where):
        self.append_to(self.latent_pages(pages), (), where, view(values))

    def ragged(self, q, q_ends, k, v, k_ends, positions, offsets, out, sums, masked, mode, scale, theta, factor):
        q, k, v, out, sums = map(view, (q, k, v, out, sums))
        batch = integers(q_ends).size - 1
        q_ends, k_ends = ends(q_ends, batch, len(q)), ends(k_ends, batch, len(k))
        positions, offsets = integers(positions, len(q)), integers(offsets, batch)
        require(out.shape[:2] == q.shape[:2] == sums.shape and out.shape[2] == v.shape[2], out.shape, q.shape, sums.shape)
        for row in range(batch):
            own, keys = slice(*q_ends[row : row + 2]), slice(*k_ends[row : row + 2])
            count = keys.stop - keys.start
            visible = causal(own.stop - own.start, count) if masked else np.ones((own.stop - own.start, count), bool)
            rotated = self.rotated(k[keys], offsets[row] + np.arange(count), mode, scale, theta)
            query = self.rotated(q[own], positions[own], mode, scale, theta)
            out[own], sums[own] = attend(query, rotated, v[keys], visible, factor)

    def tree_mask(self, mask, mask_ends, row, rows, positions):
        """Returns the mask of the last `rows` nodes, which see everything before the tree, and their ancestors in it."""
        first = mask[mask_ends[row] : mask_ends[row + 1]]
        nodes = len(first)
        require(rows <= nodes <= positions, rows, nodes, positions)
        visible = np.ones((rows, positions), bool)
        a = first[nodes - rows :, 0][:, None]
        visible[:, positions - nodes :] = (first[None, :, 0] <= a) & (a < first[None, :, 1])
        return visible

    def masks(self, mask_ends, mask, batch):
        mask = integers(mask).reshape(-1, 2)
        return mask, ends(mask_ends, batch, len(mask))

    def over_pages(self, q, q_ends, pages, page_ends, numbers, lengths, offsets, positions, out, sums, rotation, visible):
        """`visible` gives the mask of a row of the table, by its number, its rows of q, and its positions."""
        *rotation, factor = rotation
        q, out, sums, pages = view(q), view(out), view(sums), self.heads_pages(pages)
        batch = integers(page_ends).size - 1
        q_ends = np.arange(batch + 1) if q_ends is None else ends(q_ends, batch)
        require(q_ends[-1] == len(q), q_ends, len(q))
        numbers = integers(numbers)
        page_ends, lengths = ends(page_ends, batch, len(numbers)), integers(lengths)
        require(lengths.shape[-1] == batch, lengths.shape)
        positions, offsets = integers(positions, len(q)), integers(offsets, batch)
        for row in range(batch):
            own = slice(*q_ends[row : row + 2])
            page, place = self.slots(page_ends, numbers, lengths, row)
            keys, values = (pages[page, part, :, place] for part in (0, 1))
            keys = self.rotated(keys, offsets[row] + np.arange(len(page)), *rotation)
            query = self.rotated(q[own], positions[own], *rotation)
            out[own], sums[own] = attend(query, keys, values, visible(row, own.stop - own.start, len(page)), factor)

    def prefill_table(self, lengths_ndim, window, *arguments):
        table, masked, rotation = arguments[:10], arguments[10], arguments[11:]
        require(integers(table[5]).ndim == lengths_ndim, table[5].shape)

        def visible(_, rows, positions):
            if not masked:
                return np.ones((rows, positions), bool)
            require(window, "masked")
            past = np.maximum(window - np.arange(rows) - 1, 0)
            return np.arange(positions)[None] >= positions - past[:, None]

        self.over_pages(*table, rotation, visible)

    def prefill(self, *arguments):
        self.prefill_table(1, 0, *arguments)

    def prefill_in_window(self, *arguments):
        self.prefill_table(2, self.config.layer_window, *arguments)

    def decode_table(self, lengths_ndim, q, pages, *rest):
        require(integers(rest[2]).ndim == lengths_ndim, rest[2].shape)
        self.over_pages(q, None, pages, *rest[:7], rest[7:], lambda _, rows, positions: np.ones((rows, positions), bool))

    def decode(self, *arguments):
        self.decode_table(1, *arguments)

    def decode_in_window(self, *arguments):
        self.decode_table(2, *arguments)

    def tree_over_pages(self, *arguments):
        table, rotation, mask_ends, mask = arguments[:10], arguments[10:14], *arguments[14:]
        mask, mask_ends = self.masks(mask_ends, mask, integers(table[3]).size - 1)
        self.over_pages(*table, rotation, lambda row, rows, positions: self.tree_mask(mask, mask_ends, row, rows, positions))

    def tree_over_rows(self, q, q_ends, k, v, k_ends, positions, mask_ends, mask, out, sums, mode, scale, theta, factor):
        q, k, v, out, sums = map(view, (q, k, v, out, sums))
        batch = integers(q_ends).size - 1
        q_ends, k_ends, positions = ends(q_ends, batch, len(q)), ends(k_ends, batch, len(k)), integers(positions, len(q))
        mask, mask_ends = self.masks(mask_ends, mask, batch)
        for row in range(batch):
            own, keys = slice(*q_ends[row : row + 2]), slice(*k_ends[row : row + 2])
            visible = self.tree_mask(mask, mask_ends, row, own.stop - own.start, keys.stop - keys.start)
            query, rotated = (self.rotated(x, positions[part], mode, scale, theta) for x, part in ((q[own], own), (k[keys], keys)))
            out[own], sums[own] = attend(query, rotated, v[keys], visible, factor)

    def latent(self, q, q_ends, pages, page_ends, numbers, lengths, out, sums, masked, factor):
        q, out, sums, pages = view(q), view(out), view(sums), self.latent_pages(pages)
        batch = integers(page_ends).size - 1
        numbers, lengths, q_ends = integers(numbers), integers(lengths, batch), ends(q_ends, batch, len(q))
        page_ends = ends(page_ends, batch, len(numbers))
        require(masked == 0, masked)
        for row in range(batch):
            own = slice(*q_ends[row : row + 2])
            keys = pages[tuple(self.slots(page_ends, numbers, lengths, row))][:, None]
            visible = np.ones((own.stop - own.start, len(keys)), bool)
            out[own], sums[own] = attend(q[own], keys, keys[..., : self.config.value_width], visible, factor)

    def merge(self, out, sums, other, other_sums):
        out, sums, other, other_sums = map(view, (out, sums, other, other_sums))
        require(out.shape == other.shape and sums.shape == other_sums.shape == out.shape[:2], out.shape, other.shape, sums.shape)
        out[...], sums[...] = merged(out, sums, other, other_sums)

    def copy(self, pages, source, destination, length, axis):
        require(0 <= source < len(pages) and 0 <= destination < len(pages) and source != destination, source, destination)
        require(0 < length <= self.config.page, length)
        part = (slice(None),) * axis + (slice(length),)
        pages[(destination, *part)] = pages[(source, *part)]

    def copy_page(self, pages, *arguments):
        self.copy(self.heads_pages(pages), *arguments, axis=2)

    def copy_page_latent(self, pages, *arguments):
        self.copy(self.latent_pages(pages), *arguments, axis=0)

    def compact(self, pages, move_ends, moves, batch):
        pages, moves = self.heads_pages(pages), integers(moves)
        require(moves.ndim == 2 and len(moves) == 2, moves.shape)
        ends(move_ends, batch, moves.shape[1])
        require((moves >= 0).all() and (moves < self.config.pages * self.config.page).all(), moves)
        size = self.config.page
        for source, destination in moves.T:
            pages[destination // size, :, :, destination % size] = pages[source // size, :, :, source % size]

    def read_places(self, where, count):
        where = integers(where, count)
        require((where >= 0).all() and (where < self.config.pages * self.config.page).all(), where)
        return where // self.config.page, where % self.config.page

    def read(self, pages, where, k, v, layer):
        pages, k, v = self.heads_pages(pages), view(k), view(v)
        page, place = self.read_places(where, k.shape[1])
        k[layer], v[layer] = pages[page, 0, :, place], pages[page, 1, :, place]

    def read_latent(self, pages, where, values, layer):
        values = view(values)
        values[layer] = self.latent_pages(pages)[self.read_places(where, values.shape[1])]
