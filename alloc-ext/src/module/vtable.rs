//! The virtual table of `tvm::ffi::ModuleObj`: what C++ clients call modules through, and how we call theirs.
//!
//! A module begins eight bytes before its handle, with the C++ vptr. C++ passes that address as `this`. Where
//! a slot returns a class, C++ passes the address of the result as a hidden argument; on x86_64 (System V),
//! x86, Arm and RISC-V that is an ordinary first argument before `this`, which also comes back as the return
//! value. On AArch64 it travels in a register of its own (x8), which no Rust signature expresses;
//! `sret` bridges that.
//!
//! Slots may unwind: C++ reports errors by exceptions. They cross Rust frames of the `C-unwind` kind and are
//! not understood here; what does not catch them before the C boundary ends the process.
//!
//! # Upstream
//! `extra/module.h`; the slots and their order are those of the 0.1.15 binary.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::{Any, AnyView, Bytes, Function, ObjectRef, String, type_index};

use super::sret::{Sret0, Sret1};
use super::{Module, cxx_error, imports};
use crate::containers::Array;

/// Bytes from the C++ object (its vptr) to the handle, on 32-bit machines too: the header is 8-aligned.
pub const HANDLE_OFFSET: usize = 8;

/// A string argument: `const String&`, borrowed.
type NameArg = *const TVMFFIAny;
/// `this`: the C++ object.
type This = *mut c_void;

/// The twelve slots, in vtable order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ModuleSlots {
    /// 0: `const char* kind() const`, borrowed for the life of the module.
    pub kind: unsafe extern "C-unwind" fn(this: This) -> *const c_char,
    /// 1: `int GetPropertyMask() const`.
    pub get_property_mask: unsafe extern "C-unwind" fn(this: This) -> c_int,
    /// 2: `Optional<Function> GetFunction(const String&)`, 8 bytes.
    pub get_function: Sret1,
    /// 3: `bool ImplementsFunction(const String&)`.
    pub implements_function: unsafe extern "C-unwind" fn(this: This, name: NameArg) -> bool,
    /// 4: `Optional<String> GetFunctionDoc(const String&)`, 16 bytes.
    pub get_function_doc: Sret1,
    /// 5: `Optional<String> GetFunctionMetadata(const String&)`, 16 bytes.
    pub get_function_metadata: Sret1,
    /// 6: `void WriteToFile(const String& file, const String& format) const`.
    pub write_to_file: unsafe extern "C-unwind" fn(this: This, file: NameArg, format: NameArg),
    /// 7: `Array<String> GetWriteFormats() const`, 8 bytes.
    pub get_write_formats: Sret0,
    /// 8: `Bytes SaveToBytes() const`, 16 bytes.
    pub save_to_bytes: Sret0,
    /// 9: `String InspectSource(const String& format) const`, 16 bytes.
    pub inspect_source: Sret1,
    /// 10: `void ImportModule(const Module&)`; the argument points to the handle.
    pub import_module: unsafe extern "C-unwind" fn(this: This, other: *const *mut TVMFFIObject),
    /// 11: `void ClearImports()`.
    pub clear_imports: unsafe extern "C-unwind" fn(this: This),
}

/// What the words before the slots hold: enough of `std::type_info` to be recognised, not to be used.
#[repr(C)]
pub struct TypeInfo {
    vptr: *const c_void,
    name: *const c_char,
}

// SAFETY: both words are constants.
unsafe impl Sync for TypeInfo {}

/// The type info of every module that this library makes. Its address tells our modules from those of C++.
pub static RUST_MODULE: TypeInfo = TypeInfo { vptr: ptr::null(), name: c"ferrite::Module".as_ptr() };

/// The vtable of a module made in Rust: the C++ part, then the same functions with Rust results.
#[repr(C)]
pub struct ModuleVtable {
    /// Distance from this vtable's subobject to the whole object: 0.
    pub offset_to_top: isize,
    /// `std::type_info`; only its address is used.
    pub type_info: *const TypeInfo,
    /// Where vptrs point.
    pub slots: ModuleSlots,
    /// The functions behind the slots.
    pub(super) ops: ModuleOps,
}

// SAFETY: constants and pointers to statics.
unsafe impl Sync for ModuleVtable {}

/// The functions of a Rust module, by type; each gets a module whose implementation is of that type.
pub(super) struct ModuleOps {
    pub kind: fn(&Module) -> &CStr,
    pub property_mask: fn(&Module) -> i32,
    pub get_function: fn(&Module, &String) -> Result<Option<Function>>,
    pub implements_function: fn(&Module, &String) -> Result<bool>,
    pub function_doc: fn(&Module, &String) -> Result<Option<String>>,
    pub function_metadata: fn(&Module, &String) -> Result<Option<String>>,
    pub write_to_file: fn(&Module, &String, &String) -> Result<()>,
    pub write_formats: fn(&Module) -> Result<Array<String>>,
    pub save_to_bytes: fn(&Module) -> Result<Bytes>,
    pub inspect_source: fn(&Module, &String) -> Result<String>,
}

/// The slots of every module made in Rust.
pub(super) const SLOTS: ModuleSlots = ModuleSlots {
    kind,
    get_property_mask,
    get_function: super::sret::slot1!(get_function),
    implements_function,
    get_function_doc: super::sret::slot1!(get_function_doc),
    get_function_metadata: super::sret::slot1!(get_function_metadata),
    write_to_file,
    get_write_formats: super::sret::slot0!(get_write_formats),
    save_to_bytes: super::sret::slot0!(save_to_bytes),
    inspect_source: super::sret::slot1!(inspect_source),
    import_module,
    clear_imports,
};

/// The vtable of a module, and its Rust functions when we made it.
pub(super) enum Dispatch<'a> {
    /// Made by [`Module::from_impl`].
    Rust(&'static ModuleOps),
    /// Made by C++; call the slots with this object.
    Cxx(This, &'a ModuleSlots),
}

/// The C++ object of a module: what C++ calls `this`, and what library contexts hold.
pub(super) fn cxx_object(module: &Module) -> This {
    module.as_object().as_ptr().cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast()
}

/// Finds out how to call a module.
///
/// # Errors
/// `InternalError` for an object that carries no vtable.
pub(super) fn dispatch(module: &Module) -> Result<Dispatch<'_>> {
    let this = cxx_object(module);
    // SAFETY: every object of type ffi.Module begins with a vptr eight bytes before its handle (C++ layout).
    let vptr = unsafe { this.cast::<*const ModuleSlots>().read() };
    if vptr.is_null() {
        ferrite_core::plain_bail!(INTERNAL_ERROR, "The module has no virtual table");
    }
    // SAFETY: the word before the slots of any vtable is its type info (Itanium C++ ABI).
    let type_info = unsafe { vptr.cast::<*const TypeInfo>().sub(1).read() };
    if ptr::eq(type_info, &raw const RUST_MODULE) {
        let start = vptr.wrapping_byte_sub(core::mem::offset_of!(ModuleVtable, slots)).cast::<ModuleVtable>();
        // SAFETY: only vtables of `ModuleVtable` type, which are static, name that type info.
        return Ok(Dispatch::Rust(unsafe { &(*start).ops }));
    }
    // SAFETY: a class derived from ModuleObj has at least the twelve slots, constant and there as long as its
    // objects.
    Ok(Dispatch::Cxx(this, unsafe { &*vptr }))
}

/// Borrows the module whose C++ object is `this`.
///
/// # Safety
/// `this` must be the C++ object of a live module, which stays alive while the result is used.
pub(super) unsafe fn borrow_this(this: This) -> ManuallyDrop<Module> {
    let handle = this.cast::<u8>().wrapping_add(HANDLE_OFFSET).cast::<TVMFFIObject>();
    // SAFETY: the caller vouches for a live module; ManuallyDrop leaves its count alone.
    ManuallyDrop::new(unsafe {
        Module::from_object_unchecked(ObjectRef::from_raw(NonNull::new_unchecked(handle)))
    })
}

/// # Safety
/// `name` must point to a live string cell.
unsafe fn string_argument(name: NameArg) -> Result<String> {
    // SAFETY: the caller vouches for the cell.
    unsafe { AnyView::from_raw(*name) }.get::<String>()
}

/// Ends a slot that cannot return an error: raises it the C++ way and gives `fallback`.
fn settle<R>(result: Result<R>, fallback: R) -> R {
    result.unwrap_or_else(|error| {
        cxx_error::raise(error);
        fallback
    })
}

fn raw_object<T: ObjectClass>(object: Option<T>) -> *mut TVMFFIObject {
    object.map_or(ptr::null_mut(), |object| object.into_object().into_raw().as_ptr())
}

unsafe extern "C-unwind" fn kind(this: This) -> *const c_char {
    // SAFETY: C++ calls slots with the object that the vptr was read from.
    let module = unsafe { borrow_this(this) };
    settle(module.kind().map(CStr::as_ptr), c"".as_ptr())
}

unsafe extern "C-unwind" fn get_property_mask(this: This) -> c_int {
    // SAFETY: as for `kind`.
    let module = unsafe { borrow_this(this) };
    settle(module.property_mask(), 0)
}

unsafe extern "C-unwind" fn get_function(out: *mut c_void, this: This, name: NameArg) -> *mut c_void {
    // SAFETY: as for `kind`; `name` is a borrowed String and `out` has room for a reference.
    unsafe {
        let module = borrow_this(this);
        let found = string_argument(name).and_then(|name| module.get_function(&name, false));
        out.cast::<*mut TVMFFIObject>().write(raw_object(settle(found, None)));
    }
    out
}

unsafe extern "C-unwind" fn implements_function(this: This, name: NameArg) -> bool {
    // SAFETY: as for `get_function`.
    unsafe {
        let module = borrow_this(this);
        settle(string_argument(name).and_then(|name| module.implements_function(&name, false)), false)
    }
}

unsafe extern "C-unwind" fn get_function_doc(out: *mut c_void, this: This, name: NameArg) -> *mut c_void {
    // SAFETY: as for `get_function`; `out` has room for a cell.
    unsafe {
        let module = borrow_this(this);
        let text = string_argument(name).and_then(|name| module.function_doc(&name, false));
        out.cast::<TVMFFIAny>().write(Any::from(settle(text, None)).into_raw());
    }
    out
}

unsafe extern "C-unwind" fn get_function_metadata(
    out: *mut c_void,
    this: This,
    name: NameArg,
) -> *mut c_void {
    // SAFETY: as for `get_function_doc`.
    unsafe {
        let module = borrow_this(this);
        let text = string_argument(name).and_then(|name| module.function_metadata(&name, false));
        out.cast::<TVMFFIAny>().write(Any::from(settle(text, None)).into_raw());
    }
    out
}

unsafe extern "C-unwind" fn write_to_file(this: This, file: NameArg, format: NameArg) {
    // SAFETY: as for `get_function`.
    unsafe {
        let module = borrow_this(this);
        let written = string_argument(file)
            .and_then(|file| string_argument(format).and_then(|format| module.write_to_file(&file, &format)));
        settle(written, ());
    }
}

unsafe extern "C-unwind" fn get_write_formats(out: *mut c_void, this: This) -> *mut c_void {
    // SAFETY: as for `get_function`. C++ expects no null here, but an error leaves nothing else to give.
    unsafe {
        let module = borrow_this(this);
        let formats = settle(module.write_formats().map(|formats| Some(formats.into_untyped())), None);
        out.cast::<*mut TVMFFIObject>().write(raw_object(formats));
    }
    out
}

unsafe extern "C-unwind" fn save_to_bytes(out: *mut c_void, this: This) -> *mut c_void {
    // SAFETY: as for `get_function_doc`.
    unsafe {
        let module = borrow_this(this);
        let bytes = settle(module.save_to_bytes().map(Any::from), empty(type_index::SMALL_BYTES));
        out.cast::<TVMFFIAny>().write(bytes.into_raw());
    }
    out
}

unsafe extern "C-unwind" fn inspect_source(out: *mut c_void, this: This, format: NameArg) -> *mut c_void {
    // SAFETY: as for `get_function_doc`.
    unsafe {
        let module = borrow_this(this);
        let text = string_argument(format).and_then(|format| module.inspect_source(&format));
        out.cast::<TVMFFIAny>().write(settle(text.map(Any::from), empty(type_index::SMALL_STR)).into_raw());
    }
    out
}

/// `tvm::ffi::ModuleObj::ImportModule`, which C++ modules inherit and call by its symbol too.
///
/// # Safety
/// `this` must be the C++ object of a live module, `other` the address of a module reference.
pub unsafe extern "C-unwind" fn import_module(this: This, other: *const *mut TVMFFIObject) {
    // SAFETY: the caller vouches for both.
    let imported = unsafe {
        let module = borrow_this(this);
        match NonNull::new(*other) {
            Some(other) => {
                let other = ManuallyDrop::new(Module::from_object_unchecked(ObjectRef::from_raw(other)));
                imports::append(&module, &other)
            }
            None => Err(ferrite_core::plain_error!(VALUE_ERROR, "Cannot import a null module")),
        }
    };
    settle(imported, ());
}

/// `tvm::ffi::ModuleObj::ClearImports`.
///
/// # Safety
/// `this` must be the C++ object of a live module.
pub unsafe extern "C-unwind" fn clear_imports(this: This) {
    // SAFETY: the caller vouches for it.
    let module = unsafe { borrow_this(this) };
    settle(imports::clear(&module), ());
}

/// An empty small string or small bytes cell.
fn empty(type_index: i32) -> Any {
    let cell = TVMFFIAny { type_index, ..TVMFFIAny::NONE };
    // SAFETY: a small cell of length zero owns nothing.
    unsafe { Any::from_raw(cell) }
}

#[cfg(all(test, not(target_arch = "aarch64")))]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use ferrite_core::object_alloc::{self, ObjectRecord};
    use ferrite_core::raised;

    /// The slots of a module, read as C++ reads them.
    fn slots_of(module: &Module) -> (This, ModuleSlots) {
        let this = cxx_object(module);
        // SAFETY: the object begins with its vptr.
        (this, unsafe { this.cast::<*const ModuleSlots>().read().read() })
    }

    #[test]
    fn cxx_calls_a_rust_module_through_its_slots() -> Result<()> {
        let module = tagged(9, "f");
        let (this, slots) = slots_of(&module);
        let text = name("f");
        let argument = AnyView::from(&text);
        // SAFETY: the slots are called as C++ calls them.
        unsafe {
            assert_eq!(CStr::from_ptr((slots.kind)(this)), c"tagged");
            assert_eq!((slots.get_property_mask)(this), 0);
            assert!((slots.implements_function)(this, argument.as_raw()));
            let mut found: *mut TVMFFIObject = ptr::null_mut();
            let out: *mut c_void = (&raw mut found).cast();
            assert_eq!((slots.get_function)(out, this, argument.as_raw()), out);
            let function = Function::from_object_unchecked(ObjectRef::from_raw(NonNull::new(found).unwrap()));
            assert_eq!(function.call(&[])?.get::<i64>()?, 9);
            let mut cell = TVMFFIAny { type_index: 99, ..TVMFFIAny::NONE };
            (slots.get_function_doc)((&raw mut cell).cast(), this, argument.as_raw());
            assert_eq!(cell.type_index, type_index::NONE);
            (slots.inspect_source)((&raw mut cell).cast(), this, argument.as_raw());
            assert_eq!((cell.type_index, cell.small_str_len), (type_index::SMALL_STR, 0));
            let other = tagged(1, "g");
            let handle = other.as_object().as_ptr();
            (slots.import_module)(this, &handle);
            assert_eq!(module.imports()?.len(), 1);
            (slots.clear_imports)(this);
            assert!(module.imports()?.is_empty());
        }
        Ok(())
    }

    #[test]
    fn an_error_in_a_slot_is_raised() -> Result<()> {
        let module = tagged(9, "f");
        let (this, slots) = slots_of(&module);
        let handle = module.as_object().as_ptr();
        // SAFETY: the slots are called as C++ calls them.
        unsafe {
            (slots.import_module)(this, &handle);
            assert_eq!(raised::take().unwrap().kind(), b"RuntimeError");
            let mut cell = TVMFFIAny::NONE;
            (slots.save_to_bytes)((&raw mut cell).cast(), this);
            assert_eq!(raised::take().unwrap().message(), b"Module[tagged] does not support SaveToBytes");
            assert_eq!(cell.type_index, type_index::SMALL_BYTES);
        }
        Ok(())
    }

    /// A module as C++ makes one: no type info of ours, and functions of its own.
    #[repr(C)]
    struct CxxModule {
        vptr: *const ModuleSlots,
        header: TVMFFIObject,
        imports: *mut TVMFFIObject,
        cache: *mut TVMFFIObject,
    }

    // SAFETY: repr(C), and the header lies behind the vptr.
    unsafe impl ObjectRecord for CxxModule {
        const PREFIX_BYTES: usize = HANDLE_OFFSET;
        unsafe fn destroy(this: *mut TVMFFIObject) {
            // SAFETY: the fields hold owned references.
            unsafe {
                let record = this.cast::<u8>().sub(HANDLE_OFFSET).cast::<CxxModule>();
                drop(NonNull::new((*record).imports).map(|object| ObjectRef::from_raw(object)));
                drop(NonNull::new((*record).cache).map(|object| ObjectRef::from_raw(object)));
            }
        }
    }

    unsafe extern "C-unwind" fn cxx_kind(_: This) -> *const c_char {
        c"cxx".as_ptr()
    }
    unsafe extern "C-unwind" fn cxx_mask(_: This) -> c_int {
        6
    }
    unsafe extern "C-unwind" fn cxx_get_function(out: *mut c_void, _: This, _: NameArg) -> *mut c_void {
        // SAFETY: the caller gave room for a reference.
        unsafe { out.cast::<*mut TVMFFIObject>().write(raw_object(Function::from_typed(|| 11i64).ok())) };
        out
    }
    unsafe extern "C-unwind" fn cxx_text(out: *mut c_void, _: This, _: NameArg) -> *mut c_void {
        // SAFETY: the caller gave room for a cell.
        unsafe { out.cast::<TVMFFIAny>().write(Any::from(name("longer than seven")).into_raw()) };
        out
    }

    #[expect(clippy::unwrap_used, reason = "the lint misses that this is part of a test")]
    fn cxx_module() -> Module {
        use crate::containers::{ArrayObject, MapObject};
        #[repr(C)]
        struct Table(isize, *const c_void, ModuleSlots);
        // SAFETY: the pointers are constants.
        unsafe impl Sync for Table {}
        static TABLE: Table = Table(
            0,
            ptr::null(),
            ModuleSlots {
                kind: cxx_kind,
                get_property_mask: cxx_mask,
                get_function: cxx_get_function,
                get_function_doc: cxx_text,
                ..SLOTS
            },
        );
        let imports = ArrayObject::with_capacity(0).unwrap();
        let cache = MapObject::with_capacity(0).unwrap();
        let table: *const Table = &TABLE;
        // SAFETY: every field is written, and the layout is that of ffi.Module.
        unsafe {
            let object = object_alloc::allocate(type_index::MODULE, 0, |record: *mut CxxModule| {
                (&raw mut (*record).vptr).write(&raw const (*table).2);
                (&raw mut (*record).imports).write(imports.into_object().into_raw().as_ptr());
                (&raw mut (*record).cache).write(cache.into_object().into_raw().as_ptr());
            });
            Module::from_object_unchecked(object.unwrap())
        }
    }

    #[test]
    fn modules_of_cxx_are_called_through_their_slots() -> Result<()> {
        let module = cxx_module();
        assert_eq!((module.kind()?, module.property_mask()?), (c"cxx", 6));
        let function = module.get_function(&name("any"), false)?.unwrap();
        assert_eq!(function.call(&[])?.get::<i64>()?, 11);
        assert_eq!(module.function_doc(&name("any"), false)?.unwrap(), "longer than seven");
        let root = tagged(0, "root");
        root.import_module(&module)?;
        assert!(root.get_function(&name("any"), true)?.is_some());
        Ok(())
    }

    #[test]
    fn an_inherited_import_slot_reports_its_error() -> Result<()> {
        let (module, root) = (cxx_module(), tagged(0, "root"));
        root.import_module(&module)?;
        raised::set(ferrite_core::plain_error!(VALUE_ERROR, "older"));
        assert_eq!(module.import_module(&root).unwrap_err().kind(), b"RuntimeError");
        assert_eq!(raised::take().unwrap().message(), b"older");
        module.import_module(&tagged(1, "leaf"))?;
        assert_eq!(module.imports()?.len(), 1);
        module.clear_imports()
    }
}
