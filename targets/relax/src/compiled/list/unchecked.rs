//! Lists of values in builds that run no native code of hosts: their length is not checked, which
//! saves memory.

use core::ffi::c_void;

use ferrite_core::Any;
use ferrite_core::abi::TVMFFIAny;
use ferrite_core::platform::memory::{AllocError, Buffer};

use crate::machine::Machine;

/// An array of values that are all None when it is dropped.
#[derive(Default)]
pub(crate) struct ValueList(Buffer<TVMFFIAny>);

impl ValueList {
    /// Creates a list of `len` values, all None.
    pub(crate) fn try_new(len: usize) -> Result<ValueList, AllocError> {
        let mut values = Buffer::new();
        values.try_resize(len, TVMFFIAny::NONE)?;
        Ok(ValueList(values))
    }

    /// Returns the number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the address of the first value.
    #[inline(always)]
    pub(crate) fn start(&mut self) -> *mut Any {
        self.0.as_mut_slice().as_mut_ptr().cast()
    }
}

/// Does nothing.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn limit(_start: *mut Any, _len: usize) {}

/// Does nothing.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn set_machine(_start: *mut Any, _machine: &Machine) {}

/// Returns `None`: lists do not know their machine.
///
/// # Safety
/// No requirements.
pub(super) unsafe fn machine<'a>(_list: *mut c_void) -> Option<&'a Machine> {
    None
}

/// Returns `None`: the length is not known.
///
/// # Safety
/// No requirements.
pub(super) unsafe fn length(_list: *mut c_void) -> Option<u32> {
    None
}

/// Does nothing.
///
/// # Safety
/// No requirements.
pub(super) unsafe fn note_failure(_list: *mut c_void) {}

/// Returns `false`: failures are not recorded.
///
/// # Safety
/// No requirements.
pub(crate) unsafe fn take_failures(_lists: [*mut Any; 3]) -> bool {
    false
}
