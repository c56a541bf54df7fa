//! Closures that choose their nodes by the type of their parameter, and tuples of closures that are
//! tried in order.

use core::marker::PhantomData;

use ferrite_core::class::{Frozen, ObjectArc};
use ferrite_core::error::Result;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::{FromAny, FromView};

use super::answers::Answer;
use super::types::Types;
use crate::structural::DefRegion;

/// Closures of walks and maps: one closure, or a tuple of up to twelve. The first closure that
/// accepts a node is called with it.
///
/// A closure takes the node as a value (`|n: i64|`), as a reference (`|s: &str|`, `|any: &Any|`) or
/// as the content of an object whose class is frozen (`|v: &Var|`), then optionally the
/// [`DefRegion`] of the node. It accepts the nodes that convert to the type of its parameter
/// without change: `f64` does not accept an integer. The types of parameters have to be written.
///
/// `Marker` is inferred; it distinguishes the kinds of closures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called for the nodes of a value",
    note = "closures take a value (`|n: i64|`), a reference (`|s: &str|`) or the content of a frozen class (`|v: &Var|`), whose types \
            have to be written, then optionally a `DefRegion`; several closures form a tuple"
)]
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
/// use ferrite_alloc_ext::json;
/// use ferrite_alloc_ext::structural::{DefRegion, Structural, WalkOrder};
/// use ferrite_core::Any;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let (mut numbers, mut lengths, mut others) = (0, Vec::new(), 0);
/// json::parse(br#"[1, [2.5, 2], "text"]"#)?.structural_walk(
///     WalkOrder::Pre,
///     (
///         |n: i64, region: DefRegion| numbers += n + i64::from(region.defines()),
///         |array: &Array<Any>| lengths.push(array.len()),
///         |_: &Any| others += 1,
///     ),
/// )?;
/// assert_eq!((numbers, lengths, others), (3, vec![3, 2], 2));
/// # Ok(())
/// # }
/// ```
pub trait Callbacks<T, Marker> {
    /// Adds the types of the nodes that may be accepted.
    ///
    /// # Errors
    /// MemoryError.
    #[doc(hidden)]
    fn add_types(types: &mut Types) -> Result<()>;

    /// Calls the first closure that accepts the node. Returns `None` if none does.
    ///
    /// # Errors
    /// Errors of the closure and of conversions.
    #[doc(hidden)]
    fn call(&mut self, node: &AnyView<'_>, region: DefRegion) -> Result<Option<T>>;
}

/// Closures of visits and mutations, which take a `Context` after the node: a
/// [`Visitor`](super::Visitor) or [`Mutator`](super::Mutator). They are called recursively for
/// children, and so must be `Fn`. Otherwise the rules of [`Callbacks`] apply.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called for the nodes of a value",
    note = "closures that are `Fn` take a value (`|n: i64, v: &mut Visitor|`), a reference or the content of a frozen class, whose types \
            have to be written, and a visitor or mutator; several closures form a tuple"
)]
pub trait Recursive<Context, T, Marker> {
    /// Adds the types of the nodes that may be accepted.
    ///
    /// # Errors
    /// MemoryError.
    #[doc(hidden)]
    fn add_types(types: &mut Types) -> Result<()>;

    /// Calls the first closure that accepts the node. Returns `None` if none does.
    ///
    /// # Errors
    /// Errors of the closure and of conversions.
    #[doc(hidden)]
    fn call(&self, node: &AnyView<'_>, context: &mut Context) -> Result<Option<T>>;
}

/// Marker of closures that take a node of type `N` as a value, and return an `A`.
pub struct ByValue<N, A>(PhantomData<(N, A)>);
/// Marker of closures that take a node as a reference.
pub struct ByReference<N, A>(PhantomData<(N, A)>);
/// Marker of closures that take the content of an object.
pub struct ByContent<N, A>(PhantomData<(N, A)>);
/// Marker of closures that take a string.
pub struct ByText<A>(PhantomData<A>);
/// Marker of closures of kind `M` that also take the [`DefRegion`].
pub struct InRegion<M>(PhantomData<M>);
/// Marker of tuples of closures.
pub struct Nested<M>(PhantomData<M>);

/// Converts a node to the type of a closure's parameter, if it is of that type.
fn accept<'a, N: FromView<'a>>(node: &'a AnyView<'a>) -> Result<Option<N>> {
    // A number that does not fit, or a string that is not UTF-8, is not of the type.
    if !matches!(N::is_exact(node), Ok(true)) {
        return Ok(None);
    }
    N::from_view(node)
}

/// Implements the traits for a kind of closures: `MARKER: PARAMETER, NODE, |node| argument`.
macro_rules! closures {
    ($([$($generics:tt)*] $form:ty: $parameter:ty, $held:ty, |$node:ident| $argument:expr;)*) => {$(
        impl<F, T, A: Answer<T>, $($generics)*> Callbacks<T, $form> for F
        where
            F: FnMut($parameter) -> A,
        {
            fn add_types(types: &mut Types) -> Result<()> {
                types.add::<$held>()
            }

            fn call(&mut self, node: &AnyView<'_>, _: DefRegion) -> Result<Option<T>> {
                let Some($node) = accept::<$held>(node)? else { return Ok(None) };
                self($argument).answer().map(Some)
            }
        }

        impl<F, T, A: Answer<T>, $($generics)*> Callbacks<T, InRegion<$form>> for F
        where
            F: FnMut($parameter, DefRegion) -> A,
        {
            fn add_types(types: &mut Types) -> Result<()> {
                types.add::<$held>()
            }

            fn call(&mut self, node: &AnyView<'_>, region: DefRegion) -> Result<Option<T>> {
                let Some($node) = accept::<$held>(node)? else { return Ok(None) };
                self($argument, region).answer().map(Some)
            }
        }

        impl<F, T, Context, A: Answer<T>, $($generics)*> Recursive<Context, T, $form> for F
        where
            F: Fn($parameter, &mut Context) -> A,
        {
            fn add_types(types: &mut Types) -> Result<()> {
                types.add::<$held>()
            }

            fn call(&self, node: &AnyView<'_>, context: &mut Context) -> Result<Option<T>> {
                let Some($node) = accept::<$held>(node)? else { return Ok(None) };
                self($argument, context).answer().map(Some)
            }
        }
    )*};
}

closures! {
    [N: FromAny] ByValue<N, A>: N, N, |node| node;
    [N: FromAny] ByReference<N, A>: &N, N, |node| &node;
    [N: Frozen] ByContent<N, A>: &N, ObjectArc<N>, |node| &node;
    [] ByText<A>: &str, &str, |node| node;
}

macro_rules! tuples {
    ($($($index:tt $closure:ident $marker:ident),*;)*) => {$(
        impl<T, $($closure, $marker),*> Callbacks<T, Nested<($($marker,)*)>> for ($($closure,)*)
        where
            $($closure: Callbacks<T, $marker>,)*
        {
            fn add_types(types: &mut Types) -> Result<()> {
                $($closure::add_types(types)?;)*
                Ok(())
            }

            fn call(&mut self, node: &AnyView<'_>, region: DefRegion) -> Result<Option<T>> {
                $(
                    if let Some(answer) = self.$index.call(node, region)? {
                        return Ok(Some(answer));
                    }
                )*
                Ok(None)
            }
        }

        impl<Context, T, $($closure, $marker),*> Recursive<Context, T, Nested<($($marker,)*)>> for ($($closure,)*)
        where
            $($closure: Recursive<Context, T, $marker>,)*
        {
            fn add_types(types: &mut Types) -> Result<()> {
                $($closure::add_types(types)?;)*
                Ok(())
            }

            fn call(&self, node: &AnyView<'_>, context: &mut Context) -> Result<Option<T>> {
                $(
                    if let Some(answer) = self.$index.call(node, context)? {
                        return Ok(Some(answer));
                    }
                )*
                Ok(None)
            }
        }
    )*};
}

tuples! {
    0 A MA;
    0 A MA, 1 B MB;
    0 A MA, 1 B MB, 2 C MC;
    0 A MA, 1 B MB, 2 C MC, 3 D MD;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG, 7 H MH;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG, 7 H MH, 8 I MI;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG, 7 H MH, 8 I MI, 9 J MJ;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG, 7 H MH, 8 I MI, 9 J MJ, 10 K MK;
    0 A MA, 1 B MB, 2 C MC, 3 D MD, 4 E ME, 5 F MF, 6 G MG, 7 H MH, 8 I MI, 9 J MJ, 10 K MK, 11 L ML;
}
