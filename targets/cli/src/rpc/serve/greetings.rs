//! The handshakes of a server that go on, of which there are not too many.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// The connections whose handshake goes on. When there are too many, the oldest is closed, so that
/// silent clients do not keep others out.
pub struct Greetings {
    connections: Mutex<VecDeque<(u64, TcpStream)>>,
    most: usize,
}

impl Greetings {
    /// Creates an empty list of at most `most` connections.
    pub fn new(most: usize) -> Greetings {
        Greetings { connections: Mutex::default(), most }
    }

    /// Runs a handshake. Another thread may close the connection meanwhile.
    ///
    /// # Errors
    /// Errors of duplicating the socket.
    pub fn during<T>(
        &self,
        number: u64,
        stream: &TcpStream,
        greet: impl FnOnce() -> T,
    ) -> std::io::Result<T> {
        let copy = stream.try_clone()?;
        let oldest = {
            let mut connections = self.lock();
            connections.push_back((number, copy));
            if connections.len() > self.most { connections.pop_front() } else { None }
        };
        if let Some((_, oldest)) = oldest {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let result = greet();
        self.lock().retain(|(other, _)| *other != number);
        Ok(result)
    }

    /// Closes all connections.
    pub fn end(&self) {
        for (_, stream) in self.lock().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
