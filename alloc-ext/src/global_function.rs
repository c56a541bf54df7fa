//! Global functions and classes of the loaded `libtvm_ffi`, looked up once.

use core::ptr;

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::class::is_bound;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_error;
use ferrite_core::platform::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use ferrite_core::value::any::{Any, AnyView};

/// A global function of the loaded library. The first [`get`](GlobalFunction::get) looks it up and
/// retains it.
pub struct GlobalFunction {
    name: &'static str,
    /// The function object; null before the first call. It is written once.
    object: AtomicPtr<TVMFFIObject>,
}

impl GlobalFunction {
    /// Describes a global function, which the first call looks up.
    pub const fn new(name: &'static str) -> GlobalFunction {
        GlobalFunction { name, object: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the function.
    ///
    /// # Errors
    /// RuntimeError if the loaded library has no such function.
    pub fn get(&'static self) -> Result<&'static Function> {
        if self.object.load(Ordering::Acquire).is_null() {
            self.look_up()?;
        }
        // SAFETY: the pointer is that of a function object with a reference that is never released,
        // and is not written again; a reference is a transparent newtype over such a pointer.
        Ok(unsafe { &*self.object.as_ptr().cast::<Function>() })
    }

    #[cold]
    fn look_up(&self) -> Result<()> {
        let function = Function::find_global(self.name)?.ok_or_else(|| {
            plain_error!(RUNTIME_ERROR, "libtvm_ffi has no function {}", self.name)
        })?;
        let object = function.into_object().into_raw().as_ptr();
        let known = self.object.compare_exchange(
            ptr::null_mut(),
            object,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if known.is_err() {
            // SAFETY: another thread was faster, so that this reference is unused.
            drop(unsafe { ObjectRef::from_raw(ptr::NonNull::new_unchecked(object)) });
        }
        Ok(())
    }
}

/// Returns a global function of the loaded library by its name, or the error that it has none:
/// `library_function!("ffi.X")`.
macro_rules! library_function {
    ($name:literal) => {{
        static FUNCTION: $crate::global_function::GlobalFunction =
            $crate::global_function::GlobalFunction::new($name);
        FUNCTION.get()?
    }};
}
pub(crate) use library_function;

/// The type index of a class of the loaded library, looked up by its key.
pub struct ClassIndex {
    key: &'static str,
    index: AtomicI32,
}

impl ClassIndex {
    /// Sentinel: not a type index.
    const UNKNOWN: i32 = -2;

    /// Describes a class, which the first use looks up.
    pub const fn new(key: &'static str) -> ClassIndex {
        ClassIndex { key, index: AtomicI32::new(Self::UNKNOWN) }
    }

    /// Returns the type index. Returns a sentinel that no object has if the library does not define
    /// the class, or if a class of this binary has the same key.
    pub fn get(&self) -> i32 {
        let known = self.index.load(Ordering::Relaxed);
        if known != Self::UNKNOWN {
            return known;
        }
        let found =
            type_table::key_to_index(self.key.as_bytes()).filter(|index| !is_bound(*index, None));
        let found = found.unwrap_or(Self::UNKNOWN);
        self.index.store(found, Ordering::Relaxed);
        found
    }
}

/// Calls `body` with a view that holds the only reference to the value, so that the called function
/// may move the value out.
///
/// # Errors
/// Errors of `body`.
pub fn with_moved<R>(value: Any, body: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
    let object = match value.into_object() {
        Ok(object) => object,
        Err(plain) => return body(plain.view()),
    };
    let mut slot = object.into_raw().as_ptr();
    let mut payload = TVMFFIAnyPayload { v_uint64: 0 };
    payload.v_ptr = (&raw mut slot).cast();
    let cell = TVMFFIAny { type_index: type_index::OBJECT_RVALUE_REF, small_str_len: 0, payload };
    // SAFETY: the slot has the pointer of a live object, and outlives the call.
    let result = body(unsafe { AnyView::from_raw(cell) });
    // Whoever takes the object sets the slot to null.
    // SAFETY: otherwise the reference is still owned here.
    drop(ptr::NonNull::new(slot).map(|object| unsafe { ObjectRef::from_raw(object) }));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::class::KeyBinding;
    use ferrite_core::names::type_table::NewTypeRequest;

    fn register(key: &str) -> Result<i32> {
        type_table::get_or_alloc_index(&NewTypeRequest {
            type_key: key.as_bytes(),
            static_type_index: -1,
            type_depth: 1,
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index: type_index::OBJECT,
        })
    }

    #[test]
    fn a_class_of_the_library_is_found_when_it_is_there() -> Result<()> {
        static CLASS: ClassIndex = ClassIndex::new("test.client.Late");
        assert_eq!(CLASS.get(), ClassIndex::UNKNOWN);
        let index = register("test.client.Late")?;
        assert_eq!(CLASS.get(), index);
        Ok(())
    }

    #[test]
    fn a_class_of_this_binary_is_not_the_librarys() -> Result<()> {
        static OWN: KeyBinding = KeyBinding::new();
        static CLASS: ClassIndex = ClassIndex::new("test.client.Own");
        OWN.bind(register("test.client.Own")?, b"test.client.Own")?;
        assert_eq!(CLASS.get(), ClassIndex::UNKNOWN);
        Ok(())
    }
}
