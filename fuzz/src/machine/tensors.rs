//! Steps with tensors and DLPack.

use std::ptr;

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, handle, object};
use crate::classes::release;
use crate::normal;
use crate::program::{Meta, Reg};

/// How a managed tensor is imported.
pub(super) struct Import {
    pub versioned: bool,
    pub major: u8,
    pub flags: u8,
    pub alignment: u8,
    pub contiguous: bool,
}

/// Returns a version of DLPack, the right one in most programs.
pub fn major_of(number: u8) -> u32 {
    if number < 250 { 1 } else { number.into() }
}

/// Returns an alignment: 0, a power of two, or a number that is none.
pub fn alignment_of(number: u8) -> i32 {
    match number % 16 {
        power @ 0..10 => (1 << power) >> 1,
        odd => i32::from(odd) - 14,
    }
}

impl Machine {
    pub(super) fn import(&self, meta: &Meta, how: &Import) -> Outcome {
        let symbols = &self.library.symbols;
        let (major, alignment) = (major_of(how.major), alignment_of(how.alignment));
        let mut out = ptr::null_mut();
        // SAFETY: the tensor object owns the managed tensor; after a failure it is released here.
        let status = unsafe {
            if how.versioned {
                let managed = meta.managed_versioned(major, how.flags.into());
                let status = (symbols.TVMFFITensorFromDLPackVersioned)(
                    managed,
                    alignment,
                    how.contiguous.into(),
                    &mut out,
                );
                if status != 0 {
                    (*managed).deleter.expect("tensors of programs have one")(managed);
                }
                status
            } else {
                let managed = meta.managed();
                let status = (symbols.TVMFFITensorFromDLPack)(
                    managed,
                    alignment,
                    how.contiguous.into(),
                    &mut out,
                );
                if status != 0 {
                    (*managed).deleter.expect("tensors of programs have one")(managed);
                }
                status
            }
        };
        self.keep_if_it_fits(meta, status, out)
    }

    /// Keeps a tensor whose elements may be read; shows and releases others.
    fn keep_if_it_fits(&self, meta: &Meta, status: i32, out: TVMFFIObjectHandle) -> Outcome {
        if status != 0 || meta.fits() {
            return handle(status, out);
        }
        let value = object(out);
        let shown = normal::show(self.library, &value);
        release(&value);
        Outcome::Shown(status, shown)
    }

    pub(super) fn export(&self, tensor: Reg, versioned: bool, back: bool) -> Outcome {
        let Some(tensor) = self.object_of(tensor, kTVMFFITensor) else { return Outcome::Skipped };
        let symbols = &self.library.symbols;
        let mut out = ptr::null_mut();
        // SAFETY: the export is owned, and its deleter is called once: here, or by the tensor that
        // takes it back.
        unsafe {
            if versioned {
                let mut managed = ptr::null_mut();
                let status = (symbols.TVMFFITensorToDLPackVersioned)(tensor, &mut managed);
                if status != 0 {
                    return super::state::status(status);
                }
                if back && (symbols.TVMFFITensorFromDLPackVersioned)(managed, 0, 0, &mut out) == 0 {
                    return handle(0, out);
                }
                let shown = format!(
                    "{} flags {} version {}",
                    normal::show_tensor(&(*managed).dl_tensor),
                    (*managed).flags,
                    (*managed).version.major
                );
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
                Outcome::Shown(0, shown)
            } else {
                let mut managed = ptr::null_mut();
                let status = (symbols.TVMFFITensorToDLPack)(tensor, &mut managed);
                if status != 0 {
                    return super::state::status(status);
                }
                if back && (symbols.TVMFFITensorFromDLPack)(managed, 0, 0, &mut out) == 0 {
                    return handle(0, out);
                }
                let shown = normal::show_tensor(&(*managed).dl_tensor);
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
                Outcome::Shown(0, shown)
            }
        }
    }

    pub(super) fn view(&self, source: Reg, meta: &Meta) -> Outcome {
        let Some(source) = self.object_of(source, kTVMFFITensor) else { return Outcome::Skipped };
        // SAFETY: the content of a tensor object is a DLTensor.
        let data = unsafe { (*normal::content::<DLTensor>(&object(source))).data };
        let mut out = ptr::null_mut();
        // SAFETY: source and prototype live through the call.
        let status = meta.with(data, |prototype| unsafe {
            (self.library.symbols.TVMFFITensorCreateUnsafeView)(source, prototype, &mut out)
        });
        // The source may be smaller than the view.
        let value = object(out);
        let shown = normal::show(self.library, &value);
        release(&value);
        Outcome::Shown(status, shown)
    }
}
