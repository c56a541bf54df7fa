//! Memory of objects that is at no valid address.
use std::ptr::NonNull;

use ferrite::Result;
use ferrite::object_alloc::{RecordLayout, Space};

struct Nowhere;

impl Space for Nowhere { //~ requires an `unsafe impl` declaration
    fn allocate(&mut self, _: &RecordLayout, _: i32, _: usize) -> Result<NonNull<u8>> {
        Ok(NonNull::dangling())
    }
}

fn main() {}
