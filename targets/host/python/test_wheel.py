"""Tests the installed wheel. usage: test_wheel.py WHEEL, in an environment in which it is installed."""

import importlib.machinery
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WHEEL = str(Path(sys.argv[1]).resolve())
SITE = Path(importlib.metadata.distribution("ferrite-tvm-ffi").locate_file("")).resolve()
OURS = str(SITE / "ferrite_tvm_ffi.libs" / "libtvm_ffi.so")
THEIRS = str(SITE / "tvm_ffi" / "lib" / "libtvm_ffi.so")
MAPPED = """
for path in sorted({line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "libtvm_ffi.so" in line}):
    print(path)
"""
BUILD = """
import tvm_ffi.cpp
source = '''
void add_one(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  for (int i = 0; i < x.size(0); ++i) static_cast<float*>(y.data_ptr())[i] = static_cast<float*>(x.data_ptr())[i] + 1;
}
'''
library = tvm_ffi.cpp.build_inline(name="add_one", cpp_sources=source, functions="add_one", build_directory=".")
"""
CALL = """
import numpy, tvm_ffi
module = tvm_ffi.load_module("./add_one.so")
x, y = numpy.arange(4, dtype="float32"), numpy.zeros(4, dtype="float32")
module.add_one(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y))
assert y.tolist() == [1, 2, 3, 4], y
"""


class Case(unittest.TestCase):
    """Test case with a folder of its own, in which new interpreters run."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def installed(self, version):
        """Return a folder whose metadata says that apache-tvm-ffi is installed there."""
        path = self.folder / version
        metadata = path / f"apache_tvm_ffi-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: apache-tvm-ffi\nVersion: {version}\n")
        return path

    def python(self, *arguments, path="", **variables):
        """Run an interpreter that searches `path` for packages first, with these variables in its environment."""
        environment = {**os.environ, "PYTHONPATH": str(path), **variables}
        return subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, text=True, capture_output=True, check=False
        )

    def copy(self):
        """Return a folder with another installation of the wheel, and nothing else."""
        path = self.folder / "copy"
        pip = self.python("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(path), WHEEL)
        self.assertEqual(pip.returncode, 0, pip.stderr)
        return path


class Fits(Case):
    maxDiff = None

    def assert_prints(self, code, *lines):
        done = self.python("-c", code)
        self.assertEqual((done.returncode, done.stdout.splitlines(), done.stderr), (0, [*lines], ""))

    def test_the_one_library_mapped_is_ours(self):
        self.assert_prints("import ferrite_tvm_ffi, tvm_ffi" + MAPPED, OURS)

    def test_without_the_import_it_is_theirs(self):
        self.assert_prints("import tvm_ffi" + MAPPED, THEIRS)

    def test_every_way_to_the_library_leads_to_ours(self):
        self.assert_prints(
            "import ferrite_tvm_ffi, tvm_ffi\n"
            "print(tvm_ffi.LIB._name)\n"
            "print(tvm_ffi.libinfo.find_libtvm_ffi())\n"
            "print(tvm_ffi.libinfo.load_lib_ctypes('apache-tvm-ffi', 'tvm_ffi', 'RTLD_LOCAL')._name)\n" + MAPPED,
            *[OURS] * 4,
        )

    def test_other_libraries_are_found_where_they_are(self):
        self.assert_prints(
            "import ferrite_tvm_ffi, tvm_ffi\n"
            "print(tvm_ffi.libinfo.load_lib_ctypes('apache-tvm-ffi', 'tvm_ffi_testing', 'RTLD_LOCAL')._name)",
            str(Path(THEIRS).with_name("libtvm_ffi_testing.so")),
        )

    def test_modules_built_with_ours_run_on_it(self):
        self.assert_prints("import ferrite_tvm_ffi" + BUILD + CALL + MAPPED, OURS)
        self.assertIn(str(Path(OURS).parent), (self.folder / "build.ninja").read_text())

    def test_modules_built_with_theirs_run_on_ours(self):
        self.assert_prints(BUILD + CALL + MAPPED, THEIRS)
        loaded_first = "import ferrite_tvm_ffi, ctypes\nctypes.CDLL('./add_one.so')"
        self.assert_prints(loaded_first + MAPPED + CALL + MAPPED, OURS, OURS)

    def test_the_report(self):
        done = self.python("-m", "ferrite_tvm_ffi")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{OURS}, {Path(OURS).stat().st_size} bytes", done.stdout)
        self.assertIn("TVMFFIGetVersion: 0.1.", done.stdout)
        self.assertIn("0.1.15.post2 fits, and runs on this library (a tested release)", done.stdout)
        self.assertIn("mode: the library serves release 0.1.15\n", done.stdout)
        self.assertIn("\nadded to tvm_ffi: pickled tensors, pickled containers of tensors, pickled modules", done.stdout)
        self.assertNotIn("left alone", done.stdout)

    def test_pip_is_asked_for_versions_that_fit(self):
        self.assert_prints("import ferrite_tvm_ffi as f; print(f.TESTED[0], f.TESTED[-1])", "0.1.9 0.1.15.post2")
        (asked,) = importlib.metadata.requires("ferrite-tvm-ffi")
        self.assertEqual(set(asked.removeprefix("apache-tvm-ffi").split(",")), {">=0.1.9", "!=0.1.13"})

    def test_a_tested_release_is_not_probed(self):
        self.assert_prints("import ferrite_tvm_ffi, sys; print('ferrite_tvm_ffi_probe' in sys.modules)", "False")


class Programs(Case):
    """Tests programs that do not import ferrite_tvm_ffi."""

    APP = """
import sys, tvm_ffi
print(tvm_ffi.LIB._name)
print(__name__, *sys.argv, sys.path[0])
"""

    def setUp(self):
        super().setUp()
        (self.folder / "inner").mkdir()
        self.app = self.folder / "inner" / "app.py"
        self.app.write_text(self.APP)

    def run_on_ours(self, *arguments, **options):
        return self.python("-m", "ferrite_tvm_ffi", "run", *arguments, **options)

    def assert_printed(self, done, *lines):
        self.assertEqual((done.returncode, done.stdout.splitlines(), done.stderr), (0, [*lines], ""))

    def test_a_file(self):
        self.assert_printed(self.python("inner/app.py"), THEIRS, f"__main__ inner/app.py {self.app.parent}")
        done = self.run_on_ours("inner/app.py", "--json", "-m", "x y")
        self.assert_printed(done, OURS, f"__main__ inner/app.py --json -m x y {self.app.parent}")

    def test_a_module(self):
        self.assert_printed(self.run_on_ours("-m", "inner.app", "-c"), OURS, f"__main__ {self.app} -c {self.folder}")

    def test_the_status_and_errors_of_the_program(self):
        self.app.write_text("import sys; sys.exit(3)")
        self.assertEqual(self.run_on_ours(self.app).returncode, 3)
        self.app.write_text("raise KeyError('on purpose')")
        done = self.run_on_ours(self.app)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, "KeyError: 'on purpose'"))

    def test_a_program_that_imports_ferrite_tvm_ffi(self):
        self.app.write_text("import ferrite_tvm_ffi" + self.APP)
        self.assert_printed(self.run_on_ours("inner/app.py"), OURS, f"__main__ inner/app.py {self.app.parent}")

    def test_child_processes(self):
        child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import tvm_ffi; print(tvm_ffi.LIB._name)'])"
        self.app.write_text(child)
        self.assert_printed(self.run_on_ours(self.app), OURS)
        worker = "import multiprocessing, tvm_ffi\ndef name(_): return tvm_ffi.LIB._name\n"
        pool = "if __name__ == '__main__': print(multiprocessing.get_context('spawn').Pool(1).map(name, [0])[0])"
        self.app.write_text(worker + pool)
        self.assert_printed(self.run_on_ours(self.app), OURS)

    def test_what_cannot_be_run(self):
        done = self.run_on_ours("missing.py")
        self.assertEqual((done.returncode, done.stderr), (2, "there is no file missing.py\n"))
        self.assertEqual(self.run_on_ours().returncode, 2)
        done = self.run_on_ours(self.app, path=self.installed("0.1.8"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("does not fit: apache-tvm-ffi 0.1.8 is installed", done.stderr)

    def test_the_environment_variable(self):
        for value, library in [("1", OURS), ("0", THEIRS), ("", THEIRS)]:
            done = self.python("inner/app.py", FERRITE_TVM_FFI=value)
            self.assert_printed(done, library, f"__main__ inner/app.py {self.app.parent}")

    def test_programs_without_tvm_ffi_load_nothing(self):
        self.assert_printed(self.python("-c", "import json" + MAPPED, FERRITE_TVM_FFI="1"))

    def test_no_program_runs_on_another_library_unnoticed(self):
        path = self.installed("0.1.8")
        done = self.python("inner/app.py", path=path, FERRITE_TVM_FFI="1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("ImportError: apache-tvm-ffi 0.1.8 is installed", done.stderr.splitlines()[-1])
        self.assert_printed(self.python("-c", "print(1)", path=path, FERRITE_TVM_FFI="1"), "1")

    def test_the_report_as_json(self):
        for variables in ({}, {"FERRITE_TVM_FFI": "1"}):
            done = self.python("-m", "ferrite_tvm_ffi", "--json", **variables)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = json.loads(done.stdout)
            self.assertEqual((found["library"], found["fits"], found["tvm_ffi"]), (OURS, True, "0.1.15.post2"))
            self.assertEqual((found["tested"], found["serves"]), (True, "0.1.15"))
        done = self.python("-m", "ferrite_tvm_ffi", "--json", path=self.installed("0.1.8"))
        self.assertEqual((done.returncode, json.loads(done.stdout)["fits"]), (1, False))
        self.assertIn("apache-tvm-ffi 0.1.8 is installed", json.loads(done.stdout)["reason"])

    def test_help(self):
        done = self.python("-m", "ferrite_tvm_ffi", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("run", "--json", "FERRITE_TVM_FFI=1", "Exit status"):
            self.assertIn(word, done.stdout)

    def test_the_command(self):
        ferrite = Path(sys.executable).with_name("ferrite")
        listed = subprocess.run([ferrite, "list"], text=True, capture_output=True, check=True).stdout
        self.assertIn("type      ffi.Array", listed)
        devices = subprocess.run([ferrite, "devices"], text=True, capture_output=True, check=False)
        self.assertIn(devices.returncode, (0, 4))
        self.assertNotIn("this build has no devices", devices.stderr)

    def test_the_archive_that_the_command_links_into_models(self):
        archive, library = Path(OURS).with_name("libferrite_kernels.a"), self.folder / "kernels.so"
        options = ["-Wl,-u,__tvm_ffi_ferrite.dense", "-Wl,--gc-sections", archive]
        subprocess.run(["cc", "-shared", "-o", library, *options], check=True)
        ferrite = Path(sys.executable).with_name("ferrite")
        described = subprocess.run([ferrite, "inspect", library], text=True, capture_output=True, check=True).stdout
        self.assertIn("ferrite.dense", described)


class FastCalls(Case):
    """Tests that the extension of the wheel is used: tests/conformance/python_fast tests what it does."""

    FILE = Path(OURS).with_name("ferrite_python" + importlib.machinery.EXTENSION_SUFFIXES[0])
    PARTS = {"calls", "calls without a tuple", "NumPy arrays", "errors", "callbacks", "containers", "methods", "constructors", "fields"}
    USED = """
import os, sys, tvm_ffi
print(type(tvm_ffi.Array.__getitem__).__name__, any("ferrite_python" in line for line in open("/proc/self/maps")))
"""
    OFF = "FERRITE_TVM_FFI_FAST=0"

    def report(self, **options):
        """Return the JSON report, and check that the printed one says the same."""
        found = json.loads(self.python("-m", "ferrite_tvm_ffi", "--json", **options).stdout)
        printed = self.python("-m", "ferrite_tvm_ffi", **options).stdout.splitlines()
        self.assertIn(f"fast: {', '.join(found['fast']) or 'nothing'}", printed)
        lines = [line for line in printed if line.startswith("not fast: ")]
        self.assertEqual(lines, [f"not fast: {part} ({reason})" for part, reason in found["not fast"].items()])
        return found

    def test_everything_is_fast(self):
        found = self.report()
        self.assertEqual((set(found["fast"]), found["not fast"]), (self.PARTS, {}))

    def test_it_is_used_by_default(self):
        used = "Method True\n"
        self.assertEqual(self.python("-c", "import ferrite_tvm_ffi" + self.USED).stdout, used)
        self.assertEqual(self.python("-c", self.USED, FERRITE_TVM_FFI="1").stdout, used)
        self.assertEqual(self.python("-c", self.USED).stdout, "function False\n")

    def test_it_is_switched_off(self):
        variable = dict([self.OFF.split("=")])
        for code in "import ferrite_tvm_ffi" + self.USED, self.USED:
            self.assertEqual(self.python("-c", code, FERRITE_TVM_FFI="1", **variable).stdout, "function False\n")
        found = self.report(**variable)
        self.assertEqual((found["fits"], found["fast"], found["not fast"]), (True, [], {"calls": self.OFF}))

    def test_another_interpreter_is_left_alone(self):
        path = self.copy()
        ours = path / "ferrite_tvm_ffi.libs" / self.FILE.name
        ours.rename(ours.with_name("ferrite_python.cpython-30-x86_64-linux-gnu.so"))
        found = self.report(path=path)
        self.assertEqual((found["fits"], found["fast"], found["not fast"]), (True, [], {"calls": f"this wheel has no {self.FILE.name}"}))
        self.assertEqual(self.python("-c", "import ferrite_tvm_ffi" + self.USED, path=path).stdout, "function False\n")

    def test_a_part_that_a_probe_refuses(self):
        code = "import ferrite_tvm_ffi_fast as fast; fast.errors = lambda *_: 'probe'; import runpy, sys; sys.argv = ['', '--json']; "
        done = self.python("-c", code + "runpy.run_module('ferrite_tvm_ffi', run_name='__main__', alter_sys=True)")
        found = json.loads(done.stdout)
        self.assertEqual((set(found["fast"]), found["not fast"]), (self.PARTS - {"errors"}, {"errors": "probe"}))


class Cxx(Case):
    """Tests a C++ module with containers, subclasses and exceptions on this library: test_cxx.cc and test_cxx.py."""

    HERE = Path(__file__).resolve().parent
    FUNCTIONS = "grouped filled described moved counter parsed same_graph loaded called caught fail"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        build = (
            "import ferrite_tvm_ffi, tvm_ffi.cpp\n"
            f"source = open({str(cls.HERE / 'test_cxx.cc')!r}).read()\n"
            f"tvm_ffi.cpp.load_inline('test_cxx', cpp_sources=source, functions={cls.FUNCTIONS.split()},"
            " build_directory='.')"
        )
        subprocess.run([sys.executable, "-c", build], cwd=folder.name, check=True)
        cls.module = str(Path(folder.name) / "test_cxx.so")

    def assert_passes(self, test):
        # Passed as text, so that the script's folder, which has ferrite_tvm_ffi, is not searched
        # for imports.
        done = self.python("-c", (self.HERE / "test_cxx.py").read_text(), self.module, test)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_containers(self):
        self.assert_passes("containers")

    def test_objects_with_fields(self):
        self.assert_passes("objects")

    def test_modules_of_cxx(self):
        self.assert_passes("modules")

    def test_errors_both_ways(self):
        self.assert_passes("errors")


class EarlierReleases(Case):
    """Tests how the library serves earlier releases, whose own tests are in tests/conformance/upstream."""

    def served(self, version, expression):
        """Evaluate an expression about the library in a process with that release: see served.py."""
        helper = f"import sys; sys.path.append({str(Path(__file__).resolve().parent)!r}); from served import *"
        code = f"import ferrite_tvm_ffi\n{helper}\nlibrary = Library({OURS!r})\nprint({expression})"
        done = self.python("-c", code, path=self.installed(version))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def members(self, version, key):
        return self.served(version, f"*members(library.types()[{key!r}])").split()

    def test_the_fields_of_enums(self):
        self.assertEqual(self.members("0.1.12", "ffi.Enum"), ["_name", "_value"])
        self.assertEqual(self.members("0.1.13.post0", "ffi.Enum"), ["_int_index", "_str_index"])

    def test_copies_as_methods(self):
        classes = "*(key for key, info in library.types().items() if '__ffi_shallow_copy__' in members(info))"
        copied = {"ffi.reflection.AccessPath", "ffi.reflection.AccessStep", "ffi.StructuralKey"}
        self.assertLessEqual(copied, set(self.served("0.1.10", classes).split()))
        self.assertEqual(self.served("0.1.11", classes), "")

    def test_the_functions_of_one_release(self):
        def functions(version):
            return set(self.served(version, "*library.functions()").split())

        others = {version: functions(version) for version in ("0.1.9", "0.1.11", "0.1.15.post2")}
        more = {"ffi.GetFieldGetter", "ffi.MakeFFINew", "ffi.MakeInit", "ffi.RegisterAutoInit"}
        self.assertEqual(functions("0.1.10") - others["0.1.11"], more)
        self.assertEqual(others["0.1.9"], others["0.1.11"])
        self.assertEqual(others["0.1.11"], others["0.1.15.post2"])

    def test_schemas_of_functions(self):
        name = "Any(8, 0, ctypes.cast(ctypes.c_char_p(b'ffi.ArraySize'), ctypes.c_void_p).value)"
        ask = f"library.call_global('ffi.GetGlobalFuncMetadata', {name})"
        self.assertIn(r'\"args\":[{\"type\":\"int\"},{\"type\":\"ffi.Array\"', self.served("0.1.14.post1", ask))
        self.assertIn(r'\"named_args\":{\"return\":[{\"type\":\"int\"}]', self.served("0.1.15", ask))

    def test_fields_of_one_name(self):
        key = "Text(ctypes.cast(ctypes.c_char_p(b'test.Twice'), ctypes.c_void_p), 10)"
        register = (
            f"[index := library.c.TVMFFITypeGetOrAllocIndex(ctypes.byref({key}), -1, 1, 0, 1, 64)] and"
            f" [library.c.TVMFFITypeRegisterField(index, ctypes.byref(Field(name={key}))) for _ in range(2)]"
        )
        self.assertEqual(self.served("0.1.10", register), "[0, 0]")
        self.assertEqual(self.served("0.1.11", register), "[0, -1]")


class LaterReleases(Case):
    """Tests releases later than this wheel: altered copies of the installed one, under another version."""

    def setUp(self):
        super().setUp()
        self.path = self.installed("0.1.99")
        self.package = self.path / "tvm_ffi"
        shutil.copytree(SITE / "tvm_ffi", self.package, ignore=shutil.ignore_patterns("src", "3rdparty", "share"))

    def replace(self, pattern, old, new):
        """Replace `old` by `new` in the package file that matches the pattern."""
        (file,) = self.package.glob(pattern)
        content = file.read_bytes()
        self.assertTrue(old in content, f"{old} is not in {file}")
        file.write_bytes(content.replace(old, new))

    def assert_needs(self, *what):
        """Check that the import raises an ImportError that names exactly these features as missing."""
        done = self.python("-c", "import ferrite_tvm_ffi", path=self.path)
        needs = f"needs what ferrite_tvm_ffi lacks ({', '.join(what)}): pip install apache-tvm-ffi==0.1.15.post2"
        expected = f"ImportError: apache-tvm-ffi 0.1.99 is installed, and {needs}"
        self.assertEqual(done.stderr.strip().splitlines()[-1], expected)

    def test_one_that_needs_nothing_new(self):
        done = self.python("-m", "ferrite_tvm_ffi", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("fits, and runs on this library (not tested, but the library has all that it needs)", done.stdout)
        self.assertIn("mode: the library serves release 0.1.99\n", done.stdout)
        run = "import ferrite_tvm_ffi, tvm_ffi; print(tvm_ffi.__file__, tvm_ffi.Array([1, 2])[1])" + MAPPED
        done = self.python("-c", run, path=self.path)
        self.assertEqual(done.stdout.splitlines(), [f"{self.package / '__init__.py'} 2", OURS], done.stderr)

    def test_what_it_pickles_itself_is_left_alone(self):
        own = b"    def __reduce__(self): return 'itself'\n\n    entry_name: ClassVar"
        self.replace("module.py", b"    entry_name: ClassVar", own)
        done = self.python("-m", "ferrite_tvm_ffi", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\nleft alone: pickled modules (tvm_ffi pickles them)\n", done.stdout)

    def test_theirs_is_used_where_ours_does_not_fit(self):
        self.replace("structural.py", b"_ffi_api.StructuralKeyEqual(", b"_ffi_api.StructuralKeySame(")
        code = "try: import ferrite_tvm_ffi\nexcept ImportError: import tvm_ffi" + MAPPED
        done = self.python("-c", code, path=self.path)
        self.assertEqual((done.stdout.strip(), done.stderr), (str(self.package / "lib" / "libtvm_ffi.so"), ""))

    def test_a_symbol_that_a_binary_imports(self):
        self.replace("core*.so", b"\0TVMFFITensorFromDLPack\0", b"\0TVMFFITensorFromCudnn_\0")
        self.assert_needs("the symbol TVMFFITensorFromCudnn_")

    def test_a_symbol_that_its_library_gives(self):
        self.replace("lib/libtvm_ffi.so", b"\0TVMFFIGetCustomAllocator\0", b"\0TVMFFIGetLatestAllocator\0")
        self.assert_needs("the symbol TVMFFIGetLatestAllocator")

    def test_a_global_function(self):
        self.replace("structural.py", b"_ffi_api.StructuralKeyEqual(", b"_ffi_api.StructuralKeySame(")
        self.assert_needs("the global function ffi.StructuralKeySame")

    def test_a_global_function_that_the_extension_module_asks_for(self):
        self.replace("cython/function.pxi", b'"ffi.MakeFieldGetter"', b'"ffi.MakeFieldViewer"')
        self.assert_needs("the global function ffi.MakeFieldViewer")

    def test_a_field(self):
        self.replace("access_path.py", b"    kind: int\n", b"    kind: int\n    weight: int\n")
        self.assert_needs("the member weight of the class ffi.reflection.AccessStep")

    def test_a_method(self):
        self.replace("access_path.py", b"        def _to_steps(", b"        def _to_kinds(")
        self.assert_needs("the member _to_kinds of the class ffi.reflection.AccessPath")

    def test_a_class(self):
        self.replace("structural.py", b'("ffi.VisitInterrupt")', b'("ffi.VisitBreak")')
        self.assert_needs("the member value of the class ffi.VisitBreak")

    def test_another_version_of_the_abi_and_a_built_in_type(self):
        header = "include/tvm/ffi/c_api.h"
        self.replace(header, b"TVM_FFI_VERSION_MINOR 1", b"TVM_FFI_VERSION_MINOR 2")
        self.replace(header, b"  kTVMFFIBigInt = 78,\n", b"  kTVMFFIBigInt = 78,\n  kTVMFFITape = 79,\n")
        self.assert_needs("version 0.2 of the ABI", "the built-in type kTVMFFITape")


class DoesNotFit(Case):
    def assert_refused(self, reason, code="import ferrite_tvm_ffi", path=""):
        """Check that the import raises an ImportError that contains `reason`."""
        done = self.python("-c", code, path=path)
        last = done.stderr.strip().splitlines()[-1]
        self.assertTrue(last.startswith("ImportError: "), done.stderr)
        self.assertIn(reason, last)

    def assert_reported(self, reason, *options, path):
        done = self.python(*options, "-m", "ferrite_tvm_ffi", path=path)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn(reason, done.stdout)

    def test_releases_that_never_fit(self):
        earlier = "and ferrite_tvm_ffi fits 0.1.9 and later releases"
        alone = "which fits no other library than its own"
        for version, why in [("0.1.8.post2", earlier), ("0.0.9", earlier), ("0.1.13", alone), ("0.1.13rc1", alone)]:
            with self.subTest(version):
                path = self.installed(version)
                reason = f"apache-tvm-ffi {version} is installed, {why}: pip install apache-tvm-ffi==0.1.15.post2"
                self.assert_refused(reason, path=path)
                self.assert_reported(reason, path=path)

    def test_a_build_label_is_no_other_version(self):
        done = self.python("-c", "import ferrite_tvm_ffi", path=self.installed("0.1.15.post2+local"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_installed(self):
        path = self.copy()  # -S excludes the environment's packages
        self.assert_reported("apache-tvm-ffi is not installed", "-S", path=path)
        done = self.python("-S", "-c", "import ferrite_tvm_ffi", path=path)
        self.assertIn("ImportError: apache-tvm-ffi is not installed", done.stderr)

    def test_a_later_release_without_its_package(self):
        path = self.copy()
        shutil.copytree(self.installed("0.1.99"), path, dirs_exist_ok=True)
        self.assert_reported("apache-tvm-ffi 0.1.99 is installed, but there is no package tvm_ffi", "-S", path=path)

    def test_the_library_in_use_before_its_release_is_known(self):
        used = f"import ctypes; ctypes.CDLL({OURS!r}).TVMFFIGetTypeInfo(64); import ferrite_tvm_ffi"
        self.assert_refused(f"{OURS} is in use already", used, self.installed("0.1.12"))

    def test_tvm_ffi_first(self):
        self.assert_refused("import ferrite_tvm_ffi before it", "import tvm_ffi, ferrite_tvm_ffi")

    def test_their_library_first(self):
        code = f"import ctypes; ctypes.CDLL({THEIRS!r}); import ferrite_tvm_ffi"
        self.assert_refused(f"{THEIRS} is loaded already", code)

    def test_no_library(self):
        path = self.copy()
        library = path / "ferrite_tvm_ffi.libs" / "libtvm_ffi.so"
        library.unlink()
        self.assert_refused(f"{library} cannot be loaded: ", path=path)
        self.assert_reported(f"{library} cannot be loaded: ", path=path)

    def test_a_library_for_a_newer_system(self):
        path = self.copy()
        library = path / "ferrite_tvm_ffi.libs" / "libtvm_ffi.so"
        newest, newer = max(re.findall(rb"\0(GLIBC_2\.\d\d)(?=\0)", library.read_bytes())), b"GLIBC_2.99"
        content = library.read_bytes().replace(newest, newer).replace(hash_of(newest), hash_of(newer))
        library.write_bytes(content)
        self.assert_refused("version `GLIBC_2.99' not found", path=path)
        self.assert_reported("version `GLIBC_2.99' not found", path=path)

    def test_another_system(self):
        code = "import sys; sys.platform = 'darwin'; import ferrite_tvm_ffi"
        self.assert_refused("is for Linux, and this is darwin", code)


def hash_of(version):
    """Return the hash by which an ELF file refers to the version of a symbol."""
    value = 0
    for byte in version:
        value = (value << 4) + byte
        value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
    return value.to_bytes(4, sys.byteorder)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
