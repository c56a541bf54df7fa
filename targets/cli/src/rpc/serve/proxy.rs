//! Sessions through a proxy of TVM, to which server and client both connect: for devices that
//! clients cannot reach.
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use ferrite_rpc::handshake::{self, HandshakeError, Key, MAX_KEY_BYTES};
use ferrite_rpc::wire::{Closed, Stream};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::listener::{Client, Server};
use crate::rpc::greeting::is_retried;
use crate::rpc::log::note;

/// Pause before the proxy is tried again: it may start later than the server.
const RETRY: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

impl Server {
    /// Serves clients that a proxy connects, until the server is stopped.
    pub fn run_behind(&self, proxy: &str) {
        thread::scope(|scope| {
            for _ in 0..self.options().sessions {
                scope.spawn(|| self.serve_behind(proxy));
            }
        });
    }

    fn serve_behind(&self, proxy: &str) {
        while !self.is_stopped() {
            if let Err(reason) = self.try_serve_behind(proxy)
                && !self.is_stopped()
            {
                note(proxy, format!("no client: {reason}"));
                let _ = rustix::event::poll(&mut [self.stop_event()], Some(&RETRY));
            }
        }
    }

    /// Waits for a client and serves it.
    ///
    /// # Errors
    /// The reason for which there is none.
    fn try_serve_behind(&self, proxy: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("the connection failed: {error}");
        let stream = TcpStream::connect(proxy).map_err(failed)?;
        let peer = stream.peer_addr().map_err(failed)?;
        let client = Client { server: self, stream, peer };
        client.set_up().map_err(failed)?;
        let asked = self.greet_behind(&client.stream)?;
        client.session(self.limit(asked));
        Ok(())
    }

    /// Introduces the server to the proxy and waits for a client. Returns the time limit that it
    /// asks for. Its name is the proxy's affair.
    ///
    /// # Errors
    /// The answer of the proxy, or a token that is not this server's.
    fn greet_behind(&self, stream: &TcpStream) -> Result<Option<Duration>, String> {
        let key = format!("server:{}", self.options().key);
        let mut buffer = [0; MAX_KEY_BYTES];
        let mut waiting = Waiting { stream, server: self };
        let key = match handshake::connect(&mut waiting, key.as_bytes(), &mut buffer) {
            Ok(key) => Key::parse(key),
            Err(HandshakeError::Duplicate) => return Err("another server has this key".into()),
            Err(HandshakeError::Mismatch) => return Err("no client came in time".into()),
            Err(HandshakeError::NotRpc(code)) => {
                return Err(format!("not a proxy of TVM: code {code:#x}"));
            }
            Err(_) => return Err("the proxy closed the connection".into()),
        };
        self.lock(&|_| Some(())).open(&key)?;
        Ok(key.timeout())
    }
}

/// A connection that waits for its peer, however long, until the server is stopped.
struct Waiting<'a> {
    stream: &'a TcpStream,
    server: &'a Server,
}

impl Stream for Waiting<'_> {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let mut rest = target;
        while !rest.is_empty() {
            let mut polled = [PollFd::new(self.stream, PollFlags::IN), self.server.stop_event()];
            // An interrupted wait is repeated by the read.
            let _ = rustix::event::poll(&mut polled, None);
            if self.server.is_stopped() {
                return Err(Closed);
            }
            match self.stream.read(rest) {
                Ok(0) => return Err(Closed),
                Ok(count) => rest = std::mem::take(&mut rest).get_mut(count..).ok_or(Closed)?,
                Err(error) if is_retried(error.kind()) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.stream.write_all(bytes).map_err(|_| Closed)
    }
}
