//! Fuzzes JSON: any bytes parse or are rejected, and parsed values survive a round trip through
//! JSON with any indentation.

use ferrite_alloc_ext::json::{parse, stringify};

/// Runs the target on an input.
pub fn run(text: &[u8]) {
    let Ok(value) = parse(text) else {
        return;
    };
    let plain = stringify(&value, None).expect("parsed JSON prints");
    for indent in [None, Some(2)] {
        let text = stringify(&value, indent).expect("parsed JSON prints");
        let again = parse(text.as_bytes()).expect("printed JSON parses");
        assert_eq!(stringify(&again, None).expect("parsed JSON prints"), plain);
    }
}
