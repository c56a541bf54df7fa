//! The hooks `__any_hash__` and `__any_equal__`, by which a type hashes and compares its objects as keys.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::{Error, Result};
use ferrite_core::function::Function;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::type_table::{self, AttrColumn};
use ferrite_core::{plain_bail, type_index};

use crate::cxx;

/// Registers the hook function of a type, unless it has one.
///
/// # Errors
/// MemoryError.
pub(crate) fn install(type_index: i32, column: &str, hook: &StaticFunction) -> Result<()> {
    if !type_table::attr(type_index, column.as_bytes()).is_none() {
        return Ok(());
    }
    type_table::register_attr(type_index, column.as_bytes(), AnyView::from(&hook.to_function()?))
}

pub(super) static HASH_HOOKS: Hooks = Hooks::new("__any_hash__");
pub(super) static EQUAL_HOOKS: Hooks = Hooks::new("__any_equal__");

/// A column of hooks by type. Its address is cached: columns never move.
pub(super) struct Hooks {
    pub(super) name: &'static str,
    column: AtomicPtr<AttrColumn>,
}

impl Hooks {
    const fn new(name: &'static str) -> Self {
        Self { name, column: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the hook of a type.
    pub(super) fn get(&self, type_index: i32) -> Option<AnyView<'static>> {
        if type_index < type_index::STATIC_OBJECT_BEGIN {
            return None;
        }
        let hook = self.column()?.get(type_index);
        (!hook.is_none()).then_some(hook)
    }

    fn column(&self) -> Option<&'static AttrColumn> {
        // SAFETY: the pointer is null or stems from a static reference below.
        if let Some(column) = unsafe { self.column.load(Ordering::Acquire).as_ref() } {
            return Some(column);
        }
        let column = type_table::attr_column(self.name.as_bytes())?;
        self.column.store(ptr::from_ref(column).cast_mut(), Ordering::Release);
        Some(column)
    }

    /// Calls the hook of the type of the first key: returns the hash of one key, or whether two are equal. None without a
    /// hook.
    pub(super) fn call(&self, keys: &[AnyView<'_>]) -> Result<Option<u64>> {
        let [key, others @ ..] = keys else { return Ok(None) };
        let Some(hook) = self.get(key.type_index()) else { return Ok(None) };
        let expected = if others.is_empty() { type_index::INT } else { type_index::BOOL };
        let Some(native) = native(hook)? else {
            return payload_of(hook.get::<Function>()?.call(keys)?, expected).map(Some);
        };
        // SAFETY: a pointer in these columns is such a hook by their contract; the cells live through the call.
        let cell = unsafe {
            match others {
                [] => cxx::call_hash(native, key.as_raw()),
                [other, ..] => cxx::call_equal(native, key.as_raw(), other.as_raw()),
            }
        };
        native_payload(cell?, expected).map(Some)
    }
}

/// Returns the address of a pointer hook, or `None` for a Function.
fn native(hook: AnyView<'_>) -> Result<Option<*mut c_void>> {
    match hook.type_index() {
        type_index::OPAQUE_PTR => {
            let pointer = hook.get::<*mut c_void>()?;
            if pointer.is_null() {
                plain_bail!(INTERNAL_ERROR, "The key hook of a type is a null pointer");
            }
            Ok(Some(pointer))
        }
        type_index::FUNCTION => Ok(None),
        other => {
            plain_bail!(
                INTERNAL_ERROR,
                "The key hook of a type has type index {}, not that of a function",
                other
            )
        }
    }
}

/// Returns the payload of the result of a pointer hook, in either of its signatures: since 0.1.15 a cell of the expected
/// type or an Error, before that a plain number in place of the cell's head. An old hash that equals one of these two heads
/// is misread.
fn native_payload(cell: TVMFFIAny, expected: i32) -> Result<u64> {
    let head = u64::from(cell.type_index as u32) | u64::from(cell.small_str_len) << 32;
    if head == expected as u64 || head == type_index::ERROR as u64 {
        // SAFETY: with such a head it is a cell, which is owned.
        payload_of(unsafe { Any::from_raw(cell) }, expected)
    } else {
        Ok(head)
    }
}

/// Returns the payload of a result of the expected type. A returned Error is raised.
fn payload_of(result: Any, expected: i32) -> Result<u64> {
    if result.type_index() == expected {
        return Ok(result.view().payload_bits());
    }
    match result.try_get::<Error>()? {
        Some(error) => Err(error),
        None => plain_bail!(
            INTERNAL_ERROR,
            "The key hook of a type answered a value of type index {}, expected {}",
            result.type_index(),
            expected
        ),
    }
}
