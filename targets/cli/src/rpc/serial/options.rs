//! Options of `ferrite rpc serial`.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::rpc::limit::seconds;

/// Serve a board at a serial port to clients of TVM's remote procedure calls
///
/// The board runs the server of `ferrite/rpc.h`. Its sessions come one after another: further
/// clients wait. With --framed, the line may lose and change bytes: frames have checksums, and are
/// sent again until they arrive.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Serial {
    /// Serial port of the board, such as /dev/ttyUSB0
    pub device: PathBuf,
    /// Bits per second
    #[arg(long, value_name = "RATE", default_value = "115200")]
    pub baud: u32,
    /// Send frames, as the link of `ferrite/rpc.h` does
    #[arg(long)]
    pub framed: bool,
    /// Resets a board that does not answer: `dtr` or `rts`, by a pulse of this line, or a command
    #[arg(long, value_name = "COMMAND")]
    pub reset: Option<Reset>,
    /// Seconds that the board takes to start after a reset
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub start_time: Duration,
    /// Seconds after which a board without an answer is reset
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub answer_timeout: Duration,
    /// Address at which clients connect; port 0 is any free one, which is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090")]
    pub tcp: SocketAddr,
    /// Tracker with which the board registers, as HOST:PORT
    #[arg(long, value_name = "ADDRESS", requires = "key")]
    pub tracker: Option<String>,
    /// Key of this kind of device, by which clients find it
    #[arg(long, default_value = "", hide_default_value = true)]
    pub key: String,
    /// Host that the tracker tells clients, instead of the one from which the board registers
    #[arg(long, value_name = "HOST", requires = "tracker")]
    pub custom_address: Option<String>,
    /// File with the token that clients must send in their key, as `KEY token=...`
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// Maximum duration of a session in seconds, whatever the client asks for
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Maximum duration of a handshake in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub handshake_timeout: Duration,
    /// Maximum size of a request and of an answer, with the data of tensors
    #[arg(long, value_name = "BYTES", default_value = "16777216")]
    pub max_packet: u32,
    /// End after one session
    #[arg(long)]
    pub once: bool,
}

/// Examples, for the help text.
const EXAMPLES: &str = "\
Examples:
  ferrite rpc serial /dev/ttyACM0 --framed
  ferrite rpc serial /dev/ttyUSB0 --baud 921600 --framed --reset rts
  ferrite rpc serial /dev/ttyACM0 --reset 'openocd -f board.cfg -c \"init; reset; exit\"'
  ferrite rpc serial /dev/ttyACM0 --framed --key m4 --tracker 127.0.0.1:9190";

/// Means by which a board is reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reset {
    /// The line DTR is released, and asserted again.
    Dtr,
    /// The line RTS is asserted, and released again.
    Rts,
    /// A command of the shell.
    Command(String),
}

impl From<&str> for Reset {
    fn from(text: &str) -> Reset {
        match text {
            "dtr" => Reset::Dtr,
            "rts" => Reset::Rts,
            command => Reset::Command(command.into()),
        }
    }
}
