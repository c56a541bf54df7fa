//! Kernel parameters, and the conversion of packed arguments to their values.

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{AnyView, plain_bail, plain_ensure, plain_error};

/// Type of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A device pointer.
    Handle,
    /// A TMA descriptor of 128 bytes, passed by address.
    TensorMap,
    /// A signed 32-bit integer.
    Int32,
    /// An unsigned 32-bit integer.
    UInt32,
    /// A signed 64-bit integer.
    Int64,
    /// A 32-bit float.
    Float32,
    /// A 64-bit float.
    Float64,
}

// DLPack type codes of parameters.
const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const HANDLE: u8 = 3;

impl Parameter {
    /// Returns the parameter type for a declared dtype and its extra tag, which is 1 for a TMA
    /// descriptor.
    ///
    /// # Errors
    /// InternalError for a dtype that is not supported as a parameter.
    pub fn new(dtype: DLDataType, extra_tag: i32) -> Result<Parameter> {
        match (dtype.code, dtype.bits, dtype.lanes) {
            (HANDLE, 64, 1) if extra_tag == 1 => Ok(Parameter::TensorMap),
            (HANDLE, 64, 1) => Ok(Parameter::Handle),
            (INT, 32, 1) => Ok(Parameter::Int32),
            (UINT, 32, 1) => Ok(Parameter::UInt32),
            (INT, 64, 1) => Ok(Parameter::Int64),
            (FLOAT, 32, 1) => Ok(Parameter::Float32),
            (FLOAT, 64, 1) => Ok(Parameter::Float64),
            (code, bits, lanes) => plain_bail!(
                INTERNAL_ERROR,
                "Cannot handle a kernel parameter of type code {}, {} bits and {} lanes",
                code,
                bits,
                u32::from(lanes)
            ),
        }
    }

    /// Returns `true` if the parameter is a device pointer.
    pub const fn is_handle(self) -> bool {
        matches!(self, Parameter::Handle | Parameter::TensorMap)
    }

    /// Returns the size of the value in bytes. A TMA descriptor counts as its address.
    pub const fn bytes(self) -> usize {
        match self {
            Parameter::Int32 | Parameter::UInt32 | Parameter::Float32 => 4,
            _ => 8,
        }
    }

    /// Converts a packed argument to the parameter's value. A 4-byte value is in the low half.
    ///
    /// `device` is the device of the launch; a tensor must be on it.
    ///
    /// # Errors
    /// TypeError for an argument of another type; ValueError for a tensor on another device or with
    /// an offset.
    #[inline]
    pub(super) fn value(
        self,
        argument: &AnyView<'_>,
        index: usize,
        device: DLDevice,
    ) -> Result<u64> {
        match (self, argument.type_index()) {
            (Parameter::Handle | Parameter::TensorMap, type_index::OPAQUE_PTR) => {
                Ok(argument.payload_bits())
            }
            (Parameter::Handle, type_index::NONE) => Ok(0),
            (Parameter::Handle, _) => tensor_value(argument, index, device),
            (Parameter::Int32 | Parameter::UInt32, type_index::INT) => {
                Ok(u64::from(argument.payload_bits() as u32))
            }
            (Parameter::Int64, type_index::INT) => Ok(argument.payload_bits()),
            (Parameter::Float32, type_index::FLOAT) => {
                Ok(u64::from((f64::from_bits(argument.payload_bits()) as f32).to_bits()))
            }
            (Parameter::Float64, type_index::FLOAT) => Ok(argument.payload_bits()),
            _ => self.converted_value(argument, index),
        }
    }

    /// Converts an argument whose type differs from the parameter's: bool to integer, integer to
    /// float.
    #[cold]
    fn converted_value(self, argument: &AnyView<'_>, index: usize) -> Result<u64> {
        let bits = argument.payload_bits();
        match (self, argument.type_index()) {
            (Parameter::Int32 | Parameter::UInt32 | Parameter::Int64, type_index::BOOL) => {
                Ok(u64::from(bits != 0))
            }
            (Parameter::Float32, type_index::INT) => {
                Ok(u64::from((bits.cast_signed() as f32).to_bits()))
            }
            (Parameter::Float64, type_index::INT) => Ok((bits.cast_signed() as f64).to_bits()),
            _ => Err(self.mismatch(argument, index)),
        }
    }

    fn mismatch(self, argument: &AnyView<'_>, index: usize) -> Error {
        let expected = match self {
            Parameter::Handle | Parameter::TensorMap => "handle",
            Parameter::Int32 | Parameter::UInt32 | Parameter::Int64 => "int",
            Parameter::Float32 | Parameter::Float64 => "float",
        };
        plain_error!(
            TYPE_ERROR,
            "Mismatched type on kernel argument #{}: expected `{}` but got `{}`",
            index,
            expected,
            type_table::type_key_of(argument.type_index())
        )
    }
}

/// Returns the data pointer of a tensor, which must be on the device of the launch.
#[cold]
fn tensor_value(argument: &AnyView<'_>, index: usize, device: DLDevice) -> Result<u64> {
    let Some(tensor) = TensorRef::from_view(argument) else {
        return Err(Parameter::Handle.mismatch(argument, index));
    };
    let found = tensor.device();
    plain_ensure!(
        (found.device_type, found.device_id) == (device.device_type, device.device_id),
        VALUE_ERROR,
        "Kernel argument #{} is on device {}:{}, but the kernel is launched on {}:{}",
        index,
        found.device_type,
        found.device_id,
        device.device_type,
        device.device_id
    );
    let offset = tensor.byte_offset();
    plain_ensure!(
        offset == 0,
        VALUE_ERROR,
        "Kernel argument #{} has a byte_offset, which must be 0",
        index
    );
    Ok(tensor.data_ptr().expose_provenance() as u64)
}
