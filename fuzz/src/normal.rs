//! Normal form of values: what a client sees of them, without addresses.

use std::fmt::Write;

use ferrite_core::abi::*;

use crate::Library;

/// Depth to which the elements of sequences are shown, and the number of elements per sequence.
const DEPTH: usize = 2;
const WIDTH: usize = 8;

/// Offset of the content of an object.
const CONTENT: usize = size_of::<TVMFFIObject>();

/// Returns the content of an object as a record.
///
/// # Safety
/// The value must be a live object with that record behind its header.
pub unsafe fn content<T>(value: &TVMFFIAny) -> *const T {
    // SAFETY: by contract.
    unsafe { value.payload.v_ptr.byte_add(CONTENT) }.cast()
}

/// Returns the content of a string or of bytes.
pub fn text_of(value: &TVMFFIAny) -> Option<Vec<u8>> {
    // SAFETY: the type says which part of the value is there.
    unsafe {
        match value.type_index {
            kTVMFFISmallStr | kTVMFFISmallBytes => {
                Some(value.payload.v_bytes[..value.small_str_len as usize].to_vec())
            }
            kTVMFFIStr | kTVMFFIBytes => {
                Some((*content::<TVMFFIByteArray>(value)).as_slice().to_vec())
            }
            kTVMFFIByteArrayPtr => {
                Some((*value.payload.v_ptr.cast::<TVMFFIByteArray>()).as_slice().to_vec())
            }
            kTVMFFIRawStr => {
                Some(std::ffi::CStr::from_ptr(value.payload.v_c_str).to_bytes().to_vec())
            }
            _ => None,
        }
    }
}

/// Returns bytes in quotes, with escapes for all but printable ASCII.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => write!(out, "\\{}", *byte as char),
            b' '..=b'~' => write!(out, "{}", *byte as char),
            _ => write!(out, "\\x{byte:02x}"),
        }
        .expect("strings take text");
    }
    out + "\""
}

/// Returns the key of a type.
pub fn type_key(library: &Library, type_index: i32) -> String {
    // SAFETY: the index is that of a value, so the type is registered.
    let info = unsafe { (library.symbols.TVMFFIGetTypeInfo)(type_index) };
    if info.is_null() {
        return format!("type {type_index}");
    }
    // SAFETY: type information lives as long as the process.
    String::from_utf8_lossy(unsafe { (*info).type_key.as_slice() }).into_owned()
}

/// Returns the normal form of a value.
pub fn show(library: &Library, value: &TVMFFIAny) -> String {
    show_to(library, value, DEPTH)
}

fn show_to(library: &Library, value: &TVMFFIAny, depth: usize) -> String {
    // SAFETY: the type says which part of the value is there.
    unsafe {
        match value.type_index {
            kTVMFFINone => "None".into(),
            kTVMFFIInt => format!("int {}", value.payload.v_int64),
            kTVMFFIBool => format!("bool {}", value.payload.v_int64),
            kTVMFFIFloat if value.payload.v_float64.is_nan() => "float nan".into(),
            kTVMFFIFloat => format!("float {:016x}", value.payload.v_uint64),
            kTVMFFIOpaquePtr => format!("pointer {}", !value.payload.v_ptr.is_null()),
            kTVMFFIDataType => {
                let DLDataType { code, bits, lanes } = value.payload.v_dtype;
                format!("dtype {code} {bits} {lanes}")
            }
            kTVMFFIDevice => {
                let DLDevice { device_type, device_id } = value.payload.v_device;
                format!("device {device_type} {device_id}")
            }
            kTVMFFISmallStr | kTVMFFIStr => {
                format!("str {}", quoted(&text_of(value).unwrap_or_default()))
            }
            kTVMFFISmallBytes | kTVMFFIBytes => {
                format!("bytes {}", quoted(&text_of(value).unwrap_or_default()))
            }
            kTVMFFIError => show_error(&*content::<TVMFFIErrorCell>(value)),
            kTVMFFIShape => {
                let cell = &*content::<TVMFFIShapeCell>(value);
                format!("shape {:?}", slice(cell.data, cell.size))
            }
            kTVMFFITensor => show_tensor(&*content::<DLTensor>(value)),
            kTVMFFIArray | kTVMFFIList => {
                let cell = &*content::<TVMFFISeqCell>(value);
                let elements = slice(cell.data.cast::<TVMFFIAny>(), cell.size as usize);
                let mut out = format!("{} {}", type_key(library, value.type_index), elements.len());
                if depth > 0 {
                    let shown: Vec<_> = elements
                        .iter()
                        .take(WIDTH)
                        .map(|one| show_to(library, one, depth - 1))
                        .collect();
                    write!(out, " [{}]", shown.join(", ")).expect("strings take text");
                }
                out
            }
            kTVMFFIMap | kTVMFFIDict => {
                let size = *content::<u64>(value).add(1);
                format!("{} {size}", type_key(library, value.type_index))
            }
            kTVMFFIBigInt => {
                let words = (library.symbols.TVMFFIBigIntGetContentByteArray)(value);
                format!("big {}", quoted(words.as_slice()))
            }
            index => type_key(library, index),
        }
    }
}

/// Returns kind and message of an error.
pub fn show_error(cell: &TVMFFIErrorCell) -> String {
    // SAFETY: the parts live as long as the error.
    let (kind, message) = unsafe { (cell.kind.as_slice(), cell.message.as_slice()) };
    let more = match (cell.cause_chain.is_null(), cell.extra_context.is_null()) {
        (true, true) => "",
        (false, true) => " with a cause",
        (true, false) => " with a context",
        (false, false) => " with a cause and a context",
    };
    format!("error {} {}{more}", quoted(kind), quoted(message))
}

/// Returns the description of a tensor.
pub fn show_tensor(tensor: &DLTensor) -> String {
    let DLTensor { device, ndim, dtype, byte_offset, .. } = tensor;
    let len = usize::try_from(*ndim).unwrap_or(0);
    // SAFETY: shape and strides have as many elements as there are dimensions.
    let (shape, strides) = unsafe { (slice(tensor.shape, len), slice(tensor.strides, len)) };
    format!(
        "tensor {ndim} {shape:?} {strides:?} {} {} {} {} {} {byte_offset} {}",
        dtype.code,
        dtype.bits,
        dtype.lanes,
        device.device_type,
        device.device_id,
        !tensor.data.is_null()
    )
}

/// # Safety
/// The pointer must be null or point to that many elements.
unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    // SAFETY: by contract.
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}
