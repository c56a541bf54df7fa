//! Built-in functions: tables in read-only data, found by name without registration at load time.
//!
//! Each module lists its functions next to its code, and the binary selects the lists that it
//! includes; other lists are not linked. A function object is created at the first lookup.
//!
//! Price of the two forms of `entry`, with those of ring 2's operations: one shared safe call takes
//! 4,296 bytes less of flash on a Cortex-M4F.

use core::fmt;
use core::ptr;

use crate::error::Result;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::value::any::{Any, AnyView};

#[cfg_attr(not(feature = "speed"), path = "small.rs")]
#[cfg_attr(feature = "speed", path = "fast.rs")]
mod entry;
pub use entry::*;

#[cfg_attr(
    not(all(feature = "optional-functions", target_family = "wasm", not(feature = "speed"))),
    path = "required.rs"
)]
mod optional;
pub use optional::*;
#[cfg(not(feature = "speed"))]
mod served;
#[cfg(not(feature = "speed"))]
pub use served::Served;

/// A Rust function over packed arguments.
pub type PackedFn = fn(&[AnyView<'_>]) -> Result<Any>;

/// The built-in functions of a binary.
pub struct Builtins {
    /// The common prefix of all names, so that one comparison excludes most other names.
    pub prefix: &'static str,
    /// The functions, one list per module.
    pub groups: &'static [&'static [StaticFunction]],
}

/// Creates a [`StaticFunction`] from a Rust function.
///
/// `static_function!("ffi.ArraySize", array_size)` checks the number and types of arguments as
/// [`Function::from_typed`](crate::Function::from_typed) does, and derives the schema. With
/// `packed` before the name, the function takes `&[AnyView<'_>]` and returns `Result<Any>`. A
/// function whose name is a literal is optional in builds for web pages.
///
/// # Upstream
/// `GlobalDef::def` and `GlobalDef::def_packed` in `reflection/registry.h`.
#[macro_export]
macro_rules! static_function {
    (packed $name:literal, $function:expr) => {{
        const CALLEE: &$crate::call::typed::Callee<'static> =
            &$crate::call::typed::Callee::new($name, &$crate::call::typed::Signature::PACKED);
        $crate::function_of_body!(CALLEE, $function, $name)
    }};
    (@ $name:expr, $function:expr, $($optional:literal)?) => {{
        const CALLEE: &$crate::call::typed::Callee<'static> =
            &$crate::call::typed::Callee::new($name, $crate::call::typed::signature_of(&$function));
        fn body(args: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            $crate::call::typed::TypedFn::invoke(&$function, CALLEE, args)
        }
        $crate::function_of_body!(CALLEE, body $(, $optional)?)
    }};
    ($name:literal, $function:expr) => {
        $crate::static_function!(@ $name, $function, $name)
    };
    ($name:expr, $function:expr) => {
        $crate::static_function!(@ $name, $function,)
    };
}

/// The installed functions, or null before [`install`].
static INSTALLED: AtomicPtr<Builtins> = AtomicPtr::new(ptr::null_mut());

/// Installs the built-in functions of this binary. Must be called before the first lookup;
/// repeating the call with the same functions has no effect.
///
/// # Threads
/// One atomic store.
pub fn install(builtins: &'static Builtins) {
    INSTALLED.store(ptr::from_ref(builtins).cast_mut(), Ordering::Release);
}

fn installed() -> Option<&'static Builtins> {
    // SAFETY: the pointer is null or was made of a static reference.
    unsafe { INSTALLED.load(Ordering::Acquire).cast_const().as_ref() }
}

/// Returns the lists of installed functions, in the order of lookup.
pub fn groups() -> &'static [&'static [StaticFunction]] {
    installed().map_or(&[], |builtins| builtins.groups)
}

/// Returns `true` if a built-in function may have this name: the name has the common prefix, or no
/// functions are installed yet.
#[inline]
pub fn may_have(name: &[u8]) -> bool {
    installed().is_none_or(|builtins| name.starts_with(builtins.prefix.as_bytes()))
}

/// Finds an installed function by name.
///
/// # Threads
/// Lock-free, allocates nothing.
pub fn find(name: &[u8]) -> Option<&'static StaticFunction> {
    let builtins = installed().filter(|builtins| name.starts_with(builtins.prefix.as_bytes()))?;
    let mut groups = builtins.groups.iter();
    groups.find_map(|group| group.iter().find(|function| function.name().as_bytes() == name))
}

impl fmt::Debug for StaticFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::value::any::{Any, AnyView};

    fn double(value: i64) -> i64 {
        value * 2
    }

    fn count(args: &[AnyView<'_>]) -> Result<Any> {
        Ok(Any::from(args.len() as i64))
    }

    static FUNCTIONS: [StaticFunction; 2] = [
        crate::static_function!("test.Double", double),
        crate::static_function!(packed "test.Count", count),
    ];

    #[test]
    fn typed_functions_check_their_arguments() -> Result<()> {
        let function = FUNCTIONS[0].to_function()?;
        assert_eq!(function.call_packed(&[21i64.into()])?.get::<i64>()?, 42);
        let error = function.call_packed(&[AnyView::NONE]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError");
        assert_eq!(
            error.message_bytes(),
            b"Mismatched type on argument #0 when calling: `test.Double(0: int) -> int`. Expected `int` but got `None`"
        );
        Ok(())
    }

    #[test]
    fn packed_functions_take_any_arguments() -> Result<()> {
        let function = FUNCTIONS[1].to_function()?;
        assert_eq!(function.call_packed(&[1i64.into(), AnyView::NONE])?.get::<i64>()?, 2);
        Ok(())
    }

    #[test]
    fn metadata_comes_from_the_signature() -> Result<()> {
        assert_eq!(
            FUNCTIONS[0].metadata()?.as_bytes(),
            br#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"int\"}],\"params\":[{\"type\":\"int\"}]}}"}"#
        );
        assert_eq!(
            FUNCTIONS[1].metadata()?.as_bytes(),
            br#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#
        );
        Ok(())
    }
}
