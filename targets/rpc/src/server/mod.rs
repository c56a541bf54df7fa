//! The server: one session with a client, from InitServer to its end.
//!
//! | file | purpose |
//! |---|---|
//! | `host` | [`Host`] and [`Access`], what the session needs of its surroundings |
//! | `session` | [`Session`], its state and its loop |
//! | `handles`, `session_stream` | the table of handles, and streams in it |
//! | `region` | the memory behind data handles |
//! | `arguments` | sequences of values as arguments of functions |
//! | `requests` | one function for each kind of request |
//! | `results`, `failure` | answers: results of calls, errors |
//! | `copies` | copies between client and tensors |
//! | `devices` | devices that have a back end, or main memory alone |

mod arguments;
mod copies;
#[cfg_attr(not(feature = "devices"), path = "devices/main_memory.rs")]
#[cfg_attr(feature = "devices", path = "devices/backends.rs")]
mod devices;
mod failure;
mod handles;
mod host;
mod region;
mod requests;
mod results;
mod session;
#[cfg(feature = "devices")]
mod session_stream;

pub use host::{Access, End, Host, Limits};
pub use session::Session;

/// Serves one session, without limits on its handles and data.
pub fn serve<H: Host>(host: &mut H, access: &dyn Access) -> End {
    Session::new(Limits::DEFAULT).serve(host, access)
}

#[cfg(test)]
mod tests;
