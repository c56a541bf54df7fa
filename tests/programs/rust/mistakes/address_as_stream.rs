//! A stream that may be dropped while it is the current one.

use ferrite::env::stream::{DeviceKey, scope};

fn main() -> ferrite::Result<()> {
    let stream = std::ptr::without_provenance_mut(8);
    scope(DeviceKey::new(2, 0), stream, || ()) //~ is unsafe and requires unsafe block
}
