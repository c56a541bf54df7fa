//! Requests that a server forwards to the server of one of its own sessions: multi-hop.
#![forbid(unsafe_code)]

use ferrite_alloc_ext::module::Module;
use ferrite_core::Any;
use ferrite_core::error::{Error, Result};

use super::channel::Channel;
use super::module::RemoteModule;
use crate::wire::{Closed, Stream, code, send_bytes, send_exception};

/// Size of the pieces in which requests and answers are passed on.
const PIECE_BYTES: usize = 16 * 1024;

/// Checks that a value is a session, so that a server can forward requests to it.
///
/// # Errors
/// TypeError for other values.
pub fn is_remote(session: &Any) -> Result<()> {
    RemoteModule::of(&session.get::<Module>()?).map(drop)
}

/// Forwards a request of which `left` bytes can be read from `client` to the server of a session,
/// and its answer to the client. If that server is gone, the client gets an RPCError.
///
/// # Errors
/// [`Closed`] if the stream of the client ended, or an answer ends in the middle.
pub fn forward(
    session: &Any,
    client: &mut dyn Stream,
    code: i32,
    left: u64,
) -> core::result::Result<(), Closed> {
    let module: Result<Module> = session.get();
    let exchange = |client: &mut dyn Stream| {
        let module = module?;
        let session = RemoteModule::of(&module)?.session();
        session.exchange(|connection| {
            let channel = connection.channel()?;
            let passed = pass(channel, client, code, left);
            if !matches!(passed, Ok(true)) {
                connection.abandon();
            }
            Ok(passed)
        })
    };
    match exchange(client) {
        Ok(Ok(true)) => client.flush(),
        Ok(Ok(false)) => refuse(client, &super::errors::closed()),
        Ok(Err(closed)) => Err(closed),
        Err(error) => {
            copy(client, &mut |_: &[u8]| Ok(()), left)?;
            refuse(client, &error)
        }
    }
}

/// Passes a request and its answer on. Returns `false` if the server is gone before it answers.
fn pass(
    channel: &mut Channel,
    client: &mut dyn Stream,
    code: i32,
    left: u64,
) -> core::result::Result<bool, Closed> {
    let mut sent = send_bytes(channel, code, left);
    copy(
        client,
        &mut |piece: &[u8]| {
            // A failure of the server does not end the client's request.
            sent = sent.and_then(|()| channel.write(piece));
            Ok(())
        },
        left,
    )?;
    if code == code::SHUTDOWN {
        return Ok(sent.is_ok());
    }
    channel.start_waiting();
    let mut length = [0; 8];
    let begun = sent.and_then(|()| channel.flush()).and_then(|()| {
        loop {
            channel.read(&mut length)?;
            if length != [0; 8] {
                return Ok(());
            }
        }
    });
    channel.stop_waiting();
    if begun.is_err() {
        return Ok(false);
    }
    client.write(&length)?;
    copy(channel, &mut |piece: &[u8]| client.write(piece), u64::from_le_bytes(length))?;
    Ok(true)
}

/// Reads `left` bytes, and passes them to `write` in pieces.
fn copy(
    source: &mut (impl Stream + ?Sized),
    write: &mut dyn FnMut(&[u8]) -> core::result::Result<(), Closed>,
    mut left: u64,
) -> core::result::Result<(), Closed> {
    let mut piece = [0; PIECE_BYTES];
    while left != 0 {
        let count = usize::try_from(left).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        let piece = &mut piece[..count];
        source.read(piece)?;
        write(piece)?;
        left -= count as u64;
    }
    Ok(())
}

fn refuse(mut client: &mut dyn Stream, error: &Error) -> core::result::Result<(), Closed> {
    send_exception(&mut client, error.kind_bytes(), error.message_bytes())
}
