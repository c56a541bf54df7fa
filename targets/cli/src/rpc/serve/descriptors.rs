//! File descriptors: those that a parent process hands over by their numbers, and the standard
//! streams of a session's process.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

/// Takes a descriptor that the parent process opened for this one.
///
/// # Errors
/// `InvalidInput` for the standard streams, which others use; the system's error if it is not open.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number < 3 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the number is not -1, and the descriptor is only asked whether it is open.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: the descriptor is open, and this process has opened none of this number itself: it
    // is the user who says that it was handed over.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Takes standard input and output for a session. From now on, input is empty and output goes to
/// the log, so that what functions print does not reach the client.
///
/// # Errors
/// Errors of the system.
pub fn take_standard_streams() -> io::Result<(File, File)> {
    let input = moved(io::stdin().as_fd())?;
    let output = moved(io::stdout().as_fd())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}

/// Duplicates a descriptor to a number behind the standard streams.
fn moved(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(fcntl_dupfd_cloexec(descriptor, 3)?)
}
