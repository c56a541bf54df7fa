//! The surroundings of a session: a stream with memory for arguments, and the functions
//! that a client may call.
#![forbid(unsafe_code)]

use ferrite_core::{Any, Function, Result};

use crate::wire::{Closed, Stream};

/// A stream to one client, with memory for the arguments of one request.
pub trait Host: Stream {
    /// Memory for arguments: an exclusive slice, or a vector.
    type Memory: AsMut<[u64]>;

    /// Provides memory of at least `bytes` bytes for the arguments of a request, or a block of a
    /// copy to a device. Returns `None` if it is more than the limit for a packet; the request is
    /// then skipped and answered with an error.
    ///
    /// The session returns the memory before it requests memory again.
    fn take_memory(&mut self, bytes: usize) -> Option<Self::Memory>;

    /// Takes memory back.
    fn return_memory(&mut self, memory: Self::Memory);
}

/// The functions that a client may call.
pub trait Access {
    /// Finds a global function. Returns `None` if there is none.
    ///
    /// # Errors
    /// The reason for which the client may not call the function.
    fn find(&self, name: &[u8]) -> Result<Option<Function>>;

    /// Checks the result of a session constructor, a module of kind `rpc`. Returns whether requests
    /// are for another server, so that [`forward`](Access::forward) gets them. The default
    /// implementation serves them here.
    ///
    /// # Errors
    /// TypeError for other values.
    fn is_remote(&self, session: &Any) -> Result<bool> {
        let _ = session;
        Ok(false)
    }

    /// Forwards a request of which `left` bytes can be read from `client` to the server of a
    /// session, and the answer to the client. Every byte of the request must be read.
    ///
    /// # Errors
    /// [`Closed`] if either stream has ended.
    fn forward(
        &self,
        session: &Any,
        client: &mut dyn Stream,
        code: i32,
        left: u64,
    ) -> Result<(), Closed> {
        let _ = (session, client, code, left);
        Err(Closed)
    }
}

/// Limits of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of handles. Builds without `alloc` have a constant table.
    pub handles: u32,
    /// Maximum number of bytes that the client may allocate at a time.
    pub data_bytes: u64,
}

impl Limits {
    /// A million handles, and any number of bytes.
    pub const DEFAULT: Limits = Limits { handles: 1 << 20, data_bytes: u64::MAX };
}

/// The way in which a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client ended it.
    Shutdown,
    /// The stream ended between two requests.
    Closed,
    /// The stream ended or failed during a request or an answer.
    Broken,
}
