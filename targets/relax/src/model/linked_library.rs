//! System libraries in builds without modules: a static table of the symbols that compiled code
//! registers before `main`, when there may not be any other memory yet.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use core::slice;

use ferrite_alloc_ext::module::library_bin::ImportTree;
use ferrite_core::abi::TVMFFISafeCallType;
use ferrite_core::error::Result;
use ferrite_core::platform::config::SYSTEM_SYMBOLS;
use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering};
use ferrite_core::platform::sync::critical;
use ferrite_core::{plain_ensure, plain_error};

use super::{Kernel, Kernels, Model};
use crate::executable::{Executable, Source};
use crate::memory::Kind;

/// Prefix of the symbols of functions, before the prefix of the library.
const FUNCTION_PREFIX: &[u8] = b"__tvm_ffi_";

/// Name of the symbol with the modules of the library, after the prefix of the library.
const LIBRARY_BIN: &[u8] = b"__tvm_ffi__library_bin";

const EXECUTABLE_KIND: &[u8] = b"relax.VMExecutable";

/// The registered symbols in order. Each entry is written once.
struct LinkedSymbols {
    /// Number of registrations, including those for which there was no space.
    registered: AtomicUsize,
    entries: UnsafeCell<[Kernel; SYSTEM_SYMBOLS]>,
}

// SAFETY: entries are written in critical sections, and read only after they were counted.
unsafe impl Sync for LinkedSymbols {}

static TABLE: LinkedSymbols = LinkedSymbols {
    registered: AtomicUsize::new(0),
    entries: UnsafeCell::new([Kernel { name: core::ptr::null(), call: None }; SYSTEM_SYMBOLS]),
};

/// Registers a symbol of the program. If a name is registered again, models that are created
/// afterwards use the later address. The name is not copied, and needs no memory.
///
/// # Errors
/// MemoryError when `FERRITE_SYSTEM_SYMBOLS` symbols are registered.
///
/// # Safety
/// `symbol` must have the type implied by its name. Symbol and name must stay valid as long as the
/// program runs.
///
/// # Threads
/// Any thread, also before `main`.
///
/// # Upstream
/// `TVMFFIEnvModRegisterSystemLibSymbol`.
pub unsafe fn register(name: &'static CStr, symbol: *mut c_void) -> Result<()> {
    // As the executable calls it: without the prefix of functions.
    let short = name.to_bytes_with_nul();
    let short = short.strip_prefix(FUNCTION_PREFIX).unwrap_or(short);
    // SAFETY: functions have this type, as the caller guarantees; anything that is not a function
    // is never called.
    let call = unsafe { transmute::<*mut c_void, Option<TVMFFISafeCallType>>(symbol) };
    critical(|| {
        let at = TABLE.registered.load(Ordering::Relaxed);
        if at < SYSTEM_SYMBOLS {
            // SAFETY: the place is in the table, and nobody else reads or writes it.
            unsafe {
                let entry = TABLE.entries.get().cast::<Kernel>().add(at);
                entry.write(Kernel { name: short.as_ptr().cast::<c_char>(), call });
            }
        }
        // Counts the entry when it is there: other cores may read the table meanwhile.
        TABLE.registered.store(at + 1, Ordering::Release);
    });
    count().map(drop)
}

/// Returns the number of symbols that are registered by now, or an error if there was no space for
/// one.
fn count() -> Result<usize> {
    let registered = TABLE.registered.load(Ordering::Acquire);
    plain_ensure!(
        registered <= SYSTEM_SYMBOLS,
        MEMORY_ERROR,
        "The system library has {} symbols, FERRITE_SYSTEM_SYMBOLS is {}",
        registered,
        SYSTEM_SYMBOLS
    );
    Ok(registered)
}

/// Returns the symbols that are registered by now.
fn symbols() -> Result<&'static [Kernel]> {
    // Read once: another thread may register a symbol for which there is no space.
    let registered = count()?;
    // SAFETY: so many entries were written, and are never written again.
    Ok(unsafe { slice::from_raw_parts(TABLE.entries.get().cast::<Kernel>(), registered) })
}

/// Returns the bytes of the modules of a library, without their length.
fn library_bin(symbols: &[Kernel], prefix: &[u8]) -> Option<&'static [u8]> {
    // Without a prefix, the symbol begins as those of functions do.
    let end = if prefix.is_empty() { &LIBRARY_BIN[FUNCTION_PREFIX.len()..] } else { LIBRARY_BIN };
    let is_it = |symbol: &&Kernel| {
        // SAFETY: registered names are null-terminated.
        unsafe { CStr::from_ptr(symbol.name) }.to_bytes().strip_prefix(prefix) == Some(end)
    };
    let start = symbols.iter().rfind(is_it)?.call? as *const u8;
    // SAFETY: by its name the symbol is a length and as many bytes, which never change.
    unsafe {
        let len = u64::from_le(start.cast::<u64>().read_unaligned());
        Some(slice::from_raw_parts(start.add(8), usize::try_from(len).ok()?))
    }
}

/// Creates a model from the library that is registered under a prefix.
///
/// # Errors
/// InternalError if there is no library with a model under the prefix, for a malformed executable,
/// and for a missing kernel; MemoryError.
///
/// # Upstream
/// `ffi.SystemLib`.
pub(super) fn model(prefix: &[u8]) -> Result<Model> {
    let symbols = symbols()?;
    let bytes = match library_bin(symbols, prefix) {
        Some(stream) => ImportTree::read(stream)?
            .entries()
            .find(|entry| entry.kind == EXECUTABLE_KIND)
            .and_then(|entry| entry.payload),
        None => None,
    };
    let bytes = bytes.ok_or_else(|| {
        plain_error!(
            INTERNAL_ERROR,
            "There is no system library with a model under the prefix `{}`",
            prefix
        )
    })?;
    // SAFETY: whoever registered the symbols guaranteed their types.
    let kernels = unsafe { Kernels::linked(symbols) };
    Model::new(Executable::load(Source::Static(bytes))?, Kind::Naive, kernels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;
    use ferrite_core::abi::TVMFFIAny;
    use ferrite_core::{AnyView, Tensor};
    use std::vec::Vec;

    /// Returns what `__tvm_ffi__library_bin` of a library with this executable is.
    fn stream(executable: &[u8]) -> Vec<u8> {
        let mut stream = Vec::new();
        for word in [3u64, 0, 1, 1, 1, 1] {
            stream.extend(word.to_le_bytes());
        }
        for text in [EXECUTABLE_KIND, executable, b"_lib"] {
            stream.extend((text.len() as u64).to_le_bytes());
            stream.extend(text);
        }
        [&(stream.len() as u64).to_le_bytes()[..], &stream].concat()
    }

    /// Adds to each element of the first argument, and stores the sums in the second.
    ///
    /// # Safety
    /// Both arguments must be tensors of float32.
    unsafe fn add(args: *const TVMFFIAny, number: f32) -> c_int {
        // SAFETY: contract of this function; nothing else uses the output.
        unsafe {
            let args = AnyView::slice_from_raw(args, 2);
            let (x, out) = (args[0].get::<Tensor>().unwrap(), args[1].get::<Tensor>().unwrap());
            let sums = out.as_mut_slice::<f32>().unwrap();
            sums.iter_mut()
                .zip(&x.as_slice::<f32>().unwrap())
                .for_each(|(sum, x)| *sum = x + number);
        }
        0
    }

    unsafe extern "C" fn add_one(
        _: *mut c_void,
        args: *const TVMFFIAny,
        _: i32,
        _: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the model passes tensors.
        unsafe { add(args, 1.0) }
    }

    unsafe extern "C" fn add_two(
        _: *mut c_void,
        args: *const TVMFFIAny,
        _: i32,
        _: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the model passes tensors.
        unsafe { add(args, 2.0) }
    }

    fn sum(model: &Model) -> Result<f32> {
        let x = Tensor::from_slice(&[0f32, 1.0, 2.0, 3.0], &[4])?;
        let y: Tensor = model.call_packed("main", &[AnyView::from(&x)])?.get()?;
        Ok(y.as_slice::<f32>()?[0])
    }

    fn error(prefix: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let error = model(prefix).map(drop).unwrap_err();
        (error.kind_bytes().to_vec(), error.message_bytes().to_vec())
    }

    /// One test, since the program has one table.
    #[test]
    fn models_are_found_by_their_prefix() -> Result<()> {
        let executable =
            std::fs::read("../../tests/programs/relax/models/chain/bytecode.vm").unwrap();
        let bin = stream(&executable).leak().as_mut_ptr().cast::<c_void>();
        assert_eq!(error(b"p_").0, b"InternalError");
        // SAFETY: the symbols are what their names say.
        unsafe {
            register(c"p___tvm_ffi__library_bin", bin)?;
            let (kind, message) = error(b"p_");
            assert_eq!(kind, b"InternalError");
            assert!(
                message.windows(3).any(|word| word == b"add"),
                "{}",
                std::string::String::from_utf8_lossy(&message)
            );
            register(c"__tvm_ffi_add", add_one as *mut c_void)?;
            let before = model(b"p_")?;
            assert_eq!(sum(&before)?, 1000.0);
            assert_eq!(error(b"").0, b"InternalError");
            register(c"__tvm_ffi__library_bin", bin)?;
            assert_eq!(sum(&model(b"")?)?, 1000.0);
            register(c"__tvm_ffi_add", add_two as *mut c_void)?;
            assert_eq!((sum(&before)?, sum(&model(b"p_")?)?), (1000.0, 2000.0));
            for _ in 4..SYSTEM_SYMBOLS {
                register(c"other", bin)?;
            }
            assert_eq!(sum(&before)?, 1000.0);
            assert_eq!(register(c"too_many", bin).unwrap_err().kind_bytes(), b"MemoryError");
        }
        assert_eq!(error(b"p_").0, b"MemoryError");
        Ok(())
    }
}
