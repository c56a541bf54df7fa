//! The tracker without its sockets: gives waiting clients free servers by key.
//!
//! | file | content |
//! |---|---|
//! | [`protocol`] | messages, which are checked before anything changes |
//! | `inbox` | [`Inbox`]: messages of a connection, from bytes that arrive in pieces |
//! | `queues` | free servers and waiting clients of each key |
//! | `registry` | [`Registry`]: connections, their servers, and the answers to requests |

mod inbox;
pub mod protocol;
mod queues;
mod registry;

pub use inbox::{Inbox, Message};
pub use queues::ConnectionId;
pub use registry::{Effects, Registry};
