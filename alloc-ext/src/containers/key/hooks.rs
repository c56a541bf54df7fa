//! The hooks `__any_hash__` and `__any_equal__`, with which a type defines hash and equality of its
//! objects as map keys.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::{TVMFFIAny, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table::{self, AttrColumn};
use ferrite_core::plain_bail;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::value::any::{Any, AnyView};

use crate::cxx;

pub(super) static HASH_HOOKS: Hooks = Hooks::new("__any_hash__");
pub(super) static EQUAL_HOOKS: Hooks = Hooks::new("__any_equal__");

/// Column of one hook for all types. Caches the address of the column, which never moves.
pub(super) struct Hooks {
    pub(super) name: &'static str,
    column: AtomicPtr<AttrColumn>,
}

impl Hooks {
    const fn new(name: &'static str) -> Self {
        Self { name, column: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the hook of a type; `None` if it has none.
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

    /// Calls the hook of the type of the first key. Returns the hash of a single key, or whether
    /// two keys are equal. Returns `None` if the type has no hook.
    pub(super) fn call(&self, keys: &[AnyView<'_>]) -> Result<Option<u64>> {
        let [key, others @ ..] = keys else { return Ok(None) };
        let Some(hook) = self.get(key.type_index()) else { return Ok(None) };
        let expected = if others.is_empty() { type_index::INT } else { type_index::BOOL };
        let Some(native) = native(hook)? else {
            return payload_of(hook.get::<Function>()?.call_packed(keys)?, expected).map(Some);
        };
        // SAFETY: a pointer in these columns is such a hook by their contract; the cells live
        // through the call.
        let cell = unsafe {
            match others {
                [] => cxx::call_hash(native, key.as_raw()),
                [other, ..] => cxx::call_equal(native, key.as_raw(), other.as_raw()),
            }
        };
        native_payload(cell?, expected).map(Some)
    }
}

/// Returns the address of a pointer hook; `None` for a hook that is a Function.
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

/// Returns the payload of the result of a pointer hook, whose signature has changed. Since 0.1.15
/// the result is a cell with a value of the expected type or an Error. Before, it was a plain
/// number in place of the first word of the cell. An old-style hash that equals one of these two
/// first words is misread.
fn native_payload(cell: TVMFFIAny, expected: i32) -> Result<u64> {
    let head = u64::from(cell.type_index as u32) | u64::from(cell.small_str_len) << 32;
    if head == expected as u64 || head == type_index::ERROR as u64 {
        // SAFETY: with such a head it is a cell, which is owned.
        payload_of(unsafe { Any::from_raw(cell) }, expected)
    } else {
        Ok(head)
    }
}

/// Returns the payload of a result of the expected type. A returned Error is raised, and another
/// type is an InternalError.
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
