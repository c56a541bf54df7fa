"""Inlining of element-wise stages into those that read them."""

import contextlib
import math

import tvm_ffi
from tvm import ir, tirx
from tvm.s_tir.schedule import ScheduleError

FREE = {"if_then_else", "likely"}
"""Functions that cost no more than arithmetic."""


def inline(schedule, stages):
    """Inlines each stage that is cheap to repeat, or is read once for each of its elements."""
    for stage in stages[:-1]:
        if stage.is_injective() and is_inlined(schedule, stage):
            # The schedule refuses outputs of the kernel.
            with contextlib.suppress(ScheduleError):
                schedule.compute_inline(stage.block_rv)


def is_inlined(schedule, stage):
    block = schedule.get(stage.block_rv)
    readers = [schedule.get(reader) for reader in schedule.get_consumers(stage.block_rv)]
    if not readers:
        return False
    costs, branches = calls(block)
    once = [is_once(block, reader) for reader in readers]
    if costs:
        return len(readers) == 1 and once[0] and not is_argument(block, readers[0])
    # A window reads an element several times, and would branch each time.
    return not branches or all(map(is_injective, readers)) or all(once)


def is_argument(block, reader):
    """Returns `true` if the reader calls a function of the block's result: TVM's analysis cannot nest the polynomials of functions."""
    result, arguments = block.writes[0].source, []

    def collect(call):
        if getattr(call.op, "name", "").rpartition(".")[2] not in FREE:
            tvm_ffi.structural_walk(call.args, (ir.TensorLoad, lambda load: arguments.append(load.source)))

    tvm_ffi.structural_walk(reader.body, (ir.Call, collect))
    return any(source.same_as(result) for source in arguments)


def is_injective(block):
    return all(variable.iter_type == tirx.IterVar.DataPar for variable in block.iter_vars)


def is_once(block, reader):
    """Returns `true` if a stage has as many iterations as its reader."""
    return iterations(block) == iterations(reader)


def iterations(block):
    """Returns the constant factor and the other factors of the number of iterations."""
    extents = [variable.dom.extent for variable in block.iter_vars]
    constants = [int(extent) for extent in extents if isinstance(extent, tirx.IntImm)]
    return math.prod(constants), sorted(str(extent) for extent in extents if not isinstance(extent, tirx.IntImm))


def calls(block):
    """Returns whether a block calls functions, such as `exp`, and whether it branches."""
    names = []
    tvm_ffi.structural_walk(block.body, (ir.Call, lambda call: names.append(getattr(call.op, "name", ""))))
    names = {name.rpartition(".")[2] for name in names}
    return bool(names - FREE), "if_then_else" in names
