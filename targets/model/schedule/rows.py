"""Stages that share rows, such as those of softmax and of layer normalisation: one thread calculates all of a row, which stays in its cache."""

from . import nest
from .access import Accesses


def nest_in_rows(schedule, stages):
    """Moves all stages below the loops that they have in common. Returns `false` if they have none."""
    common = shared_axes(schedule, stages)
    if len(stages) < 2 or not common:
        return False
    *earlier, last = stages
    loops = schedule.get_loops(last.block_rv)[:common]
    row = schedule.fuse(*loops) if common > 1 else loops[0]
    for stage in reversed(earlier):
        schedule.compute_at(stage.block_rv, row)
        if not is_divided(schedule, stage, common):
            return False
    reductions = [nest.arranged(schedule, stage, common)[1] for stage in stages]
    nest.share(schedule, [row], nest.work(schedule, stages))
    for stage, reduction in zip(stages, reductions):
        nest.initialise(schedule, stage, reduction)
    return True


def is_divided(schedule, stage, common):
    """Returns `true` if a row has its own part of a stage, rather than all of it: then its loops are those of the other axes."""
    return len(schedule.get_loops(stage.block_rv)) - 1 == len(stage.iters) - common


def shared_axes(schedule, stages):
    """Returns the number of leading axes that all stages have in common."""
    kinds = [list(zip(stage.dom_kind(), map(str, stage.dom()))) for stage in stages]
    common = 0
    for axes in zip(*kinds):
        if len(set(axes)) > 1 or axes[0][0] != "S":
            break
        common += 1
    return min([common, *(limit(schedule, stage) for stage in stages)])


def limit(schedule, stage):
    """Returns the number of axes of a stage that may be outside. Where neighbours of the output are calculated together, theirs may not."""
    spatial, reduction = nest.axes(schedule, stage, 0)
    accesses = Accesses(schedule.get(stage.block_rv))
    inside = bool(reduction) and nest.is_spatial_inside(accesses, spatial, reduction)
    return len(spatial) - inside
