"""Tests of the lint of prose: which comments and subjects it accepts."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import prose


def found(name, text):
    return [finding.split(":")[0] for _, finding in prose.findings(Path(name), text.splitlines())]


class Comments(unittest.TestCase):
    def test_openings_of_doc_comments(self):
        self.assertEqual(found("a.rs", "/// What it is.\nstruct A;"), ["opens with `What`"])
        self.assertEqual(found("a.rs", "//! As [`b`], for c.\n"), ["opens with `As [``"])
        self.assertEqual(found("a.py", '"""Who calls."""'), ["opens with `Who`"])
        self.assertEqual(found("a.rs", "/// The index of what follows.\nstruct A;"), [])

    def test_plain_comments_may_open_as_they_like(self):
        self.assertEqual(found("a.rs", "//! File.\n\n// What follows is short.\nstruct A;"), [])

    def test_whether_is_for_fields(self):
        self.assertEqual(found("a.rs", "struct A {\n/// Whether it is.\n#[cfg(x)]\npub a: bool,"), [])
        self.assertEqual(len(found("a.rs", "/// Whether it is.\n#[inline]\npub(super) const unsafe fn a() -> bool {")), 1)

    def test_types_begin_with_a_noun(self):
        self.assertEqual(found("a.rs", "/// Marks a closure.\npub(crate) struct A;"), ["opens with `Marks`"])
        self.assertEqual(found("a.rs", "/// Marker of a closure.\nstruct A;"), [])
        self.assertEqual(found("a.rs", "/// Marks a closure.\nfn a() {"), [])

    def test_what_is_not_a_thing(self):
        self.assertEqual(found("a.rs", "/// TypeError for an object that is no model.\nfn a() {"), ["`is no model`"])
        self.assertEqual(found("a.rs", "/// Fails if there is no model, or it is no longer open.\nfn a() {"), [])

    def test_phrases_across_lines(self):
        self.assertEqual(found("a.rs", "/// Ends when memory\n/// is refused."), ["`memory is refused`"])
        self.assertEqual([line for line, _ in prose.findings(Path("a.c"), ["int a;", "/* one", " * lent */"])], [3])

    def test_openings_of_sections(self):
        self.assertEqual(found("a.rs", "/// Ends.\n///\n/// # Safety\n/// As for [`b`], which must end.\nfn a() {"), ["`Safety As`"])
        self.assertEqual(found("a.rs", "/// Ends.\n///\n/// # Errors\n/// Same errors as [`b`].\nfn a() {"), [])

    def test_sections_of_safety_state_obligations(self):
        comment = "/// Frees a block.\n///\n/// # Safety\n/// {}\nunsafe fn a() {{"
        for text in ("The block is not used afterwards.", "`a` is null or a C string."):
            self.assertEqual(found("a.rs", comment.format(text)), ["states no obligation"])
        for text in ("`a` must be null or a C string.", "Same requirements as [`b`].", "No requirements.", "See the crate."):
            self.assertEqual(found("a.rs", comment.format(text)), [])
        self.assertEqual(found("a.rs", "/// Ends.\n///\n/// # Safety\n/// It lives.\n///\n/// # Errors\n/// A block must be free.\nfn a() {"),
                         ["states no obligation"])

    def test_code_is_not_prose(self):
        self.assertEqual(found("a.rs", 'let lent = "lent";'), [])
        self.assertEqual(found("a.md", "```\nlent\n```\n`lent`"), [])


class Lines(unittest.TestCase):
    def test_width(self):
        long = "word " * 20 + "end"
        self.assertEqual(found("a.rs", f"//! File.\n\n    // {long}\nfn a() {{}}"), ["110 characters"])
        self.assertEqual(found("a.md", f"{long}\n\n| {long} |\n\n```\n{long}\n```"), ["103 characters"])
        self.assertEqual(found("a.rs", f"//! | {long} |\n//! https://{'a' * 100}\n\nlet a = \"{long}\";"), [])

    def test_repeated_lines(self):
        self.assertEqual(found("a.rs", "/// Returns the name.\n/// Returns the name.\nfn a() {"), ["repeats the line above"])
        self.assertEqual(found("a.rs", "/// ```\n/// let a = texts;\n/// let a = texts;\n/// ```\nfn a() {"), [])
        self.assertEqual(found("a.md", "| a | b | c |\n| a | b | c |"), [])


class Subjects(unittest.TestCase):
    def test_subjects(self):
        accepted = ["core/any: reject raw strings", "Remove a file", "docs: end the list of C++ names"]
        refused = ["core: " + "a" * 70, "core: end.", "WIP core", "Core: end it", "core: Ends", "core: end"]
        self.assertEqual([list(prose.subject_findings(subject)) for subject in accepted], [[]] * 3)
        self.assertTrue(all(list(prose.subject_findings(subject)) for subject in refused))

    def test_words_of_subjects(self):
        accepted = [
            "cli: escape control characters of names in reports",
            "core: say `is not a` in messages",
            "module: reject import cycles when a module is added",
            "install: build in a separate folder",
            "ci: record the commits that the check reads",
        ]
        refused = {
            "docs: say that no test notices it": "say that",
            "docs: says where hashbrown serves": "says where",
            "relax: tell functions where it is, tell which": "tell which",
            "tests: mend the new width": "mend",
            "core: move the modules into nine rooms": "rooms",
            "structural: pass the rule to the mutation walk": "walk",
            "legacy: rename types by what they are": "by what",
            "module: split what a module is from its users": "what",
            "capi: have 24 features, which only add": "which",
            "gpu: find the queue to which a launch belongs": "to which",
            "tests: keep those that fail": "those that",
            "alloc: release the one that is kept": "the one that",
            "install: build in a folder of its own": "of its own",
            "json: keep numbers beside the reader": "beside",
        }
        self.assertEqual([list(prose.subject_word_findings(subject)) for subject in accepted], [[]] * len(accepted))
        for subject, words in refused.items():
            self.assertIn(f"`{words}`", "".join(prose.subject_word_findings(subject)), subject)

    def test_subjects_before_the_base_are_not_read(self):
        with tempfile.TemporaryDirectory() as root:
            def git(*arguments):
                command = ["git", "-c", "user.name=a", "-c", "user.email=a@a.example", *arguments]
                return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()

            git("init", "--quiet")
            git("commit", "--quiet", "--no-gpg-sign", "--allow-empty", "--message", "docs: mend it")
            base = git("rev-parse", "HEAD")
            git("commit", "--quiet", "--no-gpg-sign", "--allow-empty", "--message", "docs: fix it")
            self.assertEqual([subject for _, subject in prose.subjects_since(base, root)[0]], ["docs: fix it"])
            subjects, known = prose.subjects_since("0" * 40, root)
            self.assertEqual((len(subjects), known), (2, False))


if __name__ == "__main__":
    unittest.main()
