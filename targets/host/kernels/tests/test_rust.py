"""The operators in Rust, compared with numpy."""

import re
import subprocess

import numpy as np
import pytest
import reference
from conftest import BUILD
from operators import COMMON, call, cases, check, normal


@pytest.mark.parametrize("operator, size", cases(COMMON))
def test_operator(rust, operator, size):
    check(rust, operator, size)


def test_every_export_is_compared():
    symbols = subprocess.run(["nm", "-D", "--defined-only", BUILD / "kernels_rust.so"], capture_output=True, text=True, check=True).stdout
    exports = set(re.findall(r" __tvm_ffi_(?!_)(\w+)", symbols))
    assert exports == {operator.name for operator in COMMON}


@pytest.mark.parametrize("rows, cols", [(1000, 4096), (1001, 4095)])
def test_rows_on_several_threads(rust, rows, cols):
    """So much work that it is split where there are several processors."""
    rng = np.random.default_rng(7)
    x, weight = normal(rng, rows, cols), normal(rng, cols)
    actual = np.from_dlpack(call(rust, "rmsnorm", x, weight, 1e-6, None))
    np.testing.assert_allclose(actual, reference.rmsnorm(x.astype("float64"), weight, 1e-6), rtol=1e-5, atol=1e-5)


REFUSED = [
    ("dtype", "sum_rows", lambda x: [x(2, 3, dtype="float64"), None], TypeError, "x.dtype on argument #0", "float32, got float64"),
    ("rank", "sum_rows", lambda x: [x(2), None], ValueError, "x.ndim on argument #0", "expected 2, got 1"),
    ("strides", "sum_rows", lambda x: [x(2, 4)[:, ::2], None], ValueError, "x.strides on argument #0", "compact array, got stride[1] = 2"),
    ("extent", "rmsnorm", lambda x: [x(2, 3), x(4), 1e-6, None], ValueError, "weight.shape[0] on argument #1", "expected 3, got 4"),
    ("output", "rmsnorm", lambda x: [x(2, 3), x(3), 1e-6, x(2, 4)], ValueError, "out.shape[1] on argument #3", "expected 3, got 4"),
]


@pytest.mark.parametrize("operator, inputs, error, where, wanted", [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_bad_input_is_refused(rust, operator, inputs, error, where, wanted):
    with pytest.raises(error) as caught:
        call(rust, operator, *inputs(lambda *shape, dtype="float32": np.zeros(shape, dtype)))
    text = str(caught.value)
    assert where in text and wanted in text and operator in text


def test_outputs_that_share_memory_are_refused(rust):
    memory = np.zeros(24, "float32")
    x, out = memory[:12].reshape(3, 4), memory[11:23].reshape(3, 4)
    with pytest.raises(ValueError, match=r"Overlapping out on argument #3(.|\n)*memory apart from argument #0, got common bytes"):
        call(rust, "rmsnorm", x, np.zeros(4, "float32"), 1e-6, out)
    assert call(rust, "rmsnorm", x, np.zeros(4, "float32"), 1e-6, memory[12:].reshape(3, 4)) is None
