//! The parameter type [`Node`], for closures that do not borrow the node.

use core::marker::PhantomData;

use ferrite_core::error::Result;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::{Described, FromView, TypeText};

/// A node of type `N`, for a closure that does not borrow its node.
/// [`Mutator::mutate_children`](super::Mutator::mutate_children) may therefore change the node in
/// place.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
/// use ferrite_alloc_ext::structural::{Mutator, Node, Structural};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let numbers = Array::from_slice(&[1, 2])?;
/// let mutated: Array<i64> = numbers.structural_mutate((
///     |_: Node<Array<i64>>, m: &mut Mutator| m.mutate_children::<Array<i64>>(),
///     |n: i64, _: &mut Mutator| n + 1,
/// ))?;
/// assert_eq!((mutated.get(0)?, mutated.get(1)?), (2, 3));
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `MutateValue` of the crate `tvm-ffi`.
pub struct Node<N>(PhantomData<fn() -> N>);

impl<N: Described> Described for Node<N> {
    const TYPE: &'static TypeText = N::TYPE;

    fn accepts(view: &AnyView<'_>) -> bool {
        N::accepts(view)
    }
}

impl<'a, N: FromView<'a>> FromView<'a> for Node<N> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
        Ok(N::from_view(view)?.map(|_| Node(PhantomData)))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        N::is_exact(view)
    }
}
