//! Members that the library itself adds to types. Registering them again has no effect.
//!
//! Clients built for an earlier release register members that the library of a later release
//! provides itself.

use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use crate::abi::TVMFFIByteArray;
use crate::platform::sync::current_thread;

use super::super::attr_column::AttrColumn;
use super::super::members::is_same_text;
use super::super::type_info;

/// Identifies the thread that is running the provider; 0 if none is.
static PROVIDING_THREAD: AtomicUsize = AtomicUsize::new(0);

/// Runs the provider, and marks its registrations as the library's own.
pub(in crate::names::type_table) fn run_as_library<T>(provider: impl FnOnce() -> T) -> T {
    PROVIDING_THREAD.store(current_thread().map_or(0, NonZeroUsize::get), Ordering::Relaxed);
    let result = provider();
    PROVIDING_THREAD.store(0, Ordering::Relaxed);
    result
}

/// Returns `true` if the calling thread is running the provider.
#[inline(always)]
pub(in crate::names::type_table) fn is_providing() -> bool {
    let thread = PROVIDING_THREAD.load(Ordering::Relaxed);
    thread != 0 && current_thread().is_some_and(|here| here.get() == thread)
}

/// Number of fields or methods of a type that the library added. They precede those of clients.
pub(in crate::names::type_table) struct LibraryCount(AtomicU8);

impl LibraryCount {
    pub(in crate::names::type_table) const fn new(count: u8) -> Self {
        LibraryCount(AtomicU8::new(count))
    }

    /// Counts a new record as the library's own if the provider is running.
    pub(in crate::names::type_table) fn add(&self, index: usize) {
        if is_providing() {
            self.0.store(u8::try_from(index + 1).unwrap_or(u8::MAX), Ordering::Relaxed);
        }
    }

    /// Returns the library's own records among the records of a type.
    fn of<'a, T>(&self, records: &'a [T]) -> &'a [T] {
        let count = usize::from(self.0.load(Ordering::Relaxed));
        records.get(..count).unwrap_or(records)
    }
}

/// One past the highest index of the library's own types. The types of the provider follow the
/// built-in ones.
const END_OF_LIBRARY_TYPES: i32 = 192;

/// A set of types for which the library registered an attribute: one bit per type index.
pub(in crate::names::type_table) struct LibraryTypes(
    [AtomicU32; END_OF_LIBRARY_TYPES as usize / 32],
);

impl LibraryTypes {
    pub(in crate::names::type_table) const fn none() -> Self {
        LibraryTypes([const { AtomicU32::new(0) }; END_OF_LIBRARY_TYPES as usize / 32])
    }

    /// Adds a type to the set if the provider is running.
    pub(in crate::names::type_table) fn add(&self, type_index: i32) {
        if let Some((word, bit)) = self.bit(type_index).filter(|_| is_providing()) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn has(&self, type_index: i32) -> bool {
        self.bit(type_index).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    fn bit(&self, type_index: i32) -> Option<(&AtomicU32, u32)> {
        let index = usize::try_from(type_index).ok()?;
        Some((self.0.get(index / 32)?, 1 << (index % 32)))
    }
}

/// Returns `true` if a name registered by the library equals a client's name. The client's name is
/// not validated yet, so its size may be invalid.
///
/// # Safety
/// Both must be valid, unless the sizes differ or the client's data is null.
unsafe fn is_named(own: &TVMFFIByteArray, name: &TVMFFIByteArray) -> bool {
    // SAFETY: the caller guarantees both when the sizes agree.
    own.size == name.size && unsafe { is_same_text(own, name) }
}

/// Returns `true` if the library added a field of this name to the type.
///
/// # Safety
/// The name must be valid unless its data is null.
#[inline(always)]
pub(in crate::names::type_table) unsafe fn has_field(
    type_index: i32,
    name: &TVMFFIByteArray,
) -> bool {
    // SAFETY: the caller's promise.
    type_index < END_OF_LIBRARY_TYPES && unsafe { finds_field(type_index, name) }
}

/// The out-of-line part of [`has_field`], for type indices of the library.
///
/// # Safety
/// Same requirements as [`has_field`].
#[inline(never)]
unsafe fn finds_field(type_index: i32, name: &TVMFFIByteArray) -> bool {
    type_info(type_index).is_some_and(|entry| {
        let mut own = entry.own_fields.of(entry.fields()).iter();
        // SAFETY: the names of published fields live forever, and the caller guarantees the other.
        own.any(|field| unsafe { is_named(&field.name, name) })
    })
}

/// Returns `true` if the library added a method of this name to the type.
///
/// # Safety
/// The name must be valid unless its data is null.
#[inline(always)]
pub(in crate::names::type_table) unsafe fn has_method(
    type_index: i32,
    name: &TVMFFIByteArray,
) -> bool {
    // SAFETY: the caller's promise.
    type_index < END_OF_LIBRARY_TYPES && unsafe { finds_method(type_index, name) }
}

/// The out-of-line part of [`has_method`], for type indices of the library.
///
/// # Safety
/// Same requirements as [`has_method`].
#[inline(never)]
unsafe fn finds_method(type_index: i32, name: &TVMFFIByteArray) -> bool {
    type_info(type_index).is_some_and(|entry| {
        let mut own = entry.own_methods.of(entry.methods()).iter();
        // SAFETY: the names of published methods live forever, and the caller guarantees the other.
        own.any(|method| unsafe { is_named(&method.name, name) })
    })
}

/// Returns `true` if the library registered the attribute of this column for the type.
#[inline(always)]
pub(in crate::names::type_table) fn has_attr(type_index: i32, column: &AttrColumn) -> bool {
    type_index < END_OF_LIBRARY_TYPES && column.own.has(type_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;
    use crate::abi::type_index::{MODULE, OBJECT, SHAPE};
    use crate::abi::{TVMFFIAny, TVMFFIFieldInfo, TVMFFIMethodInfo};
    use crate::names::type_table::{
        NewTypeRequest, attr, get_or_alloc_index, register_attr, register_field, register_method,
    };
    use crate::value::any::{Any, AnyView};
    use crate::value::string::String;

    fn text(text: &'static str) -> TVMFFIByteArray {
        TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() }
    }

    fn add_field(type_index: i32, name: &'static str, offset: i64) -> Result<()> {
        let info = TVMFFIFieldInfo {
            name: text(name),
            doc: text(""),
            metadata: text(""),
            flags: 0,
            size: 8,
            alignment: 8,
            offset,
            getter: None,
            setter: core::ptr::null_mut(),
            default_value_or_factory: TVMFFIAny::NONE,
            field_static_type_index: -1,
        };
        // SAFETY: the strings are static.
        unsafe { register_field(type_index, &info) }
    }

    fn add_method(type_index: i32, name: &'static str, flags: i64) -> Result<()> {
        let info = TVMFFIMethodInfo {
            name: text(name),
            doc: text(""),
            metadata: text(""),
            flags,
            method: TVMFFIAny::NONE,
        };
        // SAFETY: the strings are static.
        unsafe { register_method(type_index, &info) }
    }

    /// Runs the provider in one test at a time, as the library runs it once.
    fn run_alone<T>(provider: impl FnOnce() -> T) -> T {
        static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _guard = LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        run_as_library(provider)
    }

    /// Registers a class whose index is below `END_OF_LIBRARY_TYPES`, however many classes other
    /// tests have registered.
    fn class(type_key: &str, static_type_index: i32) -> Result<i32> {
        get_or_alloc_index(&NewTypeRequest {
            type_key: type_key.as_bytes(),
            static_type_index,
            type_depth: 1,
            num_child_slots: 0,
            child_slots_can_overflow: true,
            parent_type_index: OBJECT,
        })
    }

    #[test]
    fn what_the_library_gave_stays_when_a_client_repeats_it() -> Result<()> {
        let index = class("test.own.Repeated", 111)?;
        run_alone(|| {
            add_field(index, "x", 24)?;
            add_method(index, "twice", 1)?;
            register_attr(index, b"__test_own__", 5i64.into())
        })?;
        let client = Any::from(String::new("longer than seven bytes")?);
        for _ in 0..2 {
            add_field(index, "x", 32)?;
            add_method(index, "twice", 2)?;
            register_attr(index, b"__test_own__", client.view())?;
        }
        let entry = type_info(index).unwrap();
        assert_eq!((entry.fields().len(), entry.fields()[0].offset), (1, 24));
        assert_eq!((entry.methods().len(), entry.methods()[0].flags), (1, 1));
        assert_eq!(attr(index, b"__test_own__").get::<i64>()?, 5);
        Ok(())
    }

    #[test]
    fn what_a_client_gave_is_not_the_librarys() -> Result<()> {
        let index = class("test.own.Conflicts", 112)?;
        run_alone(|| {
            add_field(index, "x", 24)?;
            register_attr(SHAPE, b"__test_own_conflict__", AnyView::NONE)
        })?;
        add_field(index, "y", 32)?;
        add_method(index, "x", 1)?;
        add_method(index, "x", 2)?;
        register_attr(index, b"__test_own_conflict__", 1i64.into())?;
        let error = add_field(index, "y", 40).unwrap_err();
        assert_eq!(error.message_bytes(), b"Type `test.own.Conflicts`: Duplicate field name `y`");
        let error = register_attr(index, b"__test_own_conflict__", 2i64.into()).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        assert_eq!(type_info(index).unwrap().methods().len(), 2);
        assert_eq!(attr(index, b"__test_own_conflict__").get::<i64>()?, 1);
        Ok(())
    }

    #[test]
    fn the_library_accepts_what_a_client_gave_before_it() -> Result<()> {
        let index = class("test.own.ClientFirst", 113)?;
        add_field(index, "x", 32)?;
        register_attr(index, b"__test_own_late__", 1i64.into())?;
        run_alone(|| {
            add_field(index, "x", 24)?;
            add_field(index, "y", 24)?;
            register_attr(index, b"__test_own_late__", 5i64.into())
        })?;
        let fields = type_info(index).unwrap().fields();
        assert_eq!((fields.len(), fields[0].offset, fields[1].offset), (2, 32, 24));
        assert_eq!(attr(index, b"__test_own_late__").get::<i64>()?, 1);
        Ok(())
    }

    #[test]
    fn the_static_field_of_modules_is_the_librarys() -> Result<()> {
        let offset = type_info(MODULE).unwrap().fields()[0].offset;
        add_field(MODULE, "imports_", offset + 8)?;
        assert_eq!(type_info(MODULE).unwrap().fields()[0].offset, offset);
        Ok(())
    }

    #[test]
    fn names_out_of_range_are_refused_for_the_librarys_types_too() {
        let info = |name| TVMFFIFieldInfo {
            name,
            ..*type_info(MODULE).unwrap().fields().first().unwrap()
        };
        for name in [
            TVMFFIByteArray { data: core::ptr::null(), size: 8 },
            TVMFFIByteArray { data: c"imports_".as_ptr(), size: usize::MAX },
        ] {
            // SAFETY: names that cannot be read are refused before that.
            let error = unsafe { register_field(MODULE, &info(name)) }.unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError");
        }
    }
}
