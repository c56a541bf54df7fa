"""Schedule of one kernel."""

from tvm.s_tir import Schedule
from tvm.s_tir.dlight.analysis import normalize_prim_func
from tvm.s_tir.schedule import ScheduleError

from . import inline, nest, partial, rows


def scheduled(function):
    """Returns a kernel with a schedule, or as it is if its loops are of another kind."""
    schedule = schedule_of(function)
    return schedule.mod["main"].with_attr("tirx.is_scheduled", True) if schedule else function


def schedule_of(function):
    """Returns the schedule of a kernel, or None if its loops are of another kind."""
    whole = Schedule(function)
    inlined = changed(whole, inline.inline) or whole
    for prepared in filter(None, (changed(inlined, partial.split), inlined)):
        for finish in (rows.nest_in_rows, nest.separate):
            if schedule := changed(prepared, finish):
                return schedule
    return None


def changed(schedule, step):
    """Returns a schedule after a step, or None if the step does not apply or leaves loops of another kind."""
    schedule = schedule.copy()
    try:
        stages = normalize_prim_func(schedule)
        return schedule if stages and step(schedule, stages) is not False else None
    except ScheduleError:
        return None
