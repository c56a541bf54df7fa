//! Typed functions: arguments unpacked, checked and described by their Rust types.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

use crate::any::{Any, AnyView};
use crate::convert::{AnyCompatible, Found, TypeName};
use crate::error;
use crate::error::{Error, Result};

/// What a typed function returns: a value, nothing, or a result of one.
pub trait IntoResult {
    /// Writes the return type as signatures show it.
    fn type_name(out: &mut dyn Write) -> fmt::Result;

    /// Writes the type schema of the return type.
    fn schema(out: &mut dyn Write) -> fmt::Result;

    /// The outcome of the call.
    ///
    /// # Errors
    /// That of the function.
    fn into_result(self) -> Result<Any>;
}

impl<T: AnyCompatible> IntoResult for T {
    fn type_name(out: &mut dyn Write) -> fmt::Result {
        // Upstream tells a function without result (`void`) from one that returns None.
        let mut text = VoidForNone(out);
        T::type_name(&mut text)
    }

    fn schema(out: &mut dyn Write) -> fmt::Result {
        T::schema(out)
    }

    fn into_result(self) -> Result<Any> {
        Ok(self.into_any())
    }
}

impl<T: AnyCompatible> IntoResult for Result<T> {
    fn type_name(out: &mut dyn Write) -> fmt::Result {
        <T as IntoResult>::type_name(out)
    }

    fn schema(out: &mut dyn Write) -> fmt::Result {
        T::schema(out)
    }

    fn into_result(self) -> Result<Any> {
        self.map(AnyCompatible::into_any)
    }
}

/// Writes `void` where a whole type name is `None`.
struct VoidForNone<'a>(&'a mut dyn Write);

impl Write for VoidForNone<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(if text == "None" { "void" } else { text })
    }
}

/// A function whose argument and return types are known: closures and functions of up to eight arguments.
///
/// `Args` is the tuple of argument types, inferred.
///
/// # Upstream
/// `details::unpack_call` and `FunctionInfo` in `function_detail.h`.
pub trait TypedFn<Args> {
    /// Number of arguments.
    const ARITY: usize;

    /// Calls the function with packed arguments. `name` shows in errors.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; MemoryError; the function's own.
    fn invoke(&self, name: &str, args: &[AnyView<'_>]) -> Result<Any>;

    /// Writes `(0: int, 1: str) -> void`.
    fn write_signature(out: &mut dyn Write) -> fmt::Result;

    /// Writes the type schema, JSON as upstream's stub tools read it.
    fn write_schema(out: &mut dyn Write) -> fmt::Result;
}

/// One call being unpacked: what it was given, and what its errors say.
struct Call<'a> {
    name: &'a str,
    args: &'a [AnyView<'a>],
    signature: fn(&mut dyn Write) -> fmt::Result,
}

/// Shows the function that is called: its name, if it has one, and its signature.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        (self.signature)(f)
    }
}

impl Call<'_> {
    /// The argument at `index`, converted.
    fn argument<T: AnyCompatible>(&self, index: usize) -> Result<T> {
        let view = self.args[index];
        match T::try_from_view(view)? {
            Some(value) => Ok(value),
            None => Err(self.wrong_type::<T>(index, view)),
        }
    }

    #[cold]
    fn wrong_type<T: AnyCompatible>(&self, index: usize, view: AnyView<'_>) -> Error {
        let (expected, found) = (TypeName::<T>::new(), Found::<T>::new(view));
        error!(
            TYPE_ERROR,
            "Mismatched type on argument #{index} when calling: `{self}`. Expected `{expected}` but got `{found}`"
        )
    }

    #[cold]
    fn wrong_count(&self, arity: usize) -> Error {
        error!(
            TYPE_ERROR,
            "Mismatched number of arguments when calling: `{self}`. Expected {arity} but got {} arguments",
            self.args.len()
        )
    }
}

macro_rules! typed_functions {
    ($($arity:literal: $($index:literal $argument:ident),*;)*) => {$(
        impl<F, R, $($argument),*> TypedFn<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R,
            R: IntoResult,
            $($argument: AnyCompatible,)*
        {
            const ARITY: usize = $arity;

            fn invoke(&self, name: &str, args: &[AnyView<'_>]) -> Result<Any> {
                let call = Call { name, args, signature: <F as TypedFn<($($argument,)*)>>::write_signature };
                if args.len() != $arity {
                    return Err(call.wrong_count($arity));
                }
                self($(call.argument::<$argument>($index)?),*).into_result()
            }

            fn write_signature(out: &mut dyn Write) -> fmt::Result {
                out.write_char('(')?;
                $(
                    write!(out, "{}{}: {}", if $index == 0 { "" } else { ", " }, $index, TypeName::<$argument>::new())?;
                )*
                out.write_str(") -> ")?;
                R::type_name(out)
            }

            fn write_schema(out: &mut dyn Write) -> fmt::Result {
                out.write_str("{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[")?;
                R::schema(out)?;
                out.write_str("],\"params\":[")?;
                $(
                    if $index > 0 {
                        out.write_char(',')?;
                    }
                    $argument::schema(out)?;
                )*
                out.write_str("]}}")
            }
        }
    )*};
}

typed_functions! {
    0: ;
    1: 0 A;
    2: 0 A, 1 B;
    3: 0 A, 1 B, 2 C;
    4: 0 A, 1 B, 2 C, 3 D;
    5: 0 A, 1 B, 2 C, 3 D, 4 E;
    6: 0 A, 1 B, 2 C, 3 D, 4 E, 5 G;
    7: 0 A, 1 B, 2 C, 3 D, 4 E, 5 G, 6 H;
    8: 0 A, 1 B, 2 C, 3 D, 4 E, 5 G, 6 H, 7 I;
}

/// Writes the type schema of a function given by value, for macros that cannot name its type.
pub fn schema_of<Args, F: TypedFn<Args>>(_: &F, out: &mut dyn Write) -> fmt::Result {
    F::write_schema(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_upstreams() -> fmt::Result {
        let mut text = std::string::String::new();
        schema_of(&|_: Option<i64>, _: crate::String| {}, &mut text)?;
        assert_eq!(
            text,
            r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"Optional","args":[{"type":"int"}]},{"type":"ffi.String"}]}}"#
        );
        Ok(())
    }

    #[test]
    fn a_function_without_result_is_void() {
        let error = (|_: i64| {}).invoke("f", &[]).unwrap_err();
        assert_eq!(
            error.message(),
            b"Mismatched number of arguments when calling: `f(0: int) -> void`. Expected 1 but got 0 arguments"
        );
    }
}
