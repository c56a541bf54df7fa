//! Conversions between tensors and JSON lists of numbers.

use ferrite::Tensor;
use ferrite::abi::{DLDataType, DLDevice};
use ferrite::device::kind;
use ferrite::dtype::code;
use serde_json::Value;

use crate::failure::{Failure, Outcome};

use super::element::{BitWriter, ElementType, WINDOW};

/// Type of the elements of lists without a prefix.
pub const FLOAT32: DLDataType = DLDataType { code: code::FLOAT, bits: 32, lanes: 1 };
/// Device of new tensors.
pub const MAIN_MEMORY: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Depth of lists that are read.
const DEEPEST: usize = 32;

/// Returns `true` for lists of numbers, and for lists of such lists with equal lengths.
pub fn is_numeric(value: &Value) -> bool {
    let (mut extents, mut elements) = (Vec::new(), Vec::new());
    let is_tensor = collect(value, &mut extents, &mut elements, 0).is_ok();
    is_tensor && !elements.iter().any(|element| element.is_string())
}

/// Creates a tensor with the elements of a list, whose nested lists must have equal lengths. The
/// innermost lists are the elements of vectors and the two parts of complex numbers.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for other JSON, and for elements that the type
/// cannot represent.
pub fn from_json(value: &Value, dtype: DLDataType) -> Outcome<Tensor> {
    let (mut extents, mut numbers) = (Vec::new(), Vec::new());
    collect(value, &mut extents, &mut numbers, 0)?;
    let Some(element) = ElementType::of(dtype) else {
        return Err(Failure::usage(format!("numbers cannot be written as {}", described(dtype))));
    };
    if !extents.is_empty() || !numbers.is_empty() {
        take_inner(&mut extents, 2, "a complex number is a list of two", element.is_complex)?;
        let lanes = usize::from(dtype.lanes);
        take_inner(&mut extents, lanes, &format!("a vector is a list of {lanes}"), lanes > 1)?;
    }
    let mut bytes = BitWriter::default();
    for number in numbers {
        let refuse = || Failure::usage(format!("{number} does not fit {}", name(dtype)));
        bytes.push(&element, element.encode(number).ok_or_else(refuse)?);
    }
    from_bytes(&bytes.finish(), &extents, dtype)
}

/// Removes the last extent, which must be `wanted`, if the elements are lists.
fn take_inner(extents: &mut Vec<i64>, wanted: usize, rule: &str, are_lists: bool) -> Outcome<()> {
    match are_lists {
        true if extents.last() == Some(&(wanted as i64)) => drop(extents.pop()),
        // Lists without any number.
        true if extents.contains(&0) => {}
        true => return Err(Failure::usage(rule)),
        false => {}
    }
    Ok(())
}

/// Adds the numbers of a list, and the extents of the first list of each depth. Infinities and NaN
/// are strings.
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
        Value::Number(_) | Value::Bool(_) | Value::String(_) if depth == extents.len() => {
            elements.push(value);
            Ok(())
        }
        _ => Err(uneven()),
    }
}

/// Creates a tensor with a copy of the bytes of its elements.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) if there are too few or too many; errors of
/// [`Tensor::empty`].
pub fn from_bytes(bytes: &[u8], extents: &[i64], dtype: DLDataType) -> Outcome<Tensor> {
    let tensor = Tensor::empty(extents, dtype, MAIN_MEMORY)?;
    let size = tensor.as_tensor_ref().size_bytes().unwrap_or(0);
    if size != bytes.len() {
        return Err(Failure::usage(format!(
            "the shape needs {size} bytes, but there are {}",
            bytes.len()
        )));
    }
    // SAFETY: the tensor is new, compact and has this size; the data of an empty one is not
    // touched.
    unsafe {
        if size > 0 {
            core::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                tensor.dl_tensor().data.cast::<u8>(),
                size,
            );
        }
    }
    Ok(tensor)
}

/// Elements of a tensor in main memory, with any strides and any offset.
pub struct ElementReader<'a> {
    tensor: &'a Tensor,
    element: ElementType,
    strides: Vec<i64>,
    first: *const u8,
}

impl<'a> ElementReader<'a> {
    /// Creates a reader. Returns `None` for tensors on devices, for tensors without data or larger
    /// than memory, and for types that are not numeric.
    pub fn new(tensor: &'a Tensor) -> Option<ElementReader<'a>> {
        let dl = tensor.as_tensor_ref();
        let is_here = matches!(
            tensor.device().device_type,
            kind::CPU | kind::CUDA_HOST | kind::ROCM_HOST | kind::CUDA_MANAGED
        );
        let element = ElementType::of(tensor.dtype())?;
        let size = dl.size_bytes()?;
        let data = tensor.dl_tensor().data.cast::<u8>().cast_const();
        if !is_here || size > 0 && data.is_null() {
            return None;
        }
        let first = data.wrapping_add(usize::try_from(dl.byte_offset()).ok()?);
        let strides = dl.strides().map_or_else(|| row_major(dl.shape()), <[i64]>::to_vec);
        Some(ElementReader { tensor, element, strides, first })
    }

    /// Returns the extents.
    pub fn shape(&self) -> &'a [i64] {
        self.tensor.shape()
    }

    /// Returns the element at an index, which is within the shape: a number, or a list of the
    /// numbers of a vector.
    pub fn at(&self, index: &[i64]) -> Value {
        let element = index
            .iter()
            .zip(&self.strides)
            .fold(0i64, |sum, (at, stride)| sum.wrapping_add(at.wrapping_mul(*stride)));
        let start = element.wrapping_mul(self.element.element_bits() as i64);
        let numbers = (0..self.element.count).map(|number| self.number(start, number));
        let numbers: Vec<_> = match self.element.is_complex {
            true => {
                let parts: Vec<_> = numbers.collect();
                parts.chunks(2).map(|pair| Value::from(pair.to_vec())).collect()
            }
            false => numbers.collect(),
        };
        match <[Value; 1]>::try_from(numbers) {
            Ok([number]) => number,
            Err(numbers) => Value::from(numbers),
        }
    }

    /// Reads a number of the element that begins at a bit.
    fn number(&self, start: i64, number: usize) -> Value {
        let bit = start.wrapping_add(self.element.component_bit_offset(number) as i64);
        let within = bit.rem_euclid(8) as usize;
        let from = self.first.wrapping_offset(bit.div_euclid(8) as isize);
        let mut bytes = [0u8; WINDOW];
        // SAFETY: whoever made the tensor guarantees that its memory has every element within the
        // shape, and nobody writes to it now.
        unsafe {
            core::ptr::copy_nonoverlapping(
                from,
                bytes.as_mut_ptr(),
                self.element.bytes_from(within),
            )
        };
        self.element.read(bytes, within)
    }

    /// Returns all elements as JSON, nested by the shape.
    pub fn json(&self) -> Value {
        self.nested(&mut Vec::new())
    }

    fn nested(&self, index: &mut Vec<i64>) -> Value {
        let Some(extent) = self.shape().get(index.len()) else {
            return self.at(index);
        };
        let mut items = Vec::new();
        for at in 0..*extent {
            index.push(at);
            items.push(self.nested(index));
            index.pop();
        }
        Value::from(items)
    }
}

/// Returns the strides of compact elements.
fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides: Vec<_> = shape
        .iter()
        .rev()
        .scan(1i64, |stride, extent| {
            let this = *stride;
            *stride = stride.wrapping_mul(*extent);
            Some(this)
        })
        .collect();
    strides.reverse();
    strides
}

/// Returns the name of a type. Complex types have NumPy's names, since the ABI defines none.
pub fn name(dtype: DLDataType) -> String {
    if dtype.code == code::COMPLEX {
        let lanes = if dtype.lanes == 1 { String::new() } else { format!("x{}", dtype.lanes) };
        return format!("complex{}{lanes}", dtype.bits);
    }
    let name = ferrite::dtype::to_string(dtype).ok();
    name.map_or("an unnamed type".into(), |name| {
        String::from_utf8_lossy(name.as_bytes()).into_owned()
    })
}

/// Parses the name of a type, complex types included; `None` for other strings.
pub fn parse_name(text: &str) -> Option<DLDataType> {
    let complex = match text {
        "complex64" => Some(64),
        "complex128" => Some(128),
        _ => None,
    };
    match complex {
        Some(bits) => Some(DLDataType { code: code::COMPLEX, bits, lanes: 1 }),
        None => DLDataType::parse(text.as_bytes()).ok(),
    }
}

/// Returns the name of a type, and for an ambiguous one the names to use instead.
fn described(dtype: DLDataType) -> String {
    match (dtype.code, dtype.bits) {
        (code::FLOAT, bits @ (4 | 6 | 8)) => {
            let named = match bits {
                8 => "float8_e4m3fn or float8_e5m2",
                6 => "float6_e2m3fn or float6_e3m2fn",
                _ => "float4_e2m1fn",
            };
            format!("float{bits}, which has several formats: name one, such as {named}")
        }
        _ => name(dtype),
    }
}
