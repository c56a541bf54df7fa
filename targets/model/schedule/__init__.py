"""Schedules for CPUs: loops that LLVM vectorises and that threads share, for the operators that no kernel of Ferrite takes.

LLVM vectorises loops over contiguous elements by itself, with their remainders and for extents that are known at run time only.
So schedules order, fuse and nest loops; the target permits the reassociation without which sums stay scalar.
"""

import tvm
from tvm import tirx
from tvm.relax.backend.cpu_generic import pipeline as parts

from . import elementary, kernel

__all__ = ["legalization", "lowering", "pipeline", "use"]


def pipeline(target):
    """Returns TVM's pipeline for CPUs with these schedules: an argument `relax_pipeline` of `relax.build`."""
    return tvm.transform.Sequential([legalization(target), lowering(target)])


def legalization(target):
    """Returns the first part of the pipeline: operators become kernels, which are fused."""
    return tvm.transform.Sequential([*parts.library_dispatch_passes(target), *parts.legalize_passes(target)])


def lowering(target):
    """Returns the second part of the pipeline, which begins with the schedules of kernels that have none."""

    @tvm.transform.module_pass(opt_level=0, name="Schedules")
    def schedules(mod, _):
        return use(mod)

    return tvm.transform.Sequential([schedules, *parts.dataflow_lower_passes(target), *parts.finalize_passes(target)])


def use(mod):
    """Returns a module whose kernels have schedules. It comes after the fusion of operators."""
    elementary.install()
    for name, function in mod.functions_items():
        if isinstance(function, tirx.PrimFunc) and not function.attrs.get("tirx.is_scheduled", False):
            mod[name] = kernel.scheduled(function)
    return mod
