#!/usr/bin/env python3
"""Tests of unsafe_review.py: which functions it finds in sources, and which rows it refuses."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import unsafe_review

SOURCE = """
pub struct Block { data: *mut u8 }
struct Hidden(u8);

impl Block {
    /// Returns "unsafe { }" as a text.
    pub fn safe(&self) -> &'static str { "unsafe { }" }
    pub fn first(&self) -> u8 { unsafe { *self.data } }
    pub fn reaching(&self) -> u8 { self.helper() }
    pub(crate) fn inner(&self) -> u8 { unsafe { *self.data } }
    pub unsafe fn promised(&self) -> u8 { unsafe { *self.data } }
    fn helper<const N: usize>(&self) -> [u8; { N }] { let c = '{'; unsafe { read(self.data) } }
}

impl<'a, T: Fn() -> u8> Drop for Block where T: 'a { fn drop(&mut self) { unsafe { free(self.data) } } }
impl Clone for Hidden { fn clone(&self) -> Self { unsafe { copy(self) } } }

#[cfg(test)]
mod tests { pub fn of_tests() { unsafe { body() } } }

#[macro_export]
macro_rules! make { ($a:expr) => { unsafe { $a } }; }

pub const fn free() -> u8 { unsafe { 0 } }
"""


def found(source: str) -> list[str]:
    reader = unsafe_review.Reader("a/src/block.rs", source)
    reader.read()
    return [one.name for one in unsafe_review.public_safe_functions([(Path("a/src/block.rs"), reader)])]


class Functions(unittest.TestCase):
    def test_public_safe_functions_with_unsafe_code_are_found(self) -> None:
        self.assertEqual(sorted(found(SOURCE)), ["Block::drop", "Block::first", "Block::reaching", "free", "make!"])

    def test_comments_and_texts_are_no_code(self) -> None:
        self.assertEqual(found('pub fn a() { /* unsafe { } */ b(r#"unsafe { }"#, "\\"unsafe {"); }'), [])


class Rows(unittest.TestCase):
    wanted = [unsafe_review.Found("a.rs", "b", True, True, True)]

    def test_a_row_for_each_function_is_right(self) -> None:
        self.assertEqual(unsafe_review.mistakes_of(self.wanted, {"a.rs": ["b"]}), [])

    def test_a_function_without_a_row_is_a_mistake(self) -> None:
        self.assertEqual(unsafe_review.mistakes_of(self.wanted, {}), ["a.rs: `b` has unsafe code and no row"])

    def test_a_row_without_a_function_is_a_mistake(self) -> None:
        rows = {"a.rs": ["b", "gone"]}
        self.assertEqual(unsafe_review.mistakes_of(self.wanted, rows), ["a.rs: the row of `gone` has no such function"])

    def test_a_second_row_is_a_mistake(self) -> None:
        self.assertEqual(unsafe_review.mistakes_of(self.wanted, {"a.rs": ["b", "b"]}), ["a.rs: `b` has two rows"])


if __name__ == "__main__":
    unittest.main()
