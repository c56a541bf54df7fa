//! Runs `ferrite rpc tracker`, speaks to it as upstream's servers and clients do and as hostile
//! peers would, and lists it by `ferrite rpc list`.
#![allow(missing_docs, reason = "each test's name says it")]

mod support;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ferrite_tests::{Outcome, scratch};
use serde_json::{Value, json};
use support::ferrite;

const MAGIC: i32 = 0x2_F271;

/// Longest wait for an answer, after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Running tracker, which ends with the test.
struct Tracker {
    process: Child,
    address: String,
}

impl Tracker {
    fn start(arguments: &[&str]) -> Outcome<Tracker> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
        Tracker::start_with(
            command.args(["rpc", "tracker", "--tcp", "127.0.0.1:0"]).args(arguments),
        )
    }

    fn start_with(command: &mut Command) -> Outcome<Tracker> {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or_else(|| "no output".to_string())?;
        BufReader::new(output).read_line(&mut line)?;
        match line.trim().strip_prefix("tracker at ") {
            Some(address) => Ok(Tracker { process, address: address.into() }),
            None => Err(format!("no address: {line}").into()),
        }
    }

    /// Opens a connection without greeting.
    fn connect(&self) -> Outcome<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Opens a connection, and exchanges the magic numbers.
    fn greet(&self) -> Outcome<Peer> {
        let mut stream = self.connect()?;
        stream.write_all(&MAGIC.to_le_bytes())?;
        let mut word = [0; 4];
        stream.read_exact(&mut word)?;
        assert_eq!(i32::from_le_bytes(word), MAGIC);
        Ok(Peer(stream))
    }

    fn summary(&self) -> Outcome<Value> {
        Ok(self.greet()?.ask(&json!([6]))?[1].clone())
    }

    /// Waits until the summary has this value at a JSON pointer: closed connections are noticed
    /// soon, not at once.
    fn wait_for(&self, pointer: &str, expected: &Value) -> Outcome<()> {
        for _ in 0..600 {
            if self.summary()?.pointer(pointer) == Some(expected) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{pointer} is not {expected} in {}", self.summary()?).into())
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Greeted connection.
struct Peer(TcpStream);

impl Peer {
    fn send(&mut self, request: &Value) -> Outcome<()> {
        let text = request.to_string();
        self.0.write_all(&frame(text.as_bytes()))?;
        Ok(())
    }

    fn receive(&mut self) -> Outcome<Value> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        self.0.read_exact(&mut text)?;
        support::json(&String::from_utf8_lossy(&text))
    }

    fn ask(&mut self, request: &Value) -> Outcome<Value> {
        self.send(request)?;
        self.receive()
    }
}

fn frame(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u32;
    [&length.to_le_bytes(), text].concat()
}

/// Checks that the tracker has closed a connection. What it sent before does not matter.
fn is_closed(mut stream: &TcpStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn clients_get_servers_by_key_and_priority() -> Outcome<()> {
    let tracker = Tracker::start(&[])?;
    let mut server = tracker.greet()?;
    assert_eq!(server.ask(&json!([5, { "key": "server:board", "addr": [null, 9091] }]))?, 0);
    assert_eq!(server.ask(&json!([1]))?, 0);
    let mut clients = [tracker.greet()?, tracker.greet()?, tracker.greet()?];
    for (index, priority) in [1, 1, 2].into_iter().enumerate() {
        clients[index].send(&json!([4, "board", "", priority]))?;
        tracker.wait_for("/queue_info/board/pending", &json!(index + 1))?;
    }
    for (turn, client) in [2, 0, 1].into_iter().enumerate() {
        let match_key = format!("board:{turn}");
        assert_eq!(server.ask(&json!([3, "board", [9091, match_key], null]))?, 0);
        assert_eq!(clients[client].receive()?, json!([0, ["127.0.0.1", 9091, match_key]]));
        assert_eq!(server.ask(&json!([7]))?, json!([]));
    }
    assert_eq!(server.ask(&json!([3, "board", [9091, "board:3"], "board.lan"]))?, 0);
    assert_eq!(server.ask(&json!([7]))?, json!(["board:3"]));
    let expected = json!({
        "queue_info": { "board": { "free": 1, "pending": 0 } },
        "server_info": [{ "key": "server:board", "addr": ["127.0.0.1", 9091] }],
    });
    assert_eq!(tracker.summary()?, expected);
    assert_eq!(
        clients[0].ask(&json!([4, "board token=x", "", 1]))?,
        json!([0, ["board.lan", 9091, "board:3 token=x"]])
    );
    Ok(())
}

#[test]
fn servers_and_requests_of_closed_connections_are_gone() -> Outcome<()> {
    let tracker = Tracker::start(&[])?;
    let mut server = tracker.greet()?;
    server.ask(&json!([5, { "key": "server:board", "addr": ["x.lan", "9091"] }]))?;
    server.ask(&json!([3, "board", [9091, "board:1"], null]))?;
    let mut client = tracker.greet()?;
    client.send(&json!([4, "other", "", 1]))?;
    tracker.wait_for("/queue_info/other/pending", &json!(1))?;
    drop(server);
    drop(client);
    tracker.wait_for("/queue_info/other/pending", &json!(0))?;
    tracker.wait_for("/queue_info/board/free", &json!(0))?;
    tracker.wait_for("/server_info", &json!([]))
}

#[test]
fn malformed_messages_close_one_connection_only() -> Outcome<()> {
    // The time limit, too, would close them.
    let tracker = Tracker::start(&["--timeout", "600"])?;
    let mut server = tracker.greet()?;
    server.ask(&json!([3, "board", [9091, "board:1"], null]))?;
    let deep = "[".repeat(1 << 20);
    let long_key = json!([4, "k".repeat(5000), "", 1]).to_string();
    let texts: [&[u8]; 9] = [
        b"[8]",
        b"{}",
        b"[6",
        b"\xff\xfe",
        b"[4]",
        b"[3, \"board\", [70000, \"board:2\"], null]",
        b"[5, {\"key\": \"server:board\"}]",
        deep.as_bytes(),
        long_key.as_bytes(),
    ];
    let messages = texts.iter().map(|text| frame(text));
    let lengths =
        [0, -1, i32::MIN, i32::MAX, (1 << 20) + 1].map(|word| word.to_le_bytes().to_vec());
    for message in messages.chain(lengths) {
        let mut peer = tracker.greet()?;
        // The tracker may close the connection before it has read everything.
        let _ = peer.0.write_all(&message);
        assert!(is_closed(&peer.0), "{:.40}", String::from_utf8_lossy(&message));
    }
    for greeting in [b"GET / HTTP/1.1\r\n".as_slice(), &0xF_F271_i32.to_le_bytes()] {
        let mut stream = tracker.connect()?;
        let _ = stream.write_all(greeting);
        assert!(is_closed(&stream));
    }
    assert_eq!(server.ask(&json!([7]))?, json!(["board:1"]));
    Ok(())
}

#[test]
fn messages_may_come_in_pieces_and_together() -> Outcome<()> {
    let tracker = Tracker::start(&[])?;
    let mut stream = tracker.connect()?;
    stream.set_nodelay(true)?;
    let bytes = [MAGIC.to_le_bytes().to_vec(), frame(b"[1]")].concat();
    for byte in bytes {
        stream.write_all(&[byte])?;
    }
    stream.read_exact(&mut [0; 4])?;
    let mut peer = Peer(stream);
    assert_eq!(peer.receive()?, 0);
    peer.0.write_all(&frame(b"[1]").repeat(1000))?;
    for _ in 0..1000 {
        assert_eq!(peer.receive()?, 0);
    }
    let padded = format!("[1{}]", " ".repeat((1 << 20) - 3));
    peer.0.write_all(&frame(padded.as_bytes()))?;
    assert_eq!(peer.receive()?, 0);
    Ok(())
}

#[test]
fn silent_peers_are_closed_and_idle_ones_are_not() -> Outcome<()> {
    let tracker = Tracker::start(&["--timeout", "0.3"])?;
    let mut idle = tracker.greet()?;
    let silent = tracker.connect()?;
    let mut in_the_middle = tracker.greet()?;
    in_the_middle.0.write_all(&frame(b"[1]")[..5])?;
    assert!(is_closed(&silent) && is_closed(&in_the_middle.0));
    assert_eq!(idle.ask(&json!([1]))?, 0);
    Ok(())
}

#[test]
fn peers_that_read_nothing_do_not_delay_others() -> Outcome<()> {
    let tracker = Tracker::start(&["--timeout", "0.3"])?;
    let mut server = tracker.greet()?;
    for key in 0..200 {
        server.ask(&json!([3, format!("{key:0>200}"), [9091, "x"], null]))?;
    }
    let mut greedy = tracker.greet()?;
    let requests = frame(b"[6]").repeat(10_000);
    greedy.0.set_write_timeout(Some(Duration::from_millis(200)))?;
    // Buffers of the operating system take a few megabytes.
    let mut failures = (0..1000).filter_map(|_| greedy.0.write_all(&requests).err());
    let is_closing = |error: &std::io::Error| error.kind() != ErrorKind::WouldBlock;
    let error = failures.find(is_closing);
    assert!(error.is_some(), "the tracker keeps the answers");
    assert_eq!(server.ask(&json!([1]))?, 0);
    assert_eq!(tracker.greet()?.ask(&json!([1]))?, 0);
    Ok(())
}

#[test]
fn connections_above_the_limit_close_idle_ones() -> Outcome<()> {
    let tracker = Tracker::start(&["--connections", "8"])?;
    let mut server = tracker.greet()?;
    server.ask(&json!([5, { "key": "server:board", "addr": [null, 9091] }]))?;
    let silent: Vec<_> = (0..50).map(|_| tracker.connect()).collect::<Outcome<_>>()?;
    assert_eq!(tracker.greet()?.ask(&json!([1]))?, 0);
    assert_eq!(server.ask(&json!([1]))?, 0);
    assert!(is_closed(&silent[0]));
    let mut waiting = Vec::new();
    for _ in 0..7 {
        let mut client = tracker.greet()?;
        client.send(&json!([4, "board", "", 1]))?;
        waiting.push(client);
        tracker_has(&mut server, waiting.len())?;
    }
    let refused = tracker.connect()?;
    assert!(is_closed(&refused), "a connection for which a waiting client would be closed");
    server.ask(&json!([3, "board", [9091, "board:1"], null]))?;
    assert_eq!(waiting[0].receive()?, json!([0, ["127.0.0.1", 9091, "board:1"]]));
    Ok(())
}

/// Waits until this number of clients waits for the key `board`.
fn tracker_has(peer: &mut Peer, waiting: usize) -> Outcome<()> {
    for _ in 0..600 {
        if peer.ask(&json!([6]))?[1]["queue_info"]["board"]["pending"] == waiting {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err("a request is lost".to_string().into())
}

#[test]
fn the_next_free_port_is_taken() -> Outcome<()> {
    let first = Tracker::start(&[])?;
    let port: u16 = first.address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap();
    let last = port.saturating_add(50).to_string();
    let arguments = ["rpc", "tracker", "--tcp", &first.address];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let second = Tracker::start_with(command.args(arguments).args(["--port-end", &last]))?;
    assert_ne!(first.address, second.address);
    assert_eq!(second.greet()?.ask(&json!([1]))?, 0);
    let message = ferrite(&arguments, &[])?.failure(3)?;
    assert!(message.contains(&first.address), "{message}");
    Ok(())
}

#[test]
fn the_stop_key_ends_the_tracker() -> Outcome<()> {
    let file = scratch("rpc-tracker-stop")?.join("key.txt");
    std::fs::write(&file, "secret\n")?;
    let mut tracker = Tracker::start(&["--stop-key-file", file.to_str().expect("a path")])?;
    let mut peer = tracker.greet()?;
    for wrong in ["", "secre", "secret\n", "secretsecret"] {
        assert_eq!(peer.ask(&json!([2, wrong]))?, -1);
    }
    assert_eq!(peer.ask(&json!([2, "secret"]))?, 0);
    assert!(tracker.process.wait()?.success());
    std::fs::write(&file, "\n")?;
    let message = ferrite(&["rpc", "tracker", "--stop-key-file"], &[&file])?.failure(3)?;
    assert!(message.contains("the first line is empty"), "{message}");
    let tracker = Tracker::start(&[])?;
    assert_eq!(tracker.greet()?.ask(&json!([2, ""]))?, -1);
    Ok(())
}

#[test]
fn the_list_shows_keys_and_servers() -> Outcome<()> {
    let tracker = Tracker::start(&[])?;
    let empty = ferrite(&["rpc", "list", "--tracker", &tracker.address], &[])?.success()?;
    assert_eq!(empty, "KEY  SERVERS  FREE  PENDING\n");
    let mut server = tracker.greet()?;
    server.ask(&json!([5, { "key": "server:board", "addr": [null, "9091"] }]))?;
    server.ask(&json!([3, "board", [9091, "board:1"], null]))?;
    let mut other = tracker.greet()?;
    other.ask(&json!([5, { "key": "server:x\u{1b}[31m", "addr": ["::1", 9092] }]))?;
    let mut client = tracker.greet()?;
    client.send(&json!([4, "phone", "", 1]))?;
    tracker.wait_for("/queue_info/phone/pending", &json!(1))?;
    let text = ferrite(&["rpc", "list", "--tracker", &tracker.address], &[])?.success()?;
    let expected = "\
KEY            SERVERS  FREE  PENDING
board          1        1     0
phone          0        0     1
x{U+001B}[31m  1        0     0

KEY            ADDRESS
board          127.0.0.1:9091
x{U+001B}[31m  [::1]:9092
";
    assert_eq!(text, expected);
    let json =
        ferrite(&["rpc", "list", "--json", "--tracker", &tracker.address], &[])?.success()?;
    assert_eq!(support::json(&json)?["queue_info"]["board"]["free"], 1);
    Ok(())
}

#[test]
fn the_list_names_the_tracker_that_does_not_answer() -> Outcome<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let server = std::thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.write_all(b"HTTP")?;
        stream.shutdown(Shutdown::Write)?;
        stream.read_to_end(&mut Vec::new()).map(drop)
    });
    let message = ferrite(&["rpc", "list", "--tracker", &address], &[])?.failure(4)?;
    assert!(message.contains(&address) && message.contains("not a tracker"), "{message}");
    server.join().expect("a thread")?;
    let message = ferrite(&["rpc", "list", "--tracker", &address], &[])?.failure(4)?;
    assert!(message.contains(&address), "{message}");
    Ok(())
}
