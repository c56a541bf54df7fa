#!/usr/bin/env python3
"""Tests that the checks of the book find what they are for."""

import tempfile
import unittest
from pathlib import Path

import book


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "page.md"

    def faults(self, text):
        self.page.write_text(text)
        return [fault.split(": ", 1)[1] for fault in book.faults_of_blocks(self.page)]

    def run_page(self, text):
        self.page.write_text(text)
        return book.Session(self.page, book.ThisMachine(self.page.parent)).run()

    def test_a_block_needs_a_use(self):
        self.assertEqual(self.faults("```c\nint x;\n```\n"), ["the block is neither a command nor a file, and has no reason not to be run"])
        self.assertEqual(self.faults("```text\nout\n```\n"), ["output of no command"])
        self.assertEqual(self.faults("```c\n/* a.c */\nint x;\n```\n```sh\ncc -c a.c\n```\n```text\n```\n"), [])
        self.assertEqual(self.faults("<!-- not run: a fragment -->\n```c\nint x;\n```\n"), [])

    def test_commands_run_and_their_output_is_compared(self):
        self.assertIsNone(self.run_page("```py\n# a.py\nprint(1)\nprint(2)\nprint(3)\n```\n```sh\npython3 a.py\n```\n```text\n1\n...\n3\n```\n"))

    def test_other_output_is_a_fault(self):
        self.assertIn("the output is", self.run_page("```sh\necho 12\n```\n```text\n1\n```\n"))

    def test_a_failing_command_is_a_fault(self):
        self.assertIn("exit status 1", self.run_page("```sh\nfalse | cat\n```\n"))

    def test_standard_error_is_shown(self):
        both = "```sh\necho out; echo warning >&2; echo note >&2; echo last\n```\n"
        self.assertIn("warning", self.run_page(both))

    def test_standard_error_is_in_the_output_in_any_place(self):
        both = "```sh\necho out; echo warning >&2; echo note >&2; echo last\n```\n"
        self.assertIsNone(self.run_page(both + "```text\nwarning\nout\nnote\nlast\n```\n"))

    def test_any_lines_hide_no_standard_error(self):
        self.assertIn("warning", self.run_page("```sh\necho out; echo warning >&2\n```\n```text\n...\nout\n```\n"))

    def test_several_blocks_show_standard_error(self):
        page = "```sh\necho 1 >&2; echo 2 >&2\n```\n```text\n1\n```\n```text\n2\n```\n```sh\necho 3\n```\n"
        self.assertIsNone(self.run_page(page))

    def test_standard_error_before_the_next_command_counts(self):
        self.assertIn("page.md:1: ", self.run_page("```sh\necho 1 >&2\n```\n```sh\necho 3\n```\n"))

    def test_progress_is_left_out(self):
        page = "```sh\necho '   Compiling ferrite v0.1.0 (/x)' >&2\necho '    Finished in 1 s' >&2\necho 'ferrite_kernels: building a.c' >&2\necho >&2\n```\n"
        self.assertIsNone(self.run_page(page))

    def test_a_warning_of_cargo_is_no_progress(self):
        self.assertIn("warning: unused", self.run_page("```sh\necho 'warning: unused' >&2\n```\n"))

    def test_output_of_any_lines(self):
        self.assertTrue(book.matches("...\nb\n...\n", "a\nb\nc\n"))
        self.assertTrue(book.matches("a\n...\nc\n", "a\nc\n"))
        self.assertFalse(book.matches("a\nc\n", "a\nb\nc\n"))
        self.assertFalse(book.matches("a\n", "ab\n"))

    def needs(self, text):
        self.page.write_text(text)
        return book.needs(self.page)

    def test_needs(self):
        line = "Needs a Rust toolchain and, on Debian, `sudo apt-get install gcc make`."
        self.assertEqual(self.needs(f"# Title\n\n{line}\n\n```sh\n"), ("gcc make", True))
        self.assertEqual(self.needs("# Title\n\nNeeds on Debian `sudo apt-get install gcc`.\n"), ("gcc", False))
        self.assertIsNone(self.needs("# Title\n\nNobody needs a line.\n"))

    def test_registries(self):
        for line in ('ferrite-ffi = "0.1"', 'ferrite-ffi-sys = { version = "0.1" }', "cargo install --locked ferrite-ffi-cli", "pip install ferrite-tvm-ffi",
                     "[docs](https://docs.rs/ferrite-ffi)"):  # fmt: skip
            self.assertTrue(book.UNPUBLISHED.search(line), line)
        for line in ('ferrite-ffi = { path = "ferrite/targets/rust" }', "cargo install --path targets/cli --features devices", "pip install ./ferrite"):
            self.assertFalse(book.UNPUBLISHED.search(line), line)

    def test_anchors(self):
        self.assertEqual(book.anchor("The `ferrite` command, in C++"), "the-ferrite-command-in-c")

    def test_links(self):
        page = book.BOOK / "introduction.md"
        self.assertEqual(list(book.faults_of_links(page)), [])


if __name__ == "__main__":
    unittest.main()
