//! The state of a session, and the loop that serves its requests.
#![forbid(unsafe_code)]

use super::handles::Handles;
use super::host::{Access, End, Host, Limits};
use crate::wire::{Packet, code};

/// The state of a session. Dropping it releases everything that the client has not freed.
///
/// Requests are served one after another, on the thread that calls [`serve`](Session::serve).
pub struct Session {
    pub(super) handles: Handles,
    pub(super) state: State,
}

/// The server of the requests.
pub(super) enum State {
    /// Nobody before InitServer.
    New,
    /// This server.
    Local,
    /// The server that a session constructor connected to.
    #[cfg(feature = "devices")]
    Remote(ferrite_core::Any),
}

impl Session {
    /// Creates a session that expects InitServer.
    pub const fn new(limits: Limits) -> Session {
        Session { handles: Handles::new(limits), state: State::New }
    }

    /// Serves requests until the client ends the session or the stream ends. Every error of a
    /// request is its answer, and the session goes on.
    pub fn serve<H: Host>(&mut self, host: &mut H, access: &dyn Access) -> End {
        loop {
            let Ok(mut packet) = Packet::begin(host) else { return End::Closed };
            let code = packet.next_i32();
            if code == code::SHUTDOWN {
                return End::Shutdown;
            }
            let Err(mut failure) = self.request(code, &mut packet, access) else { continue };
            // What was read after a fault of the packet is not what the client sent.
            if let Err(fault) = packet.check() {
                failure = fault.into();
            }
            // A request that failed before its end was not answered.
            if packet.skip_rest().is_err() || failure.answer(packet.stream()).is_err() {
                return End::Broken;
            }
        }
    }
}
