//! Elements of tensors as JSON: the numbers of every data type, and their bits.
#![forbid(unsafe_code)]

use ferrite::abi::DLDataType;
use ferrite::dtype::code;
use serde_json::{Number, Value};

use super::minifloat::Minifloat;

/// Representation of the elements of a data type.
#[derive(Clone, Copy, Debug)]
pub struct ElementType {
    number: NumberKind,
    /// Width of a number.
    bits: u32,
    /// Number of components of an element: one per lane, two for a complex number.
    pub count: usize,
    /// Whether two components form a complex number.
    pub is_complex: bool,
}

#[derive(Clone, Copy, Debug)]
enum NumberKind {
    Int,
    Uint,
    Bool,
    Minifloat(Minifloat),
    Float32,
    Float64,
}

/// Widest number.
const MOST_BITS: u32 = 64;

/// Maximum number of bytes that one number occupies in part, at any bit offset.
pub const WINDOW: usize = 9;

impl ElementType {
    /// Returns the representation; `None` for types without one: scalable vectors, custom types,
    /// and numbers of more than 64 bits.
    pub fn of(dtype: DLDataType) -> Option<ElementType> {
        let lanes = usize::from(dtype.lanes);
        // Lanes of scalable vectors are negative numbers of 16 bits.
        if lanes == 0 || dtype.lanes > i16::MAX as u16 {
            return None;
        }
        let is_complex = dtype.code == code::COMPLEX;
        let part = match is_complex {
            true => DLDataType { code: code::FLOAT, bits: dtype.bits / 2, lanes: dtype.lanes },
            false => dtype,
        };
        let bits = u32::from(part.bits);
        let number = match (part.code, bits) {
            (_, 0) => return None,
            (_, bits) if bits > MOST_BITS => return None,
            (code::INT, _) => NumberKind::Int,
            (code::UINT | code::OPAQUE_HANDLE, _) => NumberKind::Uint,
            (code::BOOL, _) => NumberKind::Bool,
            (code::FLOAT, 32) => NumberKind::Float32,
            (code::FLOAT, 64) => NumberKind::Float64,
            _ => NumberKind::Minifloat(Minifloat::of(part)?),
        };
        let count = if is_complex { 2 * lanes } else { lanes };
        Some(ElementType { number, bits, count, is_complex })
    }

    /// Returns the width of an element.
    pub fn element_bits(&self) -> usize {
        self.bits as usize * self.count
    }

    /// Returns the bit offset of a component within its element.
    pub fn component_bit_offset(&self, component: usize) -> usize {
        self.bits as usize * component
    }

    /// Returns the number of bytes that a number occupies, in whole or in part, at a bit offset in
    /// its first byte.
    pub fn bytes_from(&self, first_bit: usize) -> usize {
        (first_bit + self.bits as usize).div_ceil(8)
    }

    /// Reads a number from bytes, starting at bit `first_bit`, counted from the lowest bit.
    pub fn read(&self, mut bytes: [u8; WINDOW], first_bit: usize) -> Value {
        if cfg!(target_endian = "big") && self.bits > 8 {
            bytes[..self.bits as usize / 8].reverse();
        }
        let mut wide = [0u8; 16];
        wide[..WINDOW].copy_from_slice(&bytes);
        let bits = (u128::from_le_bytes(wide) >> first_bit) as u64;
        self.decode(bits << (MOST_BITS - self.bits) >> (MOST_BITS - self.bits))
    }

    /// Returns the number with these bits.
    fn decode(&self, bits: u64) -> Value {
        let unused = MOST_BITS - self.bits;
        match self.number {
            NumberKind::Int => Value::from((bits << unused).cast_signed() >> unused),
            NumberKind::Uint => Value::from(bits),
            NumberKind::Bool => Value::from(bits != 0),
            NumberKind::Minifloat(format) => float(format.display_value(bits as u16)),
            // The shortest text of the narrow type, not that of the same number in a wider one.
            NumberKind::Float32 => float_of_text(f32::from_bits(bits as u32).to_string()),
            NumberKind::Float64 => float(f64::from_bits(bits)),
        }
    }

    /// Returns the bits of a number; `None` if the type cannot represent it.
    pub fn encode(&self, value: &Value) -> Option<u64> {
        match self.number {
            NumberKind::Bool => match value {
                Value::Bool(is_true) => Some(u64::from(*is_true)),
                other => other.as_u64().filter(|number| *number <= 1),
            },
            NumberKind::Int => {
                let number = value.as_i64()?;
                let unused = MOST_BITS - self.bits;
                let narrow = number << unused >> unused;
                (narrow == number).then_some(number.cast_unsigned() << unused >> unused)
            }
            NumberKind::Uint => {
                value.as_u64().filter(|number| self.bits == MOST_BITS || number >> self.bits == 0)
            }
            NumberKind::Minifloat(format) => format.encode(number(value)?).map(u64::from),
            NumberKind::Float32 => {
                let wide = number(value)?;
                let narrow = wide as f32;
                (narrow.is_finite() || !wide.is_finite()).then(|| u64::from(narrow.to_bits()))
            }
            NumberKind::Float64 => Some(number(value)?.to_bits()),
        }
    }
}

/// Reads a JSON number, or a string for an infinity or NaN.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        other => other.as_f64(),
    }
}

fn float(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None => Value::String(value.to_string()),
    }
}

fn float_of_text(text: String) -> Value {
    match text.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        None => Value::String(text),
    }
}

/// Writer that appends numbers of any width to bytes, from the lowest bit of each byte.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    pending: u128,
    pending_bits: u32,
}

impl BitWriter {
    /// Appends a number of a type.
    pub fn push(&mut self, element: &ElementType, mut bits: u64) {
        if cfg!(target_endian = "big") && element.bits > 8 {
            bits = bits.swap_bytes() >> (MOST_BITS - element.bits);
        }
        self.pending |= u128::from(bits) << self.pending_bits;
        self.pending_bits += element.bits;
        while self.pending_bits >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.pending_bits -= 8;
        }
    }

    /// Returns the bytes, the last of which may be filled up with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}
