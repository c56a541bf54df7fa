"""Tests that values of tvm_ffi can be pickled, in an environment in which the wheel is installed. usage: test_pickle.py

Releases of tvm_ffi differ in the methods of tensors, so the tests look at tensors by NumPy.
"""

import copy
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # the wheel's modules are there, without a library

import ferrite_tvm_ffi  # noqa: E402
import ferrite_tvm_ffi_pickle as pickling  # noqa: E402
import numpy as np  # noqa: E402
import tvm_ffi  # noqa: E402

MODEL = HERE.parents[2] / "tests/programs/relax/models/cnn/bytecode.so"
LIBRARY = """
typedef struct { int type_index, zero; long long value; } Any;
int __tvm_ffi_answer(void* self, const Any* args, int count, Any* result) {
  result->type_index = 1, result->zero = 0, result->value = NUMBER;
  return 0;
}
"""


def build(folder, number=42):
    """Return the path of a library whose function `answer` returns a number."""
    path = Path(folder) / "answer.so"
    made = path.with_suffix(".new")
    compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-DNUMBER={number}", "-x", "c", "-", "-o", made]
    subprocess.run(compiler, input=LIBRARY, text=True, check=True)
    made.replace(path)
    return str(path)


def again(value, protocol=5):
    return pickle.loads(pickle.dumps(value, protocol))


def out_of_band(value, of=lambda buffer: buffer):
    """Return a value after pickling with its buffers apart, and these buffers."""
    buffers = []
    data = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=map(of, buffers)), buffers


def aligned(array, offset=0):
    """Return a copy of an array whose address is `offset` beyond a multiple of 64."""
    room = np.empty(array.nbytes + 128, "u1")
    start = -room.ctypes.data % 64 + offset
    copied = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


def address(tensor):
    return pickling.elements_of(tensor).ctypes.data


def is_writable(tensor):
    return pickling.elements_of(tensor).flags.writeable


CUBE = np.arange(24, dtype="float32").reshape(2, 3, 4)


class Tensors(unittest.TestCase):
    def assert_same(self, tensor, array):
        np.testing.assert_array_equal(np.from_dlpack(tensor), array, strict=True)

    def test_each_protocol(self):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with self.subTest(protocol):
                loaded = again(tvm_ffi.from_dlpack(CUBE), protocol)
                self.assert_same(loaded, CUBE)
                self.assertTrue(is_writable(loaded))
                self.assertEqual(address(loaded) % 64, 0)

    def test_protocol_5_copies_no_element_of_a_compact_tensor(self):
        tensor = tvm_ffi.from_dlpack(aligned(CUBE))
        loaded, (buffer,) = out_of_band(tensor)
        self.assertEqual((address(loaded), buffer.raw().nbytes), (address(tensor), CUBE.nbytes))
        del tensor, buffer
        self.assert_same(loaded, CUBE)

    def test_memory_that_is_not_aligned_is_copied(self):
        for offset in (4, 8, 32):
            tensor = tvm_ffi.from_dlpack(aligned(CUBE, offset))
            loaded, _ = out_of_band(tensor)
            self.assertEqual((address(tensor) % 64, address(loaded) % 64), (offset, 0))
            self.assert_same(loaded, CUBE)

    def test_memory_that_is_read_only_gives_a_read_only_tensor(self):
        for offset in (0, 4):
            tensor = tvm_ffi.from_dlpack(aligned(CUBE, offset))
            loaded, _ = out_of_band(tensor, of=lambda buffer: memoryview(buffer).toreadonly())
            is_private = pickling.exports_no_read_only()  # a copy, with an earlier NumPy
            self.assertEqual(is_writable(loaded), is_private)
            self.assertFalse(np.from_dlpack(loaded).flags.writeable and not is_private)
            self.assertTrue(address(loaded) == address(tensor) or offset or is_private)
            self.assert_same(loaded, CUBE)

    def test_views(self):
        for view in (CUBE[1:], CUBE[:, ::2], CUBE.T, CUBE[::-1, :, ::-2], np.broadcast_to(CUBE[0, 0], (3, 4)).copy()[:, 1:3]):
            self.assert_same(again(tvm_ffi.from_dlpack(view)), view)

    def test_shapes(self):
        for array in (np.array(3.5), np.zeros((3, 0, 2), "int8"), np.zeros(0), CUBE[:0], np.ones((1, 1, 5), "bool")):
            for protocol in (4, 5):
                self.assert_same(again(tvm_ffi.from_dlpack(array), protocol), array)

    def test_data_types_that_numpy_lacks(self):
        for dtype, shape, count in [
            ("bfloat16", (3, 2), 12), ("float8_e4m3fn", (5,), 5), ("int4", (3, 3), 5), ("uint1", (10,), 2),
            ("float4_e2m1fn", (3,), 2), ("float32x4", (2,), 32), ("int4x8", (2,), 8),
        ]:
            with self.subTest(dtype):
                content = bytes(range(count))
                tensor = pickling.tensor_of(bytearray(content), dtype, shape)
                for loaded in (tensor, again(tensor), again(tensor, 2)):
                    self.assertEqual((str(loaded.dtype), tuple(loaded.shape)), (dtype, shape))
                    self.assertEqual(pickling.elements_of(loaded).tobytes(), content)

    def test_copies(self):
        tensor = tvm_ffi.from_dlpack(aligned(CUBE, 4))
        self.assertEqual(address(copy.copy(tensor)), address(tensor))
        deep = copy.deepcopy([tensor, tensor])
        self.assertNotEqual(address(deep[0]), address(tensor))
        self.assertIs(deep[0], deep[1])
        self.assert_same(deep[0], CUBE)

    def test_the_class_that_a_package_sets(self):
        code = """
import ferrite_tvm_ffi, numpy, pickle, tvm_ffi
class Tensor(tvm_ffi.Tensor):
    __slots__ = ()
tvm_ffi.core._set_class_tensor(Tensor)
loaded = pickle.loads(pickle.dumps(tvm_ffi.from_dlpack(numpy.ones(3))))
assert type(loaded) is Tensor and loaded.shape == (3,)
"""
        subprocess.run([sys.executable, "-c", code], check=True, cwd=tempfile.gettempdir())

    def test_the_memory_lives_as_long_as_the_tensor_and_no_longer(self):
        content = bytearray(aligned(CUBE).tobytes())
        loaded = pickling.tensor_of(memoryview(content), "float32", CUBE.shape)
        if address(loaded) == np.frombuffer(content, "u1").ctypes.data:
            with self.assertRaises(BufferError):
                content.clear()
        del loaded
        content.clear()

    def test_damaged_data(self):
        for error, *arguments in [
            (ValueError, b"123", "float32", (1,)), (ValueError, b"1234", "float32", (-1,)), (ValueError, b"", "int8", (1 << 63, 0)),
            (ValueError, b"", "float32", (1 << 40, 1 << 40)), (ValueError, b"1234", "no_type", (1,)),
            (ValueError, b"12345678", "handle", (1,)), (TypeError, b"1234", "float32", [1]),
            (TypeError, b"1234", "float32", (1.0,)), (TypeError, b"1234", 5, (1,)), (TypeError, "text", "int8", (4,)), (TypeError, None, "int8", (0,)),
            (ValueError, b"1", "int8", (1,) * 1000),
        ]:
            with self.subTest(arguments), self.assertRaises(error):
                pickling.tensor_of(*arguments)
        data = pickle.dumps(tvm_ffi.from_dlpack(CUBE))
        for at in range(len(data)):
            for damaged in (data[:at], data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]):
                try:
                    pickle.loads(damaged)
                except Exception:  # noqa: S110 - any error will do; the process lives on
                    pass

    def test_elements_that_mean_nothing_elsewhere(self):
        view = pickling.managed(
            capsule := tvm_ffi.from_dlpack(np.zeros(2, "int64")).__dlpack__(), b"dltensor", pickling.DLTensor
        )
        view.code = pickling.OPAQUE_HANDLE
        with self.assertRaisesRegex(TypeError, "mean nothing in another process"):
            pickle.dumps(tvm_ffi.from_dlpack(Capsule(capsule)))

    def test_other_devices(self):
        view = pickling.managed(capsule := tvm_ffi.from_dlpack(CUBE).__dlpack__(), b"dltensor", pickling.DLTensor)
        view.device_type = 4
        with self.assertRaisesRegex(TypeError, "opencl:0 cannot be pickled: copy it to the CPU"):
            pickle.dumps(tvm_ffi.from_dlpack(Capsule(capsule)))
        view = pickling.managed(capsule := tvm_ffi.from_dlpack(CUBE).__dlpack__(), b"dltensor", pickling.DLTensor)
        view.device_type = 3  # pinned memory arrives as memory
        self.assert_same(again(tvm_ffi.from_dlpack(Capsule(capsule))), CUBE)


class Capsule:
    """An array with a capsule that is there already."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule


class Containers(unittest.TestCase):
    def test_without_tensors_as_upstream_pickles_them(self):
        value = tvm_ffi.Array([1, "two", tvm_ffi.Map({"a": [None]})])
        self.assertIn(b"root_index", pickle.dumps(value))
        loaded = again(value)
        self.assertEqual((loaded[1], loaded[2]["a"][0]), ("two", None))

    def test_with_tensors_and_what_they_share(self):
        tensor = tvm_ffi.from_dlpack(CUBE)
        inner = tvm_ffi.Array([tensor, 1.5])
        for value in (tvm_ffi.Map({"a": tensor, "b": inner}), {"a": tensor, "b": tvm_ffi.List([tensor, inner])}):
            loaded = again(value)
            self.assertEqual(type(loaded), type(value))
            np.testing.assert_array_equal(np.from_dlpack(loaded["a"]), CUBE)
        shared = again(tvm_ffi.Array([tensor, "x", tensor]))
        self.assertEqual(address(shared[0]), address(shared[2]))

    def test_with_what_cannot_travel(self):
        with self.assertRaisesRegex(TypeError, "a Python closure and a C callback"):
            pickle.dumps(tvm_ffi.Array([tvm_ffi.from_dlpack(CUBE), tvm_ffi.convert(lambda: 1)]))


class Modules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        kept, tempfile.tempdir = tempfile.tempdir, str(self.folder)
        self.addCleanup(lambda: setattr(tempfile, "tempdir", kept))
        self.addCleanup(ferrite_tvm_ffi.include_files, False)
        self.path = build(self.folder)
        self.module = tvm_ffi.load_module(self.path)

    def test_a_library_and_its_functions(self):
        module, function, same = again((self.module, self.module.answer, self.module["answer"]))
        self.assertEqual((module.answer(), function(), same()), (42, 42, 42))
        self.assertEqual(again(again(self.module.answer))(), 42)
        self.assertEqual(copy.copy(self.module.answer)(), 42)

    def test_relative_paths(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        module = tvm_ffi.load_module("./answer.so")
        os.chdir("/")
        self.assertEqual(again(module).answer(), 42)

    def test_names_that_the_loader_searches(self):
        code = (
            "import ferrite_tvm_ffi, os, pickle, sys, tvm_ffi; module = tvm_ffi.load_module('answer.so')\n"
            "os.environ.pop('LD_LIBRARY_PATH'); print(pickle.loads(pickle.dumps(module)).answer(), end='')"
        )
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "answer.so").write_text("not the library that is loaded")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        done = subprocess.run([sys.executable, "-c", code], cwd=elsewhere, env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("42", ""))

    def test_a_file_that_changed(self):
        data = pickle.dumps(self.module)
        build(self.folder, 43)
        with self.assertRaisesRegex(RuntimeError, "answer.so is not the file of the pickled module"):
            pickle.loads(data)
        with self.assertRaisesRegex(RuntimeError, "has changed since it was loaded"):
            pickle.dumps(self.module)

    def test_a_file_that_is_missing(self):
        data = pickle.dumps(self.module.answer)
        os.unlink(self.path)
        with self.assertRaisesRegex(FileNotFoundError, r"include_files\(\)"):
            pickle.loads(data)
        with self.assertRaisesRegex(RuntimeError, "has changed since it was loaded"):
            pickle.dumps(self.module)

    def test_bytes_of_files(self):
        ferrite_tvm_ffi.include_files()
        data = pickle.dumps(self.module)
        os.unlink(self.path)
        for _ in range(2):
            self.assertEqual(pickle.loads(data).answer(), 42)
        root = self.folder / f"ferrite-tvm-ffi-{os.getuid()}"
        (kept,) = root.glob("*/answer.so")
        kept.unlink()  # the file is mapped
        kept.write_bytes(b"something else")
        self.assertEqual(pickle.loads(data).answer(), 42)
        digest = kept.parent.name.encode()
        with self.assertRaisesRegex(ValueError, "have the SHA-256"):
            pickle.loads(data.replace(digest, b"0" * 64))
        root.chmod(0o777)
        with self.assertRaisesRegex(PermissionError, "only this user"):
            pickle.loads(data)

    def test_what_was_imported_later_cannot_travel(self):
        function = self.module.answer
        self.module.import_module(tvm_ffi.load_module(str(MODEL)))
        for value in (self.module, function):
            with self.assertRaisesRegex(TypeError, "its imports were changed"):
                pickle.dumps(value)

    def test_modules_and_functions_of_no_file(self):
        with self.assertRaisesRegex(TypeError, "kind library"):
            pickle.dumps(tvm_ffi.system_lib())
        with self.assertRaisesRegex(TypeError, "a Python closure and a C callback"):
            pickle.dumps(tvm_ffi.convert(lambda: 1))
        self.assertEqual(list(again(tvm_ffi.get_global_func("ffi.Array"))(1, 2)), [1, 2])

    def test_a_model_and_its_machine(self):
        library = tvm_ffi.load_module(str(MODEL))
        machine = library["vm_load_executable"]()
        self.assertEqual(again(machine)["get_function_arity"]("main"), machine["get_function_arity"]("main"))
        machine["vm_initialization"](1, 0, 2)
        x = tvm_ffi.from_dlpack(np.ones((1, 1, 8, 8), "float32"))
        expected = np.from_dlpack(machine["main"](x))
        for run in (again(machine)["main"], again(machine["main"]), again((library, machine))[1]["main"]):
            np.testing.assert_array_equal(np.from_dlpack(run(x)), expected)


class ReadOnlyArrays(unittest.TestCase):
    def test_they_are_accepted_and_stay_read_only(self):
        array = CUBE.copy()
        array.flags.writeable = False
        if pickling.exports_no_read_only():
            with self.assertRaises(BufferError):
                tvm_ffi.from_dlpack(array)
            return
        for take in (tvm_ffi.from_dlpack, tvm_ffi.core.from_dlpack, tvm_ffi.convert):
            tensor = take(array)
            self.assertEqual(address(tensor), array.ctypes.data)
            self.assertFalse(np.from_dlpack(tensor).flags.writeable)
        with self.assertRaisesRegex(RuntimeError, "not contiguous"):
            tvm_ffi.from_dlpack(array.T, require_contiguous=True)
        self.assertTrue(np.from_dlpack(tvm_ffi.from_dlpack(CUBE)).flags.writeable)

    def test_other_refusals_stay(self):
        with self.assertRaises(BufferError):
            tvm_ffi.from_dlpack(np.arange(3, dtype=">i4"))
        with self.assertRaises(TypeError):
            tvm_ffi.from_dlpack(5)


class Installation(unittest.TestCase):
    def test_everything_is_installed(self):
        self.assertEqual(set(pickling.INSTALLED.values()), {None}, pickling.INSTALLED)

    def test_upstream_alone_pickles_none_of_it(self):
        code = """
import pickle, numpy, tvm_ffi
for value in (tvm_ffi.from_dlpack(numpy.zeros(3)), tvm_ffi.get_global_func("ffi.Array")):
    try:
        pickle.dumps(value)
    except TypeError:
        continue
    raise AssertionError(value)
"""
        environment = {**os.environ, "FERRITE_TVM_FFI": "0"}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tempfile.gettempdir())

    def test_a_process_that_unpickles_first(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(pickle.dumps(tvm_ffi.from_dlpack(CUBE)))
            file.flush()
            code = f"import pickle, sys; print(pickle.load(open({file.name!r}, 'rb')).shape)"

            def run(code):
                options = {"cwd": tempfile.gettempdir(), "env": {**os.environ, "FERRITE_TVM_FFI": "0"}}
                return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)

            self.assertEqual(run(code).stdout, "(2, 3, 4)\n")
            done = run("import tvm_ffi; " + code)
            self.assertIn("set FERRITE_TVM_FFI=1 in the environment", done.stderr)


if __name__ == "__main__":
    unittest.main()
