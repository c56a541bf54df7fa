"""Schedule of one kernel."""

from tvm.s_tir import Schedule
from tvm.s_tir.dlight.analysis import normalize_prim_func
from tvm.s_tir.schedule import ScheduleError

from . import inline, nest, partial, rows


def scheduled(function):
    """Returns a kernel with a schedule, or as it is if its loops are of another kind."""
    try:
        schedule = Schedule(function)
        for prepare in (inline.inline, partial.split):
            stages = normalize_prim_func(schedule)
            if not stages:
                return function
            prepare(schedule, stages)
        stages = normalize_prim_func(schedule)
        schedule = rows.nested(schedule, stages) or nest.separate(schedule, stages)
    except ScheduleError:
        return function
    return schedule.mod["main"].with_attr("tirx.is_scheduled", True)
