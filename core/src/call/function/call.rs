//! Calls with Rust types, and lookups of global functions.

use super::{Arguments, Function};
use crate::call::typed::{Callee, TypedFn};
use crate::error::Result;
use crate::value::any::AnyView;
use crate::value::convert::FromAny;

impl Function {
    /// Calls the function with a tuple of arguments, and converts its result.
    ///
    /// Arguments with a value representation, and references to them, are viewed in place; strings,
    /// slices, vectors, tuples and maps are copied to objects.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, Function, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let repeat = Function::from_typed(|text: &str, times: u8| text.len() as i64 * i64::from(times))?;
    /// let bytes: i64 = repeat.call(("ab", 3))?;
    /// assert_eq!(bytes, 6);
    /// assert_eq!(repeat.call::<f64>(("ab", 3))?, 6.0);
    /// let error = repeat.call::<Any>(("ab", 300)).unwrap_err();
    /// assert_eq!(error.to_string(), "OverflowError: Integer 300 is out of range for `u8`");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call_packed`](Function::call_packed); TypeError if the result does not
    /// convert; MemoryError for an argument that is copied.
    ///
    /// # Upstream
    /// `Function::operator()`, and `call_tuple` of the crate `tvm-ffi`.
    #[inline]
    pub fn call<R: FromAny>(&self, args: impl Arguments) -> Result<R> {
        args.with_views(|args| self.call_packed(args)?.into_value())
    }

    /// Creates a global function from a Rust function or closure.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Function, Result};
    ///
    /// fn is_even(number: i64) -> bool {
    ///     number % 2 == 0
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// Function::register("example.is_even", is_even)?;
    /// assert!(Function::global("example.is_even")?.call::<bool>((4,))?);
    /// assert!(Function::register("example.is_even", is_even).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// RuntimeError if the name is taken; MemoryError.
    ///
    /// # Upstream
    /// `reflection::GlobalDef().def`, and `Function::register_global_typed` of the crate `tvm-ffi`.
    pub fn register<Args, F>(name: &str, function: F) -> Result<()>
    where
        F: TypedFn<Args> + Send + Sync + 'static,
        Args: 'static,
    {
        let shown = crate::value::string::String::new(name)?;
        let call = move |args: &[AnyView<'_>]| {
            // SAFETY: made of a `str`.
            let name = unsafe { core::str::from_utf8_unchecked(shown.as_bytes()) };
            function.invoke(&Callee::new(name, F::SIGNATURE), args)
        };
        Function::set_global(name, &Function::from_packed(call)?, false)
    }
}

/// Calls a function with arguments and converts the result: a [`Function`](crate::Function), or the
/// name of a global one as a literal.
///
/// ```
/// use ferrite_core::{Function, Result, call};
///
/// # fn main() -> Result<()> {
/// let add = Function::from_typed(|a: i64, b: i64| a + b)?;
/// let sum: i64 = call!(add, 2, 3)?;
/// Function::set_global("example.add", &add, false)?;
/// let again: i64 = call!("example.add", sum, 1)?;
/// assert_eq!(again, 6);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! call {
    ($name:literal $(, $argument:expr)* $(,)?) => {
        $crate::call::function::Function::global($name).and_then(|function| function.call(($($argument,)*)))
    };
    ($function:expr $(, $argument:expr)* $(,)?) => {
        $function.call(($($argument,)*))
    };
}
