//! Steps with values, strings, data types, opaque objects and handles.

use core::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ferrite_core::abi::*;

use super::NULLS;
use super::state::{Machine, Outcome, bytes, handle, int, status};
use crate::callbacks;
use crate::classes::{fail, retain};
use crate::normal::quoted;
use crate::program::{Arg, Reg, Value};
use crate::texts::{Text, choose};

/// One weak reference in the counts of an object.
const WEAK_ONE: u64 = 1 << 32;

impl Machine {
    pub(super) fn set(&self, value: &Value) -> Outcome {
        let mut out = TVMFFIAny::NONE;
        let symbols = &self.library.symbols;
        let plain = match value {
            Value::Text { text } => {
                // SAFETY: the text lives through the call.
                let status =
                    unsafe { (symbols.TVMFFIStringFromByteArray)(&bytes(&text.0), &mut out) };
                return Outcome::Status(status, out);
            }
            Value::Bytes { text } => {
                // SAFETY: the text lives through the call.
                let status =
                    unsafe { (symbols.TVMFFIBytesFromByteArray)(&bytes(&text.0), &mut out) };
                return Outcome::Status(status, out);
            }
            Value::BigInt { words } => {
                let input = TVMFFIByteArray { data: words.as_ptr().cast(), size: words.len() * 8 };
                // SAFETY: the words live through the call.
                let status = unsafe { (symbols.TVMFFIBigIntFromByteArray)(&input, &mut out) };
                return Outcome::Status(status, out);
            }
            Value::None {} => TVMFFIAny::NONE,
            Value::Bool { value } => TVMFFIAny { type_index: kTVMFFIBool, ..int((*value).into()) },
            Value::Small { value } => int((*value).into()),
            Value::Int { value } => int(*value),
            Value::Float { value } => plain(kTVMFFIFloat, TVMFFIAnyPayload { v_float64: *value }),
            Value::DataType { code, bits, lanes } => {
                data_type(DLDataType { code: *code, bits: *bits, lanes: *lanes })
            }
            Value::Device { device_type, device_id } => {
                let device =
                    DLDevice { device_type: (*device_type).into(), device_id: (*device_id).into() };
                plain(kTVMFFIDevice, TVMFFIAnyPayload { v_device: device })
            }
        };
        // SAFETY: the value lives through the call.
        let status = unsafe { (symbols.TVMFFIAnyViewToOwnedAny)(&plain, &mut out) };
        Outcome::Status(status, out)
    }

    pub(super) fn own(&mut self, value: &Arg) -> Outcome {
        self.with_args(std::slice::from_ref(value), |library, args| {
            // Only functions that take a tensor know what to do with a pointer to one.
            if args[0].type_index == kTVMFFIDLTensorPtr {
                return Outcome::Skipped;
            }
            let mut out = TVMFFIAny::NONE;
            // SAFETY: the argument lives through the call.
            let status = unsafe { (library.symbols.TVMFFIAnyViewToOwnedAny)(&args[0], &mut out) };
            Outcome::Status(status, out)
        })
    }

    pub(super) fn copy(&self, from: Reg) -> Outcome {
        let value = self.get(from);
        retain(&value);
        Outcome::Status(0, value)
    }

    pub(super) fn drop_register(&mut self, reg: Reg) -> Outcome {
        let value = std::mem::replace(&mut self.registers[reg.at()], TVMFFIAny::NONE);
        if value.type_index < kTVMFFIStaticObjectBegin {
            return status(0);
        }
        // SAFETY: the register owned the object.
        status(unsafe { (self.library.symbols.TVMFFIObjectDecRef)(value.payload.v_ptr) })
    }

    /// Does with the counts of an object what a weak reference of a C++ client does.
    pub(super) fn weak(&mut self, reg: Reg, released: bool) -> Outcome {
        let value = self.get(reg);
        if value.type_index < kTVMFFIStaticObjectBegin {
            return Outcome::Skipped;
        }
        // SAFETY: objects have a header, which lives as long as a reference of either kind. Its
        // counts are changed atomically.
        unsafe {
            let object = value.payload.v_ptr.cast::<TVMFFIObject>();
            let counts = AtomicU64::from_ptr(&raw mut (*object).combined_ref_count);
            counts.fetch_add(WEAK_ONE, Ordering::Relaxed);
            if released {
                self.put(reg, TVMFFIAny::NONE);
            }
            let one_more = |counts: u64| (counts as u32 != 0).then(|| counts.wrapping_add(1));
            let lives = counts.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok();
            if lives {
                (self.library.symbols.TVMFFIObjectDecRef)(object.cast());
            }
            if counts.fetch_sub(WEAK_ONE, Ordering::AcqRel) / WEAK_ONE == 1
                && let Some(deleter) = (*object).deleter.deleter
            {
                deleter(object.cast(), kTVMFFIObjectDeleterFlagBitMaskWeak);
            }
            Outcome::Shown(0, format!("lives {lives}"))
        }
    }

    pub(super) fn big_int_content(&self, reg: Reg) -> Outcome {
        let value = self.get(reg);
        if !matches!(value.type_index, kTVMFFIInt | kTVMFFIBigInt) {
            return Outcome::Skipped;
        }
        // SAFETY: the value lives while its words are read.
        let words = unsafe {
            (self.library.symbols.TVMFFIBigIntGetContentByteArray)(&value).as_slice().to_vec()
        };
        Outcome::Shown(0, quoted(&words))
    }

    pub(super) fn data_type_from_text(&self, text: &Text) -> Outcome {
        let mut out = DLDataType { code: 0, bits: 0, lanes: 0 };
        // SAFETY: text and result live through the call.
        let status =
            unsafe { (self.library.symbols.TVMFFIDataTypeFromString)(&bytes(&text.0), &mut out) };
        Outcome::Status(status, if status == 0 { data_type(out) } else { TVMFFIAny::NONE })
    }

    pub(super) fn data_type_to_text(&self, code: u8, bits: u8, lanes: u16) -> Outcome {
        let mut out = TVMFFIAny::NONE;
        let dtype = DLDataType { code, bits, lanes };
        // SAFETY: data type and result live through the call.
        let status = unsafe { (self.library.symbols.TVMFFIDataTypeToString)(&dtype, &mut out) };
        self.anew(Outcome::Status(status, out))
    }

    pub(super) fn version(&self) -> Outcome {
        let mut version = TVMFFIVersion { major: 99, minor: 99, patch: 99 };
        // SAFETY: the result is writable.
        unsafe { (self.library.symbols.TVMFFIGetVersion)(&mut version) };
        Outcome::Shown(0, format!("{} {} {}", version.major, version.minor, version.patch))
    }

    pub(super) fn opaque(&self, odd_index: bool) -> Outcome {
        let content = callbacks::opaque();
        let mut out = ptr::null_mut();
        let index = if odd_index { kTVMFFIFunction } else { kTVMFFIOpaquePyObject };
        // SAFETY: the content belongs to the object, if there is one.
        unsafe {
            let status = (self.library.symbols.TVMFFIObjectCreateOpaque)(
                content,
                index,
                Some(callbacks::delete_opaque),
                &mut out,
            );
            if status != 0 {
                callbacks::delete_opaque(content);
            }
            handle(status, out)
        }
    }

    /// Gets the allocator, allocates with it, and sets it again.
    pub(super) fn object_allocator(&self) -> Outcome {
        let symbols = &self.library.symbols;
        // SAFETY: allocators live as long as the process; the memory is freed by the function in
        // front of it.
        unsafe {
            let allocator = (symbols.TVMFFIGetCustomAllocator)();
            let Some(allocate) = (*allocator).allocate else {
                return Outcome::Shown(0, "no function".into());
            };
            let memory = allocate(40, 8, kTVMFFIObject, (*allocator).context);
            let header = memory.cast::<TVMFFIObjectAllocHeader>().sub(1);
            if let Some(delete_space) = (*header).delete_space {
                delete_space(memory);
            }
            Outcome::Shown((symbols.TVMFFISetCustomAllocator)(ptr::null_mut()), "allocated".into())
        }
    }

    pub(super) fn init_once(&self, init_fails: bool, deinit_fails: bool, empty: bool) -> Outcome {
        static HANDLE: Mutex<usize> = Mutex::new(0);
        let symbols = &self.library.symbols;
        let guard = HANDLE.lock().expect("no thread panics with the handle");
        let mut slot = ptr::null_mut();
        let init = match (init_fails, empty) {
            (true, _) => init_fail,
            (false, true) => init_empty,
            (false, false) => init,
        };
        let deinit = if deinit_fails { deinit_fail } else { deinit };
        // SAFETY: the slot is written by these two functions only.
        let outcome = unsafe {
            let made = (symbols.TVMFFIHandleInitOnce)(&mut slot, Some(init));
            if made != 0 {
                return status(made);
            }
            let again = (symbols.TVMFFIHandleInitOnce)(&mut slot, Some(init_fail));
            let ended = (symbols.TVMFFIHandleDeinitOnce)(&mut slot, Some(deinit));
            Outcome::Shown(ended, format!("again {again}, null {}", slot.is_null()))
        };
        drop(guard);
        outcome
    }

    pub(super) fn null(&self, call: u8) -> Outcome {
        let (name, call) = choose(NULLS, call);
        Outcome::Shown(call(&self.library.symbols), name.into())
    }
}

fn plain(type_index: i32, payload: TVMFFIAnyPayload) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload }
}

fn data_type(dtype: DLDataType) -> TVMFFIAny {
    // All eight bytes count in comparisons.
    let mut payload = TVMFFIAnyPayload { v_uint64: 0 };
    payload.v_dtype = dtype;
    plain(kTVMFFIDataType, payload)
}

unsafe extern "C" fn init(result: *mut *mut c_void) -> c_int {
    // SAFETY: the result is writable.
    unsafe { *result = ptr::without_provenance_mut(8) };
    0
}

unsafe extern "C" fn init_empty(_: *mut *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn init_fail(_: *mut *mut c_void) -> c_int {
    fail(c"no handle")
}

unsafe extern "C" fn deinit(_: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn deinit_fail(_: *mut c_void) -> c_int {
    fail(c"no end")
}
