//! Fuzzes data type strings: any bytes parse or are rejected, and parsed types survive a round trip
//! through their string.

use ferrite_core::abi::DLDataType;
use ferrite_core::value::dtype;

/// Runs the target on an input.
pub fn run(text: &[u8]) {
    let Ok(parsed) = DLDataType::parse(text) else {
        return;
    };
    let Ok(printed) = dtype::to_string(parsed) else {
        return;
    };
    // A string omits properties implied by the code (the bits of a handle), so the second text is
    // compared.
    let Ok(again) = DLDataType::parse(printed.as_bytes()) else {
        // As in upstream, only wide types accept the text of scalable lanes, which every type has
        // from 0x8000 lanes on.
        return assert!(parsed.bits <= 8 && parsed.lanes >= 0x8000);
    };
    assert_eq!(dtype::to_string(again).expect("a parsed dtype prints"), printed);
}
