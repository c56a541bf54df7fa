"""The loops of one stage: their order, their fusion and their division among threads."""

import dataclasses
import math

from tvm import tirx

from .access import Accesses
from .inline import calls

PARALLEL = 1 << 15
"""Iterations of a kernel from which threads share it: below, to wake one costs more than it does.

From 2^13 to 2^18 calls of basic-pitch and the text direction classifier on two threads differ by 2%, in alternate rounds.
"""
UNKNOWN = 64
"""Iterations expected of a loop whose extent is known at run time only."""
SHORT = 16
"""Terms of a sum below which partial sums do not pay."""
UNROLLED = 25
"""Terms of a sum, such as those of a pooling window, up to which their loops are unrolled: LLVM then vectorises the loop around them."""
TILES = (64, 32, 16, 8)
"""Elements of an output that are summed in registers, from the best; shorter rows are one tile."""
CALL_COST = 8
"""Iterations that a call of a function, such as `exp`, counts for."""


@dataclasses.dataclass
class Axis:
    """A loop, or several fused ones: the variables of the outermost and the innermost, and their extents."""

    loop: object
    first: object
    last: object
    extent: object
    total: object


def axes(schedule, stage, skipped):
    """Returns the spatial and the reduction axes of a stage below its outer loops."""
    block = schedule.get(stage.block_rv)
    variables = list(block.iter_vars)[skipped:]
    loops = schedule.get_loops(stage.block_rv)[-len(variables) :] if variables else []
    found = {tirx.IterVar.DataPar: [], tirx.IterVar.CommReduce: []}
    for variable, loop in zip(variables, loops):
        extent = variable.dom.extent
        found[variable.iter_type].append(Axis(loop, variable.var, variable.var, extent, extent))
    return tuple(found.values())


def merged(schedule, accesses, axes):
    """Fuses neighbours that move through memory as one loop."""
    result = axes[-1:]
    for axis in reversed(axes[:-1]):
        inner = result[0]
        if accesses.is_one_loop(axis.first, inner.first, inner.extent):
            result[0] = Axis(schedule.fuse(axis.loop, inner.loop), axis.first, inner.last, axis.extent, axis.total * inner.total)
        else:
            result.insert(0, axis)
    return result


def arranged(schedule, stage, skipped=0):
    """Arranges the loops of a stage below its outer ones. Returns those that threads may share, and the outermost of its reduction or None."""
    accesses = Accesses(schedule.get(stage.block_rv))
    spatial, reduction = axes(schedule, stage, skipped)
    if not reduction:
        return [axis.loop for axis in merged(schedule, accesses, spatial)], None
    if spatial and terms(reduction) <= UNROLLED:
        for axis in reduction:
            schedule.unroll(axis.loop)
        return [axis.loop for axis in spatial], reduction[0].loop
    reduction = merged(schedule, accesses, reduction)
    if is_spatial_inside(accesses, spatial, reduction):
        shared = sums_of_vectors(schedule, accesses, spatial, reduction)
    else:
        shared = [axis.loop for axis in spatial]
        schedule.reorder(*shared, *(axis.loop for axis in reduction))
    return shared, reduction[0].loop


def terms(reduction):
    """Returns the number of terms of a sum, infinity if it is known at run time only."""
    extents = [axis.extent for axis in reduction]
    return math.prod(map(int, extents)) if all(isinstance(extent, tirx.IntImm) for extent in extents) else math.inf


def is_spatial_inside(accesses, spatial, reduction):
    """Returns `true` if neighbours of the output are calculated together, rather than the terms of one sum."""
    if not spatial:
        return False
    if is_short(reduction[-1].total):
        return True
    return accesses.is_smooth(spatial[-1].last) and not accesses.is_smooth(reduction[-1].last)


def is_short(extent):
    return isinstance(extent, tirx.IntImm) and int(extent) < SHORT


def sums_of_vectors(schedule, accesses, spatial, reduction):
    """Puts a tile of neighbours of the output inside the reduction."""
    *outer, inner = (axis.loop for axis in spatial)
    extent = spatial[-1].total
    tile = tile_of(int(extent)) if isinstance(extent, tirx.IntImm) else None
    if tile:
        outside, inner = schedule.split(inner, [None, tile])
        outer.append(outside)
    schedule.reorder(*outer, *(axis.loop for axis in reduction), inner)
    if tile and accesses.is_smooth(spatial[-1].last):
        schedule.vectorize(inner)
    return outer


def tile_of(extent):
    """Returns the elements of a tile that divides a row, or None."""
    return next((tile for tile in TILES if extent % tile == 0), extent if extent <= TILES[0] else None)


def separate(schedule, stages):
    """Arranges each stage by itself."""
    for stage in stages:
        loops, reduction = arranged(schedule, stage)
        share(schedule, loops, work(schedule, [stage]))
        initialise(schedule, stage, reduction)


def initialise(schedule, stage, reduction):
    """Moves the initialisation of a reduction before its loops. No loop can be changed afterwards."""
    if reduction is not None:
        schedule.decompose_reduction(stage.block_rv, reduction)


def share(schedule, loops, work):
    """Divides loops among threads if there is enough work."""
    if not loops or work < PARALLEL:
        return
    if len(loops) > 1:
        loops = loops[:-1]
    schedule.parallel(schedule.fuse(*loops) if len(loops) > 1 else loops[0])


def work(schedule, stages):
    """Returns the iterations of stages, where calls of functions count for more."""
    return sum(
        math.prod(int(extent) if isinstance(extent, int) else UNKNOWN for extent in stage.dom())
        * (CALL_COST if calls(schedule.get(stage.block_rv))[0] else 1)
        for stage in stages
    )
