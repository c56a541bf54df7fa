//! Sessions with this process itself: a server in a thread, which offers every global function.
#![forbid(unsafe_code)]

use std::boxed::Box;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function};

use super::channel::Channel;
use super::connect::begin;
use super::errors;
use super::evaluator::any_time_evaluator;
use super::forward::{forward, is_remote};
use super::module::TIME_EVALUATOR;
use super::session::Connected;
use super::socket::Socket;
use crate::functions;
use crate::server::{Access, Host, serve};
use crate::wire::{Closed, Stream};

/// Starts a server in a thread, and begins a session with it, with the constructor and its
/// arguments that the server is to use. The thread ends with the session.
///
/// # Errors
/// RPCError if the system has no further thread or socket; MemoryError.
pub(super) fn start(constructor: &[AnyView<'_>]) -> Result<Arc<Connected>> {
    let failed = |error: std::io::Error| {
        errors::rpc(format_args!("Error starting an RPC server in a thread: {error}"))
    };
    let (client, server) = UnixStream::pair().map_err(failed)?;
    let mut host = LocalHost(Channel::new(Box::new(Socket(server)))?);
    let body = move || {
        serve(&mut host, &GlobalFunctions);
    };
    thread::Builder::new().name("ferrite-rpc".into()).spawn(body).map_err(failed)?;
    begin(Channel::new(Box::new(Socket(client)))?, constructor)
}

/// The server's end of the stream.
struct LocalHost(Channel);

impl Stream for LocalHost {
    fn read(&mut self, target: &mut [u8]) -> core::result::Result<(), Closed> {
        self.0.read(target)
    }

    fn write(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> core::result::Result<(), Closed> {
        self.0.flush()
    }
}

/// Memory for arguments.
struct Words(Buffer<u64>);

impl AsMut<[u64]> for Words {
    fn as_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Host for LocalHost {
    type Memory = Words;

    fn take_memory(&mut self, bytes: usize) -> Option<Words> {
        let mut words = Buffer::new();
        words.try_resize(bytes.div_ceil(8), 0).ok()?;
        Some(Words(words))
    }

    fn return_memory(&mut self, _: Words) {}
}

/// Every global function of the process.
struct GlobalFunctions;

impl Access for GlobalFunctions {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        if let Some(function) = global_table::get(name)? {
            return Ok(Some(function));
        }
        if name == TIME_EVALUATOR.as_bytes() {
            return Function::from_packed(any_time_evaluator).map(Some);
        }
        functions::find(name).map(Function::from_packed).transpose()
    }

    fn is_remote(&self, session: &Any) -> Result<bool> {
        is_remote(session).map(|()| true)
    }

    fn forward(
        &self,
        session: &Any,
        client: &mut dyn Stream,
        code: i32,
        left: u64,
    ) -> core::result::Result<(), Closed> {
        forward(session, client, code, left)
    }
}
