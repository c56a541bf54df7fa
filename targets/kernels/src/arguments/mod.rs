//! Arguments of a packed call: values by position, checked, with errors that name the parameter.

mod raised;
mod shape;
mod tensor;

use core::slice;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, TVMFFIShapeCell, type_index};

pub(crate) use raised::raise;
pub use raised::{Raised, Result};
pub use shape::shape_value;
pub use tensor::{Kind, Tensor};

/// Arguments of a call, and the name of the function for messages.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    function: &'static str,
    values: &'a [TVMFFIAny],
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a safe call.
    ///
    /// # Errors
    /// TypeError if the number of arguments differs from `expected`.
    ///
    /// # Safety
    /// `values` and `count` must be those of a safe call, valid for `'a`.
    pub unsafe fn new(
        function: &'static str,
        values: *const TVMFFIAny,
        count: i32,
        expected: usize,
    ) -> Result<Self> {
        if usize::try_from(count) != Ok(expected) {
            return Err(raise!(Type, "{function} expects {expected} arguments, got {count}"));
        }
        // SAFETY: the caller guarantees `count` readable values; there are none behind null.
        let values = unsafe { slice::from_raw_parts(values, expected) };
        Ok(Self { function, values })
    }

    /// Returns the name of the function.
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// Returns an integer; booleans count as integers.
    ///
    /// # Errors
    /// TypeError for a value of a different type.
    pub fn int(&self, at: usize, name: &str) -> Result<i64> {
        let value = &self.values[at];
        match value.type_index {
            // SAFETY: the type index says that the payload is an integer.
            type_index::INT | type_index::BOOL => Ok(unsafe { value.payload.v_int64 }),
            _ => Err(self.mistyped(name, "an integer", value)),
        }
    }

    /// Returns a number as f64.
    ///
    /// # Errors
    /// TypeError for a value of a different type.
    pub fn float(&self, at: usize, name: &str) -> Result<f64> {
        let value = &self.values[at];
        match value.type_index {
            // SAFETY: the type index says that the payload is a float.
            type_index::FLOAT => Ok(unsafe { value.payload.v_float64 }),
            _ => Ok(self.int(at, name).map_err(|_| self.mistyped(name, "a number", value))? as f64),
        }
    }

    /// Returns the extents of a Shape.
    ///
    /// # Errors
    /// TypeError for a value of a different type, ValueError for a length other than `N`.
    pub fn shape<const N: usize>(&self, at: usize, name: &str) -> Result<&'a [i64; N]> {
        let value = &self.values[at];
        if value.type_index != type_index::SHAPE {
            return Err(self.mistyped(name, "a Shape", value));
        }
        // SAFETY: the type index says that the payload is a Shape object, whose cell follows the
        // header; the caller keeps it alive during the call.
        let extents = unsafe {
            let cell =
                &*value.payload.v_obj.cast::<TVMFFIObject>().add(1).cast::<TVMFFIShapeCell>();
            if cell.size == 0 { &[] } else { slice::from_raw_parts(cell.data, cell.size) }
        };
        extents.try_into().map_err(|_| {
            let function = self.function;
            raise!(Value, "{function}: {name} has {} elements, expected {N}", extents.len())
        })
    }

    fn mistyped(&self, name: &str, expected: &str, value: &TVMFFIAny) -> Raised {
        let (function, index) = (self.function, value.type_index);
        raise!(Type, "{function}: {name} is not {expected} (type index {index})")
    }
}
