//! Representation of the types of the ABI in C.

use crate::signature::Type;

/// Representation of a type in C.
pub struct CType {
    /// Type of a parameter, with a space at its end unless it is a pointer.
    pub parameter: &'static str,
    /// Helper that converts a parameter to a cell.
    pub to_cell: &'static str,
    /// Type of a result, and the helper that converts a cell to it; `None` for results that are
    /// returned as cells.
    pub result: Option<(&'static str, &'static str)>,
}

/// Returns the representation of a type: a cell for values of several types, and a handle for
/// objects.
pub fn c_type(wanted: &Type) -> CType {
    let name = wanted.name.strip_prefix("ffi.").unwrap_or(&wanted.name);
    let (parameter, to_cell, result) = match name {
        "int" => ("int64_t ", "ferrite_stub_int", Some(("int64_t", "ferrite_stub_take_int"))),
        "float" => ("double ", "ferrite_stub_float", Some(("double", "ferrite_stub_take_float"))),
        "bool" => ("int ", "ferrite_stub_bool", Some(("int", "ferrite_stub_take_bool"))),
        "str" | "String" | "const char*" | "std::string" => {
            ("const char *", "ferrite_stub_text", None)
        }
        "DLTensor*" => ("DLTensor *", "ferrite_stub_dltensor", None),
        "dtype" | "DataType" => ("DLDataType ", "ferrite_stub_dtype", None),
        "Device" => ("DLDevice ", "ferrite_stub_device", None),
        "Any" | "Optional" | "Union" | "Variant" | "bytes" | "Bytes" | "None" | "void*"
        | "ObjectRValueRef" => ("const TVMFFIAny *", "*", None),
        _ => ("TVMFFIObjectHandle ", "ferrite_stub_object", None),
    };
    CType { parameter, to_cell, result }
}

/// Returns `true` for functions without a result.
pub fn is_none(wanted: &Type) -> bool {
    wanted.name == "None"
}
