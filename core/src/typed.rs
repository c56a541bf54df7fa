//! Typed functions: arguments unpacked, checked and described by their Rust types.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

use crate::any::{Any, AnyView};
use crate::convert::AnyCompatible;
use crate::error;
use crate::error::{Error, Result};

/// What a typed function returns: a value, nothing, or a result of one.
pub trait IntoResult {
    /// The type as signatures and schemas show it.
    const TEXTS: &'static TypeTexts;

    /// The outcome of the call.
    ///
    /// # Errors
    /// That of the function.
    fn into_result(self) -> Result<Any>;
}

impl<T: AnyCompatible> IntoResult for T {
    const TEXTS: &'static TypeTexts = &TypeTexts::of::<T>();

    fn into_result(self) -> Result<Any> {
        Ok(self.into_any())
    }
}

impl<T: AnyCompatible> IntoResult for Result<T> {
    const TEXTS: &'static TypeTexts = &TypeTexts::of::<T>();

    fn into_result(self) -> Result<Any> {
        self.map(AnyCompatible::into_any)
    }
}

/// The three texts about a type that calls need.
pub struct TypeTexts {
    name: fn(&mut dyn Write) -> fmt::Result,
    schema: fn(&mut dyn Write) -> fmt::Result,
    mismatch: fn(AnyView<'_>, &mut dyn Write) -> fmt::Result,
}

impl TypeTexts {
    const fn of<T: AnyCompatible>() -> TypeTexts {
        TypeTexts { name: T::type_name, schema: T::schema, mismatch: T::describe_mismatch }
    }
}

/// The types of a function, for messages and schemas.
pub struct Signature {
    params: &'static [&'static TypeTexts],
    /// None for a packed function, whose schema tells no types.
    result: Option<&'static TypeTexts>,
}

impl Signature {
    /// That of functions which take any arguments.
    pub const PACKED: Signature = Signature { params: &[], result: None };

    /// Writes the type schema, JSON as upstream's stub tools read it.
    pub fn write_schema(&self, out: &mut dyn Write) -> fmt::Result {
        let Some(result) = self.result else { return out.write_str("{\"type\":\"ffi.Function\"}") };
        out.write_str("{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[")?;
        (result.schema)(out)?;
        out.write_str("],\"params\":[")?;
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                out.write_char(',')?;
            }
            (param.schema)(out)?;
        }
        out.write_str("]}}")
    }
}

/// Shows `(0: int, 1: str) -> void`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{index}: ")?;
            (param.name)(f)?;
        }
        f.write_str(") -> ")?;
        // Upstream tells a function without result (`void`) from one that returns None.
        self.result.map_or(Ok(()), |result| (result.name)(&mut VoidForNone(f)))
    }
}

/// Writes `void` where a whole type name is `None`.
struct VoidForNone<'a>(&'a mut dyn Write);

impl Write for VoidForNone<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(if text == "None" { "void" } else { text })
    }
}

/// A function as the messages of its calls name it.
pub struct Callee<'a> {
    /// The name; may be empty.
    pub name: &'a str,
    /// Its types.
    pub signature: &'static Signature,
}

impl Callee<'_> {
    /// The argument at `index`, converted.
    fn argument<T: AnyCompatible>(&self, args: &[AnyView<'_>], index: usize) -> Result<T> {
        let view = args[index];
        match T::try_from_view(view)? {
            Some(value) => Ok(value),
            None => Err(self.wrong_type(index, view)),
        }
    }

    #[cold]
    #[inline(never)]
    fn wrong_type(&self, index: usize, view: AnyView<'_>) -> Error {
        let Some(param) = self.signature.params.get(index) else { return self.wrong_count(index) };
        let (expected, found) = (Shown(param.name), Shown(|out: &mut dyn Write| (param.mismatch)(view, out)));
        error!(
            TYPE_ERROR,
            "Mismatched type on argument #{index} when calling: `{}{}`. Expected `{expected}` but got `{found}`",
            self.name,
            self.signature
        )
    }

    #[cold]
    #[inline(never)]
    fn wrong_count(&self, count: usize) -> Error {
        error!(
            TYPE_ERROR,
            "Mismatched number of arguments when calling: `{}{}`. Expected {} but got {count} arguments",
            self.name,
            self.signature,
            self.signature.params.len()
        )
    }
}

/// Shows what a function writes.
struct Shown<F>(F);

impl<F: Fn(&mut dyn Write) -> fmt::Result> fmt::Display for Shown<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

/// A function whose argument and return types are known: closures and functions of up to eight arguments.
///
/// `Args` is the tuple of argument types, inferred.
///
/// # Upstream
/// `details::unpack_call` and `FunctionInfo` in `function_detail.h`.
pub trait TypedFn<Args> {
    /// The types.
    const SIGNATURE: &'static Signature;

    /// Calls the function with packed arguments. `callee` shows in errors, and has the signature of this function.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; MemoryError; the function's own.
    fn invoke(&self, callee: &Callee<'_>, args: &[AnyView<'_>]) -> Result<Any>;
}

macro_rules! typed_functions {
    ($($arity:literal: $($index:literal $argument:ident),*;)*) => {$(
        impl<F, R, $($argument),*> TypedFn<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R,
            R: IntoResult,
            $($argument: AnyCompatible,)*
        {
            const SIGNATURE: &'static Signature = &Signature {
                params: &[$(&TypeTexts::of::<$argument>()),*],
                result: Some(R::TEXTS),
            };

            fn invoke(&self, callee: &Callee<'_>, args: &[AnyView<'_>]) -> Result<Any> {
                if args.len() != $arity {
                    return Err(callee.wrong_count(args.len()));
                }
                self($(callee.argument::<$argument>(args, $index)?),*).into_result()
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

/// The signature of a function given by value, for macros that cannot name its type.
pub const fn signature_of<Args, F: TypedFn<Args>>(_: &F) -> &'static Signature {
    F::SIGNATURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_upstreams() -> fmt::Result {
        let mut text = std::string::String::new();
        signature_of(&|_: Option<i64>, _: crate::String| {}).write_schema(&mut text)?;
        assert_eq!(
            text,
            r#"{"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"Optional","args":[{"type":"int"}]},{"type":"ffi.String"}]}}"#
        );
        Ok(())
    }

    #[test]
    fn a_function_without_result_is_void() {
        let function = |_: i64| {};
        let callee = Callee { name: "f", signature: signature_of(&function) };
        let error = function.invoke(&callee, &[]).unwrap_err();
        assert_eq!(
            error.message(),
            b"Mismatched number of arguments when calling: `f(0: int) -> void`. Expected 1 but got 0 arguments"
        );
    }
}
