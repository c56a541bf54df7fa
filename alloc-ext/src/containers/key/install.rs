//! Registration of key hooks for the library's own types, for clients that hash keys themselves.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table;
use ferrite_core::static_function;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::big_int::BigInt;

use super::hash::hash_words;
use super::hooks::{EQUAL_HOOKS, HASH_HOOKS};

/// Creates the columns of key hooks, and registers the hooks of big integers unless they have some.
///
/// C++ code looks the columns up once and caches their absence, so a library that such clients load
/// must call this when it is loaded. Calling it again has no effect. The hooks are Functions, which
/// clients of all versions call in the same way; pointer hooks have a different signature since
/// 0.1.15. Allocation: the two columns.
///
/// # Errors
/// MemoryError.
pub fn install_hooks() -> Result<()> {
    static HASH: StaticFunction =
        static_function!(concat!("ffi.BigInt.", "__any_hash__"), hash_function);
    static EQUAL: StaticFunction =
        static_function!(concat!("ffi.BigInt.", "__any_equal__"), equal_function);
    install(type_index::BIG_INT, HASH_HOOKS.name, &HASH)?;
    install(type_index::BIG_INT, EQUAL_HOOKS.name, &EQUAL)
}

/// Registers the hook function of a type, unless the type already has one.
///
/// # Errors
/// MemoryError.
pub(crate) fn install(type_index: i32, column: &str, hook: &StaticFunction) -> Result<()> {
    if !type_table::attr(type_index, column.as_bytes()).is_none() {
        return Ok(());
    }
    type_table::register_attr(type_index, column.as_bytes(), AnyView::from(&hook.to_function()?))
}

fn hash_function(key: BigInt) -> i64 {
    hash_words(&key) as i64
}

fn equal_function(lhs: BigInt, rhs: BigInt) -> bool {
    lhs.words() == rhs.words()
}

#[cfg(test)]
mod tests {
    use super::super::equal::{equal, equal_by_hook};
    use super::super::hash::{combine, hash};
    use super::*;
    use ferrite_core::value::any::Any;

    #[test]
    fn big_integers_are_equal_by_value() -> Result<()> {
        install_hooks()?;
        install_hooks()?;
        let number = |high: i64| -> Result<Any> {
            let mut content = [0; 16];
            content[..8].copy_from_slice(&5i64.to_ne_bytes());
            content[8..].copy_from_slice(&high.to_ne_bytes());
            ferrite_core::value::big_int::from_native_bytes(&content)
        };
        let (one, same, other) = (number(1)?, number(1)?, number(2)?);
        assert_eq!(one.type_index(), type_index::BIG_INT);
        assert_eq!(hash(&one.view())?, hash(&same.view())?);
        assert!(equal(one.view(), same.view())? && !equal(one.view(), other.view())?);
        // The hook that clients call agrees with the functions here.
        let result = HASH_HOOKS.call(&[one.view()])?.expect("just installed");
        assert_eq!(combine(type_index::BIG_INT, result), hash(&one.view())?);
        assert!(
            equal_by_hook(one.view(), same.view())? && !equal_by_hook(one.view(), other.view())?
        );
        Ok(())
    }
}
