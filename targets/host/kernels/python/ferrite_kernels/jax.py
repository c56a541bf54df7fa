"""Operators on JAX's arrays in main memory, also under `jax.jit`.

    from ferrite_kernels import jax as kernels

    y = jax.jit(lambda x: kernels.rmsnorm(x, weight, 1e-5))(x)

Outside of `jit` arrays are passed and returned by DLPack, without a copy. Traced calls run by `jax.pure_callback`, for which
the operator's signature has the shape of the result. JAX's arrays do not change: outputs that an operator writes are copied first, and returned.
"""

from __future__ import annotations

from typing import Any, Iterable

import jax
import jax.numpy as jnp
import numpy as np

from .adaptor import Adaptor
from .library import Operator
from .numpy import Numpy


class Jax(Adaptor):
    """Operators that take JAX's arrays and return them: the result, and behind it the outputs that were given."""

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        if not any(isinstance(value, jax.core.Tracer) for value in values):
            return jax.tree.map(jnp.asarray, _call(found, values, writes))
        at_arrays = [at for at, value in enumerate(values) if isinstance(value, jax.Array)]

        def call(*arrays: Any) -> Any:
            now = dict(zip(at_arrays, arrays))
            return _call(found, [now.get(at, value) for at, value in enumerate(values)], writes)

        return jax.pure_callback(
            call, self.shapes(found, values, writes), *(values[at] for at in at_arrays), vmap_method="sequential"
        )

    def shapes(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        """Return shapes and types of what `_call` returns."""
        names = found.signature.names
        results = [self.described(found.name, values)] if "out" in names and values[names.index("out")] is None else []
        described = [(values[at].shape, values[at].dtype) for at in writes]
        return _outputs((jax.ShapeDtypeStruct(*one) for one in results), (jax.ShapeDtypeStruct(*one) for one in described))


def _call(found: Operator, values: list[Any], writes: list[int]) -> Any:
    """Call an operator with arrays that are there; the outputs are copied."""
    arrays = [_array(value, at in writes) if isinstance(value, jax.Array) else value for at, value in enumerate(values)]
    for at, parameter in enumerate(found.signature.parameters):
        if not parameter.is_tensor and isinstance(arrays[at], np.ndarray):
            arrays[at] = arrays[at].item()  # a number that `jit` took for an array
    result = _numpy.run(found, arrays, [])
    return _outputs(() if result is None else (result,), (arrays[at] for at in writes))


def _array(value: jax.Array, is_written: bool) -> np.ndarray:
    return np.array(value) if is_written else np.asarray(value)


def _outputs(results: Iterable[Any], written: Iterable[Any]) -> Any:
    every = (*results, *written)
    return every[0] if len(every) == 1 else every


_numpy = Numpy()
_adaptor = Jax()
of = _adaptor.of


def __getattr__(name: str) -> Any:
    return getattr(_adaptor, name)
