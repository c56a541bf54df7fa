//! The process of a session: started, waited for in limited time, and killed with its children.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::low_level::signal_name;

use super::options::Serve;
use crate::failure::{Failure, Kind, Outcome};

/// Time that a session may go on after its client closed the connection.
const GRACE: Duration = Duration::from_secs(1);

/// Status of a process that is not started. glibc loses the error of the system under qemu.
const NOT_STARTED: i32 = 127;

/// The reason why a session ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The process ended.
    Exit(ExitStatus),
    /// The time limit was reached.
    Late(Duration),
    /// The client was gone, and the process went on.
    Gone,
    /// The server ends.
    Stopped,
}

impl End {
    /// Returns the message for the client, unless the session ended as it should or nobody reads.
    pub fn message(&self) -> Option<String> {
        match self {
            End::Exit(status) if status.success() => None,
            End::Exit(status) => Some(match (status.signal(), status.code()) {
                (Some(signal), _) => {
                    format!("RuntimeError: the session's process was ended by {}", name(signal))
                }
                (None, code) => format!(
                    "RuntimeError: the session's process ended with status {}",
                    code.unwrap_or_default()
                ),
            }),
            End::Late(limit) => Some(format!(
                "RPCSessionTimeoutError: Your {:?}s session has expired, try to increase the \
                 \"session_timeout\" value.",
                limit.as_secs_f64()
            )),
            End::Gone => None,
            End::Stopped => Some("RuntimeError: the server was stopped".into()),
        }
    }
}

/// Returns the command that serves a session in a folder.
///
/// # Errors
/// Errors of finding this program.
pub fn command(options: &Serve, folder: &Path) -> io::Result<Command> {
    let program = std::env::current_exe()?;
    let wrap = options.wrap.as_ref().map_or(&[][..], |words| &words.0);
    let mut command = match wrap {
        [] => of_this_program(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(["rpc", "session"]).args(options.session.arguments());
    // Files that a compiler leaves when it is killed are in the folder, too.
    command.arg(folder).env("TMPDIR", folder);
    Ok(command)
}

/// Returns a command that runs this program, also after another version was installed in its place.
fn of_this_program(path: PathBuf) -> Command {
    let own = Path::new("/proc/self/exe");
    if !own.exists() {
        return Command::new(path);
    }
    let mut command = Command::new(own);
    command.arg0(path);
    command
}

/// Starts the process of a session, which loads the libraries and ends, so that mistakes are known
/// before a client comes. Does nothing if the client waits already and there are no libraries.
///
/// # Errors
/// The failure of the process.
pub fn probe(options: &Serve) -> Outcome<()> {
    let is_single = options.stdio || options.pipe.is_some();
    if is_single && options.session.library.is_empty() {
        return Ok(());
    }
    let failed = |error| Failure::missing(format!("cannot start a session: {}", advise(error)));
    let mut command = command(options, Path::new(".")).map_err(failed)?;
    command.env_remove("TMPDIR").arg("--probe").stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim_start_matches("error: ").trim_end();
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(status), _) if said.is_empty() => {
            let ended = io::Error::other(format!("its process ended with status {status}"));
            Err(failed(if status == NOT_STARTED { advised(&ended) } else { ended }))
        }
        (Some(status), _) => Err(Failure::new(Kind::of_status(status), said)),
        (None, signal) => Err(Failure::crash(format!(
            "a process of a session was ended by {}: {said}",
            name(signal.unwrap_or_default())
        ))),
    }
}

/// Adds advice to the error of a system that runs this program only by an emulator.
fn advise(error: io::Error) -> io::Error {
    match error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) {
        true => advised(&error),
        false => error,
    }
}

fn advised(error: &io::Error) -> io::Error {
    let emulator = format!("qemu-{}", std::env::consts::ARCH);
    io::Error::other(format!(
        "{error}: name the emulator that runs this program by --wrap, such as --wrap {emulator}"
    ))
}

fn name(signal: i32) -> String {
    signal_name(signal).map_or(format!("signal {signal}"), Into::into)
}

/// Events that end a session from outside.
pub struct Bounds<'a> {
    /// Maximum duration.
    pub limit: Option<Duration>,
    /// The client's connection, whose end is noticed also while the process computes.
    pub client: Option<BorrowedFd<'a>>,
    /// Becomes readable when the server ends.
    pub stop: BorrowedFd<'a>,
}

/// Starts a process in a group of its own and waits for it. Kills the group when it has ended or
/// must end.
///
/// # Errors
/// Errors of starting the process.
pub fn run(mut command: Command, bounds: &Bounds<'_>) -> io::Result<End> {
    let (ended, notice) = UnixStream::pair()?;
    let mut child = command.process_group(0).spawn().map_err(advise)?;
    // Its copies of the descriptors.
    drop(command);
    let group = Pid::from_child(&child);
    let watch = thread::Builder::new().spawn(move || {
        wait_without_reaping(group);
        drop(notice);
    });
    let watch = match watch {
        Ok(watch) => watch,
        Err(error) => {
            let _ = kill(&mut child, group);
            return Err(error);
        }
    };
    let end = wait(ended.as_fd(), bounds);
    let status = kill(&mut child, group);
    let _ = watch.join();
    match (end, status) {
        (Some(end), _) => Ok(end),
        (None, status) => status.map(End::Exit),
    }
}

/// Kills a group, which the process leads, and reaps the process. The number of the group is not
/// used again before that.
fn kill(child: &mut Child, group: Pid) -> io::Result<ExitStatus> {
    // The group may have no living process any more.
    let _ = kill_process_group(group, Signal::KILL);
    child.wait()
}

/// Waits until the process has ended, and leaves its status to others.
fn wait_without_reaping(process: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(process), options), Err(Errno::INTR)) {}
}

/// Waits for the end of the process, for which it returns `None`, or a reason to kill it.
fn wait(ended: BorrowedFd<'_>, bounds: &Bounds<'_>) -> Option<End> {
    let start = Instant::now();
    let mut end = bounds.limit.map(|limit| (limit, End::Late(limit)));
    let mut client = bounds.client;
    loop {
        let left = end.as_ref().map(|(limit, _)| limit.saturating_sub(start.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return end.map(|(_, end)| end);
        }
        let mut polled = vec![
            PollFd::from_borrowed_fd(ended, PollFlags::IN),
            PollFd::from_borrowed_fd(bounds.stop, PollFlags::IN),
        ];
        polled.extend(client.map(|client| PollFd::from_borrowed_fd(client, HANG_UP)));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without a way to wait, the session must not go on without limits.
            Err(_) => return Some(End::Stopped),
        }
        let is_ready = |at: usize| polled.get(at).is_some_and(|one| !one.revents().is_empty());
        if is_ready(0) {
            return None;
        }
        if is_ready(1) {
            return Some(End::Stopped);
        }
        if is_ready(2) {
            client = None;
            let grace = start.elapsed() + GRACE;
            if end.as_ref().is_none_or(|(limit, _)| grace < *limit) {
                end = Some((grace, End::Gone));
            }
        }
    }
}

/// Event of a connection that its peer closed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub const HANG_UP: PollFlags = PollFlags::RDHUP;
/// Event of a connection that its peer closed.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub const HANG_UP: PollFlags = PollFlags::HUP;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn pair() -> (OwnedFd, OwnedFd) {
        let (one, other) = UnixStream::pair().unwrap();
        (one.into(), other.into())
    }

    #[test]
    fn the_way_in_which_a_process_ended_has_a_message() {
        let (stop, _keep) = pair();
        let bounds = Bounds { limit: None, client: None, stop: stop.as_fd() };
        for (script, message) in [
            ("exit 0", None),
            ("exit 3", Some("RuntimeError: the session's process ended with status 3")),
            ("kill -SEGV $$", Some("RuntimeError: the session's process was ended by SIGSEGV")),
        ] {
            assert_eq!(run(shell(script), &bounds).unwrap().message().as_deref(), message);
        }
    }

    #[test]
    fn programs_that_need_an_emulator_have_advice() {
        let failed = advise(io::Error::from_raw_os_error(Errno::NOEXEC.raw_os_error()));
        assert!(failed.to_string().contains("by --wrap, such as --wrap qemu-"), "{failed}");
        let missing = advise(io::Error::from_raw_os_error(Errno::NOENT.raw_os_error()));
        assert_eq!(missing.raw_os_error(), Some(Errno::NOENT.raw_os_error()));
    }

    #[test]
    fn late_processes_are_killed_with_their_children() {
        let (stop, _keep) = pair();
        let (held, write) = std::io::pipe().unwrap();
        let limit = Duration::from_millis(100);
        let bounds = Bounds { limit: Some(limit), client: None, stop: stop.as_fd() };
        let mut command = shell("sleep 100 & sleep 100");
        command.stdout(write);
        assert_eq!(run(command, &bounds).unwrap(), End::Late(limit));
        let message = End::Late(Duration::from_secs(1)).message().unwrap();
        assert!(message.starts_with("RPCSessionTimeoutError: Your 1.0s session"), "{message}");
        // The pipe ends when no process has it any more.
        assert_eq!(std::io::read_to_string(held).unwrap(), "");
    }

    #[test]
    fn children_that_are_left_are_killed() {
        let (stop, _keep) = pair();
        let (held, write) = std::io::pipe().unwrap();
        let bounds = Bounds { limit: None, client: None, stop: stop.as_fd() };
        let mut command = shell("sleep 100 &");
        command.stdout(write);
        assert_eq!(run(command, &bounds).unwrap().message(), None);
        assert_eq!(std::io::read_to_string(held).unwrap(), "");
    }

    #[test]
    fn processes_end_with_the_server_and_with_their_client() {
        let (stop, keep) = pair();
        drop(keep);
        let bounds = Bounds { limit: None, client: None, stop: stop.as_fd() };
        assert_eq!(run(shell("sleep 100"), &bounds).unwrap(), End::Stopped);
        let ((stop, _keep), (client, peer)) = (pair(), pair());
        drop(peer);
        let bounds = Bounds { limit: None, client: Some(client.as_fd()), stop: stop.as_fd() };
        assert_eq!(run(shell("sleep 100"), &bounds).unwrap(), End::Gone);
    }
}
