//! The listening socket, a thread for each connection, and the end of the server.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use ferrite_rpc::handshake;
use ferrite_rpc::wire::send_exception;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt;

use super::folder::ServerFolder;
use super::greetings::Greetings;
use super::options::Serve;
use super::process::{self, Bounds, End, HANG_UP};
use super::slots::{NoSlot, Slots};
use crate::failure::{Failure, Outcome};
use crate::rpc::greeting::{Gate, Lock, Timed, greet};
use crate::rpc::log::note;

/// Number of handshakes at a time.
const GREETINGS: usize = 256;
/// Time for an error that ends a session, and for the client to read it.
const FAREWELL: Duration = Duration::from_secs(2);
/// Silence after which the system asks whether a client is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// Pause after a connection could not be accepted, such as without file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// State that the threads of a server share.
pub struct Server {
    options: Serve,
    token: Option<Vec<u8>>,
    gate: Gate,
    folder: ServerFolder,
    slots: Slots,
    greetings: Greetings,
    connections: AtomicU64,
    /// Becomes readable when the server ends.
    stop: OwnedFd,
}

impl Server {
    /// Creates a server that ends its sessions when `stop` becomes readable.
    pub fn new(
        options: &Serve,
        token: Option<Vec<u8>>,
        gate: Gate,
        folder: ServerFolder,
        stop: OwnedFd,
    ) -> Server {
        let slots = Slots::new(usize::from(options.sessions), usize::from(options.waiting));
        let (greetings, connections) = (Greetings::new(GREETINGS), AtomicU64::new(0));
        let options = options.clone();
        Server { options, token, gate, folder, slots, greetings, connections, stop }
    }

    /// Serves clients until the server is stopped.
    ///
    /// # Errors
    /// Errors of the listening socket.
    pub fn run(&self, listener: &TcpListener) -> Outcome<()> {
        listener.set_nonblocking(true).map_err(Failure::negative)?;
        thread::scope(|scope| {
            while self.wait_for_client(listener) {
                let (stream, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                    Err(error) => {
                        note("server", format!("cannot accept a connection: {error}"));
                        thread::sleep(PAUSE);
                        continue;
                    }
                };
                let client = Client { server: self, stream, peer };
                let started = thread::Builder::new().spawn_scoped(scope, move || client.serve());
                if let Err(error) = started {
                    note(peer, format!("refused: no thread: {error}"));
                }
            }
            self.greetings.end();
        });
        Ok(())
    }

    /// Waits for a connection. Returns `false` when the server is stopped.
    fn wait_for_client(&self, listener: &TcpListener) -> bool {
        let mut polled =
            [PollFd::new(listener, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
        // After an interrupted wait there may be no connection.
        let _ = rustix::event::poll(&mut polled, None);
        !self.is_stopped()
    }

    pub(super) fn is_stopped(&self) -> bool {
        has_event(&self.stop, PollFlags::IN)
    }

    /// Returns the event that stops the server, for a poll.
    pub(super) fn stop_event(&self) -> PollFd<'_> {
        PollFd::new(&self.stop, PollFlags::IN)
    }

    pub(super) fn options(&self) -> &Serve {
        &self.options
    }

    /// Returns the conditions that clients meet whom `admit` admits by their names.
    pub(super) fn lock<'a, T>(&'a self, admit: &'a dyn Fn(&[u8]) -> Option<T>) -> Lock<'a, T> {
        Lock { token: self.token.as_deref(), admit }
    }

    /// Returns the time limit of a session for which the client asked for a limit.
    pub(super) fn limit(&self, asked: Option<Duration>) -> Option<Duration> {
        [asked, self.options.timeout].into_iter().flatten().min()
    }
}

/// Returns `true` if an event is there.
fn has_event(descriptor: impl AsFd, event: PollFlags) -> bool {
    let mut polled = [PollFd::new(&descriptor, event)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0)
}

/// One connection.
pub(super) struct Client<'a> {
    pub(super) server: &'a Server,
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
}

impl Client<'_> {
    fn serve(&self) {
        if let Err(reason) = self.try_serve() {
            note(self.peer, format!("refused: {reason}"));
        }
    }

    /// Serves the client, from the handshake to the end of its session.
    ///
    /// # Errors
    /// The reason for which it has no session.
    fn try_serve(&self) -> Result<(), String> {
        let server = self.server;
        self.set_up().map_err(|error| format!("the connection failed: {error}"))?;
        let admit = |name: &[u8]| server.gate.admit(name);
        let lock = server.lock(&admit);
        let number = server.connections.fetch_add(1, Relaxed);
        let limit = server.options.handshake_timeout;
        let greeting =
            server.greetings.during(number, &self.stream, || greet(&self.stream, limit, &lock));
        let (_offered, asked) = greeting.map_err(|error| error.to_string())??;
        let _slot = match server.slots.wait(|| self.is_gone() || server.is_stopped()) {
            Ok(slot) => slot,
            Err(NoSlot::Gone) => return Err("the client left before it was its turn".into()),
            Err(NoSlot::Full) => {
                let _ = handshake::refuse(&mut self.timed(), handshake::DUPLICATE);
                return Err(format!("{} clients wait already", server.options.waiting));
            }
        };
        let key = format!("server:{}", server.options.key);
        handshake::accept(&mut self.timed(), key.as_bytes())
            .map_err(|_| "the client left during the handshake".to_string())?;
        self.session(server.limit(asked));
        Ok(())
    }

    pub(super) fn set_up(&self) -> std::io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&self.stream, true)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        sockopt::set_tcp_keepidle(&self.stream, KEEP_ALIVE)?;
        Ok(())
    }

    fn timed(&self) -> Timed<'_> {
        Timed::new(&self.stream, FAREWELL)
    }

    fn is_gone(&self) -> bool {
        has_event(&self.stream, HANG_UP)
    }

    /// Runs a session in its process.
    pub(super) fn session(&self, limit: Option<Duration>) {
        let start = Instant::now();
        note(self.peer, "session begins");
        let end = self.run_process(limit);
        let message = match &end {
            Ok(end) => end.message(),
            Err(error) => Some(format!("RuntimeError: the session cannot be started: {error}")),
        };
        let seconds = start.elapsed().as_secs_f64();
        let reason = match (&message, &end) {
            (Some(message), _) => message.as_str(),
            (None, Ok(End::Gone)) => "the client left during a call",
            (None, _) => "ended",
        };
        note(self.peer, format!("session of {seconds:.3} s: {reason}"));
        if let Some(message) = message {
            self.leave(&message);
        }
    }

    fn run_process(&self, limit: Option<Duration>) -> std::io::Result<End> {
        let folder = self.server.folder.session()?;
        // Limits of the socket count for all processes that have it.
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        let mut command = process::command(&self.server.options, folder.path())?;
        command.stdin(Stdio::from(OwnedFd::from(self.stream.try_clone()?)));
        command.stdout(Stdio::from(OwnedFd::from(self.stream.try_clone()?)));
        let (client, stop) = (Some(self.stream.as_fd()), self.server.stop.as_fd());
        process::run(command, &Bounds { limit, client, stop })
    }

    /// Sends the error that ended a session. Waits until the client has read it: closing a socket
    /// with unread requests would discard what it has not.
    fn leave(&self, message: &str) {
        let mut timed = self.timed();
        if send_exception(&mut timed, b"", message.as_bytes()).is_err() {
            return;
        }
        let _ = self.stream.shutdown(Shutdown::Write);
        let end = Instant::now() + FAREWELL;
        let mut rest = [0; 4096];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return;
            }
            if !matches!((&self.stream).read(&mut rest), Ok(count) if count > 0) {
                return;
            }
        }
    }
}
