//! Virtual tables and typeinfo of `ModuleObj` and `Error`, in the layout of the Itanium C++ ABI
//! (2.5 and 2.9.5).
//!
//! C++ compares types by name, so a client's own copy of a typeinfo denotes the same type.

use core::ffi::{c_char, c_long, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64};

use ferrite_core::abi::type_index;

use super::{module_members, throw};

/// Wrapper that makes immutable data with pointers `Sync`, for use in statics.
#[repr(transparent)]
pub(super) struct Constant<T>(pub T);

// SAFETY: only read, and all pointers refer to constants.
unsafe impl<T> Sync for Constant<T> {}

/// Layout of a virtual table with `N` functions.
#[repr(C)]
pub(super) struct VirtualTable<const N: usize> {
    /// Offset from the subobject to the complete object. Zero, since the subobject is at the start.
    pub offset_to_top: isize,
    /// Pointer to the typeinfo of the class.
    pub type_info: *const c_void,
    /// Virtual functions. The vptr of an object points to the first one.
    pub functions: [*const c_void; N],
}

/// Layout of `std::type_info`.
#[repr(C)]
pub(super) struct TypeInfo {
    vptr: *const c_void,
    name: *const c_char,
}

/// Layout of `__si_class_type_info`: the typeinfo of a class with a single base at offset 0.
#[repr(C)]
pub(super) struct DerivedTypeInfo {
    pub info: TypeInfo,
    pub base: *const c_void,
}

/// Layout of `__vmi_class_type_info`: the typeinfo of a class with `N` bases at arbitrary offsets.
#[repr(C)]
struct BasesTypeInfo<const N: usize> {
    info: TypeInfo,
    flags: u32,
    count: u32,
    bases: [Base; N],
}

#[repr(C)]
struct Base {
    info: *const c_void,
    /// Offset of the base, shifted left by 8 bits, and flags in the low bits, such as public
    /// inheritance.
    offset_flags: c_long,
}

const fn public_base(info: *const c_void, offset: c_long) -> Base {
    Base { info, offset_flags: offset << 8 | 2 }
}

/// First three words of a virtual table of the C++ runtime. The third one is the first function, to
/// which vptrs point.
type RuntimeTable = [*const c_void; 3];

unsafe extern "C" {
    #[link_name = "_ZTVN10__cxxabiv117__class_type_infoE"]
    static CLASS: RuntimeTable;
    #[link_name = "_ZTVN10__cxxabiv120__si_class_type_infoE"]
    static DERIVED_CLASS: RuntimeTable;
    #[link_name = "_ZTVN10__cxxabiv121__vmi_class_type_infoE"]
    static CLASS_WITH_BASES: RuntimeTable;
    #[link_name = "_ZTISt9exception"]
    static STD_EXCEPTION: c_void;
    fn __cxa_pure_virtual();
}

const fn info(table: *const RuntimeTable, name: *const c_char) -> TypeInfo {
    // SAFETY: a vptr points past the first two words of a table.
    TypeInfo { vptr: unsafe { table.cast::<*const c_void>().add(2).cast() }, name }
}

/// Creates the typeinfo of a class derived from `ModuleObj`.
pub(super) const fn derived_module(name: *const c_char) -> DerivedTypeInfo {
    DerivedTypeInfo {
        info: info(&raw const DERIVED_CLASS, name),
        base: (&raw const MODULE_INFO).cast(),
    }
}

static OBJECT_INFO: Constant<TypeInfo> =
    Constant(info(&raw const CLASS, c"N3tvm3ffi6ObjectE".as_ptr()));
static OBJECT_REF_INFO: Constant<TypeInfo> =
    Constant(info(&raw const CLASS, c"N3tvm3ffi9ObjectRefE".as_ptr()));

#[unsafe(export_name = "_ZTSN3tvm3ffi9ModuleObjE")]
static MODULE_NAME: [u8; 21] = *b"N3tvm3ffi9ModuleObjE\0";

#[unsafe(export_name = "_ZTIN3tvm3ffi9ModuleObjE")]
static MODULE_INFO: Constant<BasesTypeInfo<1>> = Constant(BasesTypeInfo {
    info: info(&raw const CLASS_WITH_BASES, (&raw const MODULE_NAME).cast()),
    flags: 0,
    count: 1,
    bases: [public_base((&raw const OBJECT_INFO).cast(), 8)],
});

const PURE: *const c_void = __cxa_pure_virtual as *const c_void;

/// Virtual table of the base class `ModuleObj`, in use while a derived object is constructed or
/// destroyed. C++ constructors and destructors store its address in the object. Only its last two
/// functions can be called, since `ModuleObj` itself calls no virtual functions.
#[unsafe(export_name = "_ZTVN3tvm3ffi9ModuleObjE")]
static MODULE_TABLE: Constant<VirtualTable<12>> = Constant(VirtualTable {
    offset_to_top: 0,
    type_info: (&raw const MODULE_INFO).cast(),
    functions: {
        let mut functions = [PURE; 12];
        functions[10] = module_members::import_module as *const c_void;
        functions[11] = module_members::clear_imports as *const c_void;
        functions
    },
});

#[unsafe(export_name = "_ZTSN3tvm3ffi5ErrorE")]
static ERROR_NAME: [u8; 17] = *b"N3tvm3ffi5ErrorE\0";

#[unsafe(export_name = "_ZTIN3tvm3ffi5ErrorE")]
static ERROR_INFO: Constant<BasesTypeInfo<2>> = Constant(BasesTypeInfo {
    info: info(&raw const CLASS_WITH_BASES, (&raw const ERROR_NAME).cast()),
    flags: 0,
    count: 2,
    bases: [
        public_base((&raw const OBJECT_REF_INFO).cast(), 8),
        public_base((&raw const STD_EXCEPTION).cast(), 0),
    ],
});

#[unsafe(export_name = "_ZTVN3tvm3ffi5ErrorE")]
static ERROR_TABLE: Constant<VirtualTable<3>> = Constant(VirtualTable {
    offset_to_top: 0,
    type_info: (&raw const ERROR_INFO).cast(),
    functions: [
        throw::destroy as *const c_void,
        throw::destroy_and_free as *const c_void,
        throw::what as *const c_void,
    ],
});

/// Address of the typeinfo of `tvm::ffi::Error`.
pub(super) const ERROR: *const c_void = (&raw const ERROR_INFO).cast();
/// Virtual table pointer of `tvm::ffi::Error` objects.
pub(super) const ERROR_VPTR: *const c_void = (&raw const ERROR_TABLE.0.functions).cast();

/// The static variable of an inline function of `ModuleObj` that caches its type index. All
/// libraries share it. It is initialised statically, since the index is a constant.
#[unsafe(export_name = "_ZZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex")]
static MODULE_TYPE_INDEX: AtomicI32 = AtomicI32::new(type_index::MODULE);

/// Guard variable of that static variable. Its first byte is 1, which marks the variable as
/// initialised.
#[unsafe(export_name = "_ZGVZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex")]
static MODULE_TYPE_INDEX_GUARD: AtomicU64 = AtomicU64::new(1u64.to_le());
