//! Layout of virtual tables and typeinfo in the Itanium C++ ABI (2.5 and 2.9.5), and the classes of
//! the C++ runtime.
//!
//! C++ compares types by name, so a client's own copy of a typeinfo denotes the same type.

use core::ffi::{c_char, c_long, c_void};

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
pub(super) struct BasesTypeInfo<const N: usize> {
    pub info: TypeInfo,
    pub flags: u32,
    pub count: u32,
    pub bases: [Base; N],
}

#[repr(C)]
pub(super) struct Base {
    info: *const c_void,
    /// Offset of the base, shifted left by 8 bits, and flags in the low bits, such as public
    /// inheritance.
    offset_flags: c_long,
}

pub(super) const fn public_base(info: *const c_void, offset: c_long) -> Base {
    Base { info, offset_flags: offset << 8 | 2 }
}

/// First three words of a virtual table of the C++ runtime. The third one is the first function, to
/// which vptrs point.
pub(super) type RuntimeTable = [*const c_void; 3];

unsafe extern "C" {
    #[link_name = "_ZTVN10__cxxabiv117__class_type_infoE"]
    pub(super) static CLASS: RuntimeTable;
    #[link_name = "_ZTVN10__cxxabiv120__si_class_type_infoE"]
    pub(super) static DERIVED_CLASS: RuntimeTable;
    #[link_name = "_ZTVN10__cxxabiv121__vmi_class_type_infoE"]
    pub(super) static CLASS_WITH_BASES: RuntimeTable;
}

pub(super) const fn info(table: *const RuntimeTable, name: *const c_char) -> TypeInfo {
    // SAFETY: a vptr points past the first two words of a table.
    TypeInfo { vptr: unsafe { table.cast::<*const c_void>().add(2).cast() }, name }
}
