//! The encoding of message strings: plain, or packed in builds with many (`packed-messages`).
//!
//! Price: packed, the profile `full` takes 676 bytes less of flash on a Cortex-M4F; plain, an error
//! of the library takes 10 % fewer instructions (7,532 instead of 8,373).
//!
//! | item | meaning |
//! |---|---|
//! | `len`, `write` | length of an encoded text, and the encoder, at compile time |
//! | `put` | writes the decoded text up to its next placeholder |

#[cfg_attr(any(feature = "speed", not(feature = "packed-messages")), path = "fast.rs")]
#[cfg_attr(not(any(feature = "speed", not(feature = "packed-messages"))), path = "small.rs")]
mod imp;
#[cfg(all(test, feature = "speed"))]
#[expect(dead_code, reason = "only its tests use it in this build")]
mod small;

pub(super) use imp::*;
