#!/usr/bin/env python3
"""Tests of `ferrite model` with names that try to become code: what it writes is compiled and run. Prints the sum at the end."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import project
import quote
import signature
import targets
import web
from executable import BYTECODE, Executable, Malformed, as_c
from failure import Failure

HERE = pathlib.Path(__file__).resolve().parent
FIXTURE = targets.ROOT / "tests/programs/relax/models/cnn"
TEXTS = (
    *("", " ", '"', "'", "`", "\\", "a\\", "\n", "\r", "\r\n", "\t", "a\0b", "\x7f", "\x1b[2J", "\x85", "\u2028", "\u2029", "\u200f", "\ufeff"),
    *("\u202ereversed", "\u2066isolated\u2069", "\u202a", "\u202b", "\u202c", "\u202d", "*/", "/*", "*/ int evil; /*", "*\\\n/", "**//", "/*/"),
    *("??/", "??/\n#error evil", "\n#error evil", "\n#include <evil.h>", "\\\n#error evil", "// evil\n#error evil", '"; int evil; //', "%s%n", "%"),
    *("x; touch evil; #", "$(touch evil)", "`touch evil`", "${x:=evil}", "'; touch evil; '", '"; touch evil; "', "\ntouch evil\n", "&& touch evil"),
    *("| touch evil", "> evil", "< evil", "& touch evil", "$'\\ntouch evil'", "}; touch evil; {", "$((evil))", "!!", "~", "*", "?", "[a-z]", "{a,b}"),
    *("@ROOT@", "@NAME@", "@FUNCTION@ @SIGNATURE@", "@", "@@", "../../evil", "/etc/evil", "..", ".", "a/b", "a\\b", "C:evil", "-o", "--evil", "-"),
    *("a,b", "-Wl,evil", "a b", "a-b", "a.b", "1", "1x", "main", "int", "struct", "results", "kernels", "tvm_ffi_model", "stdint", "Main", "_x"),
    *("größe", "数", "é" * 70, "x" * 200, "${{ evil }}", "<script>evil()</script>", "](evil)", "```\nevil\n```", "a|b", "#evil", "\\u202e", "\\x41"),
)


def renamed(data, start, end, old, new):
    """Returns an executable in which one string between two offsets is another."""
    record, other = (struct.pack("<Q", len(text)) + text for text in (old.encode(), new.encode()))
    assert data.count(record, start, end) == 1, old
    at = data.index(record, start)
    return data[:at] + other + data[at + len(record) :]


def hostile(name):
    """Returns a model whose function and input have a name."""
    data = (FIXTURE / "bytecode.vm").read_bytes()
    for old in ("main", "x"):
        data = renamed(data, 0, Executable(data).scopes_at, old, name)
    executable = Executable(data)
    function = signature.entry_point(executable, name)
    return data, function, signature.inputs(executable, function)


class Hostile(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compiles(self, folder, *sources, board=()):
        flags = ["-fsyntax-only", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-I", ".", "-I", targets.ROOT / "include", *board]
        done = subprocess.run(["cc", *flags, *sources], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_of_functions_and_inputs_are_texts(self):
        self.assertGreaterEqual(len(TEXTS), 100)
        lines = ["#include <string.h>"]
        checks = []
        for number, text in enumerate(TEXTS):
            _, function, inputs = hostile(text)
            name, folder = f"model_{number}", self.folder / str(number)
            project.write_host(folder, name, "host", FIXTURE / "bytecode.so", function, inputs, [])
            # Each project has its own arrays.
            arrays = ("input_0", "shape_0")
            lines += [f"#define {array} {array}_{number}" for array in arrays]
            lines += [f'#include "{folder}/inputs.c"', *(f"#undef {array}" for array in arrays)]
            data = text.encode()
            expected = "".join(f"\\{byte:03o}" for byte in data)
            checks.append(f'if (sizeof(MODEL_{number}_FUNCTION) != {len(data) + 1} || memcmp(MODEL_{number}_FUNCTION, "{expected}", {len(data)})) return 1;')
            for file in folder.iterdir():
                if file.is_file() and file.suffix != ".so":
                    written = file.read_text().replace("\n", "")
                    self.assertEqual(quote.visible(written), written, (file.name, text))
        (self.folder / "all.c").write_text("\n".join([*lines, "int main(void) {", *checks, "return 0;", "}", ""]))
        command = ["cc", "-Wall", "-Wextra", "-Werror", "-I", targets.ROOT / "include", "all.c", "-o", "all"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([self.folder / "all"], check=True)
        for number in (0, len(TEXTS) // 2, len(TEXTS) - 1):
            self.compiles(self.folder / str(number), "main.c", "inputs.c")

    def test_projects_of_boards_and_devices_compile(self):
        text = '*/ "; int evil(void) { \n#error evil\n /* @ROOT@ \u202e'
        data, function, inputs = hostile(text)
        project.write_board(self.folder / "board", "m", "cortex-m4f", data, function, inputs, [], "", 4096)
        firmware = ("-I", targets.ROOT / "targets/boards/firmware", "-I", targets.ROOT / "targets/mcu/shared")
        self.compiles(self.folder / "board", "m.c", board=firmware)
        self.compiles(self.folder / "board", "main.c", board=firmware)
        project.write_host(self.folder / "device", "m", "opencl", FIXTURE / "bytecode.so", function, inputs, [])
        self.compiles(self.folder / "device", "main.c", "inputs.c")

    def test_pages_have_names_as_literals(self):
        for text in TEXTS:
            data, function, inputs = hostile(text)
            tensor = {"name": text, "dtype": "float32", "shape": [1, 1, 8, 8]}
            description = web.Description("web", Executable(data), function, inputs, lambda _: [tensor])
            kind, section = description.section()[0], description.section().partition(web.SECTION)[2]
            self.assertEqual((kind, json.loads(section)["functions"]), (0, {text: {"inputs": [tensor], "outputs": [tensor]}}))
            name = json.dumps(text)
            call = f"  run(inputs: {{ {name}: Float32Array }}, name?: {name}): Promise<{{ {name}: Tensor<Float32Array> }}>;"
            self.assertIn(call, web.files("m", description)["model.d.mts"].splitlines())

    def test_folders_in_scripts_are_words(self):
        _, function, inputs = hostile("f")
        scripts = {}
        for number, text in enumerate(text for text in TEXTS if text and "\0" not in text):
            for template, name in (("host.sh", "LIBRARY"), (("host.sh", "board.sh")[number % 2], "ROOT")):
                names = {"NAME": "m", "TARGET": "cortex-m4f", "FEATURES": "relax", "LIBRARY": "", "ROOT": ""} | {name: "/no" + text}
                folder = self.folder / f"{number}-{template}-{name}"
                project.write(folder, {"build.sh": project.fill(template, names)})
                scripts[folder] = "/no" + text
        tools = self.folder / "tools"
        project.write(tools, {"cargo.sh": "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 1\n"})
        (tools / "cargo.sh").rename(tools / "cargo")
        for folder, text in scripts.items():
            environment = {"PATH": f"{tools}:/usr/bin:/bin"}
            done = subprocess.run(["bash", "build.sh"], cwd=folder, env=environment, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual([file.name for file in folder.iterdir()], ["build.sh"], text)
            self.assertIn(text.encode(), done.stdout + done.stderr)

    def test_names_of_models_are_identifiers_and_no_paths(self):
        for text in TEXTS:
            self.assertRegex(quote.model_name(text), r"\A[A-Za-z][A-Za-z0-9_]{0,63}\Z")
            self.assertNotIn(quote.model_name(text), ("main", "results", "stdint"))
            if quote.model_name(text) != text:
                with self.assertRaises(Failure):
                    quote.checked_model_name(text)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("x; echo INJECTED; #", "../../x", "", "main", "größe", "$(touch evil)"):
                command = [sys.executable, "-I", "-S", HERE, FIXTURE / "bytecode.so", "--target", "host", "--name", name]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, list(pathlib.Path(folder).iterdir())), (1, []))
                self.assertRegex(done.stderr, "^error: a model cannot have the name")

    def test_kernels_that_are_no_symbols_are_refused(self):
        data = (FIXTURE / "bytecode.vm").read_bytes()
        refused = 0
        for text in TEXTS:
            changed = renamed(data, 0, Executable(data).scopes_at, "softmax", text)
            if quote.is_identifier(text):
                self.assertIn(f"__tvm_ffi_{text}(void*", "\n".join(as_c(changed, "m")))
                continue
            refused += 1
            with self.assertRaisesRegex(Failure, "whose name no code in C can have"):
                "\n".join(as_c(changed, "m"))
        self.assertGreater(refused, 80)

    def test_executables_that_are_cut_or_changed_are_refused(self):
        data = (FIXTURE / "bytecode.vm").read_bytes()
        for at in range(0, len(data) - 1, len(data) // 200):
            with self.assertRaises(Malformed):
                Executable(data[:at])
        for at in range(8, 2000, 5):
            changed = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
            try:
                executable = Executable(changed)
                for function in executable.functions:
                    list(executable.calls(function)) if function.kind == BYTECODE else None
                "\n".join(as_c(changed, "m"))
            except (Malformed, Failure):
                pass


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"hostile: {outcome.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
