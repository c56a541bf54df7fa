//! The tracker's sockets, served by one thread that never waits for a single peer.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use ferrite_rpc::tracker::{ConnectionId, Registry, protocol};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt;
use serde_json::Value;

use super::connection::Connection;
use super::crowd::{self, Candidate, Rank};
use crate::visible;

/// Bytes in the buffers of all connections. Above, the connection with the largest one is closed.
const MOST_BUFFERED: usize = 64 << 20;

/// Silence after which the operating system asks whether a peer is still there, and the number and
/// interval of these questions: peers that vanished without a word are gone after 90 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
const PROBES: u32 = 3;
const PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// Pause of the listener when the process has no file descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// Limits that options set.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Maximum number of connections.
    pub connections: usize,
    /// Time in which a peer must finish what it began: its greeting, a message, reading an answer.
    pub timeout: Duration,
}

/// Listener with its connections.
pub struct EventLoop {
    listener: TcpListener,
    limits: Limits,
    registry: Registry,
    connections: BTreeMap<ConnectionId, Connection>,
    next: ConnectionId,
    /// Time until which no connection is accepted.
    paused: Option<Instant>,
    ends: bool,
}

impl EventLoop {
    /// Creates the loop.
    ///
    /// # Errors
    /// Errors of the socket.
    pub fn new(listener: TcpListener, limits: Limits, registry: Registry) -> io::Result<EventLoop> {
        listener.set_nonblocking(true)?;
        let connections = BTreeMap::new();
        Ok(EventLoop {
            listener,
            limits,
            registry,
            connections,
            next: 0,
            paused: None,
            ends: false,
        })
    }

    /// Serves until a client sends the stop key.
    ///
    /// # Errors
    /// Errors of the operating system while waiting.
    pub fn run(&mut self) -> io::Result<()> {
        while !self.ends {
            let ready = self.wait()?;
            for (connection, events) in ready {
                self.turn(connection, events);
            }
            self.close_overdue();
            self.close_largest();
            self.accept();
        }
        Ok(())
    }

    /// Waits for events, and returns those of connections.
    fn wait(&mut self) -> io::Result<Vec<(ConnectionId, PollFlags)>> {
        let now = Instant::now();
        self.paused = self.paused.filter(|end| *end > now);
        let timeout = self.timeout(now);
        let mut fds = Vec::with_capacity(self.connections.len() + 1);
        for connection in self.connections.values() {
            let wanted = if connection.wants_input() { PollFlags::IN } else { PollFlags::OUT };
            fds.push(PollFd::new(&connection.stream, wanted));
        }
        if self.paused.is_none() {
            fds.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let events = self.connections.keys().zip(fds.iter().map(PollFd::revents));
        Ok(events
            .filter(|(_, events)| !events.is_empty())
            .map(|(id, events)| (*id, events))
            .collect())
    }

    /// Returns the time until the next deadline; `None` if there is none.
    fn timeout(&self, now: Instant) -> Option<Timespec> {
        let deadlines = self.connections.values().filter_map(Connection::deadline);
        let left = deadlines.chain(self.paused).min()?.saturating_duration_since(now);
        // A millisecond more, since some systems round down and would return too early.
        Timespec::try_from(left + Duration::from_millis(1)).ok()
    }

    /// Serves one connection that is ready.
    fn turn(&mut self, id: ConnectionId, events: PollFlags) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if !connection.wants_input() {
            return self.flush(id);
        }
        if events.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            match connection.receive() {
                Ok(true) => self.serve_messages(id),
                Ok(false) => self.close(id, None),
                Err(error) => self.close(id, Some(&error.to_string())),
            }
        }
    }

    /// Writes what waits for a peer, and serves the messages that waited for this.
    fn flush(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if let Err(error) = connection.flush() {
            return self.close(id, Some(&error.to_string()));
        }
        if connection.wants_input() {
            self.serve_messages(id);
        }
    }

    /// Serves the messages that have arrived, until an answer has to wait for the peer.
    fn serve_messages(&mut self, id: ConnectionId) {
        let now = Instant::now();
        let mut is_progress = false;
        while let Some(connection) =
            self.connections.get_mut(&id).filter(|found| found.wants_input())
        {
            match connection.next_message() {
                Ok(Some(message)) => {
                    is_progress = true;
                    if let Err(reason) = self.serve_message(id, &message) {
                        return self.close(id, Some(&reason));
                    }
                }
                Ok(None) if connection.wants_input() => break,
                // The greeting.
                Ok(None) => self.write(id),
                Err(reason) => return self.close(id, Some(&reason)),
            }
        }
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.update_deadline(now, self.limits.timeout, is_progress);
        }
    }

    fn serve_message(&mut self, id: ConnectionId, message: &[u8]) -> Result<(), String> {
        let effects = self.registry.serve(id, message)?;
        if let Some(news) = effects.news {
            self.log(id, &news);
        }
        self.ends |= effects.ends;
        for (peer, answer) in effects.answers {
            self.send(peer, &answer);
        }
        Ok(())
    }

    /// Sends an answer: as much as the peer takes now, the rest later.
    fn send(&mut self, id: ConnectionId, answer: &Value) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.send(&protocol::frame(answer));
            self.write(id);
        }
    }

    fn write(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        match connection.flush() {
            Ok(()) => connection.update_deadline(Instant::now(), self.limits.timeout, false),
            Err(error) => self.close(id, Some(&error.to_string())),
        }
    }

    /// Closes a connection, and logs the reason, unless the peer has closed it.
    fn close(&mut self, id: ConnectionId, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.log(id, &format!("closed: {reason}"));
        }
        if let Some(key) = self.registry.close(id) {
            self.log(id, &format!("{key} is gone"));
        }
        self.connections.remove(&id);
    }

    /// Closes the connections whose time limit is over.
    fn close_overdue(&mut self) {
        let now = Instant::now();
        let is_over = |connection: &Connection| connection.deadline().is_some_and(|end| end <= now);
        let overdue: Vec<_> =
            self.connections.iter().filter(|(_, one)| is_over(one)).map(|(id, _)| *id).collect();
        for id in overdue {
            let seconds = self.limits.timeout.as_secs_f64();
            self.close(
                id,
                Some(&format!("it was silent for {seconds} s in the middle of a message")),
            );
        }
    }

    /// Closes the connections with the largest buffers while all together are too large.
    fn close_largest(&mut self) {
        let total =
            |all: &EventLoop| all.connections.values().map(Connection::buffered).sum::<usize>();
        while total(self) > MOST_BUFFERED {
            let largest =
                self.connections.iter().max_by_key(|(_, connection)| connection.buffered());
            let Some((id, _)) = largest else { return };
            self.close(*id, Some("its messages fill the memory"));
        }
    }

    /// Accepts one connection, if one waits.
    fn accept(&mut self) {
        if self.paused.is_some() {
            return;
        }
        match self.listener.accept() {
            Ok((stream, address)) => self.admit(stream, address),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.pause(&error),
        }
    }

    /// Adds a connection. When there are too many, another one is closed for it, or it is refused.
    fn admit(&mut self, stream: TcpStream, address: SocketAddr) {
        if self.connections.len() >= self.limits.connections
            && !self.close_for(address.ip().to_canonical())
        {
            return report(address, "refused: too many connections");
        }
        keep_alive(&stream);
        match Connection::new(stream, address, Instant::now(), self.limits.timeout) {
            Ok(connection) => {
                self.next += 1;
                self.registry.open(self.next, address.ip().to_canonical().to_string());
                self.connections.insert(self.next, connection);
            }
            Err(error) => report(address, &format!("refused: {error}")),
        }
    }

    /// Closes a connection for one from `newcomer`. Returns `false` if all are in use.
    fn close_for(&mut self, newcomer: IpAddr) -> bool {
        let active = self.registry.active();
        let candidates = self.connections.iter();
        let candidates: Vec<_> =
            candidates.map(|(id, one)| candidate(*id, one, active.contains(id))).collect();
        let chosen = crowd::choose(&candidates, newcomer);
        if let Some(id) = chosen {
            self.close(id, Some("too many connections"));
        }
        chosen.is_some()
    }

    /// Stops accepting for a moment after an error, which is mostly a lack of file descriptors:
    /// the listener stays ready, and would be asked again at once.
    fn pause(&mut self, error: &io::Error) {
        if !matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) {
            let _ = writeln!(io::stderr(), "cannot accept a connection: {error}");
            self.paused = Some(Instant::now() + PAUSE);
        }
    }

    fn log(&self, id: ConnectionId, text: &str) {
        if let Some(connection) = self.connections.get(&id) {
            report(connection.address, text);
        }
    }
}

fn candidate(id: ConnectionId, connection: &Connection, is_active: bool) -> Candidate {
    let rank = match (connection.is_greeted(), is_active) {
        (false, _) => Rank::Silent,
        (true, false) => Rank::Idle,
        (true, true) => Rank::Active,
    };
    let address = connection.address.ip().to_canonical();
    Candidate { connection: id, address, rank, last_message: connection.last_message() }
}

/// Lets the operating system find peers that vanished. Without it, a connection of one would stay.
fn keep_alive(stream: &TcpStream) {
    let set = || {
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
        sockopt::set_tcp_keepintvl(stream, PROBE_INTERVAL)?;
        sockopt::set_tcp_keepcnt(stream, PROBES)
    };
    if let Err(error) = set() {
        let _ = writeln!(io::stderr(), "cannot detect peers that vanish: {error}");
    }
}

/// Writes a line about a peer to standard error. A closed standard error does not end the tracker.
fn report(address: SocketAddr, text: &str) {
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    let _ = writeln!(io::stderr(), "{address}: {}", visible::line(text));
}
