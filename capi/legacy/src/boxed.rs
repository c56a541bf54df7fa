//! Boxed values: numbers, strings and tuples represented as objects, as front ends of TVM expect
//! them.
//!
//! | class | used by | content |
//! |---|---|---|
//! | `IntImm`, `FloatImm`, `StringImm` | 0.5 and 0.6, for numbers and strings in a list | the value and its data type |
//! | `runtime.String` | 0.7 and later, for any string | the string |
//! | `runtime.ADT` | 0.7 and later, for tagged tuples | an Array of the tag and the fields |
//!
//! Containers store unboxed numbers and strings, as tvm-ffi expects. When a front end of 0.5 or 0.6
//! reads an element, it is boxed again. A `runtime.String` passed as an argument is unboxed.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{
    DLDataType, TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIObject, type_index,
};
use ferrite_core::class::KeyBinding;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::platform::sync::atomic::{AtomicI32, Ordering};
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView};

use super::{result, type_registration};

/// Object that contains a value and, for constants, its data type.
#[repr(C)]
struct Boxed {
    header: TVMFFIObject,
    dtype: DLDataType,
    value: Any,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for Boxed {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and not shared.
        unsafe { core::ptr::drop_in_place(&raw mut (*this.cast::<Boxed>()).value) };
    }
}

/// A class of boxed values, registered as an object type on first use.
pub struct Class {
    key: &'static [u8],
    /// Data type of the constants that containers store unboxed. `None` for classes without
    /// attributes.
    default: Option<DLDataType>,
    /// Type index; 0 until the class is registered.
    index: AtomicI32,
    binding: KeyBinding,
}

const INT32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
/// Data type of constants that are not numbers.
pub const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };

impl Class {
    const fn new(key: &'static [u8], default: Option<DLDataType>) -> Class {
        Class { key, default, index: AtomicI32::new(0), binding: KeyBinding::new() }
    }
}

static INT_IMM: Class = Class::new(b"IntImm", Some(INT32));
static FLOAT_IMM: Class = Class::new(b"FloatImm", Some(FLOAT32));
static STRING_IMM: Class = Class::new(b"StringImm", Some(HANDLE));
/// `runtime.String`: a boxed string.
pub static STRING: Class = Class::new(b"runtime.String", None);
/// `runtime.ADT`: a boxed tagged tuple.
pub static ADT: Class = Class::new(b"runtime.ADT", None);

impl Class {
    /// Finds a class of boxed values by its type key.
    pub fn find(key: &[u8]) -> Option<&'static Class> {
        [&INT_IMM, &FLOAT_IMM, &STRING_IMM, &STRING, &ADT]
            .into_iter()
            .find(|class| class.key == key)
    }

    /// Returns the type index. Registers the class on the first call.
    ///
    /// # Errors
    /// TypeError if a Rust class has the type key; MemoryError.
    pub fn index(&'static self) -> Result<i32> {
        match self.index.load(Ordering::Acquire) {
            0 => self.register(),
            index => Ok(index),
        }
    }

    #[cold]
    fn register(&'static self) -> Result<i32> {
        let index = type_registration::register(self.key)?;
        self.binding.bind_on_first_use(index, self.key)?;
        if self.default.is_some() {
            register_attributes(index)?;
        }
        self.index.store(index, Ordering::Release);
        Ok(index)
    }

    /// Returns `true` if an object is of this class.
    pub fn is_class_of(&self, object: &ObjectRef) -> bool {
        object.type_index() == self.index.load(Ordering::Acquire)
    }
}

/// Returns the address of the value in a boxed object.
///
/// # Safety
/// The object must be of one of the classes of boxed values.
pub unsafe fn value_of(object: *const TVMFFIObject) -> *const Any {
    // SAFETY: the caller guarantees the class, whose objects have this record.
    unsafe { &raw const (*object.cast::<Boxed>()).value }
}

fn register_attributes(index: i32) -> Result<()> {
    for (name, offset, static_type, getter) in [
        (
            "dtype",
            core::mem::offset_of!(Boxed, dtype),
            type_index::DATA_TYPE,
            get::<DLDataType> as unsafe extern "C" fn(*mut c_void, *mut TVMFFIAny) -> c_int,
        ),
        ("value", core::mem::offset_of!(Boxed, value), type_index::ANY, get::<Any>),
    ] {
        // Another thread may have registered fields concurrently, or an earlier attempt may have
        // run out of memory.
        let known = type_table::type_info(index).is_some_and(|entry| {
            // SAFETY: names of published fields live forever.
            entry.fields().iter().any(|field| unsafe { field.name.as_slice() } == name.as_bytes())
        });
        if known {
            continue;
        }
        let text = |text: &str| TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() };
        let info = TVMFFIFieldInfo {
            name: text(name),
            doc: text(""),
            metadata: text(""),
            flags: 0,
            size: if static_type == type_index::ANY { 16 } else { 4 },
            alignment: if static_type == type_index::ANY { 8 } else { 4 },
            offset: offset as i64,
            getter: Some(getter),
            setter: core::ptr::null_mut(),
            default_value_or_factory: TVMFFIAny::NONE,
            field_static_type_index: static_type,
        };
        // SAFETY: the strings are valid for the call; there is no setter and no default.
        unsafe { type_table::register_field(index, &info)? };
    }
    Ok(())
}

/// Getter of a reflected field: stores a copy of the field in `result`. Always returns 0.
///
/// # Safety
/// `field` must be the address of a `T` in a live object, and `result` must be valid for a write.
unsafe extern "C" fn get<T: AnyCompatible + Clone>(
    field: *mut c_void,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees both.
    unsafe { result.write((*field.cast::<T>()).clone().into_any().into_raw()) };
    0
}

/// Boxes a value.
///
/// # Errors
/// TypeError if a Rust class has the type key; MemoryError.
pub fn create(class: &'static Class, dtype: DLDataType, value: Any) -> Result<Any> {
    // SAFETY: the allocation has room for the record.
    let init = move |record: *mut Boxed| unsafe {
        (&raw mut (*record).dtype).write(dtype);
        (&raw mut (*record).value).write(value);
    };
    // SAFETY: `init` fills the record; objects of this class have this layout.
    unsafe { object_alloc::allocate::<Boxed>(class.index()?, 0, init).map(Any::from) }
}

/// Returns the class of constants for a number or string; `None` for other values.
fn class_of(value: AnyView<'_>) -> Option<&'static Class> {
    match value.type_index() {
        type_index::INT | type_index::BOOL => Some(&INT_IMM),
        type_index::FLOAT => Some(&FLOAT_IMM),
        type_index::SMALL_STR | type_index::STR | type_index::RAW_STR => Some(&STRING_IMM),
        _ => None,
    }
}

/// Boxes a number or string as a constant of the default data type. Returns other values unchanged.
///
/// # Errors
/// TypeError if a Rust class has the type key; MemoryError.
pub fn wrap(value: Any) -> Result<Any> {
    match class_of(value.view()) {
        Some(class) => create(class, class.default.unwrap_or(HANDLE), value),
        None => Ok(value),
    }
}

/// Boxes a number if the front end has classes for constants, as those of TVM 0.7 to 0.17 do.
/// Returns other values unchanged.
///
/// # Errors
/// TypeError if a Rust class has the type key; MemoryError.
pub fn wrap_number(value: Any) -> Result<Any> {
    let is_number =
        matches!(value.type_index(), type_index::INT | type_index::BOOL | type_index::FLOAT);
    let has_class = INT_IMM.index.load(Ordering::Acquire) != 0;
    if is_number && has_class && !result::has_bool_type_code() { wrap(value) } else { Ok(value) }
}

/// Boxes a number as a constant of the given data type.
///
/// # Errors
/// TypeError if the value is not a number, and if a Rust class has the type key; MemoryError.
pub fn constant(value: AnyView<'_>, dtype: DLDataType) -> Result<Any> {
    const FLOAT: u8 = 2;
    if dtype.code == FLOAT {
        return create(&FLOAT_IMM, dtype, Any::from(value.get::<f64>()?));
    }
    create(&INT_IMM, dtype, Any::from(value.get::<i64>()?))
}

/// Returns the type key, the data type and the value of a constant; `None` for other objects.
pub fn constant_parts(object: &ObjectRef) -> Option<(&'static [u8], DLDataType, &Any)> {
    let class =
        [&INT_IMM, &FLOAT_IMM, &STRING_IMM].into_iter().find(|class| class.is_class_of(object))?;
    // SAFETY: an object of one of these classes has this record, which lives as long as the object.
    let record = unsafe { &*object.as_ptr().cast::<Boxed>() };
    Some((class.key, record.dtype, &record.value))
}

/// Unboxes a constant of the default data type. Returns other values unchanged.
pub fn unwrap(value: Any) -> Any {
    let constant = value.as_object().and_then(constant_parts).and_then(|(key, dtype, constant)| {
        let is_default = Class::find(key).is_some_and(|class| class.default == Some(dtype));
        is_default.then(|| constant.clone())
    });
    constant.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_class_of_the_program_is_refused() -> Result<()> {
        static PROGRAM: KeyBinding = KeyBinding::new();
        static LATE: Class = Class::new(b"test.legacy.Late", None);
        static EARLY: Class = Class::new(b"test.legacy.Early", None);
        PROGRAM.bind(type_registration::register(b"test.legacy.Late")?, b"test.legacy.Late")?;
        assert!(LATE.index().is_err_and(|error| error.kind_bytes() == b"TypeError"));
        // Nor is it taken for registered later.
        assert!(LATE.index().is_err());
        assert!(PROGRAM.bind(EARLY.index()?, b"test.legacy.Early").is_err());
        Ok(())
    }
}
