//! Tensors of JSON lists, and the elements of tensors as numbers.

use ferrite::Tensor;
use ferrite::abi::{DLDataType, DLDevice};
use serde_json::{Number, Value};

use crate::failure::{Failure, Outcome};

/// Type of the elements of lists without a prefix.
pub const FLOAT32: DLDataType = DLDataType { code: FLOAT, bits: 32, lanes: 1 };
/// Device of new tensors.
pub const MAIN_MEMORY: DLDevice = DLDevice { device_type: 1, device_id: 0 };

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BOOL: u8 = 6;

/// Depth of lists that are read.
const DEEPEST: usize = 32;

/// Returns `true` for lists of numbers, and for lists of such lists with equal lengths.
pub fn is_numeric(value: &Value) -> bool {
    let mut extents = Vec::new();
    collect(value, &mut extents, &mut Vec::new(), 0).is_ok()
}

/// Creates a tensor with the elements of a list, whose nested lists must have equal lengths.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for other JSON, and for elements that the type cannot represent.
pub fn from_json(value: &Value, dtype: DLDataType) -> Outcome<Tensor> {
    let (mut extents, mut elements) = (Vec::new(), Vec::new());
    collect(value, &mut extents, &mut elements, 0)?;
    let mut bytes = Vec::new();
    for element in elements {
        write(element, dtype, &mut bytes)?;
    }
    from_bytes(&bytes, &extents, dtype)
}

/// Adds the numbers of a list, and the extents of the first list of each depth.
fn collect<'a>(
    value: &'a Value,
    extents: &mut Vec<i64>,
    elements: &mut Vec<&'a Value>,
    depth: usize,
) -> Outcome<()> {
    let uneven = || Failure::usage("the lists of a tensor have numbers only, and equal lengths");
    match value {
        Value::Array(list) if depth < DEEPEST => {
            let length = list.len() as i64;
            if extents.len() == depth && elements.is_empty() {
                extents.push(length);
            }
            if extents.get(depth) != Some(&length) {
                return Err(uneven());
            }
            list.iter().try_for_each(|item| collect(item, extents, elements, depth + 1))
        }
        Value::Number(_) | Value::Bool(_) if depth == extents.len() => {
            elements.push(value);
            Ok(())
        }
        _ => Err(uneven()),
    }
}

/// Writes an element in the order of this machine's bytes.
fn write(value: &Value, dtype: DLDataType, bytes: &mut Vec<u8>) -> Outcome<()> {
    let refuse = || Failure::usage(format!("{value} does not fit {}", name(dtype)));
    if dtype.code == BOOL || value.is_boolean() {
        let is_true = value.as_bool().or(value.as_i64().map(|number| number != 0)).ok_or_else(refuse)?;
        bytes.push(u8::from(is_true));
        return if dtype.code == BOOL { Ok(()) } else { Err(refuse()) };
    }
    let integer = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    let width = usize::from(dtype.bits) / 8;
    match (dtype.code, dtype.bits, dtype.lanes) {
        (INT | UINT, 8 | 16 | 32 | 64, 1) => {
            let number = integer.ok_or_else(refuse)?;
            let (least, most) = match dtype.code {
                INT => (-(1i128 << (dtype.bits - 1)), (1i128 << (dtype.bits - 1)) - 1),
                _ => (0, (1i128 << dtype.bits) - 1),
            };
            if !(least..=most).contains(&number) {
                return Err(refuse());
            }
            put(&number.to_le_bytes()[..width], bytes);
        }
        (FLOAT, 32, 1) => put(&(value.as_f64().ok_or_else(refuse)? as f32).to_le_bytes(), bytes),
        (FLOAT, 64, 1) => put(&value.as_f64().ok_or_else(refuse)?.to_le_bytes(), bytes),
        _ => return Err(Failure::usage(format!("tensors of {} are read from files only", name(dtype)))),
    }
    Ok(())
}

fn put(little_endian: &[u8], bytes: &mut Vec<u8>) {
    if cfg!(target_endian = "big") {
        bytes.extend(little_endian.iter().rev());
    } else {
        bytes.extend(little_endian);
    }
}

/// Creates a tensor with a copy of the bytes of its elements.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) if there are too few or too many; errors of [`Tensor::empty`].
pub fn from_bytes(bytes: &[u8], extents: &[i64], dtype: DLDataType) -> Outcome<Tensor> {
    let tensor = Tensor::empty(extents, dtype, MAIN_MEMORY)?;
    let size = tensor.as_tensor_ref().size_bytes().unwrap_or(0);
    if size != bytes.len() {
        return Err(Failure::usage(format!("the shape needs {size} bytes, but there are {}", bytes.len())));
    }
    // SAFETY: the tensor is new, compact and has this size; the data of an empty one is not touched.
    unsafe {
        if size > 0 {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), tensor.dl_tensor().data.cast::<u8>(), size);
        }
    }
    Ok(tensor)
}

/// Returns the elements of a compact tensor in main memory as JSON numbers; `None` for other tensors and element types.
pub fn elements(tensor: &Tensor) -> Option<Vec<Value>> {
    let dl = tensor.as_tensor_ref();
    if !dl.is_contiguous() || tensor.device().device_type != MAIN_MEMORY.device_type {
        return None;
    }
    let dtype = tensor.dtype();
    let width = usize::from(dtype.bits).div_ceil(8);
    if dtype.lanes != 1 || !matches!(dtype.bits, 1 | 8 | 16 | 32 | 64) {
        return None;
    }
    let size = dl.size_bytes()?;
    if size == 0 {
        return Some(Vec::new());
    }
    let start = tensor.dl_tensor().data.cast::<u8>().wrapping_add(usize::try_from(dl.byte_offset()).ok()?);
    // SAFETY: a compact tensor in main memory has this many bytes, and nobody writes to it now.
    let bytes = unsafe { core::slice::from_raw_parts(start, size) };
    bytes.chunks_exact(width).map(|element| number(element, dtype)).collect()
}

/// Reads an element.
fn number(element: &[u8], dtype: DLDataType) -> Option<Value> {
    let mut word = [0u8; 8];
    let room = word.get_mut(..element.len())?;
    room.copy_from_slice(element);
    if cfg!(target_endian = "big") {
        room.reverse();
    }
    let bits = u64::from_le_bytes(word);
    let unused = 64 - 8 * element.len() as u32;
    Some(match (dtype.code, element.len()) {
        (INT, _) => Value::from((bits << unused).cast_signed() >> unused),
        (UINT, _) => Value::from(bits),
        (BOOL, 1) => Value::from(bits != 0),
        (FLOAT, 4) => float(f32::from_bits(bits as u32).to_string()),
        (FLOAT, 8) => float(f64::from_bits(bits).to_string()),
        _ => return None,
    })
}

/// Converts the shortest text of a number; JSON has no infinities, so these are texts.
fn float(text: String) -> Value {
    match text.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        None => Value::String(text),
    }
}

/// Returns the name of a type.
pub fn name(dtype: DLDataType) -> String {
    let name = ferrite::dtype::to_string(dtype).ok();
    name.map_or("an unnamed type".into(), |name| String::from_utf8_lossy(name.as_bytes()).into_owned())
}
