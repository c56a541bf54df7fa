//! This library and upstream's, loaded once into this process.

use super::Library;
use ferrite_tests::{Outcome, output_of, root};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Both libraries.
pub struct Pair {
    pub ours: &'static Library,
    pub upstream: &'static Library,
}

static PAIR: OnceLock<Outcome<Pair>> = OnceLock::new();

impl Pair {
    /// Returns both libraries. Fails if this one does not build or upstream's cannot be downloaded.
    pub fn get() -> Outcome<&'static Self> {
        PAIR.get_or_init(Self::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Outcome<Self> {
        let wheel =
            output_of(&mut Command::new(root().join("tests/conformance/upstream/wheel.sh")))?;
        let upstream = Library::open(
            "upstream's",
            &Path::new(wheel.trim()).join("tvm_ffi/lib/libtvm_ffi.so"),
        )?;
        let ours = Library::open("our", &ferrite_tests::Library::get()?.shared())?;
        let same = ours.symbols.function_call as usize == upstream.symbols.function_call as usize;
        if same {
            Err(String::from("both libraries are one").into())
        } else {
            Ok(Self { ours, upstream })
        }
    }
}
