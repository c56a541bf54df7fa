//! Conversion of a buffer to a string. The fast implementation turns a long buffer into the string
//! object itself, which requires blocks of malloc; the small one copies the content.
//!
//! | item | meaning |
//! |---|---|
//! | `LEAD_BYTES` | bytes at the start of the buffer that become the head of the object |
//! | `string_of` | creates a string from the content of a buffer, beginning at a position |

#[cfg_attr(all(feature = "std", feature = "speed", not(feature = "client")), path = "fast.rs")]
#[cfg_attr(
    not(all(feature = "std", feature = "speed", not(feature = "client"))),
    path = "small.rs"
)]
mod imp;

pub(super) use imp::*;
