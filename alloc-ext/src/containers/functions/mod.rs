//! The global functions on containers.

use ferrite_core::builtins::StaticFunction;
use ferrite_core::static_function;

mod array;
mod device;
mod dict;
mod iteration;
mod lent;
mod list;
mod map;
mod type_keys;

/// The functions of this module.
///
/// # Upstream
///
/// The registrations in `src/ffi/container.cc`, and `ffi.GetRegisteredTypeKeys` in `src/ffi/object.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!(packed "ffi.Array", array::create),
    static_function!("ffi.ArrayGetItem", array::get_item),
    static_function!("ffi.ArraySize", array::size),
    static_function!("ffi.ArrayContains", array::contains),
    static_function!(packed "ffi.List", list::create),
    static_function!("ffi.ListGetItem", list::get_item),
    static_function!("ffi.ListSetItem", list::set_item),
    static_function!("ffi.ListSize", list::size),
    static_function!("ffi.ListContains", list::contains),
    static_function!("ffi.ListAppend", list::append),
    static_function!("ffi.ListInsert", list::insert),
    static_function!("ffi.ListPop", list::pop),
    static_function!("ffi.ListErase", list::erase),
    static_function!("ffi.ListEraseRange", list::erase_range),
    static_function!("ffi.ListReplaceSlice", list::replace_slice),
    static_function!("ffi.ListReverse", list::reverse),
    static_function!("ffi.ListClear", list::clear),
    static_function!("ffi.ListReserve", list::reserve),
    static_function!(packed "ffi.Map", map::create),
    static_function!("ffi.MapSize", map::size),
    static_function!("ffi.MapGetItem", map::get_item),
    static_function!("ffi.MapCount", map::count),
    static_function!("ffi.MapForwardIterFunctor", map::forward_iter_functor),
    static_function!("ffi.MapGetItemOrMissing", map::get_item_or_missing),
    static_function!(packed "ffi.Dict", dict::create),
    static_function!("ffi.DictSize", dict::size),
    static_function!("ffi.DictGetItem", dict::get_item),
    static_function!("ffi.DictSetItem", dict::set_item),
    static_function!("ffi.DictCount", dict::count),
    static_function!("ffi.DictErase", dict::erase),
    static_function!("ffi.DictClear", dict::clear),
    static_function!("ffi.DictForwardIterFunctor", dict::forward_iter_functor),
    static_function!("ffi.DictGetItemOrMissing", dict::get_item_or_missing),
    static_function!("ffi.ContainerFindFirstNonCPUDevice", device::find_first_non_cpu),
    static_function!("ffi.GetRegisteredTypeKeys", type_keys::registered_type_keys),
];

#[cfg(test)]
mod tests;
