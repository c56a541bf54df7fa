//! Functions of methods, constructors and hooks.

use crate::call::function::Function;
use crate::call::typed::{Callee, IntoResult, TypedFn};
use crate::class::registration::DescribedFunction;
use crate::error::Result;
use crate::plain_error;
use crate::value::any::{Any, AnyView};
use crate::value::convert::TypeText;
use crate::value::string::String;

use super::keywords::Keywords;
use super::{Object, ObjectArc};

/// Creates the function of a method of class `T`, whose error messages show `KEY.NAME`.
///
/// # Errors
/// MemoryError.
pub fn method<T, Args, F>(name: &'static str, function: F) -> Result<DescribedFunction>
where
    T: Object,
    Args: 'static,
    F: TypedFn<Args> + Send + Sync + 'static,
{
    let name = qualified::<T>(name)?;
    let call = move |args: &[AnyView<'_>]| {
        let name = name.as_str().unwrap_or_default();
        function.invoke(&Callee::new(name, F::SIGNATURE), args)
    };
    Ok(DescribedFunction { function: Function::from_packed(call)?, signature: F::SIGNATURE })
}

/// Creates the function of the constructor of class `T`, which also takes its arguments by the
/// names of the parameters.
///
/// # Errors
/// MemoryError.
pub fn constructor<T, Args, F>(
    names: &'static [&'static str],
    function: F,
) -> Result<DescribedFunction>
where
    T: Object,
    Args: 'static,
    F: TypedFn<Args> + Send + Sync + 'static,
{
    let keywords = Keywords::new(T::TYPE_KEY, names)?;
    let name = qualified::<T>("__ffi_init__")?;
    let call = move |args: &[AnyView<'_>]| {
        let name = name.as_str().unwrap_or_default();
        keywords.bind(args, |args| function.invoke(&Callee::new(name, F::SIGNATURE), args))
    };
    Ok(DescribedFunction { function: Function::from_packed(call)?, signature: F::SIGNATURE })
}

/// Returns `KEY.NAME`.
fn qualified<T: Object>(name: &str) -> Result<String> {
    String::compose(&|out| {
        out.put(T::TYPE_KEY.as_bytes());
        out.put(b".");
        out.put(name.as_bytes());
    })
}

/// The result of a method that borrows its object, or the error of the borrow.
pub struct MethodResult<R>(pub Result<R>);

impl<R: IntoResult> IntoResult for MethodResult<R> {
    const TEXT: &'static TypeText = R::TEXT;

    fn into_result(self) -> Result<Any> {
        self.0.and_then(R::into_result)
    }
}

/// Creates the function of `__ffi_shallow_copy__`.
///
/// # Errors
/// MemoryError.
pub fn shallow_copy<T: Object>() -> Result<Function> {
    let copy = |object: ObjectArc<T>| -> Result<ObjectArc<T>> {
        let content = object.borrow()?.shallow_copy();
        match content {
            Some(content) => ObjectArc::new(content),
            None => Err(
                plain_error!(TYPE_ERROR, "Objects of class `{}` are not copied", T::TYPE_KEY; "no copy"),
            ),
        }
    };
    Ok(method::<T, _, _>("__ffi_shallow_copy__", copy)?.function)
}
