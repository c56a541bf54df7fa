"""Operators on JAX's arrays in main memory, also under `jax.jit`.

    from ferrite_kernels import jax as kernels

    y = jax.jit(lambda x: kernels.rmsnorm(x, weight, 1e-5))(x)

Outside of `jit` arrays are passed and returned by DLPack, without a copy. Traced calls run by `jax.pure_callback`, for which `operators.py` must
have the shape of the result. JAX's arrays do not change: outputs that an operator writes are copied first, and returned.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .adaptor import Adaptor, given
from .library import Operator
from .numpy import Numpy
from .operators import RESULTS


class Jax(Adaptor):
    """Operators that take JAX's arrays and return them."""

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        if any(isinstance(value, jax.core.Tracer) for value in values):
            return self.traced(found, values, writes)
        values = [np.array(value) if at in writes else value for at, value in enumerate(values)]
        result = _numpy.run(found, [np.asarray(value) if isinstance(value, jax.Array) else value for value in values], [])
        result = given(values, writes) if result is None else result
        return jax.tree.map(jnp.asarray, result)

    def traced(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        """Call an operator when the values are there; describe its result now."""
        at_arrays = [at for at, value in enumerate(values) if isinstance(value, jax.Array)]
        if writes:
            described = tuple(jax.ShapeDtypeStruct(values[at].shape, values[at].dtype) for at in writes)
            described = described[0] if len(described) == 1 else described
        elif found.name in RESULTS:
            described = jax.ShapeDtypeStruct(*RESULTS[found.name](*values))
        else:
            raise NotImplementedError(f"{found.name} has no shape in RESULTS of operators.py: it cannot be traced")

        def call(*arrays: Any) -> Any:
            now = list(values)
            for at, value in zip(at_arrays, arrays):
                now[at] = np.array(value) if at in writes else np.asarray(value)
            result = _numpy.run(found, now, [])
            return given(now, writes) if result is None else result

        return jax.pure_callback(call, described, *(values[at] for at in at_arrays), vmap_method="sequential")


_numpy = Numpy()
_adaptor = Jax()
of = _adaptor.of


def __getattr__(name: str) -> Any:
    return getattr(_adaptor, name)
