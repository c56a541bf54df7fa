//! The errors of the `minimal` profile: reasons for refusing a request, each with a kind and a
//! message.

use core::ffi::c_char;
use core::mem::offset_of;
use core::num::NonZeroUsize;

/// A table entry: the message of a reason, and the offset of its error kind in the table.
#[repr(C)]
struct Reason<const LEN: usize> {
    kind: u8,
    message: [u8; LEN],
}

/// The table of kinds and messages, each a C string. The message of a MemoryError is the name of
/// the capacity to increase, without `FERRITE_`.
#[repr(C)]
struct ReasonTexts {
    memory_error: [u8; 12],
    runtime_error: [u8; 13],
    value_error: [u8; 11],
    type_error: [u8; 10],
    argument: Reason<13>,
    device: Reason<8>,
    workspace: Reason<9>,
    wrong_type: Reason<11>,
    taken: Reason<11>,
    unknown: Reason<12>,
    no_handle: Reason<10>,
    busy: Reason<7>,
    functions: Reason<10>,
    names: Reason<6>,
    strings: Reason<8>,
    string_bytes: Reason<13>,
}

const VALUE_ERROR: u8 = offset_of!(ReasonTexts, value_error) as u8;
const TYPE_ERROR: u8 = offset_of!(ReasonTexts, type_error) as u8;
const RUNTIME_ERROR: u8 = offset_of!(ReasonTexts, runtime_error) as u8;
const MEMORY_ERROR: u8 = offset_of!(ReasonTexts, memory_error) as u8;

static TEXTS: ReasonTexts = ReasonTexts {
    value_error: *b"ValueError\0",
    type_error: *b"TypeError\0",
    runtime_error: *b"RuntimeError\0",
    memory_error: *b"MemoryError\0",
    argument: Reason { kind: VALUE_ERROR, message: *b"bad argument\0" },
    device: Reason { kind: VALUE_ERROR, message: *b"not CPU\0" },
    workspace: Reason { kind: VALUE_ERROR, message: *b"not last\0" },
    wrong_type: Reason { kind: TYPE_ERROR, message: *b"wrong type\0" },
    taken: Reason { kind: RUNTIME_ERROR, message: *b"name taken\0" },
    unknown: Reason { kind: RUNTIME_ERROR, message: *b"no function\0" },
    no_handle: Reason { kind: RUNTIME_ERROR, message: *b"no handle\0" },
    busy: Reason { kind: RUNTIME_ERROR, message: *b"in use\0" },
    functions: Reason { kind: MEMORY_ERROR, message: *b"FUNCTIONS\0" },
    names: Reason { kind: MEMORY_ERROR, message: *b"NAMES\0" },
    strings: Reason { kind: MEMORY_ERROR, message: *b"STRINGS\0" },
    string_bytes: Reason { kind: MEMORY_ERROR, message: *b"STRING_BYTES\0" },
};

const _: () = assert!(size_of::<ReasonTexts>() <= 256);

/// The reason for refusing a request, encoded as the offset of its entry in the table of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(NonZeroUsize);

/// The result of a request, or the reason for refusing it. `Result<()>` takes one word, which is 0
/// for success.
pub type Result<T> = core::result::Result<T, Refusal>;

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $entry:ident;)*) => {
        impl Refusal {
            $($(#[$doc])* pub const $name: Self = Self::at(offset_of!(ReasonTexts, $entry));)*
        }
    };
}

refusals! {
    /// ValueError: a null pointer, a null callback, a negative count, or an impossible size.
    ARGUMENT = argument;
    /// ValueError: a device other than the CPU.
    DEVICE = device;
    /// ValueError: an address that is not the latest workspace.
    WORKSPACE = workspace;
    /// TypeError: an object of another type.
    TYPE = wrong_type;
    /// RuntimeError: a global name that is already taken.
    TAKEN = taken;
    /// RuntimeError: an unknown global name.
    UNKNOWN = unknown;
    /// RuntimeError: an initialisation function that wrote no handle.
    NO_HANDLE = no_handle;
    /// RuntimeError: a handle that is being initialised, or a buffer with workspaces in use.
    BUSY = busy;
    /// MemoryError: no slot for another function object.
    FUNCTIONS = functions;
    /// MemoryError: no slot for another name.
    NAMES = names;
    /// MemoryError: no slot for another string.
    STRINGS = strings;
    /// MemoryError: a string longer than a slot.
    STRING_BYTES = string_bytes;
}

impl Refusal {
    const fn at(offset: usize) -> Self {
        match NonZeroUsize::new(offset) {
            Some(offset) => Self(offset),
            None => unreachable!(),
        }
    }

    /// Returns the kind and the message of the error for this reason.
    #[inline(always)]
    pub fn kind_and_message(self) -> (*const c_char, *const c_char) {
        let entry = text(self.0.get());
        // SAFETY: an entry consists of the offset of its kind and its message.
        unsafe { (text(entry.cast::<u8>().read() as usize), entry.add(1)) }
    }
}

/// Returns the C string at an offset in the table.
const fn text(offset: usize) -> *const c_char {
    // SAFETY: callers pass offsets within the strings.
    unsafe { (&raw const TEXTS).byte_add(offset).cast() }
}

/// Returns the string `RuntimeError`, the kind of errors created without a kind.
pub(super) const fn runtime_error() -> *const c_char {
    text(RUNTIME_ERROR as usize)
}

/// Returns the string `MemoryError`, the kind of out-of-memory errors.
pub const fn memory_error() -> *const c_char {
    text(MEMORY_ERROR as usize)
}
