"""Tests that Python shows the documentation of functions, in an environment in which the wheel is installed. usage: test_docs.py"""

import contextlib
import inspect
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # the wheel's modules are there, without a library

import ferrite_tvm_ffi  # noqa: E402, F401
import ferrite_tvm_ffi_docs  # noqa: E402
import ferrite_tvm_ffi_signature  # noqa: E402
import numpy as np  # noqa: E402
import tvm_ffi  # noqa: E402

ROOT = HERE.parents[2]
# `scale` has a signature and documentation; `bare` has neither, and the metadata of `odd` is
# damaged.
LIBRARY = r"""
#include "targets/host/quickstart/scale.c"

TVM_FFI_DLL_EXPORT int __tvm_ffi_bare(void* self, const TVMFFIAny* arguments, int32_t count, TVMFFIAny* result) { return 0; }

TVM_FFI_DLL_EXPORT int __tvm_ffi_odd(void* self, const TVMFFIAny* arguments, int32_t count, TVMFFIAny* result) { return 0; }

TVM_FFI_DLL_EXPORT int __tvm_ffi__metadata_odd(void* self, const TVMFFIAny* arguments, int32_t count, TVMFFIAny* result) {
  TVMFFIByteArray text = {"no JSON", 7};
  return TVMFFIStringFromByteArray(&text, result);
}
"""
SIGNATURE = "scale(x: Tensor([m, n], float32), factor: float = 2)"


def shown(value) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        help(value)
    return out.getvalue()


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = str(Path(folder.name) / "documented.so")
        compiler = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-I", ROOT, "-I", ROOT / "include"]
        subprocess.run([*compiler, "-x", "c", "-", "-o", cls.path], input=LIBRARY, text=True, check=True)

    def setUp(self):
        self.module = tvm_ffi.load_module(self.path)

    def test_help_shows_signature_and_documentation(self):
        text = shown(self.module.scale)
        self.assertIn("scale = ", text)
        self.assertIn(SIGNATURE, text)
        self.assertIn("Returns a new tensor, factor * x.", text)

    def test_the_function_is_as_before(self):
        self.assertIs(type(self.module.scale), tvm_ffi.Function)
        self.assertIs(self.module.scale, self.module.scale)
        scaled = self.module.scale(np.ones((2, 3), "float32"), 5.0)
        self.assertEqual(np.from_dlpack(scaled).tolist(), [[5.0] * 3] * 2)
        with self.assertRaises(AttributeError):
            self.module.missing  # noqa: B018

    def test_functions_without_documentation_have_that_of_their_class(self):
        for name in ("bare", "odd"):
            self.assertEqual(getattr(self.module, name).__doc__, tvm_ffi.Function.__doc__, name)

    def test_functions_of_modules_have_a_signature(self):
        signature = inspect.signature(self.module.scale)
        self.assertEqual(str(signature), "(x: 'Tensor([m, n], float32)', factor: 'float' = 2, /)")
        self.assertEqual(self.module.scale.__name__, "scale")
        for name in ("bare", "odd"):
            with self.assertRaises(ValueError):
                inspect.signature(getattr(self.module, name))

    def test_a_function_outlives_its_module(self):
        function = self.module.scale
        del self.module
        self.assertTrue(function.__doc__.startswith(SIGNATURE))
        self.assertEqual(function.__name__, "scale")
        self.assertEqual(function(np.ones((1, 1), "float32"), None).shape, (1, 1))


class Signatures(unittest.TestCase):
    def test_signatures_are_read(self):
        read = {
            "f()": "()",
            "f(a, b)": "(a, b, /)",
            "f(a: int = 3, b='x, y')": "(a: 'int' = 3, b='x, y', /)",
            "f(a: Tuple[int, str], *rest) -> Tensor": "(a: 'Tuple[int, str]', /, *rest) -> 'Tensor'",
            "f(a=None, b: float = float32)": "(a=None, b: 'float' = 'float32', /)",
            "f(a={[]: 1})": "(a='{[]: 1}', /)",
        }
        for text, expected in read.items():
            self.assertEqual(str(ferrite_tvm_ffi_signature.of_text(text)), expected)

    def test_other_texts_are_no_signatures(self):
        for text in ("f(a-b)", "f(a=1, b)", "f(a, a)", "f(: int)", "f(=1)", "f(=)", "f(*)", "f(*: int)"):
            self.assertIsNone(ferrite_tvm_ffi_signature.of_text(text), text)


DESCRIBED = "documentation of global functions"


@unittest.skipUnless(ferrite_tvm_ffi_docs.INSTALLED.get(DESCRIBED, "missing") is None, "there is no extension for this interpreter")
class GlobalFunctions(unittest.TestCase):
    def test_functions_with_metadata_have_name_documentation_and_signature(self):
        function = tvm_ffi.get_global_func("ffi.String")
        self.assertEqual(str(inspect.signature(function)), "(arg0: 'str', /) -> 'str'")
        self.assertEqual(function.__doc__, "ffi.String(arg0: 'str', /) -> 'str'")
        self.assertEqual(function.__name__, "ffi.String")
        self.assertIn("ffi.String(arg0: 'str', /) -> 'str'", shown(tvm_ffi.get_global_func("ffi.String")))

    def test_other_functions_are_as_before(self):
        for function in (tvm_ffi.get_global_func("ffi.Array"), tvm_ffi.convert(lambda value: value)):
            self.assertEqual(function.__doc__, tvm_ffi.Function.__doc__)
            self.assertFalse(hasattr(function, "__name__"))
            with self.assertRaises(ValueError):
                inspect.signature(function)
        self.assertEqual(tvm_ffi.Function.__name__, "Function")
        self.assertTrue(tvm_ffi.Function.__doc__.startswith("Callable"))

    def test_attributes_can_be_set(self):
        function = tvm_ffi.get_global_func("ffi.String")
        function.__doc__, function.__name__ = "own", "mine"
        self.assertEqual((function.__doc__, function.__name__, len(inspect.signature(function).parameters)), ("own", "mine", 1))

    def test_nothing_is_looked_up_before_an_attribute_is_read(self):
        function = tvm_ffi.get_global_func("ffi.Bytes")
        self.assertNotIn("__doc__", vars(function))
        self.assertEqual(function(b"bytes"), b"bytes")
        self.assertNotIn("__doc__", vars(function))


if __name__ == "__main__":
    unittest.main()
