"""The backend and its adaptors to numpy, to JAX and to frameworks known by protocol only. test_torch.py tests that to PyTorch."""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
import sys
import threading
import types
from pathlib import Path

import ferrite_kernels
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import tvm_ffi
from adaptors import CASES, adaptor, check, library
from conftest import BUILD, on_ferrite
from ferrite_kernels import dlpack, protocol
from ferrite_kernels import numpy as on_numpy
from ferrite_kernels.signature import Signature, split

PACKAGE = Path(ferrite_kernels.__file__).parent
jax.config.update("jax_enable_x64", True)  # positions are int64


# ---- the backend
# -----------------------------------------------------------------------------------


def test_backend_imports_no_framework():
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "torch", "jax", "cupy", "ml_dtypes"):
            raise ImportError(name + " is not here")
sys.meta_path.insert(0, Refuse())
import ferrite_kernels, ferrite_kernels.adaptor, ferrite_kernels.protocol
print(ferrite_kernels.c.layernorm2d, callable(ferrite_kernels.build))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "Function" in ran.stdout and ran.stdout.endswith(" True\n"), ran.stderr


@pytest.mark.parametrize("name", ["__init__", "library", "signature", "adaptor", "dlpack", "protocol", "build", "compilers", "cache"])
def test_sources_of_the_backend_name_no_framework(name):
    imported = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{name}.py").read_text())):
        if isinstance(node, ast.Import):
            imported |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names <= {"tvm_ffi", "ferrite_kernels"}


def test_libraries_and_the_first_that_has_an_operator():
    assert ferrite_kernels.layernorm2d.same_as(ferrite_kernels.cpp.layernorm2d)
    assert ferrite_kernels.relu.same_as(ferrite_kernels.c.relu)
    assert not ferrite_kernels.rust.layernorm2d.same_as(ferrite_kernels.c.layernorm2d)
    with pytest.raises(AttributeError, match="the kernels in cpp have no operator nothing; the kernels in c have"):
        ferrite_kernels.nothing  # noqa: B018
    with pytest.raises(OSError, match="kernels_fortran.so is not in .*: build it by `make`, or name its folder by FERRITE_KERNELS"):
        ferrite_kernels.Library("fortran").layernorm2d  # noqa: B018


def test_paths_of_libraries(monkeypatch):
    monkeypatch.chdir(BUILD)
    assert ferrite_kernels.Library("mine", "kernels_c.so").sum_rows
    with pytest.raises(OSError, match="absent.so is not there"):
        ferrite_kernels.Library("mine", "absent.so").sum_rows  # noqa: B018


def test_operator_by_its_name_in_cpp_only():
    found = ferrite_kernels.operator("layernorm2d", [ferrite_kernels.Library("absent"), ferrite_kernels.cpp])
    assert found.function.same_as(ferrite_kernels.cpp.layernorm2d)


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
def test_names_of_arguments(language):
    found = ferrite_kernels.operator("layernorm2d", [getattr(ferrite_kernels, language)])
    assert found.signature.names == ("x", "weight", "bias", "eps", "out")
    assert found.signature.arguments((1, 2), {"eps": 4, "bias": 3}) == [1, 2, 3, 4, None]
    for positional, named, message in (
        ((1, 2, 3), {}, r"layernorm2d\(\) lacks the argument 'eps'"),
        ((1, 2, 3, 4), {"x": 1}, r"layernorm2d\(\) got twice argument 'x'"),
        ((1, 2, 3, 4), {"scale": 1}, r"layernorm2d\(\) has no argument 'scale'"),
        ((1, 2, 3, 4, 5, 6), {}, r"layernorm2d\(\) takes 5 arguments, 6 given"),
    ):
        with pytest.raises(TypeError, match=message):
            found.signature.arguments(positional, named)


def test_signatures_describe_results():
    kinds = {"type_schema": '{"named_args": {"params": [' + ", ".join(['{"type": "DLTensor*"}'] * 4) + "]}}"}
    text = "f(x: Tensor([rows, 2 * cols], float32 | float16), y: Tensor([...], T), n: int, out: Tensor([cols, 3, 2 * rows, n, ...], T) = None)"
    signature = Signature("f", {**kinds, "signature": text})
    assert signature.names == ("x", "y", "n", "out") and signature.writes == (3,)
    assert signature.result([np.empty((5, 8)), np.empty((7, 9), "int8"), 6, None]) == ((4, 3, 10, 6, 7, 9), np.dtype("int8"))
    assert split("a: Map<str, Array<int>>, b: Tensor([m, n], T)") == ["a: Map<str, Array<int>>", "b: Tensor([m, n], T)"]
    assert Signature("f", kinds).names == ("_0", "_1", "_2", "_3")
    with pytest.raises(LookupError, match="the signature of f has no shape of a result"):
        Signature("f", kinds).result([])


def exported(language):
    """Return the operators of a library."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(BUILD / f"kernels_{language}.so")], check=True, capture_output=True, text=True)
    names = re.findall(r" __tvm_ffi_([a-z]\w*)$", symbols.stdout, re.MULTILINE)
    return [ferrite_kernels.operator(name, [library(language)]) for name in names]


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
def test_every_operator_has_a_result_or_outputs(language):
    for found in exported(language):
        assert "_0" not in found.signature.names, f"{found.name}: the metadata has no names"
        assert found.signature.writes, f"{found.name}: signature.py does not say what it writes"


def test_an_adaptor_has_no_line_for_an_operator():
    for name in ("numpy", "jax", "protocol"):
        assert "layernorm" not in (PACKAGE / f"{name}.py").read_text().split('"""')[2]


# ---- results
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language, operator, size", CASES)
def test_numpy(language, operator, size):
    check(getattr(adaptor("numpy", language), operator.name), operator, size, lambda x: x, lambda x: x)


@pytest.mark.parametrize("language, operator, size", CASES)
def test_arrays_by_protocol(language, operator, size):
    check(getattr(adaptor("protocol", language), operator.name), operator, size, Array, lambda x: x.values)


@pytest.mark.parametrize("language, operator, size", CASES)
def test_jax(language, operator, size):
    check(getattr(adaptor("jax", language), operator.name), operator, size, jnp.asarray, np.asarray)


@pytest.mark.parametrize("language, operator, size", CASES)
def test_jax_jit(language, operator, size):
    call = getattr(adaptor("jax", language), operator.name)

    def traced(*values):
        static = {at: value for at, value in enumerate(values) if not isinstance(value, jax.Array)}
        arrays = [value for value in values if isinstance(value, jax.Array)]

        def body(*inner):
            rest = iter(inner)
            return call(*(static[at] if at in static else next(rest) for at in range(len(values))))

        return jax.jit(body)(*arrays)

    check(traced, operator, size, jnp.asarray, np.asarray)


def test_jax_transformations():
    kernels, x = adaptor("jax", "c"), jnp.arange(24.0, dtype="float32").reshape(2, 3, 4)
    np.testing.assert_array_equal(jax.jit(jax.vmap(kernels.sum_rows))(x), x.sum(-1))
    residual = jnp.ones((3, 4), "float32")
    result, written = jax.jit(kernels.rmsnorm_residual)(x[0], residual, jnp.ones(4, "float32"), 1e-5)
    np.testing.assert_array_equal(written, x[0] + 1)
    np.testing.assert_allclose(result, kernels.rmsnorm(x[0] + 1, jnp.ones(4, "float32"), 1e-5), rtol=1e-6)


def test_jax_arrays_do_not_change():
    kernels = adaptor("jax", "c")
    gating, weights, indices = jnp.ones((3, 8), "float32"), jnp.zeros((3, 2), "float32"), jnp.zeros((3, 2), "int32")
    written = kernels.topk_softmax(gating, True, weights, indices)
    assert (np.asarray(weights) == 0).all() and (np.asarray(written[0]) == 0.5).all()


# ---- outputs
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
def test_given_outputs_are_written_and_returned(language):
    kernels, x = adaptor("numpy", language), np.ones((3, 4), "float32")
    out = np.empty(3, "float32")
    assert kernels.sum_rows(x, out=out) is out and (out == 4).all()


def test_several_outputs_are_written_and_returned():
    kernels, x = adaptor("numpy", "c"), np.ones((3, 4), "float32")
    weights, indices = np.empty((3, 2), "float32"), np.empty((3, 2), "int32")
    assert kernels.topk_softmax(x, True, weights, indices)[1] is indices


def test_results_of_numpy_are_writable_and_outlive_their_call():
    results = [adaptor("numpy", language).sum_rows(np.full((50, 7), at, "float32")) for at in range(40) for language in ("c", "rust")]
    for at, result in enumerate(results):
        assert result.flags.writeable and (result == 7 * (at // 2)).all()


def test_allocations_of_the_environment_are_released():
    allocations = len(dlpack._alive)
    results = [adaptor("protocol", language).sum_rows(Array(np.ones((5, 5), "float32"))) for language in ("c", "cpp", "rust")]
    assert len(dlpack._alive) == allocations + 3, "the framework allocates"
    del results
    assert len(dlpack._alive) == allocations


def test_numpy_allocates_only_without_a_default_allocator():
    assert dlpack.HAS_DEFAULT_ALLOCATOR == on_ferrite()
    allocations, result = len(dlpack._alive), adaptor("numpy", "rust").sum_rows(np.ones((5, 5), "float32"))
    assert len(dlpack._alive) - allocations == (0 if on_ferrite() else 1) and (result == 5).all()


def test_errors_of_an_allocator_are_raised_and_it_is_unset():
    def fail(*_, **__):
        raise MemoryError("the pool is empty")

    xp = types.SimpleNamespace(empty=fail)
    x = Array(np.ones((2, 2), "float32"), namespace=xp)
    with pytest.raises(MemoryError, match="the pool is empty"):
        adaptor("protocol", "c").sum_rows(x)
    before = ctypes.c_void_p()
    dlpack._set_allocator(None, 0, ctypes.byref(before))
    assert before.value is None


def test_threads_call_adaptors_at_the_same_time():
    kernels, right = adaptor("protocol", "rust"), []

    def work(at):
        for _ in range(100):
            right.append((kernels.sum_rows(Array(np.full((3, 3), at, "float32"))).values == 3 * at).all())

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 800 and all(right)


# ---- types and read-only arrays
# ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "bool"])
def test_types_of_tensors(name):
    x = np.arange(6).reshape(2, 3).astype(getattr(ml_dtypes, name, name))
    tensor = on_numpy.tensor(x)
    assert str(tensor.dtype) == name and tensor.data_ptr() == x.ctypes.data
    back = on_numpy.array(tensor)
    assert back.dtype == x.dtype and np.shares_memory(back, x)
    np.testing.assert_array_equal(back.astype("float32"), x.astype("float32"))


def test_read_only_arrays_are_inputs_and_no_outputs():
    kernels, x, out = adaptor("numpy", "c"), np.ones((3, 4), "float32"), np.zeros(3, "float32")
    x.flags.writeable = out.flags.writeable = False
    assert (kernels.sum_rows(x) == 4).all()
    with pytest.raises(ValueError, match=r"^Read-only out on argument #1 when calling:\n  `sum_rows\(x: .*\)`,\n  expected a writable array"):
        kernels.sum_rows(x, out)
    query = np.zeros((1, 1, 2), "float32")
    query.flags.writeable = False
    with pytest.raises(ValueError, match="^Read-only query on argument #1"):
        kernels.rotary_embedding(np.zeros(1, "int64"), query, np.zeros((1, 1, 2), "float32"), np.zeros((4, 2), "float32"))
    assert (out == 0).all() and (query == 0).all()


# ---- frameworks by protocol: devices and streams
# -----------------------------------------------------------


class Array:
    """An array of a framework that the package does not know, with what CuPy has: DLPack, a namespace, and streams."""

    def __init__(self, values: np.ndarray, device: tuple[int, int] = (1, 0), namespace=None) -> None:
        self.values, self.device, self.shape, self.dtype = values, device, values.shape, values.dtype
        self.namespace = namespace or NAMESPACE

    def __array_namespace__(self):
        return self.namespace

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_):
        capsule = self.values.__dlpack__()
        dlpack.record(capsule).device_type, dlpack.record(capsule).device_id = self.device
        return capsule


NAMESPACE = types.SimpleNamespace(
    empty=lambda shape, dtype: Array(np.empty(shape, dtype)),
    from_dlpack=lambda x: Array(np.from_dlpack(x)),
    cuda=types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0x5712EA)),
)
CUDA = (2, 3)

STREAM = r"""
#include <ferrite/kernel.h>

FERRITE_EXPORT(stream_of, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_BOOL), FERRITE_INT, "x: Tensor, fails: bool", "Returns x's stream.") {
  FerriteTensorArg x;
  int fails;
  if (ferrite_arg_tensor(args, 0, "x", &x) || ferrite_arg_bool(args, 1, &fails)) return -1;
  if (fails) return ferrite_fail("ValueError", "as you wish");
  return ferrite_return_int(result, (int64_t)(intptr_t)TVMFFIEnvGetStream(x.dl->device.device_type, x.dl->device.device_id));
}
"""


def stream_now() -> int:
    return tvm_ffi.get_raw_stream(tvm_ffi.device(*CUDA))


def test_current_stream_is_passed_and_restored_after_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("FERRITE_KERNELS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "stream.c").write_text(STREAM)
    built = ferrite_kernels.Library("stream", "")
    built._module = ferrite_kernels.build(tmp_path / "stream.c")
    kernels, x = protocol.of(built), Array(np.ones(3, "float32"), device=CUDA)
    before = stream_now()
    assert kernels.stream_of(x, False) == 0x5712EA and stream_now() == before
    with pytest.raises(ValueError, match="as you wish"):
        kernels.stream_of(x, fails=True)
    assert stream_now() == before
    assert kernels.stream_of(Array(np.ones(3, "float32")), False) == 0, "main memory has no stream"


def test_devices_are_refused_by_kernels_of_main_memory():
    with pytest.raises(ValueError, match=r"^Mismatched x.device_type on argument #0"):
        adaptor("protocol", "c").sum_rows(Array(np.ones((2, 2), "float32"), device=CUDA))
