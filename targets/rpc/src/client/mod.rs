//! Clients: sessions with servers on other machines or in other processes.
//!
//! | file | content |
//! |---|---|
//! | `api` | [`Session`], the interface for programs in Rust |
//! | `functions` | the global functions `rpc.*`, for programs in other languages |
//! | `connect` | TCP connections with their handshake |
//! | `process`, `local`, `socket` | servers that are child processes, or threads of this one; their streams |
//! | [`forward`] | sessions of a server with a further server |
//! | `transport`, `channel` | [`Transport`], a stream of bytes; its buffers |
//! | `connection`, `decode` | requests and their answers; the values of answers |
//! | `session`, `table`, `mask` | sessions; their numbers; the device types of a session |
//! | `arguments`, `result` | values of this process as those of a request; the results of calls |
//! | `function`, `module`, `object`, `tensor` | what belongs to the server, as objects of this process |
//! | `devices` | the devices of sessions, for the tensor functions |
//! | `evaluator` | measurements |
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
mod evaluator;
mod forks;
pub mod forward;
mod function;
pub mod functions;
#[cfg(unix)]
mod local;
mod mask;
mod module;
mod object;
#[cfg(unix)]
mod process;
mod result;
mod session;
#[cfg(unix)]
mod socket;
mod table;
mod tensor;
#[cfg(test)]
mod tests;
mod transport;

pub use api::{EvaluatorOptions, Session, TimeEvaluator};
pub use connect::Options;
pub use devices::install;
pub use transport::Transport;
