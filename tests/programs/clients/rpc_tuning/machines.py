"""MetaSchedule tunes products of matrices on `ferrite rpc serve` for other machines, whose candidates this machine links: 64-bit Arm
under qemu, with glibc and with musl, and x86-64 with musl. No C++ library is on them. A static program does all but loading.

usage: machines.py [TEST...], with FERRITE_MACHINES, the folder that build.sh made
"""

import os
import pathlib
import re
import struct
import subprocess
import sys
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import psutil
import tvm

sys.path[:0] = [str(pathlib.Path(__file__).parent / "support"), str(pathlib.Path(__file__).parents[1] / "rpc/support")]

import products  # noqa: E402
import servers  # noqa: E402

SIZE = 32
ARM_GCC = "aarch64-linux-gnu-gcc"
CXX = re.compile(r"stdc\+\+|libc\+\+|tvm_runtime|/libtvm")


def command(name):
    assert (folder := os.environ.get("FERRITE_MACHINES")), "set FERRITE_MACHINES to the folder that build.sh makes"
    return pathlib.Path(folder, name, "ferrite")


class Machine:
    """A device with a command, which an emulator runs if it is of another processor."""

    name = ""
    runner = ()
    options = ()

    def setUp(self):
        self.command = command(self.name)
        wrap = ["--wrap", " ".join(self.runner)] if self.runner else []
        self.tracker = self.enterContext(servers.Ferrite().tracker())
        device = servers.Ferrite(str(self.command), self.runner)
        self.server = self.enterContext(device.serve(*wrap, key=products.KEY, tracker=self.tracker.port))

    def needed(self):
        """Return the names of the libraries that the command needs."""
        listed = subprocess.run(["readelf", "-d", self.command], check=True, capture_output=True, text=True).stdout
        return set(re.findall(r"\(NEEDED\).*\[(.*)\]", listed))

    def mapped(self):
        """Return the files in the memory of the session's process, with those of the emulator."""
        (session,) = psutil.Process(self.server.pid).children()
        rows = [line.split(maxsplit=5) for line in pathlib.Path(f"/proc/{session.pid}/maps").read_text().splitlines()]
        return {row[5] for row in rows if len(row) == 6 and row[5].startswith("/")}


class Tuned(Machine):
    """A device that loads candidates."""

    target = {"kind": "llvm", "mtriple": "aarch64-linux-gnu", "num-cores": 1}
    linker = ()
    libraries = frozenset()

    def test_a_product_is_tuned(self):
        records, best = products.tune(self.tracker, SIZE, self.target, products.linked_by(*self.linker))
        products.check_trials(self, f"{self.name}, {SIZE} x {SIZE}", records)
        products.check_result(products.request(self.tracker), best, SIZE)

    def test_a_library_finds_what_it_needs_and_no_cxx(self):
        path = products.linked_by(*self.linker)(tvm.compile(products.product(SIZE), target=self.target))
        session = products.request(self.tracker)
        products.check_result(session, path, SIZE)
        # The library calls a function of the command to raise it.
        with self.assertRaisesRegex(tvm.error.RPCError, "TypeError"):
            session.load_module(pathlib.Path(path).name)["main"](1)
        self.assertLessEqual(self.needed(), self.libraries)
        mapped = self.mapped()
        self.assertTrue(any(file.endswith(pathlib.Path(path).name) for file in mapped), mapped)
        self.assertEqual([file for file in mapped if CXX.search(file)], [])


class Arm64(Tuned, unittest.TestCase):
    name = "arm64"
    runner = "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"
    linker = (ARM_GCC,)
    libraries = frozenset({"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-aarch64.so.1"})


class Arm64Musl(Tuned, unittest.TestCase):
    name = "arm64-musl"
    linker = ARM_GCC, "-nostdlib"
    libraries = frozenset({"libc.so"})

    @property
    def runner(self):
        return "qemu-aarch64", "-L", str(command(self.name).parent / "root")


class Musl(Tuned, unittest.TestCase):
    name = "musl"
    target = {"kind": "llvm", "mcpu": "x86-64-v2", "num-cores": 1}
    linker = ("musl-gcc",)
    libraries = frozenset({"libc.so"})


class Static(Machine, unittest.TestCase):
    """A device without a dynamic linker."""

    name = "static"

    def test_all_but_loading_works(self):
        self.assertEqual(self.needed(), set())
        session = products.request(self.tracker)
        array = np.random.default_rng(0).random((300, 100))
        copied = tvm.runtime.tensor(array, session.cpu(0))
        np.testing.assert_array_equal(copied.numpy(), array)
        session.upload(bytearray(b"content"), "file")
        self.assertEqual(bytes(session.download("file")), b"content")
        evaluator = session.get_function("runtime.RPCTimeEvaluator")
        seconds = bytes(evaluator(None, "testing.echo", 1, 0, 10, 3, 0, 0, 0, 0, 0, "")(1))
        self.assertTrue(all(second > 0 for second in struct.unpack("3d", seconds)))

    def test_loading_is_refused_with_the_reason(self):
        reason = "linked statically, and cannot load libraries"
        self.server.wait_for(reason)
        session = products.request(self.tracker)
        path = products.linked_by("musl-gcc")(tvm.compile(products.product(SIZE), target=Musl.target))
        session.upload(path)
        with self.assertRaisesRegex(tvm.error.RPCError, f"RuntimeError: .*{reason}"):
            session.load_module(pathlib.Path(path).name)
        served = subprocess.run([self.command, "rpc", "serve", "--library", path], capture_output=True, text=True)
        self.assertEqual(served.returncode, 6)
        self.assertIn(reason, served.stderr)


if __name__ == "__main__":
    unittest.main()
