//! The class `tvm::ffi::ModuleObj`: its virtual table, typeinfo and type index.

use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64};

use ferrite_core::abi::type_index;

use super::class_info::{
    BasesTypeInfo, CLASS, CLASS_WITH_BASES, Constant, DERIVED_CLASS, DerivedTypeInfo, TypeInfo,
    VirtualTable, info, public_base,
};
use super::module_members;

unsafe extern "C" {
    fn __cxa_pure_virtual();
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

/// The static variable of an inline function of `ModuleObj` that caches its type index. All
/// libraries share it. It is initialised statically, since the index is a constant.
#[unsafe(export_name = "_ZZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex")]
static MODULE_TYPE_INDEX: AtomicI32 = AtomicI32::new(type_index::MODULE);

/// Guard variable of that static variable. Its first byte is 1, which marks the variable as
/// initialised.
#[unsafe(export_name = "_ZGVZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex")]
static MODULE_TYPE_INDEX_GUARD: AtomicU64 = AtomicU64::new(1u64.to_le());
