//! Clients: sessions with servers on other machines or in other processes.
//!
//! | file | content |
//! |---|---|
//! | `api` | [`Session`], the interface for programs in Rust |
//! | `functions` | the global functions `rpc.*`, for programs in other languages |
//! | `connect`, `process` | TCP connections with their handshake; servers that are child processes |
//! | `transport`, `channel` | [`Transport`], a stream of bytes; its buffers |
//! | `connection`, `decode` | requests and their answers; the values of answers |
//! | `session`, `table`, `mask` | sessions; their numbers; the device types of a session |
//! | `arguments`, `result` | values of this process as those of a request; the results of calls |
//! | `function`, `module`, `object`, `tensor` | what belongs to the server, as objects of this process |
//! | `devices` | the devices of sessions, for the tensor functions |
//! | `errors` | errors of connections, and those that the server raised |
//!
//! A server is not trusted: it can return wrong values, but every length, count and type of its
//! answers is checked, and its handles are numbers that this process never follows. Connecting uses
//! the standard library, which ends the process when memory for a few hundred bytes is missing;
//! everything else reports a MemoryError.

mod api;
mod arguments;
mod channel;
mod connect;
mod connection;
mod decode;
mod devices;
mod errors;
mod forks;
mod function;
pub mod functions;
mod mask;
mod module;
mod object;
#[cfg(unix)]
mod process;
mod result;
mod session;
mod table;
mod tensor;
#[cfg(test)]
mod tests;
mod transport;

pub use api::{EvaluatorOptions, Session, TimeEvaluator};
pub use connect::Options;
pub use devices::install;
pub use transport::Transport;
