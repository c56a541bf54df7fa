"""The operators in C++, compared with numpy, in each type of elements."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from dlpack import array_of, tensor
from operators import COMMON, Operator, cases, check

# Relative error of one rounding to a type, with some for the sums before it.
PRECISION = {"float16": 2e-3, "bfloat16": 1e-2}


def in_type(operator: Operator, dtype: str) -> Operator:
    """Return an operator with inputs and outputs of a narrow type."""

    def inputs(rng, *size):
        values = operator.inputs(rng, *size)
        return [value.astype(dtype) if isinstance(value, np.ndarray) else value for value in values]

    precision = PRECISION[dtype]
    return dataclasses.replace(operator, inputs=inputs, out=dtype, rtol=precision, atol=max(operator.atol, 4 * precision))


OPERATORS = [*COMMON, *(in_type(operator, dtype) for operator in COMMON for dtype in PRECISION)]


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_operator(cpp, operator, size):
    check(cpp, operator, size)


# ---- conversions
# -----------------------------------------------------------------------------------


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Compare bits, so that zeros have signs; of NaN only that it is one, as processors differ in its payload."""
    both_nan = np.isnan(actual.astype("float32")) & np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.where(both_nan, 0, actual.view("uint16")), np.where(both_nan, 0, expected.view("uint16")))


@pytest.mark.parametrize("dtype", PRECISION)
def test_every_value_of_a_narrow_type_is_read_and_rounded(cpp, dtype):
    """Rows whose mean square and eps make 1 multiply each value by 1.5 and by 0.5: exact in float32, between two values in the type."""
    weight = np.arange(2**16, dtype="uint32").astype("uint16").view(dtype)
    x = np.stack([np.tile([1.5, 0.5], 2**15), np.tile([0.5, 1.5], 2**15)]).astype(dtype)
    actual = array_of(cpp.rmsnorm(tensor(x), tensor(weight), 1 - 1.25, None), dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same(actual, (x.astype("float32") * weight.astype("float32")).astype(dtype))
