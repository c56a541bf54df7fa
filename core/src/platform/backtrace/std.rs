//! Backtraces as strings: one line per frame, most recent call first, from an installed provider.
//!
//! Without a provider, a backtrace consists of the caller's own line, or is empty.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::Write;
use core::ptr;

use crate::abi::TVMFFIByteArray;
use crate::platform::memory::Buffer;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::per_thread;
use crate::platform::text::Lossy;

/// A request for a backtrace, with the source location of the caller.
#[derive(Clone, Copy, Default)]
pub struct BacktraceRequest<'a> {
    /// The caller's file. Together with `func` it forms the first line of the backtrace.
    pub filename: Option<&'a [u8]>,
    /// The caller's line number.
    pub line: i32,
    /// The name of the caller's function.
    pub func: Option<&'a [u8]>,
    /// Whether to include frames beyond the innermost call through the C ABI.
    pub cross_ffi_boundary: bool,
    /// Address of the C function that received the request, or zero. The frames of that function
    /// and of its callees are omitted.
    pub entry: usize,
}

impl BacktraceRequest<'_> {
    /// Writes the caller's own line, if the request has a file and a function name.
    pub fn write_own_line(&self, sink: &mut dyn FnMut(&[u8])) {
        if let (Some(filename), Some(func)) = (self.filename, self.func) {
            write_line(filename, i64::from(self.line), func, sink);
        }
    }
}

/// Writes one frame as `  File "F", line N, in SYM`, the format that Python prints and clients
/// parse.
pub fn write_line(filename: &[u8], line: i64, func: &[u8], sink: &mut dyn FnMut(&[u8])) {
    struct Pieces<'a>(&'a mut dyn FnMut(&[u8]));
    impl Write for Pieces<'_> {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            (self.0)(text.as_bytes());
            Ok(())
        }
    }
    // The sink cannot fail, and neither can these arguments.
    let _ =
        writeln!(Pieces(sink), "  File \"{}\", line {line}, in {}", Lossy(filename), Lossy(func));
}

/// Function that writes a backtrace to the sink, in one or more pieces.
///
/// May run on any thread and while an error is being created, so it must not raise an error.
pub type BacktraceProvider = fn(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>);

static PROVIDER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Installs the backtrace provider of this platform, replacing any earlier one.
pub fn set_provider(provider: BacktraceProvider) {
    PROVIDER.store(provider as *mut (), Ordering::Release);
}

/// Writes a backtrace to the sink. Allocates only in the provider.
pub fn write(request: &BacktraceRequest<'_>, sink: &mut dyn FnMut(&[u8])) {
    let provider = PROVIDER.load(Ordering::Acquire);
    if provider.is_null() {
        return request.write_own_line(sink);
    }
    // SAFETY: only `set_provider` stores here, and it stores a BacktraceProvider.
    let provider = unsafe { core::mem::transmute::<*mut (), BacktraceProvider>(provider) };
    provider(sink, request);
}

/// Initial buffer size that fits most backtraces.
const USUAL_BYTES: usize = 1024;

/// Returns a backtrace as a string, truncated when out of memory.
pub fn text(request: &BacktraceRequest<'_>) -> Buffer<u8> {
    let own_line = request.filename.is_some() && request.func.is_some();
    if !own_line && PROVIDER.load(Ordering::Acquire).is_null() {
        return Buffer::new();
    }
    let mut text = Buffer::try_with_capacity(USUAL_BYTES).unwrap_or_default();
    collect(request, &mut text);
    text
}

fn collect(request: &BacktraceRequest<'_>, text: &mut Buffer<u8>) {
    text.clear();
    let mut room = true;
    write(request, &mut |piece| room = room && text.try_extend_from_slice(piece).is_ok());
}

/// Captures a backtrace for C. `entry` is the address of the C function that received the request.
///
/// Never returns null. The result is valid until the next call on this thread or the end of the
/// thread.
///
/// # Safety
/// `filename` and `func` must each be null or a NUL-terminated string.
///
/// # Upstream
/// `TVMFFIBacktrace` in `backtrace.cc`.
pub unsafe fn capture_for_c(
    filename: *const c_char,
    line: c_int,
    func: *const c_char,
    cross_ffi_boundary: bool,
    entry: *const c_void,
) -> *const TVMFFIByteArray {
    // SAFETY: the caller guarantees both strings, which are only used during this call.
    let (filename, func) = unsafe { (text_or_none(filename), text_or_none(func)) };
    let request =
        BacktraceRequest { filename, line, func, cross_ffi_boundary, entry: entry.addr() };
    with_last(|text| collect(&request, text)).unwrap_or(&raw const EMPTY.0)
}

/// Thread-local storage of a thread's last backtrace, which C reads in place.
struct LastText {
    text: Buffer<u8>,
    array: TVMFFIByteArray,
}

crate::per_thread!(static LAST: LastText = LastText { text: Buffer::new(), array: TVMFFIByteArray::EMPTY });

/// Runs `fill` to replace the stored backtrace, and returns its address. Returns `None` while the
/// thread is ending, if there is no memory to store one, and if called from within `fill`.
fn with_last(fill: impl FnOnce(&mut Buffer<u8>)) -> Option<*const TVMFFIByteArray> {
    per_thread::with(&LAST, |last| {
        fill(&mut last.text);
        last.array = view(&last.text);
        &raw const last.array
    })
}

/// An empty string for C.
struct EmptyString(TVMFFIByteArray);

// SAFETY: never written, and points to a constant.
unsafe impl Sync for EmptyString {}

static EMPTY: EmptyString = EmptyString(TVMFFIByteArray { data: c"".as_ptr(), size: 0 });

/// Borrows the stored text as a byte array for C.
fn view(text: &Buffer<u8>) -> TVMFFIByteArray {
    if text.is_empty() { EMPTY.0 } else { TVMFFIByteArray::from_slice(text) }
}

/// Borrows a C string, or returns `None` if the pointer is null.
///
/// # Safety
/// The pointer must be null or a NUL-terminated string that outlives the result.
unsafe fn text_or_none<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller guarantees the string.
    (!text.is_null()).then(|| unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_provider_only_the_callers_line_is_known() {
        let request = BacktraceRequest {
            filename: Some(b"a.c"),
            line: 3,
            func: Some(b"f"),
            ..Default::default()
        };
        assert_eq!(&*text(&request), b"  File \"a.c\", line 3, in f\n");
        assert!(text(&BacktraceRequest { func: None, ..request }).is_empty());
    }

    #[test]
    fn the_text_for_c_is_replaced_by_the_next() {
        // SAFETY: the strings are NUL-terminated; the strings are read before the next call.
        unsafe {
            let first = capture_for_c(c"a.c".as_ptr(), 1, c"f".as_ptr(), false, ptr::null());
            assert_eq!((*first).as_slice(), b"  File \"a.c\", line 1, in f\n");
            let second = capture_for_c(ptr::null(), 1, c"f".as_ptr(), false, ptr::null());
            assert!((*second).as_slice().is_empty() && !(*second).data.is_null());
        }
    }
}
