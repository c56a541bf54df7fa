"""Partial results of maxima, which LLVM does not vectorise by itself: unlike sums, it may not change the order of their terms."""

from tvm import tirx

from . import nest
from .access import Accesses

LANES = (32, 16, 8)
"""Numbers of partial results, from the best."""


def split(schedule, stages):
    """Splits each maximum or minimum along contiguous elements into several, and one of these."""
    for stage in stages:
        block = schedule.get(stage.block_rv)
        spatial, reduction = nest.axes(schedule, stage, 0)
        # Axes of one term are not among them.
        if not reduction or not is_extremum(block):
            continue
        accesses = Accesses(block)
        if nest.is_spatial_inside(accesses, spatial, reduction) or not accesses.is_smooth(reduction[-1].last):
            continue
        extent = reduction[-1].extent
        lanes = next((n for n in LANES if isinstance(extent, tirx.IntImm) and int(extent) % n == 0 and int(extent) > n), None)
        if lanes:
            several(schedule, stage.block_rv, reduction[-1].loop, len(spatial), lanes)


def several(schedule, block, loop, spatial, lanes):
    """Splits a reduction, and brings the loops of its parts into the order of other stages: those of the output before the terms."""
    steps, lane = schedule.split(loop, [None, lanes])
    rank = len(schedule.get(block).writes[0].region)
    partial = schedule.rfactor(lane, rank)
    *outer, steps, lane = schedule.get_loops(partial)
    schedule.reorder(*outer[:spatial], lane, *outer[spatial:], steps)
    variables = len(schedule.get(partial).iter_vars)
    schedule.reorder_block_iter_var(partial, [*range(1, spatial + 1), 0, *range(spatial + 1, variables)])
    schedule.reorder_block_iter_var(block, [*range(1, spatial + 1), 0])


def is_extremum(block):
    return isinstance(block.body, tirx.BufferStore) and isinstance(block.body.value, (tirx.Max, tirx.Min)) and block.init is not None
