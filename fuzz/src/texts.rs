//! Strings of programs: any bytes, or one of a table of strings that mean something to the library.

use crate::code::{Coded, Reader};

/// A string, which need not be UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub struct Text(pub Vec<u8>);

/// Length that free strings do not exceed.
const MAX_LEN: usize = 47;

/// Strings with a meaning. Their numbers are part of the code of programs: append only.
pub const KNOWN: &[&[u8]] = &[
    b"",
    b"a",
    b"b",
    b"abcdefg",
    b"abcdefgh",
    b"abcdefghijklmnopqrstuvwxyz",
    b"x\0y",
    b"\xff\xfe",
    b"\xc3\xa9\xe2\x82\xac",
    b"int32",
    b"uint1",
    b"float32x4",
    b"float32xscalable4",
    b"float8_e4m3fn",
    b"bool",
    b"bfloat16",
    b"handle",
    b"void",
    b"custom[fuzz]3",
    b"int99999999999",
    b"{}",
    b"[]",
    b"[1,2.5,null,true,\"x\"]",
    b"{\"a\":[1,{\"b\":-0.0}],\"c\":\"\\u00e9\"}",
    b"[1,",
    b"NaN",
    b"1e400",
    b"123456789012345678901234567890",
    b"{\"root_index\":0,\"nodes\":[{\"type\":\"int\",\"data\":1}]}",
    b"{\"root_index\":1,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"ffi.Array\",\"data\":[0,0]}]}",
    b"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.List\",\"data\":[0]}]}",
    b"{\"root_index\":0,\"nodes\":[{\"type\":\"fuzz.A\",\"data\":{}}]}",
    b"fuzz.f0",
    b"fuzz.f1",
    b"fuzz.A",
    b"fuzz.B",
    b"fuzz.missing",
    b"ffi.Object",
    b"ffi.Array",
    b"ffi.Function",
    b"ffi.ReprPrint",
    b"ffi.ListAppend",
    b"ffi.Module.load_from_file.so",
    b"value",
    b"key",
    b"n",
    b"x",
    b"TypeError",
    b"ValueError",
    b"__ffi_repr__",
    b"__any_hash__",
    b"__ffi_new__",
    b"PyErr_CheckSignals",
    b"__tvm_ffi_fuzz_a",
    b"fuzz_a",
    b"missing.so",
    b"missing.unknown",
    b"no_dot",
    b"__ffi_init__",
    b"0",
    b"-1",
];

impl Text {
    /// Returns a string.
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    /// Returns the part before the first zero byte, and a zero byte.
    pub fn c_string(&self) -> Vec<u8> {
        let mut text: Vec<u8> = self.0.iter().copied().take_while(|byte| *byte != 0).collect();
        text.push(0);
        text
    }
}

impl Coded for Text {
    fn read(from: &mut Reader<'_>) -> Self {
        let first = from.byte();
        if first & 0x80 != 0 {
            return Self(KNOWN[usize::from(first & 0x7f) % KNOWN.len()].to_vec());
        }
        let len = usize::from(first) % (MAX_LEN + 1);
        Self(from.bytes(len))
    }

    fn write(&self, to: &mut Vec<u8>) {
        if let Some(number) = KNOWN.iter().position(|known| *known == self.0) {
            return to.push(0x80 | number as u8);
        }
        let len = self.0.len().min(MAX_LEN);
        to.push(len as u8);
        to.extend(&self.0[..len]);
    }
}

/// Names under which programs register functions.
pub const GLOBALS: &[&str] = &[
    "fuzz.f0",
    "fuzz.f1",
    "fuzz.a.long.name.of.a.function",
    "",
    "fuzz.f0.f",
    "__ffi_fuzz",
    "ffi.Module.load_from_bytes.fuzz",
    // Kernels of an executable.
    "add",
    "multiply",
    "less_equal",
    "ones",
    "subtract",
];

/// Keys of the classes that programs register.
pub const CLASSES: &[&str] = &["fuzz.A", "fuzz.B", "fuzz.C", "fuzz.D"];

/// Names under which functions are symbols of the system library.
pub const SYSTEM_SYMBOLS: &[&str] =
    &["__tvm_ffi_fuzz_a", "__tvm_ffi_fuzz_b", "fuzz_prefix___tvm_ffi_main", "__tvm_ffi_main"];

/// Attributes that classes of programs may have. Those left out create objects whose layout the
/// library must trust: `__ffi_new__`, `__ffi_init__` and `__ffi_shallow_copy__`.
pub const ATTRIBUTES: &[&str] = &[
    "fuzz.attribute",
    "__ffi_repr__",
    "__ffi_hash__",
    "__ffi_eq__",
    "__ffi_compare__",
    "__any_hash__",
    "__any_equal__",
    "__s_equal__",
    "__s_hash__",
    "__s_visit__",
    "__s_mutate__",
    "__data_to_json__",
    "__data_from_json__",
    "__ffi_convert__",
    "",
];

/// Returns the entry of a table that a number chooses.
pub fn choose<T: Copy>(table: &[T], number: u8) -> T {
    table[usize::from(number) % table.len()]
}
