//! Shape objects: immutable lists of extents, stored inline in the object.

use core::ffi::{c_int, c_void};
use core::fmt;

use crate::abi::{TVMFFIObject, TVMFFIShapeCell, type_index};
use crate::error::Result;
use crate::object::ObjectClass;
use crate::object::free::LEAF_DELETER;
use crate::object::object_alloc::{ObjectRecord, allocate};
use crate::value::any::{Any, AnyView};
use crate::value::convert::{AnyCompatible, object_of, own_object, view_object};
use crate::{any_from, any_texts, object_class, plain_bail};

mod geometry;
mod possible;

pub use geometry::{data_size_bytes, is_contiguous, product, row_major_strides_reversed};
pub use possible::has_possible_size;
pub(crate) use possible::is_small;

object_class!(
    @bare
    /// A reference to a shape.
    ///
    /// Extents may be any integers. Functions that compute sizes, such as [`product`], check them.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Shape;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let shape = Shape::from_slice(&[2, 3, 4])?;
    /// assert_eq!((shape.as_slice(), shape.product()), (&[2, 3, 4][..], Some(24)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `tvm::ffi::Shape` of `include/tvm/ffi/container/shape.h`.
    pub struct Shape, type_index::SHAPE, "ffi.Shape"
);

/// Record of a shape object. Extents that the library allocates follow it inline.
#[repr(C)]
struct ShapeRecord {
    header: TVMFFIObject,
    cell: TVMFFIShapeCell,
}

#[cfg(target_pointer_width = "64")]
const _: () =
    assert!(size_of::<ShapeRecord>() == 40 && core::mem::offset_of!(ShapeRecord, cell) == 24);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () =
    assert!(size_of::<ShapeRecord>() == 32 && core::mem::offset_of!(ShapeRecord, cell) == 24);

// SAFETY: the header comes first, and the extents are plain data, so nothing needs to be destroyed.
unsafe impl ObjectRecord for ShapeRecord {
    const DELETER: unsafe extern "C" fn(*mut c_void, c_int) = LEAF_DELETER;

    unsafe fn destroy(_this: *mut TVMFFIObject) {}
}

impl Shape {
    /// Creates a shape with a copy of `extents`.
    ///
    /// # Errors
    /// MemoryError when out of memory.
    pub fn from_slice(extents: &[i64]) -> Result<Shape> {
        Shape::of_items(extents, |extent| *extent)
    }

    /// Creates a shape from an iterator over results.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Shape;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let doubled = Shape::try_from_iter([2i64, 3].map(|extent| Ok(2 * extent)))?;
    /// assert_eq!(doubled.as_slice(), [4, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error that the iterator yields; MemoryError.
    pub fn try_from_iter(extents: impl IntoIterator<Item = Result<i64>>) -> Result<Shape> {
        let mut buffer = crate::platform::memory::Buffer::new();
        for extent in extents {
            buffer.try_push(extent?)?;
        }
        Shape::from_slice(&buffer)
    }

    /// Creates a shape from integer arguments.
    ///
    /// # Errors
    /// ValueError if an argument is neither an integer nor a boolean; MemoryError.
    ///
    /// # Upstream
    /// The global function `ffi.Shape` of `src/ffi/tensor.cc`.
    pub fn from_args(args: &[AnyView<'_>]) -> Result<Shape> {
        let is_integer =
            |arg: &AnyView<'_>| matches!(arg.type_index(), type_index::INT | type_index::BOOL);
        if !args.iter().all(is_integer) {
            plain_bail!(VALUE_ERROR, "Expect shape to take list of int arguments");
        }
        Shape::of_items(args, |arg| arg.payload_bits() as i64)
    }

    /// Borrows the extents.
    pub fn as_slice(&self) -> &[i64] {
        // SAFETY: every shape object has its cell after the header (ABI).
        let cell = unsafe { &(*self.0.as_ptr().cast::<ShapeRecord>()).cell };
        if cell.data.is_null() {
            return &[];
        }
        // SAFETY: the creator of the shape guarantees `size` extents that live unchanged as long as
        // the shape.
        unsafe { core::slice::from_raw_parts(cell.data, cell.size) }
    }

    /// Computes the number of elements of a tensor with this shape. Returns `None` if an extent is
    /// negative or the number overflows.
    pub fn product(&self) -> Option<i64> {
        product(self.as_slice())
    }

    /// Creates a shape with the extent that `extent_of` returns for each item.
    fn of_items<T>(items: &[T], extent_of: impl Fn(&T) -> i64) -> Result<Shape> {
        // An overflowing size fails like any other impossible allocation.
        let bytes = items.len().saturating_mul(size_of::<i64>());
        let init = |record: *mut ShapeRecord| {
            // SAFETY: the object has `bytes` trailing bytes, and the record's size keeps them
            // aligned for i64.
            unsafe {
                let data = record.add(1).cast::<i64>();
                for (index, item) in items.iter().enumerate() {
                    data.add(index).write(extent_of(item));
                }
                (*record).cell = TVMFFIShapeCell { data, size: items.len() };
            }
        };
        // SAFETY: `init` writes the cell, the only field beside the header, and index 69 is that of
        // shapes.
        let object = unsafe { allocate::<ShapeRecord>(type_index::SHAPE, bytes, init) }?;
        Ok(Shape(object))
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

any_from!(Shape);

// SAFETY: `view` borrows and `into_any` moves the reference of the value.
unsafe impl AnyCompatible for Shape {
    any_texts!(Shape::TYPE_KEY, Shape::TYPE_KEY);

    fn view(&self) -> AnyView<'_> {
        view_object(self)
    }

    fn into_any(self) -> Any {
        own_object(self)
    }

    /// Accepts a shape, or an Array or List of integers, whose elements are copied.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Shape>> {
        match object_of(view) {
            Some(shape) => Ok(Some(shape)),
            None => from_sequence(view),
        }
    }
}

/// Creates a shape from an Array or List of integers. Returns `None` for other values.
fn from_sequence(view: AnyView<'_>) -> Result<Option<Shape>> {
    if !matches!(view.type_index(), type_index::ARRAY | type_index::LIST) {
        return Ok(None);
    }
    let shape = crate::value::sequence::with_elements(&view, |items| {
        let mut extents = crate::platform::memory::Buffer::new();
        for item in items {
            match item.try_get::<i64>()? {
                Some(extent) => extents.try_push(extent)?,
                None => return Ok(None),
            }
        }
        Shape::from_slice(&extents).map(Some)
    })?;
    Ok(shape.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;

    #[test]
    fn extents_lie_in_place_behind_the_cell() {
        let shape = Shape::from_slice(&[2, -3, 4]).unwrap();
        assert_eq!(shape.as_slice(), [2, -3, 4]);
        let offset = shape.as_slice().as_ptr().addr() - shape.as_object().as_ptr().addr();
        assert_eq!(offset, size_of::<ShapeRecord>());
    }

    #[test]
    fn the_empty_shape_has_one_element() {
        let shape = Shape::from_slice(&[]).unwrap();
        assert!(shape.as_slice().is_empty());
        assert_eq!(shape.product(), Some(1));
    }

    #[test]
    fn an_iterator_failure_is_returned() {
        let failure =
            Shape::try_from_iter([Ok(1), Err(error!(KeyError, "no extent"))]).unwrap_err();
        assert_eq!(failure.kind_bytes(), b"KeyError");
    }

    #[test]
    fn arguments_must_be_integers() {
        let args = [AnyView::from(2i64), AnyView::from(true)];
        assert_eq!(Shape::from_args(&args).unwrap().as_slice(), [2, 1]);
        let failure = Shape::from_args(&[AnyView::from(2.5f64)]).unwrap_err();
        assert_eq!(failure.kind_bytes(), b"ValueError");
        assert_eq!(failure.message_bytes(), b"Expect shape to take list of int arguments");
    }

    #[test]
    fn a_shape_goes_through_any() {
        let any = Shape::from_slice(&[7]).unwrap().into_any();
        assert_eq!(any.type_index(), type_index::SHAPE);
        assert_eq!(any.get::<Shape>().unwrap().as_slice(), [7]);
        assert!(AnyView::from(1i64).try_get::<Shape>().unwrap().is_none());
    }
}
