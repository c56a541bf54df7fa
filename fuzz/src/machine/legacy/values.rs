//! Values of the API of TVM 0.5 to 0.20: eight bytes, and a type code beside them.

use core::ffi::{CStr, c_int, c_void};
use std::ptr;

use ferrite_core::abi::*;

use super::{Api, of_array};
use crate::machine::{Outcome, object};
use crate::normal;
use crate::program::Value;
use crate::texts::Text;

const INT: c_int = 0;
const FLOAT: c_int = 2;
const HANDLE: c_int = 3;
pub(super) const NULL: c_int = 4;
const DATA_TYPE: c_int = 5;
const DEVICE: c_int = 6;
const DL_TENSOR: c_int = 7;
const OBJECT: c_int = 8;
const MODULE: c_int = 9;
const FUNCTION: c_int = 10;
const TEXT: c_int = 11;
const BYTES: c_int = 12;
const ND_ARRAY: c_int = 13;
const RVALUE_REF: c_int = 14;
const BOOL: c_int = 15;

/// Arguments of a call with their type codes, and what they point to.
pub(super) struct Values {
    pub bits: Vec<u64>,
    pub codes: Vec<c_int>,
    texts: Vec<Vec<u8>>,
    /// Not moved: there is space for one of each value.
    arrays: Vec<TVMFFIByteArray>,
}

impl Values {
    pub(super) fn new(args: &[TVMFFIAny]) -> Self {
        let mut values = Self {
            bits: Vec::new(),
            codes: Vec::new(),
            texts: Vec::new(),
            arrays: Vec::with_capacity(args.len()),
        };
        for arg in args {
            let (bits, code) = values.value(arg);
            values.bits.push(bits);
            values.codes.push(code);
        }
        values
    }

    /// Returns the eight bytes of a value and its type code.
    fn value(&mut self, arg: &TVMFFIAny) -> (u64, c_int) {
        // SAFETY: all bytes of a payload are initialised; the content of a tensor is a DLTensor.
        unsafe {
            let bits = arg.payload.v_uint64;
            match arg.type_index {
                kTVMFFINone => (0, NULL),
                kTVMFFIInt => (bits, INT),
                kTVMFFIBool => (bits, BOOL),
                kTVMFFIFloat => (bits, FLOAT),
                kTVMFFIOpaquePtr => (bits, HANDLE),
                kTVMFFIDataType => (bits, DATA_TYPE),
                kTVMFFIDevice => (bits, DEVICE),
                kTVMFFIDLTensorPtr => (bits, DL_TENSOR),
                kTVMFFIRawStr => (bits, TEXT),
                kTVMFFIByteArrayPtr => (bits, BYTES),
                kTVMFFIObjectRValueRef => (bits, RVALUE_REF),
                kTVMFFISmallStr | kTVMFFIStr => {
                    self.texts.push(Text(normal::text_of(arg).unwrap_or_default()).c_string());
                    (self.texts.last().map_or(0, |text| text.as_ptr() as u64), TEXT)
                }
                kTVMFFISmallBytes | kTVMFFIBytes => {
                    self.texts.push(normal::text_of(arg).unwrap_or_default());
                    let text = self.texts.last().map_or(&[][..], |text| &text[..]);
                    self.arrays.push(TVMFFIByteArray::from_slice(text));
                    (self.arrays.last().map_or(0, |array| &raw const *array as u64), BYTES)
                }
                kTVMFFIFunction => (bits, FUNCTION),
                kTVMFFIModule => (bits, MODULE),
                kTVMFFITensor => (normal::content::<DLTensor>(arg) as u64, ND_ARRAY),
                _ => (bits, OBJECT),
            }
        }
    }
}

impl Api<'_> {
    /// Takes a result, which is owned if it is an object.
    pub(super) fn result(&self, bits: u64, code: c_int) -> Outcome {
        let address = ptr::with_exposed_provenance_mut::<c_void>(bits as usize);
        let plain = |type_index| TVMFFIAny {
            type_index,
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_uint64: bits },
        };
        Outcome::Status(
            0,
            match code {
                NULL => TVMFFIAny::NONE,
                INT => plain(kTVMFFIInt),
                BOOL => plain(kTVMFFIBool),
                FLOAT => plain(kTVMFFIFloat),
                HANDLE => plain(kTVMFFIOpaquePtr),
                DEVICE => plain(kTVMFFIDevice),
                ND_ARRAY => of_array(address.cast()),
                // SAFETY: strings and bytes live until the next call.
                TEXT => unsafe {
                    let text = Text(CStr::from_ptr(address.cast()).to_bytes().to_vec());
                    return self.machine.set(&Value::Text { text });
                },
                // SAFETY: as above.
                BYTES => unsafe {
                    let text = Text((*address.cast::<TVMFFIByteArray>()).as_slice().to_vec());
                    return self.machine.set(&Value::Bytes { text });
                },
                OBJECT | MODULE | FUNCTION => object(address),
                other => return Outcome::Shown(0, format!("code {other}")),
            },
        )
    }
}
