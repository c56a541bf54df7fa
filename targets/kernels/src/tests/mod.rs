//! The functions against loops in f64 or i64, on each instruction set that the processor has.

mod activations;
mod arrays;
mod attention;
mod conv;
mod elements;
mod errors;
mod matmul;
mod quantized;

use ferrite_core::abi::{
    DLDevice, DLTensor, TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject, TVMFFIShapeCell, kDLCPU,
    type_index,
};

use crate::arguments::{Arguments, Result as Raised};
use crate::program::take_raised;
use arrays::Array;

type Function = fn(Arguments<'_>) -> Raised<TVMFFIAny>;

/// Shape object, owned by the test.
#[repr(C)]
struct ShapeObject {
    header: TVMFFIObject,
    cell: TVMFFIShapeCell,
}

/// Value at an address that arguments have. Unlike a `Box`, moves leave pointers to it valid.
struct Pinned<T>(*mut T);

impl<T> Pinned<T> {
    fn new(value: T) -> Self {
        Self(Box::into_raw(Box::new(value)))
    }
}

impl<T> core::ops::Deref for Pinned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` allocated the value, which lives until `drop`.
        unsafe { &*self.0 }
    }
}

impl<T> core::ops::DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; functions use the pointer in calls alone.
        unsafe { &mut *self.0 }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the value.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Call of a function, whose arguments follow one by one.
#[derive(Default)]
struct Call {
    values: Vec<TVMFFIAny>,
    tensors: Vec<Pinned<DLTensor>>,
    shapes: Vec<Pinned<ShapeObject>>,
    extents: Vec<Vec<i64>>,
}

fn value(type_index: i32, payload: TVMFFIAnyPayload) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload }
}

impl Call {
    fn int(mut self, number: i64) -> Self {
        self.values.push(value(type_index::INT, TVMFFIAnyPayload { v_int64: number }));
        self
    }

    fn float(mut self, number: f64) -> Self {
        self.values.push(value(type_index::FLOAT, TVMFFIAnyPayload { v_float64: number }));
        self
    }

    /// Adds a tensor over the elements of an array.
    fn tensor<T: arrays::Typed>(mut self, array: &Array<T>) -> Self {
        let extents = array.shape.clone();
        let tensor = Pinned::new(DLTensor {
            data: array.data.as_ptr().cast_mut().cast(),
            device: DLDevice { device_type: kDLCPU, device_id: 0 },
            ndim: array.shape.len() as i32,
            dtype: T::DTYPE,
            shape: extents.as_ptr().cast_mut(),
            strides: core::ptr::null_mut(),
            byte_offset: 0,
        });
        let pointer = tensor.0.cast();
        self.values.push(value(type_index::DL_TENSOR_PTR, TVMFFIAnyPayload { v_ptr: pointer }));
        self.tensors.push(tensor);
        self.extents.push(extents);
        self
    }

    /// Adds an absent tensor.
    fn absent(self) -> Self {
        self.tensor(&Array::<f32>::zeros(&[0]))
    }

    fn shape(mut self, extents: &[i64]) -> Self {
        let extents = extents.to_vec();
        let cell = TVMFFIShapeCell { data: extents.as_ptr(), size: extents.len() };
        // SAFETY: zeros are a header without a deleter.
        let header = unsafe { core::mem::zeroed() };
        let shape = Pinned::new(ShapeObject { header, cell });
        let pointer = shape.0.cast();
        self.values.push(value(type_index::SHAPE, TVMFFIAnyPayload { v_obj: pointer }));
        self.shapes.push(shape);
        self.extents.push(extents);
        self
    }

    /// Adds an activation without parameters.
    fn activation(self, code: i64) -> Self {
        self.int(code).float(0.0).float(0.0)
    }

    /// Calls a function. Returns the error that it raised.
    fn run(&self, function: Function) -> Result<(), String> {
        let count = self.values.len();
        // SAFETY: the values are those of a call.
        let arguments = unsafe { Arguments::new("f", self.values.as_ptr(), count as i32, count) };
        match arguments.and_then(function) {
            Ok(_) => Ok(()),
            Err(_) => Err(take_raised()),
        }
    }
}

/// Random numbers for tests.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    fn one_of(&mut self, choices: &[usize]) -> usize {
        choices[self.below(choices.len())]
    }

    /// Returns a shape, or one without elements.
    fn optional(&mut self, shape: &[usize]) -> Vec<usize> {
        if self.below(2) == 0 { vec![0; shape.len()] } else { shape.to_vec() }
    }

    /// Returns a number between -1 and 1 with few digits, which every element type has.
    fn number(&mut self) -> f32 {
        (self.below(65) as f32 - 32.0) / 32.0
    }
}

/// Number of random cases; few under Miri.
const CASES: usize = if cfg!(miri) { 4 } else { 60 };
