"""Tests the installed wheel with shared libraries that are cut or changed: each is an ImportError or a success.

usage: test_cut.py, in an environment in which the wheel is installed. Takes seconds: nothing is built.
"""

import importlib.metadata
import os
import random
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SITE = Path(importlib.metadata.distribution("ferrite-tvm-ffi").locate_file("")).resolve()
THEIRS = SITE / "tvm_ffi"
OURS = SITE / "ferrite_tvm_ffi.libs"
MODULES = "ferrite_tvm_ffi*.py"
HEADER_BYTES, SEGMENT_BYTES, SECTION_BYTES = 64, 56, 64


def outcome_of(path, code):
    """Run code in a process of its own that searches `path` first. Return "fine", an ImportError's message, or what else ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sys.path[0] = str(path)  # in place of the folder of this file, which has the sources of the wheel
            exec(code, {})
            said = "fine"
        except ImportError as error:
            said = f"ImportError: {error}"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return said if status == 0 else f"status {status}"


def cuts(content, count):
    """Yield beginnings of a file: of every length near the headers, and of others."""
    lengths = [0, 1, 4, 6, 16, 32, 40, 63, 64, 65, 100, 120, 400, 1000, 4095, 4096, len(content) - 1, len(content) - 4096]
    step = len(content) // (count - len(lengths))
    for length in [*lengths, *range(step // 2, len(content), step)][:count]:
        yield content[:length]


def changed(content, count):
    """Yield copies of a file with other numbers in its headers, its tables of sections, and its symbols."""
    numbers = random.Random(39)
    segments = HEADER_BYTES + int.from_bytes(content[0x38:0x3A], "little") * SEGMENT_BYTES
    sections = int.from_bytes(content[0x28:0x30], "little")
    ends = [(6, HEADER_BYTES), (HEADER_BYTES, segments), (sections, len(content)), (segments, min(len(content), 60000))]
    for number in range(count):
        copy = bytearray(content)
        for _ in range(1 + number % 4):
            at = numbers.randrange(*ends[number % len(ends)])
            value = numbers.choice([b"\xff", b"\xff" * 8, b"\0" * 8, b"\x7f" * 4, numbers.randbytes(1), numbers.randbytes(8)])
            copy[at : at + len(value)] = value[: len(content) - at]
        yield bytes(copy)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name).resolve()

    def installed(self, version):
        """Make a package tvm_ffi of this version with little more than its libraries; return its extension module."""
        metadata = self.path / f"apache_tvm_ffi-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: apache-tvm-ffi\nVersion: {version}\n")
        package = self.path / "tvm_ffi"
        header = package / "include" / "tvm" / "ffi" / "c_api.h"
        header.parent.mkdir(parents=True)
        shutil.copy(THEIRS / "include" / "tvm" / "ffi" / "c_api.h", header)
        shutil.copytree(THEIRS / "lib", package / "lib")
        (package / "__init__.py").write_text("import tvm_ffi.core\n")
        (core,) = THEIRS.glob("core*.so")
        return Path(shutil.copy(core, package))

    def assert_each(self, file, contents, code, *, refused=False):
        """Check the outcome of code with each content of a file; return how many were refused."""
        count = 0
        for number, content in enumerate(contents):
            file.write_bytes(content)
            said = outcome_of(self.path, code)
            is_refusal = said.startswith("ImportError: ")
            self.assertTrue(is_refusal or said == "fine" and not refused, f"{file.name} {number}, {len(content)} bytes: {said}")
            count += is_refusal
        return count


class Probe(Case):
    """The wheel reads a later release, of which it knows nothing."""

    CODE = "import ferrite_tvm_ffi"

    def setUp(self):
        super().setUp()
        self.core = self.installed("0.1.99")

    def test_a_whole_one_fits(self):
        self.assertEqual(outcome_of(self.path, self.CODE), "fine")

    def test_cut_libraries(self):
        content = self.core.read_bytes()
        self.assertEqual(self.assert_each(self.core, cuts(content, 70), self.CODE, refused=True), 70)
        self.core.write_bytes(content)
        library = self.path / "tvm_ffi" / "lib" / "libtvm_ffi.so"
        self.assertEqual(self.assert_each(library, cuts(library.read_bytes(), 30), self.CODE, refused=True), 30)

    def test_changed_libraries(self):
        self.assertGreater(self.assert_each(self.core, changed(self.core.read_bytes(), 100), self.CODE), 10)


class Loader(Case):
    """Loading a cut library would end the process by a bus error, also that of a release that fits."""

    def test_a_cut_extension_module(self):
        core = self.installed("0.1.15.post2")
        content = core.read_bytes()
        code = "import ferrite_tvm_ffi_switch, tvm_ffi"  # what FERRITE_TVM_FFI=1 does
        self.assertGreater(self.assert_each(core, cuts(content, 30), code), 25)

    def test_a_cut_library_of_the_wheel(self):
        for file in SITE.glob(MODULES):
            shutil.copy(file, self.path)
        shutil.copytree(OURS, self.path / OURS.name)
        library = self.path / OURS.name / "libtvm_ffi.so"
        whole = library.read_bytes()
        self.assertEqual(outcome_of(self.path, "import ferrite_tvm_ffi"), "fine")
        # Without its last bytes, which are not part of a segment, the library can be loaded.
        self.assertGreater(self.assert_each(library, cuts(whole, 30), "import ferrite_tvm_ffi"), 25)


if __name__ == "__main__":
    unittest.main(verbosity=2)
