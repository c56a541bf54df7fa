//! A small client of TVM's remote procedure calls, and servers that the command runs.
#![allow(dead_code, reason = "a test program uses a part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "the test fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ferrite_rpc::handshake;
use ferrite_rpc::wire::{Closed, Item, Packet, Stream, VERSION, code, send};
use ferrite_tests::{Outcome, scratch};

/// Longest wait for an answer, after which a test fails instead of hanging.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, which ends with the test.
pub struct Server {
    process: Child,
    pub address: String,
    /// Folder of its temporary files.
    pub temporary: PathBuf,
    log: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(name: &str, arguments: &[&str]) -> Outcome<Server> {
        let temporary = scratch(name)?.join("temporary");
        fs::create_dir_all(&temporary)?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
        command.args(["rpc", "serve", "--tcp", "127.0.0.1:0"]).args(arguments);
        command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let log = Arc::new(Mutex::new(String::new()));
        collect(process.stderr.take().ok_or("no pipe".to_string())?, Arc::clone(&log));
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no pipe".to_string())?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("serving at ").map(String::from);
        let server =
            Server { process, address: address.clone().unwrap_or_default(), temporary, log };
        match address {
            Some(_) => Ok(server),
            None => Err(format!("no address: {line}{}", server.log()).into()),
        }
    }

    /// Returns what the server has logged.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until a string is in the log.
    pub fn expect_log(&self, text: &str) -> Outcome<()> {
        wait_until(|| self.log().contains(text))
            .map_err(|_| format!("no `{text}` in:\n{}", self.log()).into())
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Opens a connection without a handshake.
    pub fn open(&self) -> Outcome<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Opens a connection with a handshake.
    pub fn greet(&self, key: &str) -> Outcome<Wire<TcpStream>> {
        let mut wire = Wire(self.open()?);
        handshake::connect(&mut wire, key.as_bytes(), &mut [0; 256])
            .map_err(|error| format!("{error:?}"))?;
        Ok(wire)
    }

    /// Begins a session with a key.
    pub fn connect(&self, key: &str) -> Outcome<Client<TcpStream>> {
        Client::begin(self.greet(key)?)
    }

    /// Returns the port.
    pub fn port(&self) -> i64 {
        self.address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default()
    }

    /// Asks the server to end. Returns whether it ended without an error.
    pub fn stop(&mut self) -> Outcome<bool> {
        Command::new("kill").arg(self.process.id().to_string()).status()?;
        Ok(self.process.wait()?.success())
    }

    /// Returns the names of the files and folders that the server has among temporary files.
    pub fn leftovers(&self) -> Outcome<Vec<String>> {
        let entries = fs::read_dir(&self.temporary)?;
        Ok(entries.flatten().map(|entry| entry.path().display().to_string()).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = Command::new("kill").arg(self.process.id().to_string()).status();
            let _ = self.process.wait();
        }
    }
}

fn collect(from: impl Read + Send + 'static, log: Arc<Mutex<String>>) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            log.lock().unwrap().push_str(&(line + "\n"));
        }
    });
}

/// Waits until a condition holds.
pub fn wait_until(mut holds: impl FnMut() -> bool) -> Outcome<()> {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > end {
            return Err("the condition does not hold".to_string().into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// A stream of the protocol over one of the operating system.
pub struct Wire<S>(pub S);

impl<S: Read + Write> Stream for Wire<S> {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        self.0.read_exact(target).map_err(|_| Closed)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.0.write_all(bytes).map_err(|_| Closed)
    }
}

/// A session.
pub struct Client<S>(pub Wire<S>);

/// A value of an answer, or the text of an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    None,
    Word(u64),
    Bytes(Vec<u8>),
    Error(String),
}

impl Answer {
    pub fn word(&self) -> u64 {
        match self {
            Answer::Word(word) => *word,
            other => panic!("{other:?}"),
        }
    }

    /// Returns a string.
    pub fn text(&self) -> String {
        match self {
            Answer::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{other:?}"),
        }
    }

    pub fn error(&self) -> &str {
        match self {
            Answer::Error(text) => text,
            other => panic!("{other:?}"),
        }
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends InitServer.
    pub fn begin(wire: Wire<S>) -> Outcome<Client<S>> {
        Client::begin_by(wire, &[])
    }

    /// Sends InitServer with a session constructor and its arguments.
    pub fn begin_by(wire: Wire<S>, constructor: &[Item<'_>]) -> Outcome<Client<S>> {
        let mut client = Client(wire);
        let mut prefix = (VERSION.len() as u64).to_le_bytes().to_vec();
        prefix.extend(VERSION);
        match client.ask(code::INIT_SERVER, &prefix, constructor)? {
            Answer::Error(text) => Err(text.into()),
            _ => Ok(client),
        }
    }

    /// Sends a request, and reads the last value of its answer.
    pub fn ask(&mut self, code: i32, prefix: &[u8], items: &[Item<'_>]) -> Outcome<Answer> {
        let closed = |_| "the connection ended".to_string();
        send(&mut self.0, code, prefix, items).map_err(closed)?;
        let malformed = |fault| format!("{fault:?}");
        let mut packet = Packet::begin(&mut self.0).map_err(closed)?;
        let kind = packet.i32().map_err(malformed)?;
        let mut answer = Answer::None;
        for _ in 0..packet.i32().map_err(malformed)? {
            answer = match packet.i32().map_err(malformed)? {
                0 => Answer::None,
                1..=7 => Answer::Word(packet.u64().map_err(malformed)?),
                index => {
                    if index >= 64 {
                        packet.i32().map_err(malformed)?;
                    }
                    let mut bytes = vec![0; packet.length().map_err(malformed)?];
                    packet.read(&mut bytes).map_err(malformed)?;
                    Answer::Bytes(bytes)
                }
            };
        }
        match (kind, answer) {
            (code::EXCEPTION, Answer::Bytes(text)) => {
                Ok(Answer::Error(String::from_utf8_lossy(&text).into_owned()))
            }
            (_, answer) => Ok(answer),
        }
    }

    /// Calls a global function.
    pub fn call(&mut self, name: &str, items: &[Item<'_>]) -> Outcome<Answer> {
        match self.ask(code::GET_GLOBAL, &[], &[Item::string(name.as_bytes())])? {
            Answer::Word(0) => Ok(Answer::Error(format!("no function {name}"))),
            Answer::Word(function) => self.ask(code::CALL_FUNCTION, &function.to_le_bytes(), items),
            other => Ok(other),
        }
    }

    /// Calls a function of the server that takes strings.
    pub fn server(&mut self, name: &str, arguments: &[&str]) -> Outcome<Answer> {
        let items: Vec<_> = arguments.iter().map(|text| Item::string(text.as_bytes())).collect();
        self.call(&format!("tvm.rpc.server.{name}"), &items)
    }

    /// Uploads a file.
    pub fn upload(&mut self, name: &str, content: &[u8]) -> Outcome<Answer> {
        let items = [Item::string(name.as_bytes()), Item::Bytes(9, content)];
        self.call("tvm.rpc.server.upload", &items)
    }

    /// Loads a module, and calls a function of it without arguments.
    pub fn call_of(&mut self, module: &str, function: &str) -> Outcome<Answer> {
        let module = match self.server("load_module", &[module])? {
            Answer::Word(module) => module,
            other => return Ok(other),
        };
        let items = [Item::Word(73, module), Item::string(function.as_bytes()), Item::Word(2, 1)];
        match self.call("tvm.rpc.server.ModuleGetFunction", &items)? {
            Answer::Word(function) => self.ask(code::CALL_FUNCTION, &function.to_le_bytes(), &[]),
            other => Ok(other),
        }
    }
}

/// Returns `true` if a process of this number exists and is not only waiting to be reaped.
pub fn is_alive(process: &str) -> bool {
    let status = Path::new("/proc").join(process).join("stat");
    fs::read_to_string(status).is_ok_and(|text| !text.contains(") Z "))
}
