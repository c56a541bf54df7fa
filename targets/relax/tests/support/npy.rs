//! Files of numpy.

use ferrite::abi::{DLDataType, DLDevice};
use ferrite::{Result, Tensor};

/// Elements of an array, with their type in numpy's notation.
pub struct Array {
    dtype: String,
    shape: Vec<i64>,
    bytes: Vec<u8>,
}

/// Returns the text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).expect("a header of numpy").0
}

impl Array {
    /// Reads a file.
    pub fn read(path: &str) -> Array {
        let content = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let (start, rest) = content.split_at(10);
        let (header, bytes) = rest.split_at(usize::from(start[8]) + 256 * usize::from(start[9]));
        let header = str::from_utf8(header).expect("a header of numpy");
        let extents = between(header, "'shape': (", ")").split(',').map(str::trim);
        Array {
            dtype: between(header, "'descr': '", "'").trim_start_matches(['<', '|']).into(),
            shape: extents
                .filter(|extent| !extent.is_empty())
                .map(|extent| extent.parse().unwrap())
                .collect(),
            bytes: bytes.to_vec(),
        }
    }

    /// Returns a shape as an array.
    pub fn of_shape(shape: &[i64]) -> Array {
        let bytes = shape.iter().flat_map(|extent| extent.to_le_bytes()).collect();
        Array { dtype: "i8".into(), shape: vec![shape.len() as i64], bytes }
    }

    /// Copies a tensor.
    pub fn of_tensor(tensor: &Tensor) -> Result<Array> {
        let dtype = tensor.dtype();
        let bytes: Vec<u8> = match (dtype.code, dtype.bits) {
            (2, 32) => {
                tensor.as_slice::<f32>()?.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            (0, 64) => {
                tensor.as_slice::<i64>()?.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            (0, 32) => {
                tensor.as_slice::<i32>()?.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            (0, 8) => {
                tensor.as_slice::<i8>()?.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            other => panic!("no fixture has elements of type {other:?}"),
        };
        let letter = ["i", "u", "f"][usize::from(dtype.code)];
        Ok(Array {
            dtype: format!("{letter}{}", dtype.bits / 8),
            shape: tensor.shape().to_vec(),
            bytes,
        })
    }

    /// Creates a tensor with the elements.
    pub fn tensor(&self) -> Result<Tensor> {
        let each = |size: usize| self.bytes.chunks_exact(size);
        match self.dtype.as_str() {
            "f4" => Tensor::from_slice(&self.values(each(4), f32::from_le_bytes), &self.shape),
            "i8" => Tensor::from_slice(&self.values(each(8), i64::from_le_bytes), &self.shape),
            "i4" => Tensor::from_slice(&self.values(each(4), i32::from_le_bytes), &self.shape),
            "i1" => Tensor::from_slice(&self.values(each(1), i8::from_le_bytes), &self.shape),
            "b1" => self.booleans(),
            other => panic!("no fixture has elements of type {other}"),
        }
    }

    /// Creates a tensor of truth values, which are not elements of a safe slice.
    fn booleans(&self) -> Result<Tensor> {
        let dtype = DLDataType { code: 6, bits: 8, lanes: 1 };
        let tensor = Tensor::empty(&self.shape, dtype, DLDevice { device_type: 1, device_id: 0 })?;
        // SAFETY: the tensor is new, and has one byte for each element.
        unsafe {
            core::ptr::copy_nonoverlapping(
                self.bytes.as_ptr(),
                tensor.dl_tensor().data.cast(),
                self.bytes.len(),
            )
        };
        Ok(tensor)
    }

    fn values<T, const N: usize>(
        &self,
        chunks: core::slice::ChunksExact<'_, u8>,
        convert: impl Fn([u8; N]) -> T,
    ) -> Vec<T> {
        chunks.map(|chunk| convert(*chunk.first_chunk().unwrap())).collect()
    }

    /// Returns the element type and the shape.
    pub fn description(&self) -> (&str, &[i64]) {
        (&self.dtype, &self.shape)
    }

    fn numbers(&self) -> Vec<f64> {
        let each = |size: usize| self.bytes.chunks_exact(size);
        match self.dtype.as_str() {
            "f4" => self.values(each(4), |bytes| f64::from(f32::from_le_bytes(bytes))),
            "i8" => self.values(each(8), |bytes| i64::from_le_bytes(bytes) as f64),
            "i4" => self.values(each(4), |bytes| f64::from(i32::from_le_bytes(bytes))),
            _ => self.values(each(1), |bytes| f64::from(i8::from_le_bytes(bytes))),
        }
    }

    /// Returns the largest difference between two arrays of one shape; infinite if an element is
    /// not a number.
    pub fn difference(&self, other: &Array) -> f64 {
        let pairs = self.numbers().into_iter().zip(other.numbers());
        pairs
            .map(|(one, other)| (one - other).abs())
            .fold(0.0, |most, next| if next.is_nan() { f64::INFINITY } else { most.max(next) })
    }
}
