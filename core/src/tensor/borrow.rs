//! The run-time borrow state of the elements of tensor objects.
//!
//! The state is in the word of the header that the ABI defines as zero: zero while nothing borrows
//! the elements, so tensors that other libraries allocate have a valid state, too. The word of a
//! tensor over the memory of another object is [`word::FORWARDED`] from its creation to its end,
//! and borrows of its elements are in the word of the object at the end of the chain, its root: the
//! tensor of a view, the tensor that an import was exported from, the storage of the tensors in it.
//! A DLTensor pointer has no word.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::borrowing;
use crate::abi::{TVMFFIObject, type_index};
use crate::error::{Error, Result};
use crate::object::borrow::word;
use crate::plain_error;
use crate::value::any::AnyView;

/// Returns the object whose word has the borrows of a tensor's elements.
///
/// # Safety
/// `object` must be a live tensor object. The root lives as long as it does.
#[inline(always)]
unsafe fn root(mut object: NonNull<TVMFFIObject>) -> NonNull<TVMFFIObject> {
    // SAFETY: the first object is alive by contract, each further one because the view before it
    // keeps it alive.
    unsafe {
        while word::is_forwarded(object.as_ptr()) {
            object = borrowing::keeper(object);
        }
    }
    object
}

/// Returns the root of a value that is a tensor object; `None` for other values, such as DLTensor
/// pointers.
#[inline(always)]
pub(super) fn root_of(view: AnyView<'_>) -> Option<NonNull<TVMFFIObject>> {
    if view.type_index() != type_index::TENSOR {
        return None;
    }
    // SAFETY: the view borrows a live tensor.
    view.object_ptr().map(|object| unsafe { root(object) })
}

/// Borrows the elements of a root. Returns `false` if another borrow conflicts.
///
/// # Safety
/// `root` must be a live root.
#[inline(always)]
unsafe fn acquire<const WRITES: bool>(root: NonNull<TVMFFIObject>) -> bool {
    // SAFETY: the caller guarantees the root.
    unsafe { if WRITES { word::claim(root.as_ptr(), 0) } else { word::share(root.as_ptr()) } }
}

/// A borrow of the elements of a tensor for reading (`WRITES` is `false`) or for writing, until it
/// is dropped. Nothing is borrowed of a DLTensor pointer.
pub struct Borrow<'a, const WRITES: bool> {
    root: Option<NonNull<TVMFFIObject>>,
    lifetime: PhantomData<&'a ()>,
}

// SAFETY: the pointer is that of a tensor, which any thread may use while it is alive; its word
// changes atomically.
unsafe impl<const WRITES: bool> Send for Borrow<'_, WRITES> {}
// SAFETY: as for Send; a shared borrow gives no access.
unsafe impl<const WRITES: bool> Sync for Borrow<'_, WRITES> {}

impl<'a, const WRITES: bool> Borrow<'a, WRITES> {
    /// Borrows the elements of a tensor, whose view is valid for `'a`.
    ///
    /// # Errors
    /// RuntimeError if a borrow of the elements conflicts with this one.
    #[inline]
    pub(crate) fn new(view: AnyView<'a>) -> Result<Self> {
        let root = root_of(view);
        if let Some(root) = root {
            // SAFETY: the root lives as long as the tensor.
            let is_borrowed = unsafe { acquire::<WRITES>(root) };
            if !is_borrowed {
                return Err(conflict());
            }
        }
        Ok(Borrow { root, lifetime: PhantomData })
    }
}

impl<const WRITES: bool> Drop for Borrow<'_, WRITES> {
    #[inline]
    fn drop(&mut self) {
        let Some(root) = self.root else { return };
        // SAFETY: the borrow is this one's, and the root lives for its lifetime.
        unsafe {
            if WRITES { word::unclaim(root.as_ptr(), 0) } else { word::unshare(root.as_ptr()) }
        }
    }
}

/// Creates the error of a conflicting borrow.
#[cold]
#[inline(never)]
fn conflict() -> Error {
    plain_error!(
        RUNTIME_ERROR,
        "The elements of the tensor are in use by a function or borrow that conflicts with this access";
        "tensor in use"
    )
}

/// Borrow of the root of a tensor argument, for the call. The lowest bit of the address is set if
/// it is exclusive.
#[derive(Clone, Copy)]
pub(super) struct HeldRoot(*mut TVMFFIObject);

impl HeldRoot {
    pub(super) const NONE: HeldRoot = HeldRoot(core::ptr::null_mut());

    /// Borrows a root. Returns `None` if another borrow conflicts.
    ///
    /// # Safety
    /// The root must be live.
    #[inline(always)]
    pub(super) unsafe fn borrow<const WRITES: bool>(
        root: NonNull<TVMFFIObject>,
    ) -> Option<HeldRoot> {
        // SAFETY: the caller guarantees the root.
        let is_borrowed = unsafe { acquire::<WRITES>(root) };
        is_borrowed
            .then(|| HeldRoot(root.as_ptr().map_addr(|address| address | usize::from(WRITES))))
    }

    /// Returns whether this is the exclusive borrow of a root.
    #[inline(always)]
    pub(super) fn is_exclusive(self, root: NonNull<TVMFFIObject>) -> bool {
        self.0.addr() == root.addr().get() | 1
    }

    #[inline(always)]
    fn root(self) -> *mut TVMFFIObject {
        self.0.map_addr(|address| address & !1)
    }

    /// Ends the borrow.
    ///
    /// # Safety
    /// The borrow must be live, and the caller's; so must be its root.
    #[inline(always)]
    pub(super) unsafe fn release(self) {
        // SAFETY: the caller guarantees the borrow and its root.
        unsafe {
            match self.root() {
                root if root == self.0 => word::unshare(root),
                root => word::unclaim(root, 0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectClass;
    use crate::tensor::{Input, Output, Tensor, TensorView};
    use crate::{Function, error::kind};

    /// Returns a view of two elements of a tensor of int32.
    fn part(tensor: &Tensor, first: u64) -> Tensor {
        let (mut shape, mut strides) = ([2], [1]);
        let prototype = crate::abi::DLTensor {
            ndim: 1,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: tensor.dl_tensor().byte_offset + 4 * first,
            ..*tensor.dl_tensor()
        };
        // SAFETY: the tests ask for elements of the tensor.
        unsafe { tensor.create_unsafe_view(&prototype) }.unwrap()
    }

    fn in_use<T>(outcome: Result<T>) -> bool {
        outcome.is_err_and(|error| error.kind_bytes() == kind::RUNTIME_ERROR.as_bytes())
    }

    #[test]
    fn views_have_the_borrows_of_their_root() {
        let root = Tensor::from_slice(&[1i32, 2, 3, 4], &[4]).unwrap();
        let view = part(&part(&root, 0), 0);
        let elements = view.as_slice::<i32>().unwrap();
        assert!(in_use(root.borrow_mut::<i32>()) && !in_use(root.as_slice::<i32>()));
        drop(elements);
        let elements = root.borrow_mut::<i32>().unwrap();
        assert!(in_use(view.as_slice::<i32>()) && in_use(view.borrow_mut::<i32>()));
        drop(elements);
        view.borrow_mut::<i32>().unwrap()[1] = 7;
        drop(root);
        assert_eq!(view.as_slice::<i32>().unwrap(), [1, 7]);
        assert_eq!(view.as_object().strong_count(), 1);
    }

    #[test]
    fn tensors_over_other_objects_have_borrows_of_their_own() {
        let root = Tensor::from_slice(&[1i32], &[1]).unwrap();
        let owner = crate::Shape::from_slice(&[1]).unwrap();
        // SAFETY: `root` outlives the tensors.
        let [one, other] = [(); 2]
            .map(|()| unsafe { Tensor::from_owner(owner.as_object(), root.dl_tensor()) }.unwrap());
        let _elements = one.as_slice::<i32>().unwrap();
        assert!(in_use(one.borrow_mut::<i32>()) && !in_use(other.as_slice::<i32>()));
    }

    #[test]
    fn parts_of_one_tensor_are_arguments_in_any_order() -> Result<()> {
        let root = Tensor::from_slice(&[1i32, 2, 3, 4], &[4])?;
        let (low, high) = (part(&root, 0), part(&root, 2));
        let forward = Function::from_typed(|x: Input<'_>, mut out: Output<'_>| -> Result<()> {
            let ([_], x) = x.array::<i32, 1>()?;
            out.as_mut_slice::<i32>()?.copy_from_slice(x);
            Ok(())
        })?;
        let backward = Function::from_typed(|mut out: Output<'_>, x: Input<'_>| -> Result<()> {
            let ([_], x) = x.array::<i32, 1>()?;
            out.as_mut_slice::<i32>()?.copy_from_slice(x);
            Ok(())
        })?;
        forward.call::<()>((&low, &high))?;
        assert_eq!(root.as_slice::<i32>()?, [1, 2, 1, 2]);
        low.borrow_mut::<i32>()?.fill(9);
        backward.call::<()>((&high, &low))?;
        assert_eq!(root.as_slice::<i32>()?, [9, 9, 9, 9]);
        let swap = Function::from_typed(|mut a: Output<'_>, mut b: Output<'_>| -> Result<()> {
            a.as_mut_slice::<i32>()?.swap_with_slice(b.as_mut_slice()?);
            Ok(())
        })?;
        swap.call::<()>((&low, &high))?;
        assert_eq!(
            swap.call::<()>((&low, &root)).unwrap_err().kind_bytes(),
            kind::VALUE_ERROR.as_bytes()
        );
        let elements = root.as_slice::<i32>()?;
        for function in [&forward, &backward, &swap] {
            assert!(in_use(function.call::<()>((&low, &high))));
        }
        drop(elements);
        // Nothing is left borrowed.
        drop(root.borrow_mut::<i32>()?);
        Ok(())
    }

    #[test]
    fn one_input_may_be_two_arguments() -> Result<()> {
        let x = Tensor::from_slice(&[1i32, 2], &[2])?;
        let sum = Function::from_typed(|x: Input<'_>, y: Input<'_>| -> Result<i64> {
            let (x, y) = (x.elements::<i32>(&[2])?, y.elements::<i32>(&[2])?);
            Ok(i64::from(x[0] + y[1]))
        })?;
        assert_eq!(sum.call::<i64>((&x, &x))?, 3);
        drop(x.borrow_mut::<i32>()?);
        Ok(())
    }

    #[test]
    fn shared_borrows_have_a_limit() {
        let x = Tensor::from_slice(&[1i32], &[1]).unwrap();
        let header = x.as_object().as_ptr();
        // SAFETY: the tensor is alive, and no guard is.
        unsafe { (*header).padding = word::MOST_SHARED };
        assert!(in_use(x.as_slice::<i32>()) && in_use(x.borrow_mut::<i32>()));
        // SAFETY: as above.
        unsafe { (*header).padding = 0 };
    }

    #[test]
    fn a_pointer_has_no_borrows() {
        let x = Tensor::from_slice(&[1i32], &[1]).unwrap();
        // SAFETY: the tensor outlives the view.
        let view = unsafe { TensorView::new(x.dl_tensor().into()) };
        let _elements = x.as_slice::<i32>().unwrap();
        assert!(view.write_guard().is_ok() && TensorView::from(&x).write_guard().is_err());
    }
}
