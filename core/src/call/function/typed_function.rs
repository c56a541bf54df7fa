//! Functions with the types of their arguments and result.
#![forbid(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use super::{Argument, Arguments, Function};
use crate::error::Result;
use crate::value::convert::FromAny;

/// A function whose calls take arguments of fixed types and convert the result:
/// `TypedFunction<fn(i64, i64) -> i64>`.
///
/// The types are those that calls use; a function with other types refuses the call with a
/// TypeError. Cloning shares the function.
///
/// # Examples
/// ```
/// use ferrite_core::{Function, Result};
/// use ferrite_core::call::function::TypedFunction;
///
/// # fn main() -> Result<()> {
/// let add: TypedFunction<fn(i64, i64) -> i64> = Function::from_typed(|a: i64, b: i64| a + b)?.into();
/// assert_eq!(add.call(2, 3)?, 5);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::TypedFunction` in `function.h`, and `into_typed_fn!` of the crate `tvm-ffi`.
pub struct TypedFunction<F> {
    function: Function,
    types: PhantomData<F>,
}

impl<F> TypedFunction<F> {
    /// Looks up a global function.
    ///
    /// # Errors
    /// The errors of [`Function::global`].
    pub fn global(name: &str) -> Result<Self> {
        Function::global(name).map(Self::from)
    }

    /// Borrows the function.
    pub fn as_function(&self) -> &Function {
        &self.function
    }

    /// Returns the function.
    pub fn into_function(self) -> Function {
        self.function
    }
}

impl<F> From<Function> for TypedFunction<F> {
    fn from(function: Function) -> Self {
        TypedFunction { function, types: PhantomData }
    }
}

impl<F> Clone for TypedFunction<F> {
    fn clone(&self) -> Self {
        self.function.clone().into()
    }
}

impl<F> fmt::Debug for TypedFunction<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(f)
    }
}

macro_rules! calls {
    ($($($argument:ident $value:ident),*;)*) => {$(
        impl<$($argument: Argument,)* R: FromAny> TypedFunction<fn($($argument),*) -> R> {
            /// Calls the function.
            ///
            /// # Errors
            /// The errors of [`Function::call`].
            #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
            #[inline]
            pub fn call(&self, $($value: $argument),*) -> Result<R> {
                Arguments::with_views(($($value,)*), |args| self.function.call_packed(args)?.into_value())
            }
        }
    )*};
}

calls! {
    ;
    A a;
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
    A a, B b, C c, D d, E e;
    A a, B b, C c, D d, E e, G g;
    A a, B b, C c, D d, E e, G g, H h;
    A a, B b, C c, D d, E e, G g, H h, I i;
    A a, B b, C c, D d, E e, G g, H h, I i, J j;
    A a, B b, C c, D d, E e, G g, H h, I i, J j, K k;
    A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l;
    A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, M m;
}
