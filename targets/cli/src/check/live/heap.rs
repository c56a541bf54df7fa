//! Counts allocated heap memory. Builds for C++ libraries need this, since such libraries allocate
//! objects by `malloc`, past any custom allocator.

/// Unit of the count, for messages.
pub const UNIT: &str = "bytes";

/// Makes the count exact: disables malloc's lists of freed blocks, which count as allocated. The
/// variable [`TUNABLES`](super::TUNABLES) has disabled the lists of each thread.
pub fn begin() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: an option of malloc.
    unsafe {
        libc::mallopt(libc::M_MXFAST, 0);
    }
}

/// Returns the number of allocated bytes; 0 if the C library does not report it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn now() -> i64 {
    type MallInfo = unsafe extern "C" fn() -> libc::mallinfo2;
    // Looked up, since glibc has it from 2.33 on.
    // SAFETY: the name ends in a NUL.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    if function.is_null() {
        return 0;
    }
    // SAFETY: glibc guarantees that its function has this type.
    let info = unsafe { std::mem::transmute::<*mut libc::c_void, MallInfo>(function)() };
    i64::try_from(info.uordblks.saturating_add(info.hblkhd)).unwrap_or(i64::MAX)
}

/// Returns 0: the C library does not report allocated bytes.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn now() -> i64 {
    0
}
