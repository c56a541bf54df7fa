//! Options of `ferrite rpc serve`.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::failure::{Failure, Outcome};
use crate::rpc::limit::seconds;

/// Serve this machine to clients of TVM's remote procedure calls
///
/// Clients call functions of the libraries that are named here, and those of --allow. With
/// --allow-code and a token they also upload libraries and run them. Each session has a process
/// and a folder.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// Address, with a port, the first port of a range, or none
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090", value_parser = address)]
    pub tcp: SocketAddr,
    /// Last port that is tried when earlier ones are in use
    #[arg(long, value_name = "PORT")]
    pub port_end: Option<u16>,
    /// Tracker with which the server registers, as HOST:PORT
    #[arg(long, value_name = "ADDRESS", requires = "key")]
    pub tracker: Option<String>,
    /// Proxy of TVM through which clients come, as HOST:PORT
    #[arg(long, value_name = "ADDRESS", requires = "key", conflicts_with_all = ["tcp", "tracker"])]
    pub proxy: Option<String>,
    /// Key of this kind of device, by which clients find it
    #[arg(long, default_value = "", hide_default_value = true)]
    pub key: String,
    /// Host that the tracker tells clients, instead of the one from which the server registers
    #[arg(long, value_name = "HOST", requires = "tracker")]
    pub custom_address: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    /// File with the token that clients must send in their key, as `KEY token=...`
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    pub token: Option<PathBuf>,
    /// Let any program that reaches the address upload code: loopback addresses only
    #[arg(long, requires = "allow_code")]
    pub no_token: bool,
    /// Serve one session on standard input and output
    #[arg(long, conflicts_with_all = ["tcp", "tracker", "pipe"])]
    pub stdio: bool,
    /// Serve one session on two open file descriptors, to read and to write: TVM's PopenSession
    #[arg(long, num_args = 2, value_names = ["FD", "FD"], conflicts_with_all = ["tcp", "tracker"])]
    pub pipe: Option<Vec<i32>>,
    /// Number of sessions at a time; further clients wait
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub sessions: u16,
    /// Number of clients that may wait for a session; further ones are refused
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(0..=4096))]
    pub waiting: u16,
    /// Maximum duration of a session in seconds, whatever the client asks for
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Maximum duration of a handshake in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub handshake_timeout: Duration,
    /// Program that starts the processes of sessions, with its arguments: `taskset -c 3`
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    pub wrap: Option<Words>,
}

/// Examples, for the help text.
const EXAMPLES: &str = "\
Examples:
  ferrite rpc serve --library libkernels.so
  ferrite rpc serve --allow-code --token token.txt
  ferrite rpc serve --key phone --tracker 127.0.0.1:9190 --allow-code --no-token
  ferrite rpc serve --tcp 0.0.0.0:9090 --library model.so --sessions 4";

/// Options of each session, which the server passes to its process.
#[derive(Args, Clone, Debug)]
pub struct SessionOptions {
    /// Library whose functions clients may call; may be repeated
    #[arg(long, value_name = "LIB")]
    pub library: Vec<PathBuf>,
    /// Global function that clients may call; may be repeated
    #[arg(long, value_name = "NAME")]
    pub allow: Vec<String>,
    /// Let clients upload libraries and run any code on this machine
    #[arg(long)]
    pub allow_code: bool,
    /// C compiler that links uploaded objects and archives
    #[arg(long, value_name = "PROGRAM", default_value = "cc")]
    pub linker: PathBuf,
    /// Maximum memory of a session, such as 512M or 4G
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Maximum size of a request, such as an upload; copies of tensors have no limit
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    pub max_packet: u64,
}

/// Process of one session, on standard input and output: what the command starts.
#[derive(Args)]
pub struct Session {
    /// Folder of the session
    pub folder: PathBuf,
    /// Load the libraries, and end
    #[arg(long)]
    pub probe: bool,
    #[command(flatten)]
    pub options: SessionOptions,
}

/// A command with arguments.
#[derive(Clone, Debug)]
pub struct Words(pub Vec<String>);

impl SessionOptions {
    /// Returns the options as arguments of the command.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |name: &str, value: &OsStr| arguments.extend([name.into(), value.into()]);
        self.library.iter().for_each(|library| add("--library", library.as_os_str()));
        self.allow.iter().for_each(|name| add("--allow", name.as_ref()));
        add("--linker", self.linker.as_os_str());
        add("--max-packet", self.max_packet.to_string().as_ref());
        if let Some(bytes) = self.max_memory {
            add("--max-memory", bytes.to_string().as_ref());
        }
        if self.allow_code {
            arguments.push("--allow-code".into());
        }
        arguments
    }
}

impl Serve {
    /// Checks what depends on several options.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::failure::Kind::Usage) for code without a token, unless each client
    /// is a program of this machine.
    pub fn check(&self) -> Outcome<()> {
        let is_own = self.stdio || self.pipe.is_some();
        let is_remote = match &self.proxy {
            Some(proxy) => !is_local(proxy),
            None => !self.tcp.ip().is_loopback() && !is_own,
        };
        if self.no_token && is_remote {
            return Err(Failure::usage(format!(
                "--no-token would let anyone who reaches {} run code here: use --token FILE, or a \
                 loopback address with a tunnel",
                self.proxy.clone().unwrap_or_else(|| self.tcp.to_string())
            )));
        }
        if self.session.allow_code && self.token.is_none() && !self.no_token && !is_own {
            return Err(Failure::usage(
                "--allow-code needs --token FILE, or --no-token on a loopback address",
            ));
        }
        Ok(())
    }
}

/// Parses an address whose port may be missing.
fn address(text: &str) -> Result<SocketAddr, String> {
    const PORT: u16 = 9090;
    if let Ok(port) = text.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let host = text.parse::<IpAddr>().map(|host| (host, PORT).into());
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host =
        host.or_else(|_| bracketed.unwrap_or(text).parse().map(|host: IpAddr| (host, PORT).into()));
    host.or_else(|_| text.replace("localhost", "127.0.0.1").parse())
        .map_err(|_| "expected an IP address and a port, such as 127.0.0.1:9090".into())
}

/// Splits a command at blanks.
fn words(text: &str) -> Result<Words, String> {
    let words: Vec<_> = text.split_whitespace().map(String::from).collect();
    if words.is_empty() { Err("expected a command".into()) } else { Ok(Words(words)) }
}

/// Parses a number of bytes with an optional unit of 1024, 1024² or 1024³ bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    let number = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.filter(|number| *number > 0).ok_or_else(|| "expected bytes, such as 512M".into())
}

/// Returns `true` for the address of a proxy on this machine.
fn is_local(proxy: &str) -> bool {
    let address = proxy.replace("localhost", "127.0.0.1").parse::<SocketAddr>();
    address.is_ok_and(|address| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_proxies_have_loopback_addresses() {
        for (proxy, local) in [
            ("127.0.0.1:1", true),
            ("localhost:9190", true),
            ("[::1]:5", true),
            ("10.0.0.1:1", false),
            ("proxy.example:1", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(is_local(proxy), local, "{proxy}");
        }
    }

    #[test]
    fn addresses_may_lack_a_host_or_a_port() {
        for (text, parsed) in [
            ("127.0.0.1:9091", "127.0.0.1:9091"),
            ("0.0.0.0", "0.0.0.0:9090"),
            ("7000", "127.0.0.1:7000"),
            ("localhost:1", "127.0.0.1:1"),
            ("[::1]:5", "[::1]:5"),
            ("[::1]", "[::1]:9090"),
            ("::1", "[::1]:9090"),
        ] {
            assert_eq!(address(text).map(|address| address.to_string()), Ok(parsed.into()));
        }
        assert!(address("example").is_err() && address("1.2.3.4:x").is_err());
    }

    #[test]
    fn durations_and_sizes_are_positive() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!((bytes("3"), bytes("2K"), bytes("1G")), (Ok(3), Ok(2048), Ok(1 << 30)));
        for wrong in ["0", "-1", "nan", "x", "1e300"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "-1", "M", "1.5G", "99999999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
