#!/usr/bin/env python3
"""Tests of unsafe_review.py: which functions and implementations it finds in sources, and which rows it refuses."""

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
    /// Returns "unsafe { }" as a string.
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


THREADS = """
unsafe impl<T: Fn() -> u8> Send for Block<'_, T> where T: Send {}
unsafe impl core::marker::Sync for Block<'_, fn()> {}
unsafe impl Object for Block { fn class() {} }
impl Drop for Block { fn drop(&mut self) {} }
// unsafe impl Send for Comment {}
const TEXT: &str = "unsafe impl Send for Text {}";
macro_rules! shared { ($t:ty) => { unsafe impl Sync for $t {} }; }
mod inner { unsafe impl Send for super::Inner {} }
#[cfg(test)]
mod tests { unsafe impl Send for Test {} }
"""


def read(source: str) -> unsafe_review.Reader:
    reader = unsafe_review.Reader("a/src/block.rs", source)
    reader.read()
    return reader


def found(source: str) -> list[str]:
    reader = read(source)
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


class Threads(unittest.TestCase):
    wanted = [unsafe_review.Promise("a.rs", "Block", trait) for trait in ("Send", "Sync")]

    def mistakes(self, *rows: str) -> list[str]:
        page = "## `a.rs`\n\n| Type | Send | Sync |\n|---|---|---|\n" + "".join(f"{row}\n" for row in rows)
        return unsafe_review.thread_mistakes_of(self.wanted, unsafe_review.thread_rows_of(page))

    def test_each_unsafe_impl_is_found(self) -> None:
        promises = [(one.type, one.trait) for one in read(THREADS).promises]
        self.assertEqual(promises, [("Block", "Send"), ("Block", "Sync"), ("shared!", "Sync"), ("Inner", "Send")])

    def test_a_row_with_both_reasons_is_right(self) -> None:
        self.assertEqual(self.mistakes("| `Block` | it owns its bytes | as for Send |"), [])

    def test_an_unsafe_impl_without_a_reason_is_a_mistake(self) -> None:
        self.assertEqual(self.mistakes("| `Block` | it owns its bytes | - |"), ["a.rs: `Sync` of `Block` has no reason"])
        self.assertEqual(len(self.mistakes()), 2)

    def test_a_reason_without_an_unsafe_impl_is_a_mistake(self) -> None:
        row = "| `Block` | it owns its bytes | as for Send |"
        self.assertEqual(
            self.mistakes(row, "| `Gone` | - | it is constant |"), ["a.rs: `Sync` of `Gone` has a reason and no `unsafe impl`"]
        )

    def test_a_second_reason_is_a_mistake(self) -> None:
        rows = ("| `Block` | it owns its bytes | as for Send |", "| `Block` | - | another |")
        self.assertEqual(self.mistakes(*rows), ["a.rs: `Sync` of `Block` has two reasons"])


if __name__ == "__main__":
    unittest.main()
