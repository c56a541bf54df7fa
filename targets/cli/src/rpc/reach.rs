//! Clients of servers: the options that name a server, and the session with it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ferrite::abi::DLDevice;
use ferrite::device::Device;
use ferrite::{Function, Module};
use ferrite_rpc::client::{Options, Session};

use crate::failure::{Failure, Outcome, describe};
use crate::visible::line;

use super::secret;
use super::tracker_client::{Assigned, TrackerConnection};

/// Port of a server whose address has none.
const PORT: u16 = 9090;

/// Maximum length of a token.
const LONGEST_TOKEN: usize = 512;

/// Number of servers that are tried when those that the tracker assigns do not answer.
const ATTEMPTS: usize = 5;

/// Server of a command.
#[derive(Args)]
pub struct Reach {
    /// Ask this tracker for a server of the key; ADDRESS is left out then
    #[arg(long, value_name = "ADDRESS", requires = "key")]
    pub tracker: Option<String>,
    /// Key of the server
    #[arg(long, default_value = "", hide_default_value = true)]
    pub key: String,
    /// File with the token of the server
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// Upload this file, and take the function from it
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
    /// Device of the server for tensors, such as opencl or cuda:1
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Time after which the server ends the session
    #[arg(long, value_name = "SECONDS", value_parser = super::limit::seconds)]
    pub timeout: Option<Duration>,
}

/// Session with a server.
pub struct Reached {
    /// HOST:PORT of the server.
    pub address: String,
    pub session: Session,
    /// Device of the server for tensors.
    pub device: Device,
    /// Module that was uploaded.
    pub module: Option<Module>,
}

impl Reach {
    /// Takes the address from the words of the command line, unless a tracker knows it.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::failure::Kind::Usage) if there is none.
    pub fn split<'words>(
        &self,
        words: &'words [String],
    ) -> Outcome<(Option<&'words str>, &'words [String])> {
        match (self.tracker.is_some(), words) {
            (true, words) => Ok((None, words)),
            (false, [address, words @ ..]) => Ok((Some(address), words)),
            (false, []) => Err(Failure::usage("name the ADDRESS of a server, or a --tracker")),
        }
    }

    /// Begins a session with the server at an address, or with one that the tracker assigns, and
    /// uploads the module.
    ///
    /// # Errors
    /// [`Kind::Missing`](crate::failure::Kind::Missing) for a server or a tracker that cannot be
    /// reached or refuses; errors of the server.
    pub fn open(&self, address: Option<&str>) -> Outcome<Reached> {
        let wanted =
            Device::parse(&self.device).map_err(|error| Failure::usage(describe(&error)))?;
        let token =
            self.token.as_deref().map(|file| secret::read(file, LONGEST_TOKEN)).transpose()?;
        let (address, session) = match address {
            Some(address) => self.connect(address, &self.key, token.as_deref())?,
            None => self.connect_assigned(token.as_deref())?,
        };
        let device = session.device(wanted.device_type(), DLDevice::from(wanted).device_id)?;
        let module = self.upload(&session)?;
        Ok(Reached { address, session, device, module })
    }

    fn connect(&self, address: &str, key: &str, token: Option<&str>) -> Outcome<(String, Session)> {
        let (host, port) = host_and_port(address)?;
        let options = Options { key, token, session_timeout: self.timeout, ..Options::default() };
        let session = Session::connect(host, port, &options)
            .map_err(|error| Failure::missing(error.message()))?;
        Ok((format!("{}:{port}", bracketed(host)), session))
    }

    /// Connects to a server that the tracker assigns. Servers that vanished a moment ago do not
    /// answer, so the next one is tried.
    fn connect_assigned(&self, token: Option<&str>) -> Outcome<(String, Session)> {
        let mut last = Failure::missing("no server");
        for _ in 0..ATTEMPTS {
            let assigned = self.assigned()?;
            let address = format!("{}:{}", bracketed(&assigned.host), assigned.port);
            match self.connect(&address, &assigned.match_key, token) {
                Ok(connected) => return Ok(connected),
                Err(failure) => last = failure.within(&self.key),
            }
        }
        Err(last)
    }

    /// Waits until the tracker assigns a server.
    fn assigned(&self) -> Outcome<Assigned> {
        let address = self.tracker.as_deref().unwrap_or_default();
        let ask = || {
            let mut tracker = TrackerConnection::open(address)?;
            let summary = tracker.summary()?;
            let queue = summary.queue_info.get(&self.key);
            if queue.is_none_or(|queue| queue.free == 0) {
                let name = format!("server:{}", self.key);
                let servers = summary.server_info.iter().filter(|server| server.key == name);
                let (servers, clients) = (servers.count(), queue.map_or(0, |queue| queue.pending));
                let key = line(&self.key);
                let text = format!("{servers} registered, none free; clients before: {clients}");
                let _ = writeln!(io::stderr(), "waiting for a server of {key}: {text}");
            }
            tracker.request(&self.key, 1)
        };
        ask().map_err(|error: io::Error| Failure::missing(format!("tracker {address}: {error}")))
    }

    fn upload(&self, session: &Session) -> Outcome<Option<Module>> {
        let Some(file) = &self.module else { return Ok(None) };
        let content = std::fs::read(file)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Failure::usage("the module's file has no name"))?;
        session.upload(name, &content)?;
        Ok(Some(session.load_module(name)?))
    }
}

impl Reached {
    /// Returns a function of the module that was uploaded, or else a global function of the server.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::failure::Kind::Usage) if there is none; errors of the server.
    pub fn function(&self, name: &str) -> Outcome<Function> {
        let Some(module) = &self.module else {
            return self.session.function(name).map_err(|error| {
                match error.kind_bytes() == b"AttributeError" {
                    true => Failure::usage(error.message()),
                    false => error.into(),
                }
            });
        };
        let found = module.get_function(&ferrite::String::new(name)?, true)?;
        found.ok_or_else(|| Failure::usage(format!("the module has no function `{name}`")))
    }
}

/// Splits HOST:PORT, HOST, [HOST]:PORT or [HOST].
fn host_and_port(address: &str) -> Outcome<(&str, u16)> {
    let (host, port) = match address.rsplit_once(':') {
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => (address, None),
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (address, None),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = port.map_or(Ok(PORT), str::parse);
    match port {
        Ok(port) if port != 0 && !host.is_empty() => Ok((host, port)),
        _ => Err(Failure::usage(format!("`{address}` is not an address, such as 127.0.0.1:9090"))),
    }
}

/// Puts an IPv6 address in brackets.
fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_lack_a_port() {
        for (address, host, port) in [
            ("127.0.0.1:9091", "127.0.0.1", 9091),
            ("board.lan", "board.lan", 9090),
            ("[::1]:7000", "::1", 7000),
            ("[::1]", "::1", 9090),
            ("::1", "::1", 9090),
        ] {
            let found = host_and_port(address).expect("an address");
            assert_eq!(found, (host, port), "{address}");
        }
        for wrong in ["", ":9090", "board.lan:", "board.lan:0", "board.lan:65536", "board.lan:x"] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
