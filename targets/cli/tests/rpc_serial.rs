//! Runs `ferrite rpc serial` between a client and a board of the tests, which is the other end of a
//! pseudo-terminal.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ferrite_rpc::tracker::protocol;
use serde_json::json;
use serial2::SerialPort;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Codes of packets.
const SHUTDOWN: i32 = 1;
const START: i32 = 2;
const CALL: i32 = 3;
const RETURN: i32 = 4;
const EXCEPTION: i32 = 5;

/// Longest wait for an answer, after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// Board that answers each request by its content.
struct Board {
    /// The end of the line that the command opens, which must stay open.
    _line: SerialPort,
    device: String,
    /// Codes of the requests that came.
    requests: Arc<Mutex<Vec<i32>>>,
}

impl Board {
    /// Starts a board that does not answer its first requests.
    fn start(silent: usize) -> Outcome<Board> {
        let (mut own, line) = SerialPort::pair()?;
        let device = std::fs::read_link(format!("/proc/self/fd/{}", line.as_raw_fd()))?;
        own.set_read_timeout(PATIENCE)?;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, mut silent) = (Arc::clone(&requests), silent);
        std::thread::spawn(move || {
            let mut serve = || -> std::io::Result<()> {
                loop {
                    let (code, content) = receive(|bytes| own.read_exact(bytes))?;
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(code);
                    if code == SHUTDOWN {
                        continue;
                    }
                    match silent.checked_sub(1) {
                        Some(left) => silent = left,
                        None => own.write_all(&packet(RETURN, &content))?,
                    }
                }
            };
            // The line ends with the test.
            serve()
        });
        Ok(Board { _line: line, device: device.display().to_string(), requests })
    }

    fn requests(&self) -> Vec<i32> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the board has these requests.
    fn wait_for(&self, expected: &[i32]) -> Outcome<()> {
        for _ in 0..1200 {
            if self.requests() == expected {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("the board has the requests {:?}", self.requests()).into())
    }
}

/// The command, which ends with the test.
struct Bridge {
    process: Child,
    address: String,
}

impl Bridge {
    fn start(board: &Board, options: &[&str]) -> Outcome<Bridge> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
        command.args(["rpc", "serial", &board.device, "--tcp", "127.0.0.1:0"]).args(options);
        Bridge::of(&mut command)
    }

    /// Starts a command that prints its address.
    fn of(command: &mut Command) -> Outcome<Bridge> {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or("no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_string();
        Ok(Bridge { process, address })
    }

    /// Connects with a key. Returns the connection and the server's code.
    fn greet(&self, key: &str) -> Outcome<(TcpStream, i32)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = [0xFF271, i32::try_from(key.len())?].map(i32::to_le_bytes).concat();
        stream.write_all(&[&head, key.as_bytes()].concat())?;
        let mut code = [0; 4];
        stream.read_exact(&mut code)?;
        Ok((stream, i32::from_le_bytes(code)))
    }

    /// Connects, and reads the key of the server.
    fn connect(&self, key: &str) -> Outcome<TcpStream> {
        let (mut stream, code) = self.greet(key)?;
        assert_eq!(code, 0xFF271);
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        stream.read_exact(&mut vec![0; u32::from_le_bytes(length) as usize])?;
        Ok(stream)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn packet(code: i32, content: &[u8]) -> Vec<u8> {
    let length = (4 + content.len()) as u64;
    [&length.to_le_bytes()[..], &code.to_le_bytes(), content].concat()
}

/// Reads a packet; returns its code and content.
fn receive(
    read_exact: impl Fn(&mut [u8]) -> std::io::Result<()>,
) -> std::io::Result<(i32, Vec<u8>)> {
    let (mut length, mut code) = ([0; 8], [0; 4]);
    read_exact(&mut length)?;
    read_exact(&mut code)?;
    let mut content = vec![0; u64::from_le_bytes(length) as usize - 4];
    read_exact(&mut content)?;
    Ok((i32::from_le_bytes(code), content))
}

/// Sends a request, and returns the code and content of the answer.
fn ask(stream: &TcpStream, code: i32, content: &[u8]) -> Outcome<(i32, Vec<u8>)> {
    let mut writer = stream;
    writer.write_all(&packet(code, content))?;
    Ok(receive(|bytes| {
        let mut reader = stream;
        reader.read_exact(bytes)
    })?)
}

/// Sends a request that is answered by an error, and returns the error.
fn error_of(stream: &TcpStream, code: i32, content: &[u8]) -> Outcome<String> {
    let (answer, content) = ask(stream, code, content)?;
    assert_eq!(answer, EXCEPTION);
    Ok(String::from_utf8_lossy(content.get(16..).unwrap_or_default()).into_owned())
}

fn scratch(name: &str) -> Outcome<PathBuf> {
    let path = std::env::temp_dir().join(format!("ferrite-serial-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    Ok(path)
}

#[test]
fn sessions_reach_the_board_one_after_another() -> Outcome<()> {
    let board = Board::start(0)?;
    let bridge = Bridge::start(&board, &["--key", "m4"])?;
    for _ in 0..2 {
        let mut client = bridge.connect("client:m4")?;
        assert_eq!(ask(&client, START, b"hello")?, (RETURN, b"hello".to_vec()));
        // Packets without content have no answer.
        client.write_all(&[0; 16])?;
        let content: Vec<u8> = (0..20_000u32).map(|at| at as u8).collect();
        assert_eq!(ask(&client, CALL, &content)?, (RETURN, content));
        client.write_all(&packet(SHUTDOWN, &[]))?;
    }
    // A session begins by ending one that another bridge may have left.
    let session = [SHUTDOWN, START, CALL, SHUTDOWN];
    board.wait_for(&[session, session].concat())
}

#[test]
fn a_client_that_vanishes_leaves_the_board_between_requests() -> Outcome<()> {
    let board = Board::start(0)?;
    let bridge = Bridge::start(&board, &[])?;
    let mut client = bridge.connect("client:")?;
    ask(&client, START, b"")?;
    client.write_all(&packet(CALL, &[7; 1000])[..500])?;
    drop(client);
    let client = bridge.connect("client:")?;
    assert_eq!(ask(&client, START, b"again")?, (RETURN, b"again".to_vec()));
    assert_eq!(board.requests(), [SHUTDOWN, START, SHUTDOWN, SHUTDOWN, START]);
    Ok(())
}

#[test]
fn a_board_that_does_not_answer_is_reset() -> Outcome<()> {
    let board = Board::start(1)?;
    let file = scratch("reset")?;
    let reset = format!("touch {}", file.display());
    let options = ["--reset", &reset, "--answer-timeout", "0.5", "--start-time", "0.01"];
    let bridge = Bridge::start(&board, &options)?;
    let client = bridge.connect("client:")?;
    // The request is sent again.
    assert_eq!(ask(&client, START, b"hello")?, (RETURN, b"hello".to_vec()));
    assert!(file.exists());
    std::fs::remove_file(&file)?;
    Ok(())
}

#[test]
fn clients_hear_why_a_session_ends() -> Outcome<()> {
    let board = Board::start(1)?;
    let bridge = Bridge::start(&board, &["--answer-timeout", "0.5"])?;
    let client = bridge.connect("client:")?;
    assert_eq!(error_of(&client, START, b"")?, "RuntimeError: the board does not answer");
    let client = bridge.connect("client: -timeout=0.3")?;
    ask(&client, START, b"")?;
    let mut writer = &client;
    writer.write_all(&packet(CALL, b"never ends")[..10])?;
    let (code, content) = receive(|bytes| {
        let mut reader = &client;
        reader.read_exact(bytes)
    })?;
    let message = "RPCSessionTimeoutError: Your 0.3s session has expired";
    assert!(code == EXCEPTION && content[16..].starts_with(message.as_bytes()), "{content:?}");
    Ok(())
}

#[test]
fn requests_that_are_too_long_are_errors_and_the_session_goes_on() -> Outcome<()> {
    let board = Board::start(0)?;
    let bridge = Bridge::start(&board, &["--max-packet", "1000"])?;
    let client = bridge.connect("client:")?;
    ask(&client, START, b"")?;
    let error = error_of(&client, CALL, &[0; 5000])?;
    assert_eq!(error, "MemoryError: the request has 5004 bytes: at most 1000");
    assert_eq!(ask(&client, CALL, b"short")?, (RETURN, b"short".to_vec()));
    Ok(())
}

#[test]
fn clients_without_the_key_or_the_token_are_refused() -> Outcome<()> {
    let board = Board::start(0)?;
    let file = scratch("token")?;
    std::fs::write(&file, "a-long-secret-token\n")?;
    let token = file.display().to_string();
    let bridge = Bridge::start(&board, &["--key", "m4", "--token", &token])?;
    for key in [
        "client:other token=a-long-secret-token",
        "client:m4",
        "client:m4 token=wrong",
        "server:m4 token=a-long-secret-token",
    ] {
        assert_eq!(bridge.greet(key)?.1, 0xFF273, "{key}");
    }
    let client = bridge.connect("client:m4 token=a-long-secret-token")?;
    assert_eq!(ask(&client, START, b"hello")?, (RETURN, b"hello".to_vec()));
    std::fs::remove_file(&file)?;
    Ok(())
}

/// Asks a tracker for a server. Returns its address and the match key.
fn request(tracker: &str, key: &str) -> Outcome<(String, String)> {
    let mut stream = TcpStream::connect(tracker)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&protocol::MAGIC.to_le_bytes())?;
    let request = json!([protocol::code::REQUEST, key, "", 1]);
    stream.write_all(&protocol::frame(&request))?;
    let (mut magic, mut length) = ([0; 4], [0; 4]);
    stream.read_exact(&mut magic)?;
    stream.read_exact(&mut length)?;
    let mut answer = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut answer)?;
    let (_, (host, port, match_key)): (i64, (String, u16, String)) =
        serde_json::from_slice(&answer)?;
    Ok((format!("{host}:{port}"), match_key))
}

#[test]
fn boards_are_requested_from_a_tracker() -> Outcome<()> {
    let board = Board::start(0)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let command = command.args(["rpc", "tracker", "--tcp", "127.0.0.1:0"]);
    let tracker = Bridge::of(command)?;
    let bridge = Bridge::start(&board, &["--key", "m4", "--tracker", &tracker.address])?;
    let mut earlier = None;
    for _ in 0..2 {
        // The bridge offers the board again when the session before has ended.
        let (address, match_key) = request(&tracker.address, "m4")?;
        assert_eq!(address, bridge.address);
        assert!(match_key.starts_with("m4:") && Some(&match_key) != earlier.as_ref());
        assert_eq!(bridge.greet("client:m4")?.1, 0xFF273, "a client without the tracker's key");
        let mut client = bridge.connect(&format!("client:{match_key}"))?;
        assert_eq!(ask(&client, START, b"hello")?, (RETURN, b"hello".to_vec()));
        client.write_all(&packet(SHUTDOWN, &[]))?;
        earlier = Some(match_key);
    }
    assert_eq!(bridge.greet(&format!("client:{}", earlier.unwrap_or_default()))?.1, 0xFF273);
    Ok(())
}

#[test]
fn a_device_that_does_not_exist_is_an_error() -> Outcome<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let output = command.args(["rpc", "serial", "/dev/no-such-board"]).output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("cannot open /dev/no-such-board with 115200 baud"), "{message}");
    Ok(())
}
