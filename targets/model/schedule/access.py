"""Loads and stores of a block: their strides along its loops."""

import tvm_ffi
from tvm import ir, sym, tirx


class Accesses:
    """The positions in memory that a block reads and writes, as functions of its variables."""

    def __init__(self, block):
        self.positions = []
        self.outside = set()
        self.analyzer = sym.Analyzer()
        for variable in block.iter_vars:
            self.analyzer.bind(variable.var, variable.dom)
        tvm_ffi.structural_walk(block.body, [(tirx.BufferStore, self._store)], order="pre")

    def _store(self, store):
        self._add(store.buffer, store.indices)
        tvm_ffi.structural_walk(store.value, [(ir.TensorLoad, self._load), (tirx.Var, self.outside.add)], order="pre")

    def _load(self, load):
        self._add(load.source, load.indices)
        return tvm_ffi.WalkResult.SKIP

    def _add(self, buffer, indices):
        position = tirx.const(0, "int64")
        for index, extent in zip(indices, buffer.shape):
            position = position * extent + index
        self.positions.append(position)

    def strides(self, variable):
        """Returns the distance of two neighbours along a variable in each access."""
        return [self.analyzer.simplify(shifted(position, variable) - position) for position in self.positions]

    def is_one_loop(self, outer, inner, extent):
        """Returns `true` if two loops move through memory as one loop of all their iterations does."""
        if {outer, inner} & self.outside:
            return False
        pairs = zip(self.strides(outer), self.strides(inner))
        return all(self.analyzer.can_prove_equal(a, b * extent) for a, b in pairs)

    def is_smooth(self, variable):
        """Returns `true` if each access along a variable stays or moves to the next element."""
        return all(isinstance(stride, tirx.IntImm) and int(stride) in (0, 1) for stride in self.strides(variable))


def shifted(position, variable):
    return tvm_ffi.structural_map(position, (tirx.Var, lambda other: other + 1 if other.same_as(variable) else other))
