//! The encoded form of messages: texts as they are written, or packed in builds whose texts are many (`packed-messages`).
//!
//! | item | meaning |
//! |---|---|
//! | `len`, `write` | bytes of the encoded form of a text, and the encoding, at compile time |
//! | `put` | writes an encoded text up to its next argument |

#[cfg_attr(any(feature = "speed", not(feature = "packed-messages")), path = "fast.rs")]
#[cfg_attr(not(any(feature = "speed", not(feature = "packed-messages"))), path = "small.rs")]
mod imp;
#[cfg(all(test, feature = "speed"))]
#[expect(dead_code, reason = "only its tests use it in this build")]
mod small;

pub(super) use imp::*;
