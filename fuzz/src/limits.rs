//! Calls that programs do not make, and why: those whose result the ABI leaves undefined, and calls
//! that no test machine can afford.
//!
//! Beside the functions below, these never occur in a program:
//!
//! | Left out | Reason |
//! |---|---|
//! | handles of released objects, addresses that are not objects | not checked by any implementation: the caller owns them |
//! | handles of another class where the parameter is a plain handle and upstream does not look | upstream casts; ours checks, which the unit tests show |
//! | opaque pointers as attributes of types | the library calls them as C functions |
//! | a class of a program below a class of the library | the objects of a program do not have the layout of such a parent |
//! | a result of `-1` by a function of a program that raised nothing | not allowed by the safe-call convention |
//! | tensors whose sizes exceed their memory, kept in a register | structural functions read the elements |
//! | an object after a call that failed and might have moved it | libraries convert arguments in different orders; the register is emptied |
//! | global functions of TVM's front ends and of models, found by name | some write files, or take addresses |
//! | calls of functions in registers after a module for devices was loaded, where a driver is found | the driver would run damaged code |
//! | damaged ELF files | the system's loader trusts them |
//! | `library_ctx` that is not a module | an address that the loader stores |
//! | `ffi.ferrite.ServeRelease` | serves an earlier release of upstream from then on, in the whole process |
//! | hooks that create objects: `__ffi_new__`, `__ffi_init__`, `__ffi_shallow_copy__` | the library trusts the layout of the result |

use std::ffi::CStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ferrite_core::abi::{TVMFFIAny, kTVMFFIBool, kTVMFFIInt};

use crate::normal;
use crate::texts::GLOBALS;

/// Why a function is not called with any arguments.
pub enum Limit {
    /// Not at all.
    Never(&'static str),
    /// Only when the argument of this number is an integer of at most this size, or no integer.
    Small(usize, i64, &'static str),
    /// Only when no argument is a string that begins like this.
    NotText(&'static [u8], &'static str),
    /// Only when the first argument is not a string, or one that begins like one of these.
    OnlyText(&'static [&'static [u8]], &'static str),
}

use Limit::{Never, OnlyText, Small};

/// Functions with a limit.
pub const LIMITS: &[(&str, Limit)] = &[
    (
        "ffi.FunctionFromExternC",
        Never("takes addresses; the step ExternC calls it with those of a function"),
    ),
    ("ffi.MakeFieldGetter", Never("its result is an address, which differs from run to run")),
    ("ffi.MakeFieldSetter", Never("takes addresses as integers, and its function writes to one")),
    (
        "ffi._PyClassRegisterTypeAttrColumns",
        Never("trusts the size of objects; the step PyClass calls it"),
    ),
    ("ffi._RegisterFFIInit", Never("the step PyClass calls it with a class of the program")),
    ("ffi.ListReserve", Small(1, 4096, "allocates what is asked for")),
    ("ffi.json.Stringify", Small(1, 64, "writes as many blanks as is asked for")),
    (
        "ffi.FunctionRemoveGlobal",
        Limit::NotText(b"ffi.", "would remove functions that later programs call"),
    ),
    ("ffi.ModuleLoadFromFile", OnlyText(FILES, "would run the code of any shared object")),
    ("ffi.Module.load_from_file.so", OnlyText(FILES, "would run the code of any shared object")),
    ("ffi.ModuleWriteToFile", Never("would write any file")),
    ("ffi.ModuleGlobalsAdd", Never("keeps the module alive for ever: a leak of the program")),
];

/// Kinds of modules with code for devices.
pub const DEVICES: &[&str] =
    &["opencl", "cuda", "hip", "hsaco", "rocm", "metal", "webgpu", "vulkan"];

/// Whether the program has loaded code for devices.
static HAS_DEVICE_CODE: AtomicBool = AtomicBool::new(false);

/// Says whether the program has loaded code for devices.
pub fn set_device_code(loaded: bool) {
    HAS_DEVICE_CODE.store(loaded, Ordering::Relaxed);
}

/// Returns `true` if a program may call functions of unknown origin: no driver would run damaged
/// code.
pub fn may_call() -> bool {
    !HAS_DEVICE_CODE.load(Ordering::Relaxed) || !has_driver()
}

/// Returns `true` if the machine has a driver of a device.
pub fn has_driver() -> bool {
    const DRIVERS: &[&CStr] =
        &[c"libOpenCL.so.1", c"libcuda.so.1", c"libamdhip64.so", c"libvulkan.so.1"];
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        // SAFETY: drivers run no code of programs when they are opened.
        DRIVERS
            .iter()
            .any(|name| unsafe { !libc::dlopen(name.as_ptr(), libc::RTLD_LAZY).is_null() })
    });
    *FOUND
}

const FILES: &[&[u8]] = &[b"missing", b"no_dot"];

/// Returns `true` if a program may find a global function by its name and call it with any
/// arguments.
pub fn may_find(name: &[u8]) -> bool {
    let is_known =
        [&b"ffi."[..], b"fuzz."].iter().any(|start| name.starts_with(start)) || name.len() < 8;
    let is_limited = LIMITS.iter().any(|(limited, _)| limited.as_bytes() == name);
    is_known && !is_limited && !name.starts_with(b"ffi.ferrite.")
}

/// Returns whether a program may call a function with these arguments.
pub fn allows(name: &str, args: &[TVMFFIAny]) -> bool {
    let device = name.strip_prefix("ffi.Module.").and_then(|name| name.rsplit_once('.'));
    if device.is_some_and(|(_, kind)| DEVICES.contains(&kind)) {
        set_device_code(true);
    }
    let mut limits = LIMITS.iter().filter(|(limited, _)| *limited == name);
    limits.all(|(_, limit)| match limit {
        Never(_) => false,
        Small(at, max, _) => args.get(*at).is_none_or(|arg| is_at_most(arg, *max)),
        Limit::NotText(start, _) => {
            let is_own = |text: &[u8]| GLOBALS.iter().any(|name| name.as_bytes() == text);
            args.iter().map(text).all(|text| !text.starts_with(start) || is_own(&text))
        }
        OnlyText(starts, _) => {
            args.first().is_none_or(|arg| starts.iter().any(|start| text(arg).starts_with(start)))
        }
    })
}

fn is_at_most(arg: &TVMFFIAny, max: i64) -> bool {
    // SAFETY: integers and booleans have an integer.
    !matches!(arg.type_index, kTVMFFIInt | kTVMFFIBool) || unsafe { arg.payload.v_int64 } <= max
}

fn text(arg: &TVMFFIAny) -> Vec<u8> {
    normal::text_of(arg).unwrap_or_default()
}
