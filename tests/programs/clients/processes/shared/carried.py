"""Values that a framework carries to another process, and what is done with them there.

Each program of this folder calls `main` with its way to run a function in another process. With the argument `upstream` it runs on
upstream's library, and checks that the values cannot travel.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = Path(__file__).resolve().parents[3] / "relax/models/cnn/bytecode.so"
LIBRARY = """
typedef struct { int type_index, zero; long long value; } Any;
int __tvm_ffi_answer(void* self, const Any* args, int count, Any* result) {
  result->type_index = 1, result->zero = 0, result->value = 42;
  return 0;
}
"""


def build(folder):
    """Return the path of a library with a function `answer`."""
    path = str(Path(folder) / "answer.so")
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", path]
    subprocess.run(compiler, input=LIBRARY, text=True, check=True)
    return path


# Functions that run in the other process.


def process_and_library():
    import tvm_ffi

    return os.getpid(), tvm_ffi.LIB._name


def doubled(tensor):
    import numpy
    import tvm_ffi

    return tvm_ffi.from_dlpack(numpy.asarray(numpy.from_dlpack(tensor) * 2))


def described(tensor):
    import ferrite_tvm_ffi_pickle

    return str(tensor.dtype), tuple(tensor.shape), ferrite_tvm_ffi_pickle.elements_of(tensor).tobytes()


def answer(module):
    return module.answer()


def called(function):
    return function()


def run_model(value):
    machine, x = value
    return machine["main"](x)


def keys_and_sums(parameters):
    import numpy

    return {str(key): float(sum(numpy.from_dlpack(tensor).sum() for tensor in group)) for key, group in parameters.items()}


def check(run, folder):
    """Check each kind of value. `run` runs a function with a value in another process, and returns its result."""
    import ferrite_tvm_ffi_pickle
    import numpy as np
    import tvm_ffi

    process, library = run(call_without, process_and_library)
    assert process != os.getpid() and library == tvm_ffi.LIB._name, (process, library)

    for array in (np.arange(6, dtype="float32").reshape(2, 3), np.arange(1 << 20)[::-3], np.zeros((2, 0)), np.array(1.5)):
        result = run(doubled, tvm_ffi.from_dlpack(array))
        assert isinstance(result, tvm_ffi.Tensor)
        np.testing.assert_array_equal(np.from_dlpack(result), array * 2)
    read_only = np.arange(5)
    read_only.flags.writeable = False
    np.testing.assert_array_equal(np.from_dlpack(run(doubled, tvm_ffi.from_dlpack(read_only))), read_only * 2)
    for dtype, shape, count in (("bfloat16", (2, 3), 12), ("float8_e4m3fn", (4,), 4), ("int4", (3, 3), 5)):
        content = bytes(range(count))
        found = run(described, ferrite_tvm_ffi_pickle.tensor_of(bytearray(content), dtype, shape))
        assert found == (dtype, shape, content), found

    module = tvm_ffi.load_module(build(folder))
    assert (run(answer, module), run(called, module.answer)) == (42, 42)

    machine = tvm_ffi.load_module(str(MODEL))["vm_load_executable"]()
    machine["vm_initialization"](1, 0, 2)
    x = tvm_ffi.from_dlpack(np.random.default_rng(1).random((1, 1, 8, 8), "float32"))
    expected = np.from_dlpack(machine["main"](x))
    np.testing.assert_array_equal(np.from_dlpack(run(run_model, (machine, x))), expected)

    ones = tvm_ffi.from_dlpack(np.ones((4, 4), "float32"))
    assert run(keys_and_sums, tvm_ffi.Map({"a": [ones, ones], "b": [ones]})) == {"a": 32.0, "b": 16.0}

    message = refusal(run, called, tvm_ffi.convert(lambda: 1))
    assert "a Python closure and a C callback" in message, message


def call_without(function):
    return function()


def refusal(run, function, value):
    """Return the text of the error, and of its causes, with which a value is refused."""
    try:
        run(function, value)
    except Exception as error:
        text = []
        while error is not None:
            text.append(f"{type(error).__name__}: {error}")
            error = error.__cause__ or error.__context__
        return "\n".join(text)
    raise AssertionError(f"{value} was carried")


def check_upstream(run, folder):
    """Check that upstream's library carries none of these values."""
    import numpy as np
    import tvm_ffi

    assert "ferrite_tvm_ffi" not in tvm_ffi.LIB._name
    module = tvm_ffi.load_module(build(folder))
    for function, value in ((doubled, tvm_ffi.from_dlpack(np.ones(3))), (answer, module), (called, module.answer)):
        message = refusal(run, function, value)
        assert "does not support ToJSONGraph" in message, message


def main(run):
    """Check the values on Ferrite's library, and in another interpreter that upstream's cannot."""
    shared = str(Path(__file__).resolve().parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([shared, *filter(None, [os.environ.get("PYTHONPATH")])])  # for the workers
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:] == ["upstream"]:
            check_upstream(run, folder)
            return
        check(run, folder)
    on_upstream = {name: value for name, value in os.environ.items() if name != "FERRITE_TVM_FFI"}
    subprocess.run([sys.executable, sys.argv[0], "upstream"], check=True, env=on_upstream)
