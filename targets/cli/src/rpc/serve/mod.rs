//! `ferrite rpc serve`: a process listens, and each session has a process and a folder.
//!
//! | file | purpose |
//! |---|---|
//! | `listener` | accepts connections, a thread for each |
//! | `greetings`, `slots` | handshakes that go on; clients that wait for a session |
//! | `process`, `folder` | processes of sessions, which are killed with their children; folders |
//! | `single` | a session on pipes |
//! | `proxy` | sessions through a proxy |
//! | `session`, `stream` | the process of a session, with its buffers |
//! | `access`, `files`, `link` | the functions that clients may call; uploads, which are linked |

mod access;
#[allow(unsafe_code, reason = "descriptors are handed over by their numbers")]
mod descriptors;
mod files;
mod folder;
mod greetings;
mod link;
mod listener;
mod options;
mod process;
mod proxy;
mod session;
mod single;
mod slots;
mod stream;

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

pub use options::{Serve, Session};
pub use session::run as run_session;

use crate::failure::{Failure, Kind, Outcome};
use crate::rpc::greeting::Gate;
use crate::rpc::log::note;
use crate::rpc::secret;
use crate::rpc::tracker_client::{Offer, Registration};
use crate::{library, linker, output};
use folder::ServerFolder;
use listener::Server;

/// Runs the command, until a signal ends it.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for options that contradict each other;
/// [`Kind::Input`](crate::failure::Kind::Input) for files, folders and addresses that cannot be
/// used; [`Kind::Load`](crate::failure::Kind::Load) for libraries that do not load.
pub fn run(options: &Serve) -> Outcome<()> {
    options.check()?;
    let token = options.token.as_deref().map(secret::read_token).transpose()?;
    options.session.library.iter().try_for_each(|path| library::require_loadable(path))?;
    process::probe(options)?;
    let stop = stop_on_signals().map_err(Failure::negative)?;
    let folder = ServerFolder::create()
        .map_err(|error| Failure::input(format!("cannot create a temporary folder: {error}")))?;
    if options.stdio || options.pipe.is_some() {
        return single::run(options, &folder, &stop);
    }
    if let Some(proxy) = &options.proxy {
        let gate = Gate::Key(options.key.clone());
        Server::new(options, token, gate, folder, stop).run_behind(proxy);
        return Ok(());
    }
    let listener = bind(options)?;
    let address = listener.local_addr().map_err(Failure::negative)?;
    let gate = gate(options, address)?;
    if let Some(reason) = linker::ABSENT.filter(|_| options.session.allow_code) {
        note("uploads", reason);
    }
    output::print(&format!("serving at {address}\n"))?;
    Server::new(options, token, gate, folder, stop).run(&listener)
}

/// Returns a descriptor that becomes readable when a signal asks the program to end.
fn stop_on_signals() -> std::io::Result<OwnedFd> {
    let (stop, signal) = UnixStream::pair()?;
    for number in [SIGTERM, SIGINT, SIGHUP] {
        pipe::register(number, signal.try_clone()?)?;
    }
    Ok(stop.into())
}

/// Listens at the first free port of the options.
fn bind(options: &Serve) -> Outcome<TcpListener> {
    let (host, first) = (options.tcp.ip(), options.tcp.port());
    let last = options.port_end.unwrap_or(first);
    if last < first {
        return Err(Failure::usage(format!("--port-end {last} is before port {first}")));
    }
    let mut outcome = Err(Failure::new(Kind::Input, "no port"));
    for port in first..=last {
        let address = SocketAddr::new(host, port);
        outcome = match TcpListener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let is_used = error.kind() == std::io::ErrorKind::AddrInUse;
                let failure = Failure::input(format!("cannot listen at {address}: {error}"));
                if !is_used {
                    return Err(failure);
                }
                Err(failure)
            }
        };
    }
    outcome
}

/// Returns the keys that open sessions, and registers with the tracker.
fn gate(options: &Serve, address: SocketAddr) -> Outcome<Gate> {
    let Some(tracker) = &options.tracker else { return Ok(Gate::Key(options.key.clone())) };
    let offer = Offer {
        tracker: tracker.clone(),
        key: options.key.clone(),
        host: options.custom_address.clone(),
        port: address.port(),
        sessions: usize::from(options.sessions),
    };
    Registration::start(offer).map(Gate::Tracker).map_err(Failure::negative)
}
