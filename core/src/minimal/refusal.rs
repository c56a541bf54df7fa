//! Why the library refuses something, in one byte; the words are looked up when the error is raised.

use super::{Raised, raised};

/// A refusal: the place of its kind in the high half, that of its message in the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// A null pointer, or a null callback.
    Null = 0x00,
    /// A bad count.
    Negative = 0x01,
    /// A device other than the CPU.
    Device = 0x02,
    /// An address that is not the latest workspace.
    Workspace = 0x03,
    /// An object of another type.
    Type = 0x14,
    /// A global name that is taken.
    Taken = 0x25,
    /// A name that nothing is registered under.
    Unknown = 0x26,
    /// An init function that gave no handle.
    NoHandle = 0x27,
    /// A handle that is being made, or a buffer with workspaces.
    Busy = 0x28,
    /// No slot for another function object.
    Functions = 0x39,
    /// No slot for another name.
    Names = 0x3A,
    /// No slot for another string.
    Strings = 0x3B,
    /// A string longer than a slot.
    StringBytes = 0x3C,
}

/// One C string behind the other: a table of pointers would cost more than searching. That of a MemoryError is the capacity to
/// raise.
static MESSAGES: &[u8] = b"null argument\0bad count\0not the CPU\0not the last one\0wrong type\0name taken\0\
no function\0non-NULL needed\0in use\0FERRITE_FUNCTIONS\0FERRITE_NAMES\0FERRITE_STRINGS\0FERRITE_STRING_BYTES\0";

/// Raises the error that says so.
#[cold]
#[inline(never)]
pub fn refuse(refusal: Refusal) -> Raised {
    let code = refusal as u8;
    let kind = match code >> 4 {
        0 => c"ValueError",
        1 => c"TypeError",
        2 => c"RuntimeError",
        _ => c"MemoryError",
    };
    let (mut message, mut left) = (MESSAGES.as_ptr(), code & 0xF);
    // SAFETY: there are more messages than that.
    unsafe {
        while left != 0 {
            left -= u8::from(*message == 0);
            message = message.add(1);
        }
        raised::raise(kind.as_ptr(), &[message.cast()])
    }
}
