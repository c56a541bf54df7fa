"""Tests of reviews.py: `python3 reviews_test.py`."""

import unittest

import reviews

LOCK = """
[[package]]
name = "ours"
version = "0.1.0"

[[package]]
name = "alpha"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "beta"
version = "2.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""
REVIEW = {field: "text" for field in reviews.FIELDS} | {"name": "alpha", "version": "1.0.0"}
NOTES = {"review": [REVIEW], "unreviewed": [{"reason": "tests", "packages": ["beta 2.0.0"]}]}


class Reviews(unittest.TestCase):
    def test_complete_notes(self):
        self.assertEqual(reviews.compare(LOCK, NOTES, {"alpha 1.0.0"}), [])

    def test_a_new_version_needs_a_note(self):
        mistakes = reviews.compare(LOCK.replace("1.0.0", "1.0.1"), NOTES, set())
        self.assertEqual(
            mistakes, ["alpha 1.0.1 is in Cargo.lock without a note", "alpha 1.0.0 has a note and is not in Cargo.lock"]
        )

    def test_a_released_package_needs_a_review(self):
        mistakes = reviews.compare(LOCK, NOTES, {"alpha 1.0.0", "beta 2.0.0", "ours 0.1.0"})
        self.assertEqual(mistakes, ["beta 2.0.0 is in a released library without a review"])

    def test_the_packages_of_the_python_extension_are_released(self):
        self.assertLessEqual({"pyo3-ffi", "pyo3-build-config"}, {name.split()[0] for name in reviews.released_packages()})

    def test_incomplete_notes(self):
        notes = {"review": [REVIEW | {"verdict": ""}], "unreviewed": [{"packages": ["beta 2.0.0", "alpha 1.0.0"]}]}
        self.assertEqual(
            reviews.compare(LOCK, notes, set()),
            ["the review of alpha lacks verdict", "a group of unreviewed packages has no reason", "alpha 1.0.0 has two notes"],
        )


if __name__ == "__main__":
    unittest.main()
