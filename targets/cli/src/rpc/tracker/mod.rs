//! `ferrite rpc tracker`: gives waiting clients free servers by key, for unmodified servers and
//! clients of upstream, as its `tvm.rpc.tracker` does.

mod connection;
mod crowd;
mod event_loop;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ferrite_rpc::tracker::{Registry, protocol};

use crate::failure::{Failure, Outcome};
use crate::output;

use super::secret;
use event_loop::{EventLoop, Limits};

/// Run a tracker, which gives clients free servers by key
///
/// Servers register by `ferrite rpc serve --tracker ADDRESS` or `python -m tvm.exec.rpc_server`.
/// Clients ask by `ferrite rpc call --tracker ADDRESS` or `tvm.rpc.connect_tracker`. Anyone who
/// reaches the address can register and ask: it belongs in a trusted network.
#[derive(Args)]
pub struct Tracker {
    /// Address to listen at; port 0 is any free one, which is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9190")]
    pub tcp: String,
    /// Last port that is tried when earlier ones are in use
    #[arg(long, value_name = "PORT")]
    pub port_end: Option<u16>,
    /// File with a key that ends the tracker when a client sends it; without, none does
    #[arg(long, value_name = "FILE")]
    pub stop_key_file: Option<PathBuf>,
    /// Maximum number of connections; above, silent ones are closed
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(2..=100_000))]
    pub connections: usize,
    /// Time in which a peer must finish a message that it began
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::limit::seconds)]
    pub timeout: Duration,
}

/// Runs the command until a client sends the stop key.
pub fn run(options: &Tracker) -> Outcome<()> {
    let stop_key = options.stop_key_file.as_deref();
    let stop_key = stop_key.map(|file| secret::read(file, protocol::LONGEST_NAME)).transpose()?;
    let cannot_listen =
        |error| Failure::input(format!("cannot listen at {}: {error}", options.tcp));
    let listener = listen(&options.tcp, options.port_end).map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let limits = Limits { connections: options.connections, timeout: options.timeout };
    let mut event_loop =
        EventLoop::new(listener, limits, Registry::new(stop_key)).map_err(cannot_listen)?;
    output::print(&format!("tracker at {address}\n"))?;
    event_loop.run().map_err(|error| Failure::negative(format!("cannot wait: {error}")))
}

/// Listens at the first port that is free, from that of the address to `port_end`.
fn listen(address: &str, port_end: Option<u16>) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let first = addresses.first().map_or(0, SocketAddr::port);
    let mut port = first;
    loop {
        let at_port = addresses.iter().map(|address| SocketAddr::new(address.ip(), port));
        match TcpListener::bind(&*at_port.collect::<Vec<_>>()) {
            Err(error)
                if error.kind() == ErrorKind::AddrInUse && port < port_end.unwrap_or(first) =>
            {
                port += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Starts a tracker in a thread, and returns its address.
#[cfg(test)]
pub fn start_for_test(address: &str) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let limits = Limits { connections: 100, timeout: Duration::from_secs(10) };
    let mut event_loop = EventLoop::new(listener, limits, Registry::new(Some("stop".into())))?;
    std::thread::spawn(move || event_loop.run());
    Ok(address)
}

/// Ends a tracker that [`start_for_test`] started.
#[cfg(test)]
pub fn stop_for_test(address: SocketAddr) -> io::Result<()> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.write_all(&protocol::MAGIC.to_le_bytes())?;
    stream.write_all(&protocol::frame(&serde_json::json!([protocol::code::STOP, "stop"])))?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}
