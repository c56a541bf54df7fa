#!/usr/bin/env python3
"""Tests of `ferrite model` that need neither TVM nor wasmtime. Prints the sum at the end."""

import ctypes
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import archive
import embed
import plan
import project
import signature
import targets
from executable import BYTECODE, MAGIC, TENSOR, Executable, Malformed, padded
from failure import Failure
from measurement import picture, report

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = targets.ROOT / "tests/programs/relax/models"
STATIC = ("cnn", "mlp", "mlp_i8", "transformer", "chain")


def fixture(name):
    return Executable((FIXTURES / name / "bytecode.vm").read_bytes())


def calls(executable):
    return [list(executable.calls(function)) for function in executable.functions if function.kind == BYTECODE]


class Executables(unittest.TestCase):
    def test_weights_are_aligned_and_instructions_stay(self):
        for name in ("cnn", "mlp", "transformer", "values", "control"):
            before = fixture(name)
            after = Executable(padded(before))
            self.assertEqual(calls(before), calls(after), name)
            for constant in after.constants:
                if constant.kind == TENSOR:
                    self.assertEqual(constant.data % max(4, constant.value[1].bytes), 0, name)

    def test_weights_behind_one_of_odd_size_are_aligned(self):
        before = fixture("cnn")
        at = next(constant for constant in before.constants if constant.kind == TENSOR)
        # A tensor of one byte, after which the next one is unaligned.
        small = bytearray(before.data[at.start : at.data])
        ndim = len(at.value[0])
        small[32:36] = b"\0\x08\x01\0"
        for dim in range(ndim):
            small[36 + 8 * dim : 44 + 8 * dim] = (1).to_bytes(8, "little")
        small[-8:] = (1).to_bytes(8, "little")
        executable = Executable(before.data[: at.start] + bytes(small) + b"\1" + before.data[at.end :])
        after = Executable(padded(executable))
        self.assertEqual(calls(executable), calls(after))
        weights = [constant for constant in after.constants if constant.kind == TENSOR]
        self.assertEqual([constant.data % 4 for constant in weights], [0, 0, 0, 0])
        self.assertGreater(len(after.constants), len(executable.constants))

    def test_weights_are_aligned_in_libraries(self):
        for name in ("cnn", "mlp_i8", "values", "control"):
            before = fixture(name)
            stream = embed.modules(before.data)
            start = stream.index(before.data[:8])
            (size,) = struct.unpack_from("<Q", stream, start - 8)
            after = Executable(stream[start : start + size])
            self.assertEqual(calls(before), calls(after), name)
            self.assertEqual({(start + one.data) % 64 for one in after.constants if one.kind == TENSOR} - {0}, set(), name)
            self.assertEqual(stream[start + size :], struct.pack("<Q", 4) + b"_lib")
            self.assertEqual(struct.unpack_from("<Q", stream), (len(stream) - 8,))

    def test_other_bytes_are_refused(self):
        data = fixture("cnn").data
        for wrong, message in ((b"", "truncated"), (b"no model" * 9, "memory scopes"), (data[:-9], "truncated")):
            with self.assertRaisesRegex(Malformed, message):
                Executable(wrong)

    def test_weights_and_functions_are_found(self):
        executable = fixture("cnn")
        self.assertEqual(executable.weight_bytes, 5480)
        self.assertIn("softmax", executable.kernels)
        self.assertIn("alloc_storage", executable.builtins)
        self.assertFalse(executable.has_branches())
        self.assertTrue(fixture("control").has_branches())


    def test_system_libraries_need_the_builtins_of_every_model(self):
        command = [sys.executable, HERE / "executable.py", "--builtins", *(FIXTURES / name / "bytecode.vm" for name in ("mlp", "values"))]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name in {*fixture("mlp").builtins, *fixture("values").builtins}:
            self.assertEqual(text.count(f"  &FerriteModelBuiltin_{name},\n"), 1, name)
        self.assertNotIn("kernels", text)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_char_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Elements(unittest.TestCase):
    """Elements of results, as the programs print them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        library = pathlib.Path(cls.folder.name) / "element.so"
        firmware = targets.ROOT / "targets/boards/firmware"
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
        command = ["cc", *flags, "-shared", "-fPIC", "-I", targets.ROOT / "include", firmware / "element.c", "-o", library]
        subprocess.run(command, check=True)
        cls.library = ctypes.CDLL(str(library))
        cls.library.element_of.restype = ctypes.c_double

    def values(self, code, bits, data, count, offset=0):
        tensor = DLTensor(data, (1, 0), 1, (code, bits, 1, 0), None, None, offset)
        return [self.library.element_of(ctypes.byref(tensor), ctypes.c_int64(at)) for at in range(count)]

    def test_integers_have_their_signs(self):
        self.assertEqual(self.values(0, 8, b"\x7f\x80", 2), [127, -128])
        self.assertEqual(self.values(1, 8, b"\x7f\x80", 2), [127, 128])
        self.assertEqual(self.values(0, 64, struct.pack("<2q", -5, 1 << 40), 2), [-5, 1 << 40])
        self.assertEqual(self.values(1, 16, b"..\xff\xff", 1, offset=2), [65535])
        self.assertEqual(self.values(6, 8, b"\0\1", 2), [0, 1])

    def test_elements_below_a_byte_are_packed_from_the_lowest_bits(self):
        self.assertEqual(self.values(0, 4, b"\x81\x7f", 4), [1, -8, -1, 7])
        self.assertEqual(self.values(1, 2, b"\xe4", 4), [0, 1, 2, 3])
        # A boolean has a byte.
        self.assertEqual(self.values(1, 1, b"\1\0\1", 3), [1, 0, 1])

    def test_floats_of_every_size(self):
        numbers = [0.0, 1.5, -2.25, 65504.0, 6e-8, math.inf, -math.inf]
        self.assertEqual(self.values(2, 64, struct.pack("<7d", *numbers), 7), numbers)
        halves = struct.pack("<7e", *numbers)
        self.assertEqual(self.values(2, 16, halves, 7), list(struct.unpack("<7e", halves)))
        singles = struct.pack("<7f", *numbers)
        self.assertEqual(self.values(2, 32, singles, 7), list(struct.unpack("<7f", singles)))
        # bfloat16 is the upper half of a float.
        upper = b"".join(singles[at : at + 2] for at in range(2, 28, 4))
        rounded = struct.unpack("<7f", b"".join(b"\0\0" + upper[at : at + 2] for at in range(0, 14, 2)))
        self.assertEqual(self.values(4, 16, upper, 7), list(rounded))
        self.assertTrue(math.isnan(self.values(2, 16, b"\1\x7c", 1)[0]))

    def test_small_floats(self):
        # The largest number, the smallest, and the special values; DLPack's codes 7 to 17.
        for code, bits, largest, value, smallest, special in (
            (7, 8, 0x6F, 15.5, 2**-6, 0x71),
            (8, 8, 0x77, 240, 2**-9, 0x79),
            (9, 8, 0x7F, 30, 2**-13, 0x80),
            (10, 8, 0x7E, 448, 2**-9, 0x7F),
            (11, 8, 0x7F, 240, 2**-10, 0x80),
            (12, 8, 0x7B, 57344, 2**-16, 0x7D),
            (13, 8, 0x7F, 57344, 2**-17, 0x80),
        ):
            found = self.values(code, bits, bytes([largest, 1, special]), 3)
            self.assertEqual(found[:2], [value, smallest], code)
            self.assertTrue(math.isnan(found[2]), code)
        self.assertEqual(self.values(14, 8, b"\x7f\x80\x7d", 3), [1, 2, 0.25])
        self.assertEqual(self.values(15, 6, b"\x5f\0\0", 2), [7.5, 2**-3])
        # An element in two bytes.
        self.assertEqual(self.values(15, 6, b"\xc0\x07\0", 2), [0, 7.5])
        self.assertEqual(self.values(16, 6, b"\x5f\0\0", 2), [28, 2**-4])
        self.assertEqual(self.values(17, 4, b"\x17\xaf", 4), [6, 0.5, -6, -1])

    def test_other_types_are_no_numbers(self):
        self.assertTrue(math.isnan(self.values(5, 64, bytes(8), 1)[0]))
        self.assertTrue(math.isnan(self.values(2, 7, bytes(8), 1)[0]))


class Signatures(unittest.TestCase):
    def inputs(self, name, function=None):
        executable = fixture(name)
        return [str(tensor) for tensor in signature.inputs(executable, signature.entry_point(executable, function))]

    def test_inputs_have_their_names_shapes_and_dtypes(self):
        self.assertEqual(self.inputs("cnn"), ["x: float32[1, 1, 8, 8]"])
        self.assertEqual(self.inputs("transformer"), ["tokens: int32[1, 8]", "mask: float32[1, 1, 8, 8]"])
        self.assertEqual(self.inputs("mlp_i8")[1], "w1: int8[32, 64]")
        self.assertEqual(self.inputs("control", "power"), ["n: int64[]", "x: float32[4]"])

    def test_what_boards_cannot_plan_is_refused(self):
        with self.assertRaisesRegex(Failure, "the shape of the input x is known at run time only: .*--shape x="):
            self.inputs("mlp_dyn")
        with self.assertRaisesRegex(Failure, "no function nope; its functions are: .*power.*--function"):
            self.inputs("control", "nope")
        with self.assertRaisesRegex(Failure, "the input s is not a tensor"):
            self.inputs("values", "fill")


class Workspaces(unittest.TestCase):
    def test_each_kernel_has_its_own_in_order(self):
        source = (FIXTURES.parent / "cnn/kernels.c").read_text()
        found = plan.workspaces(source)
        self.assertEqual(set(found), set(fixture("cnn").kernels) | {"reshape1"})
        self.assertEqual(found["fused_conv2d_add_relu"], [2048, -1])
        self.assertEqual(found["softmax"], [])

    def test_a_size_of_run_time_is_refused(self):
        source = "TVM_DLL int32_t __tvm_ffi_f(void* a) {\n  x = TVMBackendAllocWorkspace(1, dev_id, n, 2, 32);\n}\n"
        with self.assertRaisesRegex(Failure, "kernel f has a size that is known at run time only"):
            plan.workspaces(source)


class Targets(unittest.TestCase):
    def test_builtins_are_those_of_the_target(self):
        board, host = targets.builtins("cortex-m4f"), targets.builtins("host")
        self.assertIn("vm.builtin.reshape", board)
        self.assertIn("tvm.contrib.sort.argsort", host - board)
        self.assertIn("vm.builtin.paged_attention_kv_cache_create", host)

    def test_halves_need_a_compiler_that_has_them(self):
        targets.check_types("cortex-m4f", "half* x = data;")
        targets.check_types("riscv32", "float* half_of_x = data;")
        with self.assertRaisesRegex(Failure, "calculate in float16, which the C compiler of riscv32 does not have"):
            targets.check_types("riscv32", "half* x = data;")


class Firmware(unittest.TestCase):
    def test_caches_are_linked_into_firmware_whose_model_has_one(self):
        library = (targets.ROOT / "tests/programs/llm/llama/bytecode.so").read_bytes()
        language_model = library[library.index(MAGIC.to_bytes(8, "little")) :]
        self.assertEqual(project.features(fixture("cnn").data), "core,model,libm")
        self.assertEqual(project.features(language_model), "core,model,libm,ferrite-ffi-relax/kv-cache")


class Archives(unittest.TestCase):
    """Without a clone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name)
        self.variables = {"FERRITE_PREFIX": str(self.prefix)}

    def install(self, folder, *names):
        (self.prefix / folder).mkdir(parents=True)
        for name in names:
            (self.prefix / folder / name).touch()

    def found(self):
        with mock.patch.object(targets, "clone", lambda: None), mock.patch.dict(os.environ, self.variables, clear=True):
            return archive.path()

    def test_it_is_beside_the_installed_library(self):
        for folder in "lib", "lib/x86_64-linux-gnu", "lib/python3.11/site-packages/ferrite_tvm_ffi.libs":
            with self.subTest(folder):
                self.install(folder, "libtvm_ffi.so", archive.NAME)
                self.assertEqual(self.found(), self.prefix / folder / archive.NAME)
            shutil.rmtree(self.prefix / "lib")

    def test_there_is_none_without_the_files(self):
        self.assertIsNone(self.found())
        self.install("lib", "libtvm_ffi.so")
        self.assertIsNone(self.found())
        self.variables = {}
        self.assertIsNone(self.found())

    def test_the_variable_names_another(self):
        self.install("lib", "libtvm_ffi.so", archive.NAME)
        self.install("other", "kernels.a")
        self.variables["FERRITE_KERNELS"] = str(self.prefix / "other/kernels.a")
        self.assertEqual(self.found(), self.prefix / "other/kernels.a")
        self.variables["FERRITE_KERNELS"] = str(self.prefix / "absent.a")
        with self.assertRaisesRegex(Failure, "absent.a is not a file"):
            self.found()


class Command(unittest.TestCase):
    def fails(self, message, *arguments):
        # Without the packages of the user, such as TVM.
        command = [sys.executable, "-I", "-S", str(HERE), *map(str, arguments)]
        with tempfile.TemporaryDirectory() as folder:
            outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        self.assertNotEqual(outcome.returncode, 0)
        self.assertRegex(outcome.stderr, message)
        self.assertNotIn("Traceback", outcome.stderr)

    def test_mistakes_are_explained(self):
        model = FIXTURES.parent / "cnn/digits.onnx"
        self.fails("no target pdp11; targets are: cortex-m33, cortex-m4f, riscv32, wasm32, host, opencl, cuda, web, web,webgpu", model, "--target", "pdp11")
        self.fails("no file nope.onnx", "nope.onnx", "--target", "cortex-m4f")
        self.fails("is not an .onnx, .pt2, .tflite, .py or .so file", FIXTURES / "cnn/bytecode.vm", "--target", "cortex-m4f")
        self.fails("machine code of a host", FIXTURES / "cnn/bytecode.so", "--target", "cortex-m4f")
        self.fails("package tvm is missing: pip install apache-tvm", model, "--target", "cortex-m4f")
        self.fails("compiled with exec_mode `compiled`", FIXTURES / "cnn/compiled.so", "--target", "host")
        with tempfile.NamedTemporaryFile(suffix=".so") as other:
            self.fails("has no whole model", other.name, "--target", "host")
        self.fails("give --profile with --target host", model, "--target", "cuda", "--profile")
        self.fails("give --tune and --records with --target host", model, "--target", "cuda", "--tune", "1")
        self.fails("give --tune and --records with --target host", model, "--target", "cortex-m4f", "--records", "folder")
        self.fails("give --tune and --records with the file that it was compiled from", FIXTURES / "cnn/bytecode.so", "--target", "host", "--tune", "1")
        self.fails("are not for language models", FIXTURES, "--target", "host", "--tune", "1")
        self.fails("argument --tune: it is not a time", model, "--target", "host", "--tune", "0")
        self.fails("give --cublaslt with --target cuda", model, "--target", "host", "--cublaslt")
        for option in ["--no-simd"], ["--with", "f"], ["--all"], ["--asyncify"]:
            self.fails("give it with --target web or web,webgpu", model, "--target", "host", *option)
        self.fails("machine code of a host", FIXTURES / "cnn/bytecode.so", "--target", "web")
        self.fails("leave out --input", model, "--target", "web", "--input", "x.npy")
        self.fails("is not like x=1,3,32,32", model, "--target", "host", "--shape", "x")

    def test_a_library_becomes_a_project_for_this_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-I", "-S", str(HERE), FIXTURES / "cnn/bytecode.so", "--target", "host", "--name", "cnn"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            names = {path.name for path in (pathlib.Path(folder) / "cnn-host").iterdir()}
        copied = {"element.c", "element.h", "include"}
        self.assertEqual(names, {"README.md", "build.sh", "cnn.h", "cnn.so", "inputs.c", "main.c", "results.c", "results.h"} | copied)


def call(name, nanoseconds, *arguments):
    return {"name": name, "nanoseconds": nanoseconds, "arguments": arguments}


def tensor(*shape, dtype="float32"):
    return {"shape": list(shape), "dtype": dtype}


class Profiles(unittest.TestCase):
    ABSENT = tensor(0)
    CONVOLUTION = (tensor(1, 4, 9, 9), tensor(8, 2, 3, 3), ABSENT, ABSENT, [3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2], 0, tensor(1, 8, 9, 9))

    def test_operations_are_those_of_the_arithmetic(self):
        dense = call("ferrite.dense", 1, tensor(2, 3, 5), tensor(1, 5, 16), self.ABSENT, self.ABSENT, 0, 0, 0, tensor(2, 3, 7))
        attention = call("ferrite.attention", 1, tensor(2, 3, 4, 8), tensor(2, 3, 5, 8), tensor(2, 3, 5, 8), self.ABSENT, 1, 0, tensor(2, 3, 4, 8))
        self.assertEqual(report.operations(dense), 2 * 2 * 3 * 7 * 5)
        self.assertEqual(report.operations(dense | {"name": "ferrite.dense_float16"}), 2 * 2 * 3 * 7 * 5)
        self.assertEqual(report.operations(call("ferrite.conv2d", 1, *self.CONVOLUTION)), 2 * 8 * 9 * 9 * 3 * 3 * 2)
        self.assertEqual(report.operations(attention), 2 * 2 * 3 * 4 * 5 * 8 * 2)
        self.assertEqual(report.operations(call("softmax", 1, tensor(4), tensor(4))), 0)

    def test_rows_are_operators_with_one_shape(self):
        calls = [call("softmax", 30, tensor(4, dtype="float16"), tensor(4, dtype="float16"))]
        calls += [call("ferrite.conv2d", 40, *self.CONVOLUTION)] * 2 + [call("vm.builtin.alloc_tensor", 10, tensor(4))]
        rows = report.rows({"calls": calls, "seconds": 120e-9})
        self.assertEqual([row["operator"] for row in rows], ["ferrite.conv2d 1x8x9x9, 3x3", "softmax", "vm.builtin.alloc_tensor"])
        self.assertEqual([row["calls"] for row in rows], [2, 1, 1])
        self.assertEqual([row["bytes"] for row in rows], [2 * 4 * (324 + 144 + 648), 16, 0])
        self.assertAlmostEqual(sum(row["share"] for row in rows), 1)

    def test_times_are_without_those_of_measuring(self):
        calls = [call("softmax", 30), call("take", 70), call("vm.builtin.null_value", 5)]
        rows = report.rows({"calls": calls, "seconds": 75e-9})
        self.assertEqual([round(row["nanoseconds"], 6) for row in rows], [60, 20, 0])

    def test_the_picture_quotes_names(self):
        rows = report.rows({"seconds": 1, "calls": [call("<script>\u202e", 30)]})
        self.assertIn("&lt;script&gt;{U+202E}", picture.svg(rows, "a & b"))
        self.assertIn("a &amp; b", picture.svg(rows, "a & b"))


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"model: {outcome.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
