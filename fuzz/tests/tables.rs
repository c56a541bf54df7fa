//! The tables of programs have every symbol and every global function.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, kTVMFFIInt};
use ferrite_fuzz::library::{Backend, Legacy, Symbols};
use ferrite_fuzz::{Library, builtins, callbacks, classes, limits, normal};

fn names_in(file: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/exports");
    let text = std::fs::read_to_string(folder.join(file)).expect("the list is there");
    text.split_whitespace().map(str::to_string).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn programs_have_every_exported_symbol() {
    assert_eq!(set(Symbols::NAMES), names_in("symbols.txt"));
    assert_eq!(set(Backend::NAMES), names_in("backend-symbols.txt"));
    assert_eq!(set(Legacy::NAMES), names_in("legacy-symbols.txt"));
}

#[test]
fn limits_are_those_of_functions_of_the_table() {
    for (name, _) in limits::LIMITS {
        assert!(builtins::NAMES.contains(name), "{name}");
    }
}

#[test]
#[ignore = "needs a library in FERRITE_LIBRARY"]
fn programs_have_every_global_function() {
    let path: PathBuf =
        std::env::var_os("FERRITE_LIBRARY").expect("FERRITE_LIBRARY names a library").into();
    let library = Box::leak(Box::new(Library::open(&path).expect("the library opens")));
    classes::use_library(library);
    let mut list = TVMFFIAny::NONE;
    assert_eq!(callbacks::call_global("ffi.FunctionListGlobalNamesFunctor", &[], &mut list), 0);
    let at = |index: i64| {
        let payload = TVMFFIAnyPayload { v_int64: index };
        let arg = TVMFFIAny { type_index: kTVMFFIInt, small_str_len: 0, payload };
        let mut out = TVMFFIAny::NONE;
        // SAFETY: the list is a function, which lives to the end of the process.
        let status =
            unsafe { (library.symbols.TVMFFIFunctionCall)(list.payload.v_ptr, &arg, 1, &mut out) };
        assert_eq!(status, 0);
        out
    };
    // SAFETY: the answer to a negative number is a number.
    let count = unsafe { at(-1).payload.v_int64 };
    let names: BTreeSet<_> = (0..count)
        .filter_map(|index| String::from_utf8(normal::text_of(&at(index))?).ok())
        // `ffi.ferrite.ServeRelease` is left out: it changes the behaviour of the whole process.
        .filter(|name| name.starts_with("ffi.") && !name.starts_with("ffi.ferrite."))
        .collect();
    let known = set(builtins::NAMES);
    let differ: Vec<_> = names.symmetric_difference(&known).collect();
    assert!(differ.is_empty(), "{differ:?}");
}
