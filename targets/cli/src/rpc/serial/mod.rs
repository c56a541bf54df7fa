//! `ferrite rpc serial`: a server for TVM, whose sessions are those of a board at a serial port.
#![forbid(unsafe_code)]

mod board;
mod client;
mod frame;
mod line;
mod link;
mod options;
mod session;

use std::net::TcpListener;

use crate::failure::{Failure, Outcome};
use crate::output;

use super::greeting::{Gate, Lock};
use super::log::note;
use super::secret;
use super::tracker_client::{Offer, Registration};
use board::Board;
use client::Client;
use session::Session;

pub use options::Serial;

/// Runs the command until it is ended, or for one session.
///
/// # Errors
/// [`Kind::Missing`](crate::failure::Kind::Missing) for a device that cannot be opened;
/// [`Kind::Input`](crate::failure::Kind::Input) for an address that is in use, and for a token that
/// cannot be read.
pub fn run(options: &Serial) -> Outcome<()> {
    let token = options.token.as_deref().map(secret::read_token).transpose()?;
    let mut board = Board::open(options)?;
    let cannot = |error| Failure::input(format!("cannot listen at {}: {error}", options.tcp));
    let listener = TcpListener::bind(options.tcp).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let registration = options.tracker.as_ref().map(|tracker| {
        Registration::start(Offer {
            tracker: tracker.clone(),
            key: options.key.clone(),
            host: options.custom_address.clone(),
            port: address.port(),
            sessions: 1,
        })
    });
    let registration = registration.transpose().map_err(Failure::negative)?;
    let gate = registration.map_or_else(|| Gate::Key(options.key.clone()), Gate::Tracker);
    output::print(&format!("{} at {address}\n", options.device.display()))?;
    loop {
        let (stream, peer) = listener.accept().map_err(cannot)?;
        let lock = Lock { token: token.as_deref(), admit: &|name| gate.admit(name) };
        match Client::greet(stream, &lock, &options.key, options.handshake_timeout) {
            Ok((client, _slot)) => {
                note(peer, "session");
                let reason = Session::new(options, &mut board, client).run();
                note(peer, reason);
                if options.once {
                    return Ok(());
                }
            }
            Err(reason) => note(peer, format_args!("refused: {reason}")),
        }
    }
}
