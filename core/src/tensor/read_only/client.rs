//! The read-only flag of tensors imported from DLPack, which the loaded library stores: Ferrite
//! exports it again, upstream does not keep it.

use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::abi::{DLPACK_FLAG_BITMASK_READ_ONLY, client, type_index};
use crate::call::function::{Function, check_status};
use crate::error::Result;
use crate::value::any::AnyView;

/// Returns `true` if the value is a tensor object over memory that is known to be read-only.
///
/// # Errors
/// MemoryError.
pub fn is_read_only(view: AnyView<'_>) -> Result<bool> {
    let Some(object) = view.object_ptr().filter(|_| view.type_index() == type_index::TENSOR) else {
        return Ok(false);
    };
    if !keeps_flags()? {
        return Ok(false);
    }
    let mut exported = ptr::null_mut();
    // SAFETY: the object is a live tensor. The export is ours, and released once.
    unsafe {
        check_status(client::TVMFFITensorToDLPackVersioned(object.as_ptr().cast(), &mut exported))?;
        let flags = (*exported).flags;
        if let Some(deleter) = (*exported).deleter {
            deleter(exported);
        }
        Ok(flags & DLPACK_FLAG_BITMASK_READ_ONLY != 0)
    }
}

/// Returns whether the library keeps the flags of imports: whether it is Ferrite's. Asks once,
/// since an export may allocate.
fn keeps_flags() -> Result<bool> {
    const UNKNOWN: u8 = 2;
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    let answer = ANSWER.load(Ordering::Relaxed);
    if answer != UNKNOWN {
        return Ok(answer != 0);
    }
    let keeps = Function::find_global("ffi.ferrite.ServeRelease")?.is_some();
    ANSWER.store(keeps.into(), Ordering::Relaxed);
    Ok(keeps)
}
