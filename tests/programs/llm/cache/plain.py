"""A key-value cache without pages: each sequence is an array of its tokens."""

import numpy as np

from attention import attend, rotate
from kernels import MLA, NORMAL, SLIDING


class Sequence:
    """Tokens of a sequence. `prefix` of them at its start are or were in shared pages and never slide."""

    def __init__(self, tokens):
        self.tokens = tokens  # (tokens, layers, parts, heads, width): keys and values, or one latent row
        self.prefix, self.window, self.pinned, self.slid = 0, 0, 0, False
        self.parents = []  # of the nodes of a tree, which are the last tokens
        self.newest = 0  # number of nodes from the last step

    def __len__(self):
        return len(self.tokens)

    @property
    def base(self):
        return len(self) - len(self.parents)

    def depth(self, node):
        return len(self.path(node)) - 1

    def path(self, node):
        """The nodes from the root to this one."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parents[node]
        return path[::-1]


class Plain:
    """The cache: methods are named as those of KVState."""

    def __init__(self, config):
        self.config, self.sequences = config, {}
        c = config
        self.row = (len(c.kinds), 1, 1, c.width) if MLA in c.kinds else (len(c.kinds), 2, c.key_heads, c.width)

    def add(self, name):
        self.sequences[name] = Sequence(np.zeros((0, *self.row), self.config.dtype))

    def remove(self, name):
        del self.sequences[name]

    def fork(self, parent, child, position):
        parent = self.sequences[parent]
        position = len(parent) if position < 0 else position
        new = self.sequences[child] = Sequence(parent.tokens[:position].copy())
        new.prefix = position // self.config.page * self.config.page
        parent.prefix = max(parent.prefix, new.prefix)

    def popn(self, name, count):
        sequence = self.sequences[name]
        sequence.tokens = sequence.tokens[: len(sequence) - count]

    def window(self, name, window, sink):
        sequence = self.sequences[name]
        sequence.window, sequence.pinned = window, max(sequence.prefix, sink)

    def clear(self):
        self.sequences.clear()

    def commit(self, names, leaves):
        """Keeps a path of each tree. As upstream's tests have it, nodes of a tree of several steps are counted from the last one."""
        for name, leaf in zip(names, leaves):
            sequence = self.sequences[name]
            begin = len(sequence) - sequence.newest
            sequence.tokens = sequence.tokens[[*range(begin), *(begin + node for node in sequence.path(leaf))]]
            sequence.parents = []

    # ---- a step

    def begin(self, names, lengths, parents=None):
        """Returns the positions of the new tokens, and how many each sequence held before."""
        self.batch = [self.sequences[name] for name in names]
        self.lengths, self.tree = lengths, parents is not None
        self.past = [len(sequence) for sequence in self.batch]
        positions, at = [], 0
        for sequence, length in zip(self.batch, lengths):
            empty = np.zeros((length, *self.row), self.config.dtype)
            base = sequence.base
            sequence.tokens = np.concatenate([sequence.tokens, empty])
            if parents is None:
                positions += range(len(sequence) - length, len(sequence))
                continue
            sequence.newest = length
            nodes = range(len(sequence.parents), len(sequence.parents) + length)
            sequence.parents = sequence.parents + list(parents[at : at + length])
            positions += [base + sequence.depth(node) for node in nodes]
            at += length
        self.positions = np.array(positions, np.int32)
        return self.positions

    @property
    def rows(self):
        return np.cumsum([0, *self.lengths])

    def visible(self, sequence, past, length, layer):
        """Returns the mask of the new tokens over all, (length, past + length)."""
        total = past + length
        visible = np.arange(total)[None] <= past + np.arange(length)[:, None]
        if self.tree:
            first = len(sequence.parents) - length
            visible[:, sequence.base :] = False
            for row in range(length):
                visible[row, [sequence.base + node for node in sequence.path(first + row)]] = True
        if self.config.kinds[layer] == SLIDING:
            hidden = past - np.maximum(self.config.layer_window - np.arange(length) - 1, 0)
            visible[:, :past] &= np.arange(past)[None] >= hidden[:, None]
        return visible

    def attention(self, layer, qkv, factor):
        """Keeps the keys and values of all rows. Returns the output."""
        c = self.config
        q, k, v = np.split(qkv, [c.heads, c.heads + c.key_heads], 1)
        if c.rope == NORMAL and not c.inline:
            q, k = rotate(q, self.positions, c.theta, c.scale), rotate(k, self.positions, c.theta, c.scale)
        for sequence, at, length in zip(self.batch, self.rows, self.lengths):
            sequence.tokens[len(sequence) - length :, layer, 0] = k[at : at + length]
            sequence.tokens[len(sequence) - length :, layer, 1] = v[at : at + length]
        return self.over_tokens(layer, q, factor)

    def over_tokens(self, layer, q, factor):
        """Returns the attention of q, rotated unless rotation is inline, over the tokens of the sequences."""
        c = self.config
        out = np.zeros((*q.shape[:2], c.value_width))
        sliding = c.kinds[layer] == SLIDING
        theta, scale = (10000.0, 1.0) if sliding else (c.theta, c.scale)
        for sequence, at, past, length in zip(self.batch, self.rows, self.past, self.lengths):
            keys, query = sequence.tokens[:, layer, 0], q[at : at + length]
            if c.inline:
                keys = rotate(keys, np.arange(len(keys)), theta, scale)
                query = rotate(query, self.positions[at : at + length], theta, scale)
            visible = self.visible(sequence, past, length, layer)
            out[at : at + length] = attend(query, keys, sequence.tokens[:, layer, 1], visible, factor)[0]
        return out

    def append_latent(self, layer, values):
        for sequence, at, length in zip(self.batch, self.rows, self.lengths):
            sequence.tokens[len(sequence) - length :, layer, 0, 0] = values[at : at + length]

    def cross(self, layer, q, factor):
        """Attention over latent rows: of a decode over all, of other steps over those from before the step."""
        out = np.zeros((*q.shape[:2], self.config.value_width), float)
        sums = np.zeros(q.shape[:2])
        decode = all(length == 1 for length in self.lengths)
        for sequence, at, past, length in zip(self.batch, self.rows, self.past, self.lengths):
            keys = sequence.tokens[: past + 1 if decode else past, layer, 0]
            rows = slice(at, at + length)
            visible = np.ones((length, len(keys)), bool)
            out[rows], sums[rows] = attend(q[rows], keys, keys[..., : self.config.value_width], visible, factor)
        return out, sums

    def end(self):
        """Lets windows slide."""
        for sequence in self.batch:
            if sequence.window and self.config.sliding and len(sequence) > sequence.window:
                kept = sequence.window - sequence.pinned
                rows = [*range(sequence.pinned), *range(len(sequence) - kept, len(sequence))]
                sequence.tokens, sequence.slid = sequence.tokens[rows], True

    # ---- queries

    def total(self):
        return sum(map(len, self.sequences.values()))
