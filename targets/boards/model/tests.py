#!/usr/bin/env python3
"""Tests of `ferrite model` that need neither TVM nor wasmtime. Prints the sum at the end."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import plan
import signature
import targets
from executable import BYTECODE, TENSOR, Executable, Malformed, padded
from failure import Failure

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


class Signatures(unittest.TestCase):
    def inputs(self, name, function=None):
        executable = fixture(name)
        return [str(tensor) for tensor in signature.inputs(executable, signature.entry_point(executable, function))]

    def test_inputs_have_their_names_shapes_and_dtypes(self):
        self.assertEqual(self.inputs("cnn"), ["x: float32[1, 1, 8, 8]"])
        self.assertEqual(self.inputs("transformer"), ["tokens: int32[1, 8]", "mask: float32[1, 1, 8, 8]"])
        self.assertEqual(self.inputs("mlp_i8")[1], "w1: int8[32, 64]")

    def test_what_boards_cannot_plan_is_refused(self):
        with self.assertRaisesRegex(Failure, "the shape of the input x is known at run time only: .*--shape x="):
            self.inputs("mlp_dyn")
        with self.assertRaisesRegex(Failure, "no function nope; its functions are: .*power.*--function"):
            self.inputs("control", "nope")
        with self.assertRaisesRegex(Failure, "the input .* is no tensor"):
            self.inputs("control", "power")


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
        self.assertNotIn("vm.builtin.paged_attention_kv_cache_create", host)


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
        self.fails("no target pdp11; targets are: cortex-m33, cortex-m4f, riscv32, wasm32, host, opencl", model, "--target", "pdp11")
        self.fails("no file nope.onnx", "nope.onnx", "--target", "cortex-m4f")
        self.fails("no .onnx, .py or .so file", FIXTURES / "cnn/bytecode.vm", "--target", "cortex-m4f")
        self.fails("machine code of a host", FIXTURES / "cnn/bytecode.so", "--target", "cortex-m4f")
        self.fails("package tvm is missing: pip install apache-tvm", model, "--target", "cortex-m4f")
        self.fails("compiled with exec_mode `compiled`", FIXTURES / "cnn/compiled.so", "--target", "host")
        with tempfile.NamedTemporaryFile(suffix=".so") as other:
            self.fails("has no whole model", other.name, "--target", "host")
        self.fails("is not like x=1,3,32,32", model, "--target", "host", "--shape", "x")

    def test_a_library_becomes_a_project_for_this_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-I", "-S", str(HERE), FIXTURES / "cnn/bytecode.so", "--target", "host", "--name", "cnn"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            names = {path.name for path in (pathlib.Path(folder) / "cnn-host").iterdir()}
        self.assertEqual(names, {"README.md", "build.sh", "cnn.h", "cnn.so", "inputs.c", "main.c", "results.c", "results.h"})


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"model: {outcome.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
