//! The sessions of the process by number. A session that nothing uses gives its number back.
#![forbid(unsafe_code)]

use std::sync::{Arc, Weak};

use ferrite_core::bail;
use ferrite_core::error::Result;
use ferrite_core::platform::sync::Mutex;

use super::mask::SESSIONS;
use super::session::Connected;

pub(super) static TABLE: Mutex<[Option<Weak<Connected>>; SESSIONS]> =
    Mutex::new([const { None }; SESSIONS]);

/// Enters a session, and returns its number. Numbers are given from the highest down, since a
/// `libtvm_runtime` in the process numbers its sessions from zero.
///
/// # Errors
/// RPCError if every number is taken.
pub(super) fn insert(session: &Arc<Connected>) -> Result<u8> {
    let mut table = TABLE.lock();
    let is_free =
        |slot: &Option<Weak<_>>| slot.as_ref().is_none_or(|weak| weak.strong_count() == 0);
    match table.iter().rposition(is_free) {
        Some(number) => {
            table[number] = Some(Arc::downgrade(session));
            Ok(number as u8)
        }
        None => bail!("RPCError", "A process has at most {SESSIONS} RPC sessions"),
    }
}

/// Returns the session with a number; `None` if there is none.
pub(super) fn get(number: u8) -> Option<Arc<Connected>> {
    TABLE.lock().get(usize::from(number))?.as_ref()?.upgrade()
}
