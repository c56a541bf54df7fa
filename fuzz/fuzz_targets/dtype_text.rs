//! Data type texts: any bytes parse or are refused, and what parses survives a trip through its own text.
#![no_main]

use ferrite_core::abi::DLDataType;
use ferrite_core::dtype;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(parsed) = DLDataType::parse(text) else {
        return;
    };
    let Ok(printed) = dtype::to_string(parsed) else {
        return;
    };
    // Texts leave out what the code implies (the bits of a handle), so the second text is the one to compare.
    let Ok(again) = DLDataType::parse(printed.as_bytes()) else {
        // As with upstream, only wide types take the text of scalable lanes, which all have from 0x8000 on.
        return assert!(parsed.bits <= 8 && parsed.lanes >= 0x8000);
    };
    assert_eq!(dtype::to_string(again).expect("a parsed dtype prints"), printed);
});
