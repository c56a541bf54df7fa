//! Typed functions: Rust functions whose parameter types determine how arguments are checked,
//! converted and described.
#![forbid(unsafe_code)]

use crate::error::{Error, Result};
use crate::tensor::{CallBorrows, TensorUses};
use crate::value::any::{Any, AnyView};
use crate::value::convert::{ArgumentPlace, IntoAny, Param, TargetTexts, TypeText};

pub use crate::value::callee::{Call, Callee, Signature};

/// A return type of typed functions: a convertible value, the unit type, or a `Result` of either.
pub trait IntoResult {
    /// Description of the type for signatures and schemas.
    const TEXT: &'static TypeText;

    /// Converts the return value into the result of the packed call.
    ///
    /// # Errors
    /// The error that the function returned.
    fn into_result(self) -> Result<Any>;
}

impl<T: IntoAny> IntoResult for T {
    const TEXT: &'static TypeText = T::RESULT_TYPE;

    #[inline(always)]
    fn into_result(self) -> Result<Any> {
        self.try_into_any()
    }
}

impl<T: IntoResult, E: Into<Error>> IntoResult for core::result::Result<T, E> {
    const TEXT: &'static TypeText = T::TEXT;

    #[inline(always)]
    fn into_result(self) -> Result<Any> {
        match self {
            Ok(value) => value.into_result(),
            Err(error) => Err(error.into()),
        }
    }
}

/// A typed function: a function or closure of up to twelve parameters, whose parameter and result
/// types convert from and to Any.
///
/// `Args` is the tuple of parameter types, which the compiler infers.
///
/// # Upstream
/// `details::unpack_call` and `FunctionInfo` in `function_detail.h`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called with values",
    note = "its arguments, at most twelve, must be a `Param`, and its result, or that in a `Result`, `IntoAny`: numbers, `bool`, `&str`, \
            `Function`, `Tensor`, and with the feature `alloc` `String`, `Vec<T>` and maps; `Option`s and tuples of these"
)]
pub trait TypedFn<Args> {
    /// The signature of the function.
    const SIGNATURE: &'static Signature<'static>;

    /// Calls the function with packed arguments. Error messages show `callee`, which must have this
    /// function's signature.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; MemoryError; errors of the function.
    fn invoke(&self, callee: &Callee<'_>, args: &[AnyView<'_>]) -> Result<Any>;
}

macro_rules! typed_functions {
    ($($arity:literal: $($index:literal $argument:ident $value:ident),*;)*) => {$(
        impl<F, R, $($argument),*> TypedFn<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R + for<'a> Fn($($argument::In<'a>),*) -> R,
            R: IntoResult,
            $($argument: Param,)*
        {
            const SIGNATURE: &'static Signature<'static> = &Signature::new(&[$(TargetTexts::of::<$argument>()),*], R::TEXT);

            // Into the one safe call that has this function, where the callee is built only if it
            // refuses.
            #[cfg_attr(feature = "speed", inline(always))]
            fn invoke(&self, callee: &Callee<'_>, args: &[AnyView<'_>]) -> Result<Any> {
                if args.len() != $arity {
                    return Err(callee.refused_count(args.len()));
                }
                // Chooses between the two bounds of `F`.
                #[inline(always)]
                #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
                fn call<Out, $($argument),*>(
                    function: impl Fn($($argument),*) -> Out,
                    $($value: $argument),*
                ) -> Out {
                    function($($value),*)
                }
                #[allow(unused_variables, reason = "a function without parameters converts nothing")]
                let all = Call { callee, args };
                let uses = const { TensorUses::of(&[$($argument::TENSOR_USE),*]) };
                if uses.is_empty() {
                    // Without a place for borrows, which would cost an instruction.
                    return call(self, $($argument::argument(&all, ArgumentPlace::of::<$argument>($index))?),*).into_result();
                }
                // Ended after the call, whatever its outcome.
                let _borrows = CallBorrows::<$arity>::new(&all, uses)?;
                call(self, $($argument::argument(&all, ArgumentPlace::of::<$argument>($index))?),*).into_result()
            }
        }
    )*};
}

typed_functions! {
    0: ;
    1: 0 A a;
    2: 0 A a, 1 B b;
    3: 0 A a, 1 B b, 2 C c;
    4: 0 A a, 1 B b, 2 C c, 3 D d;
    5: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e;
    6: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g;
    7: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h;
    8: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h, 7 I i;
    9: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h, 7 I i, 8 J j;
    10: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h, 7 I i, 8 J j, 9 K k;
    11: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h, 7 I i, 8 J j, 9 K k, 10 L l;
    12: 0 A a, 1 B b, 2 C c, 3 D d, 4 E e, 5 G g, 6 H h, 7 I i, 8 J j, 9 K k, 10 L l, 11 M m;
}

/// Returns the signature of a function passed by reference, for macros that cannot name its type.
pub const fn signature_of<Args, F: TypedFn<Args>>(_: &F) -> &'static Signature<'static> {
    F::SIGNATURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_upstreams() -> Result<()> {
        let signature = signature_of(&|_: Option<i64>, _: crate::String| {});
        assert_eq!(
            crate::String::compose(&|out| signature.write_schema(out))?,
            r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"Optional","args":[{"type":"int"}]},{"type":"ffi.String"}]}}"#
        );
        Ok(())
    }

    #[test]
    fn a_function_without_result_is_void() {
        let function = |_: i64| {};
        let callee = Callee::new("f", signature_of(&function));
        let error = function.invoke(&callee, &[]).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Mismatched number of arguments when calling: `f(0: int) -> void`. Expected 1 but got 0 arguments"
        );
    }
}
