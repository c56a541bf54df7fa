//! Frame filter: decides which frames a backtrace omits, and at which frames it ends.
//!
//! # Upstream
//! `ShouldExcludeFrame` and `DetectFFIBoundary` in `backtrace_utils.h`. The Rust names are
//! additions.
#![forbid(unsafe_code)]

/// Name prefixes of functions that only forward calls and errors.
const EXCLUDED_SYMBOLS: &[&[u8]] = &[
    b"tvm::ffi::Function",
    b"tvm::ffi::detail::",
    b"TVMFFIBacktrace",
    b"TVMFFIErrorSetRaisedFromCStr",
    b"__libc_",
    b"ffi_call_",
];

/// Name prefixes of functions of this library and of the Rust runtime. Upstream needs no such list,
/// since its library is stripped.
const LIBRARY_SYMBOLS: &[&[u8]] = &[
    b"ferrite_core::",
    b"ferrite_alloc_ext::",
    b"ferrite_host::",
    b"tvm_ffi::",
    b"<ferrite_core::",
    b"<ferrite_alloc_ext::",
    b"backtrace::",
    b"core::",
    b"<core::",
    b"std::",
    b"<std::",
    b"__rust_",
];

/// Path suffixes of files whose functions only forward calls and errors.
const EXCLUDED_FILES: &[&[u8]] = &[
    b"include/tvm/ffi/error.h",
    b"include/tvm/ffi/function_detail.h",
    b"include/tvm/ffi/function.h",
    b"include/tvm/ffi/any.h",
    b"core/src/call/typed.rs",
    b"core/src/call/function/mod.rs",
    b"core/src/value/convert/mod.rs",
    b"core/src/value/any/mod.rs",
];

/// Folder of the C++ standard library's headers.
const EXCLUDED_FOLDER: &[u8] = b"include/c++/";

/// Name prefixes of functions that cross from one language to another. The backtrace of the
/// caller's language shows the frames beyond.
const BOUNDARY_SYMBOLS: &[&[u8]] =
    &[b"TVMFFIFunctionCall", b"slot_tp_call", b"object_is_not_callable", b"_Py", b"PyObject"];

/// Returns `true` if a frame only forwards calls, or belongs to this library.
#[cfg_attr(
    not(all(feature = "backtrace", unix)),
    allow(dead_code, reason = "without frames there is nothing to leave out")
)]
pub(super) fn excluded(filename: Option<&[u8]>, symbol: &[u8]) -> bool {
    starts_with_any(symbol, LIBRARY_SYMBOLS) || excluded_own_line(filename, symbol)
}

/// Returns `true` if the line that the raising code gives for itself is omitted, because that code
/// only forwards an error. Unlike [`excluded`], keeps lines of this library.
pub(super) fn excluded_own_line(filename: Option<&[u8]>, symbol: &[u8]) -> bool {
    starts_with_any(symbol, EXCLUDED_SYMBOLS)
        || filename.is_some_and(|name| {
            EXCLUDED_FILES.iter().any(|file| name.ends_with(file))
                || contains(name, EXCLUDED_FOLDER)
        })
}

/// Returns `true` for a frame at which a backtrace ends unless it crosses language boundaries.
#[cfg_attr(
    not(all(feature = "backtrace", unix)),
    allow(dead_code, reason = "without frames there is nothing to stop at")
)]
pub(super) fn is_boundary(symbol: &[u8]) -> bool {
    starts_with_any(symbol, BOUNDARY_SYMBOLS)
}

fn starts_with_any(symbol: &[u8], prefixes: &[&[u8]]) -> bool {
    prefixes.iter().any(|prefix| symbol.starts_with(prefix))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_frames_are_left_out() {
        assert!(excluded(None, b"tvm::ffi::Function::CallPacked"));
        assert!(excluded(Some(b"/usr/include/c++/12/bits/std_function.h"), b"invoke"));
        assert!(excluded(Some(b"/x/include/tvm/ffi/error.h"), b"f"));
        assert!(!excluded(Some(b"/x/src/model.cc"), b"model::run"));
        assert!(excluded(None, b"core::ops::function::FnOnce::call_once"));
    }

    #[test]
    fn the_library_names_its_own_places() {
        let name = b"ferrite_core::value::dtype::text::parse";
        assert!(
            excluded(None, name) && !excluded_own_line(Some(b"core/src/value/dtype/text.rs"), name)
        );
        assert!(excluded_own_line(
            Some(b"core/src/call/typed.rs"),
            b"ferrite_core::call::typed::mismatch"
        ));
    }

    #[test]
    fn calls_between_languages_end_a_backtrace() {
        assert!(is_boundary(b"TVMFFIFunctionCall") && is_boundary(b"_PyEval_EvalFrameDefault"));
        assert!(!is_boundary(b"model::run"));
    }
}
