//! Functions and classes of kernels.so. Made by `ferrite stubs --rust`, for `ferrite-ffi` and `ferrite-ffi-sys`.
#![allow(dead_code, non_camel_case_types, non_snake_case, clippy::all)]

/// Exported functions of kernels.so. The library stays loaded.
pub struct Library {
    add_one: ::ferrite::Function,
    dot: ::ferrite::Function,
}

impl Library {
    /// Loads the library, and finds its functions.
    ///
    /// # Errors
    /// The error of loading it; AttributeError if it lacks a function.
    pub fn load(file: &str) -> ::ferrite::Result<Library> {
        let library = ::ferrite::Module::load(file)?;
        Ok(Library {
            add_one: library.get("add_one")?,
            dot: library.get("dot")?,
        })
    }

    /// Write x + 1 into y, element by element.
    ///
    /// `add_one(0: DLTensor*, 1: DLTensor*) -> None`
    pub fn add_one(&self, arg0: &::ferrite::Tensor, arg1: &::ferrite::Tensor) -> ::ferrite::Result<()> {
        self.add_one.call((arg0, arg1))
    }

    /// The sum of the products of x and y, summed in double precision.
    ///
    /// `dot(0: DLTensor*, 1: DLTensor*) -> float`
    pub fn dot(&self, arg0: &::ferrite::Tensor, arg1: &::ferrite::Tensor) -> ::ferrite::Result<f64> {
        self.dot.call((arg0, arg1))
    }
}

/// Lookups by name.
mod stub_helpers {
    use core::sync::atomic::{AtomicI32, Ordering};
    use ferrite::{Argument, Arguments, AnyView, FromAny, Function, ObjectClass, Result, bail, type_index, type_table};

    /// Returns the index of a class. Until its library is loaded, that is the index of a class of which Rust has no objects.
    pub fn class(key: &str, found: &AtomicI32) -> i32 {
        let known = found.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        match type_table::key_to_index(key.as_bytes()) {
            Some(index) => {
                found.store(index, Ordering::Relaxed);
                index
            }
            None => type_index::OPAQUE_PY_OBJECT,
        }
    }

    /// Returns a method of a class.
    pub fn method(key: &str, name: &str) -> Result<Function> {
        let index = type_table::key_to_index(key.as_bytes());
        let Some(found) = index.and_then(|index| type_table::find_method(index, name.as_bytes())) else {
            bail!(AttributeError, "no loaded library has the method {name} of {key}");
        };
        // SAFETY: a registered method is a cell that lives as long as the process (ABI).
        unsafe { AnyView::from_raw(found.method) }.get()
    }

    /// Reads a field of an object.
    pub fn field<T: ObjectClass, R: FromAny>(object: &T, name: &str) -> Result<R> {
        object.as_object().field(name)?.into_value()
    }

    /// Sets a field of an object.
    pub fn set_field<T: ObjectClass>(object: &T, name: &str, value: impl Argument) -> Result<()> {
        (value,).with_views(|values| object.as_object().set_field(name, values[0]))
    }
}
