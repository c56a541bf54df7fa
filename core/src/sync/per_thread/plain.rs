//! The plain values of each thread, found by a TLS descriptor.
//!
//! Compilers read thread-local variables of a library that may be opened at any time by `__tls_get_addr`, most of whose time is
//! that of the call. A descriptor has a function of the dynamic linker that tells how far a variable is from the thread's
//! pointer, and a word for it. Where it is as far in each thread, as in most processes, the word is the answer: it is asked
//! once. In a process without room for such variables it is asked each time, and the library can be opened all the same.

use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicIsize, Ordering};

use super::Plain;

/// How far the values are from the pointer of each thread, which is negative; 0 while that is unknown, and
/// [`ASK`] where it is not the same in each.
static OFFSET: AtomicIsize = AtomicIsize::new(0);

/// Tells that the linker is to be asked each time.
const ASK: isize = 1;

/// Lends what this thread has.
#[inline(always)]
pub fn with<R>(body: impl FnOnce(&Plain) -> R) -> R {
    let offset = match OFFSET.load(Ordering::Relaxed) {
        offset if offset < 0 => offset,
        0 => find(),
        _ => ask().offset,
    };
    let values: *const Plain = thread_pointer().wrapping_byte_offset(offset).cast();
    // SAFETY: the memory is this thread's own until it ends, longer than the call; nobody has it exclusively. Zeros are values
    // of every field, and it starts with them.
    body(unsafe { &*values })
}

/// This thread's pointer, where its first word is.
#[inline(always)]
fn thread_pointer() -> *const () {
    let pointer;
    // SAFETY: on this platform the word that the register leads to holds its own address, as long as the thread runs.
    unsafe { asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags)) };
    pointer
}

/// Asks the dynamic linker for the first time.
#[cold]
#[inline(never)]
fn find() -> isize {
    let Found { offset, descriptor } = ask();
    // Variables as far from each thread's pointer are below it. A descriptor's address is positive, as is the address of what a
    // function needs to find a variable elsewhere.
    let is_fixed = offset < 0
        && (descriptor.addr().cast_signed() == offset || {
            // SAFETY: not the offset, hence the address of a descriptor, which the linker wrote before it answered.
            unsafe { descriptor.add(1).read() == offset }
        });
    OFFSET.store(if is_fixed { offset } else { ASK }, Ordering::Relaxed);
    offset
}

/// An answer of the linker.
#[repr(C)]
struct Found {
    /// How far the values are from this thread's pointer.
    offset: isize,
    /// A function and its word. In a program, which needs no descriptor, the offset stands in its place.
    descriptor: *const isize,
}

/// Defines the memory, and calls its descriptor by the instructions that linkers know. The call changes no register but
/// `rax` in principle; that of older C libraries changes those of vectors, as any function may.
#[unsafe(naked)]
#[allow(named_asm_labels, reason = "a naked function is there once; older compilers warn of it all the same")]
extern "C" fn ask() -> Found {
    naked_asm!(
        "sub rsp, 8",
        "lea rax, [rip + ferrite_plain@tlsdesc]",
        "mov rdx, rax",
        "call [rax + ferrite_plain@tlscall]",
        "add rsp, 8",
        "ret",
        ".pushsection .tbss.ferrite_plain, \"awT\", @nobits",
        ".p2align {align}",
        ".type ferrite_plain, @object",
        ".size ferrite_plain, {size}",
        "ferrite_plain: .zero {size}",
        ".popsection",
        align = const align_of::<Plain>().trailing_zeros(),
        size = const size_of::<Plain>(),
    );
}
