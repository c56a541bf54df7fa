//! Free functions and static member functions that C++ clients link, such as `json::Parse` and
//! `StructuralHash::Hash`.
//!
//! # Safety
//! C++ code must call each function with valid arguments of its signature: references to live
//! values, and writable results.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;

use ferrite_alloc_ext::module::{Module, context};
use ferrite_alloc_ext::reflection::VisitErrorContext;
use ferrite_alloc_ext::structural::equal::{self, Options};
use ferrite_alloc_ext::structural::visit;
use ferrite_alloc_ext::{containers::Tuple, dataclass, graph, json};
use ferrite_core::call::function::Function;
use ferrite_core::error;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::value::string::String;

use super::export::{CellOut, ObjectOut, cell, object, returns_class};
use super::throw::or_throw;

returns_class! {
    /// Implements `Any ToJSONGraph(const Any& value, const Any& metadata)`.
    to_json_graph_thunk = "_ZN3tvm3ffi11ToJSONGraphERKNS0_3AnyES3_" => to_json_graph;
    /// Implements `Any FromJSONGraph(const Any&)`.
    from_json_graph_thunk = "_ZN3tvm3ffi13FromJSONGraphERKNS0_3AnyE" => from_json_graph;
    /// Implements `Any json::Parse(const String&, String* error_msg)`.
    json_parse_thunk = "_ZN3tvm3ffi4json5ParseERKNS0_6StringEPS2_" => json_parse;
    /// Implements `String json::Stringify(const Any&, const Optional<int>& indent)`.
    json_stringify_thunk = "_ZN3tvm3ffi4json9StringifyERKNS0_3AnyERKNS0_8OptionalIivEE" => json_stringify;
    /// Implements `String json::Stringify(const Any&, Optional<int> indent)` of 0.1.12.
    json_stringify_0_1_12_thunk = "_ZN3tvm3ffi4json9StringifyERKNS0_3AnyENS0_8OptionalIivEE" => json_stringify_0_1_12;
    /// Implements `Optional<Tuple<AccessPath, AccessPath>> StructuralEqual::GetFirstMismatch(lhs,
    /// rhs, map_free_vars, skip_tensor_content)`.
    first_mismatch_thunk = "_ZN3tvm3ffi15StructuralEqual16GetFirstMismatchERKNS0_3AnyES4_bb" => first_mismatch;
    /// Implements
    /// `Array<AccessPath> VisitErrorContext::FindAccessPaths(root, context, allow_prefix_match)`.
    find_access_paths_thunk = "_ZN3tvm3ffi17VisitErrorContext15FindAccessPathsERKNS0_9ObjectRefERKS1_b"
        => find_access_paths;
    /// Implements `String ReprPrint(const Any&)`.
    repr_print_thunk = "_ZN3tvm3ffi9ReprPrintERKNS0_3AnyE" => repr_print;
    /// Implements `Any DeepCopy(const Any&)`.
    deep_copy_thunk = "_ZN3tvm3ffi8DeepCopyERKNS0_3AnyE" => deep_copy;
    /// Implements `Module Module::LoadFromFile(const String&)`.
    load_from_file_thunk = "_ZN3tvm3ffi6Module12LoadFromFileERKNS0_6StringE" => load_from_file;
}

unsafe extern "C-unwind" fn to_json_graph(
    out: CellOut,
    value: &Any,
    metadata: &Any,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || graph::to_json_graph(value, metadata)) }
}

unsafe extern "C-unwind" fn from_json_graph(out: CellOut, graph: &Any) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || graph::from_json_graph(graph)) }
}

/// Parses JSON. If `message` is not null, a parse error is not thrown: its message is stored there,
/// or an empty string on success.
unsafe extern "C-unwind" fn json_parse(
    out: CellOut,
    text: &String,
    message: Option<&mut String>,
) -> *mut c_void {
    let parse = || {
        let parsed = json::parse(text.as_bytes());
        let Some(message) = message else { return parsed };
        *message = match &parsed {
            Ok(_) => String::new("")?,
            Err(error) => String::from_bytes(error.message_bytes())?,
        };
        Ok(parsed.unwrap_or(Any::NONE))
    };
    // SAFETY: see the file.
    unsafe { cell(out, parse) }
}

unsafe extern "C-unwind" fn json_stringify(out: CellOut, value: &Any, indent: &Any) -> *mut c_void {
    let stringify = || json::stringify(value, indent.get::<Option<i32>>()?.map(i64::from));
    // SAFETY: see the file.
    unsafe { cell(out, stringify) }
}

/// Layout of `Optional<int>` until 0.1.12: a class that wraps `std::optional<int>`. It has a
/// user-defined copy constructor, so C++ passes it by address.
#[repr(C)]
struct StdOptionalInt {
    value: MaybeUninit<i32>,
    /// C++ `bool`: whether `value` is set.
    has_value: u8,
}

unsafe extern "C-unwind" fn json_stringify_0_1_12(
    out: CellOut,
    value: &Any,
    indent: &StdOptionalInt,
) -> *mut c_void {
    // SAFETY: `has_value` says that the value is initialised.
    let indent = (indent.has_value != 0).then(|| i64::from(unsafe { indent.value.assume_init() }));
    // SAFETY: see the file.
    unsafe { cell(out, || json::stringify(value, indent)) }
}

unsafe extern "C-unwind" fn first_mismatch(
    out: ObjectOut,
    lhs: &Any,
    rhs: &Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> *mut c_void {
    let mismatch = || {
        let options = Options { map_free_vars, skip_tensor_content };
        equal::first_structural_mismatch(lhs, rhs, options)?.map(Tuple::new).transpose()
    };
    // SAFETY: see the file.
    unsafe { object(out, mismatch) }
}

unsafe extern "C-unwind" fn find_access_paths(
    out: ObjectOut,
    root: &Option<ObjectRef>,
    context: &Option<VisitErrorContext>,
    allow_prefix_match: bool,
) -> *mut c_void {
    let paths = || match (root, context) {
        (Some(root), Some(context)) => {
            visit::find_access_paths(root.clone(), context, allow_prefix_match)
        }
        _ => Err(error!(ValueError, "FindAccessPaths needs a root and a context")),
    };
    // SAFETY: see the file.
    unsafe { object(out, paths) }
}

unsafe extern "C-unwind" fn repr_print(out: CellOut, value: &Any) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || dataclass::repr_print(value)) }
}

unsafe extern "C-unwind" fn deep_copy(out: CellOut, value: &Any) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || dataclass::deep_copy(value)) }
}

unsafe extern "C-unwind" fn load_from_file(out: ObjectOut, file: &String) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { object(out, || Module::load_from_file(file)) }
}

/// Implements `uint64_t StructuralHash::Hash(const Any& value, bool map_free_vars, bool
/// skip_tensor_content)`.
#[unsafe(export_name = "_ZN3tvm3ffi14StructuralHash4HashERKNS0_3AnyEbb")]
unsafe extern "C-unwind" fn structural_hash(
    value: &Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> u64 {
    or_throw(|| equal::structural_hash(value, Options { map_free_vars, skip_tensor_content }))
}

/// Implements
/// `bool StructuralEqual::Equal(lhs, rhs, bool map_free_vars, bool skip_tensor_content)`.
#[unsafe(export_name = "_ZN3tvm3ffi15StructuralEqual5EqualERKNS0_3AnyES4_bb")]
unsafe extern "C-unwind" fn structural_equal(
    lhs: &Any,
    rhs: &Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> bool {
    or_throw(|| equal::structural_equal(lhs, rhs, Options { map_free_vars, skip_tensor_content }))
}

/// Implements `int64_t RecursiveHash(const Any&)`.
#[unsafe(export_name = "_ZN3tvm3ffi13RecursiveHashERKNS0_3AnyE")]
unsafe extern "C-unwind" fn recursive_hash(value: &Any) -> i64 {
    or_throw(|| dataclass::recursive_hash(value))
}

/// Implements `bool RecursiveEq(const Any& lhs, const Any& rhs)`.
#[unsafe(export_name = "_ZN3tvm3ffi11RecursiveEqERKNS0_3AnyES3_")]
unsafe extern "C-unwind" fn recursive_eq(lhs: &Any, rhs: &Any) -> bool {
    or_throw(|| dataclass::recursive_eq(lhs, rhs))
}

/// Implements `bool RecursiveLt(const Any& lhs, const Any& rhs)`.
#[unsafe(export_name = "_ZN3tvm3ffi11RecursiveLtERKNS0_3AnyES3_")]
unsafe extern "C-unwind" fn recursive_lt(lhs: &Any, rhs: &Any) -> bool {
    or_throw(|| Ok(dataclass::recursive_compare(lhs, rhs)? < 0))
}

/// Implements `bool RecursiveLe(const Any& lhs, const Any& rhs)`.
#[unsafe(export_name = "_ZN3tvm3ffi11RecursiveLeERKNS0_3AnyES3_")]
unsafe extern "C-unwind" fn recursive_le(lhs: &Any, rhs: &Any) -> bool {
    or_throw(|| Ok(dataclass::recursive_compare(lhs, rhs)? <= 0))
}

/// Implements `bool RecursiveGt(const Any& lhs, const Any& rhs)`.
#[unsafe(export_name = "_ZN3tvm3ffi11RecursiveGtERKNS0_3AnyES3_")]
unsafe extern "C-unwind" fn recursive_gt(lhs: &Any, rhs: &Any) -> bool {
    or_throw(|| Ok(dataclass::recursive_compare(lhs, rhs)? > 0))
}

/// Implements `bool RecursiveGe(const Any& lhs, const Any& rhs)`.
#[unsafe(export_name = "_ZN3tvm3ffi11RecursiveGeERKNS0_3AnyES3_")]
unsafe extern "C-unwind" fn recursive_ge(lhs: &Any, rhs: &Any) -> bool {
    or_throw(|| Ok(dataclass::recursive_compare(lhs, rhs)? >= 0))
}

/// Implements `void Module::VisitContextSymbols(const TypedFunction<void(String, void*)>&
/// callback)`.
#[unsafe(export_name = "_ZN3tvm3ffi6Module19VisitContextSymbolsERKNS0_13TypedFunctionIFvNS0_6StringEPvEEE")]
unsafe extern "C-unwind" fn visit_context_symbols(callback: &Option<Function>) {
    or_throw(|| {
        let Some(callback) = callback else {
            return Err(error!(ValueError, "VisitContextSymbols needs a callback"));
        };
        context::for_each(&mut |name, address| visit_symbol(callback, name, address))
    });
}

fn visit_symbol(callback: &Function, name: &CStr, address: *mut c_void) -> Result<()> {
    let name = String::from_bytes(name.to_bytes())?;
    // SAFETY: the callback gets the address in the slot of that name; its author knows the types of
    // the slots.
    let address = unsafe { OpaquePtr::new(address) };
    callback.call_packed(&[AnyView::from(&name), AnyView::from(&address)]).map(drop)
}
