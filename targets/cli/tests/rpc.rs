//! Runs `ferrite rpc serve`, and speaks to it as TVM's clients do and as hostile peers would.
#![allow(missing_docs, reason = "each test's name says it")]
#![cfg(target_os = "linux")]

#[path = "rpc/client.rs"]
mod client;
mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use client::{Answer, Client, Server, Wire, is_alive, wait_until};
use ferrite_rpc::handshake::MAGIC;
use ferrite_rpc::wire::{Item, code, send};
use ferrite_tests::{Cc, Outcome, include, output_of, scratch};
use flate2::Compression;
use flate2::write::GzEncoder;
use support::ferrite;

const TOKEN: &str = "0123456789abcdef";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rpc/kernels.c")
}

/// Compiles the library whose function `answer` returns a number.
fn kernels(name: &str, answer: u32) -> Outcome<PathBuf> {
    let output = scratch(name)?.join(format!("kernels{answer}.so"));
    Cc::shared(output).strict().args([format!("-DANSWER={answer}")]).source(source()).link()
}

/// Compiles the same as an object file.
fn object(name: &str, answer: u32) -> Outcome<PathBuf> {
    let output = scratch(name)?.join("kernels.o");
    let mut command = Command::new("cc");
    command.args(["-c", "-fPIC", &format!("-DANSWER={answer}"), "-I"]).arg(include());
    output_of(command.arg(source()).arg("-o").arg(&output))?;
    Ok(output)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[test]
fn harmless_functions_are_offered_and_others_are_refused() -> Outcome<()> {
    let server = Server::start("rpc-refused", &["--allow", "ffi.Array"])?;
    let mut client = server.connect("client:")?;
    assert_eq!(client.call("testing.echo", &[Item::int(5)])?, Answer::Word(5));
    let echoed = client.call("testing.echo", &[Item::string(b"a\0b")])?;
    assert_eq!(echoed, Answer::Bytes(b"a\0b".to_vec()));
    assert_ne!(client.call("ffi.Array", &[])?.word(), 0);
    assert_eq!(client.call("no.such", &[])?.error(), "no function no.such");
    for name in ["ffi.ModuleLoadFromFile", "ffi.FunctionListGlobalNamesFunctor"] {
        let error = client.call(name, &[])?;
        assert!(error.error().contains(&format!("--allow {name}")), "{error:?}");
    }
    let refused = client.upload("x", b"content")?;
    let expected = "PermissionError: the server refuses uploads: it runs without --allow-code";
    assert_eq!(refused.error(), expected);
    assert!(client.server("load_module", &["x"])?.error().contains("--allow-code"));
    // Measurements are not a way around it.
    let name = Item::string(b"ffi.ModuleLoadFromFile");
    let numbers = [1, 0, 1, 1, 0].map(Item::int);
    let items = [&[Item::None, name], &numbers[..], &[Item::string(b"")]].concat();
    let measured = client.call("runtime.RPCTimeEvaluator", &items)?;
    assert!(measured.error().contains("--allow ffi.ModuleLoadFromFile"), "{measured:?}");
    Ok(())
}

#[test]
fn functions_of_libraries_are_offered() -> Outcome<()> {
    let library = kernels("rpc-library", 3)?;
    let server = Server::start("rpc-offered", &["--library", text(&library)])?;
    let mut client = server.connect("client: -timeout=60")?;
    assert_eq!(client.call("answer", &[])?, Answer::Word(3));
    assert_eq!(client.call_of("kernels3.so", "answer")?, Answer::Word(3));
    assert_eq!(client.call("print", &[])?, Answer::Word(0));
    assert!(client.server("load_module", &["other.so"])?.error().contains("--allow-code"));
    server.expect_log("a line of a kernel")?;
    let numbers = [1, 0, 2, 3, 0].map(Item::int);
    let items = [&[Item::None, Item::string(b"answer")], &numbers[..], &[Item::string(b"")]];
    let evaluator = client.call("runtime.RPCTimeEvaluator", &items.concat())?.word();
    match client.ask(code::CALL_FUNCTION, &evaluator.to_le_bytes(), &[])? {
        Answer::Bytes(times) => assert_eq!(times.len(), 3 * size_of::<f64>()),
        other => panic!("{other:?}"),
    }
    Ok(())
}

#[test]
fn a_crash_ends_one_session_and_names_the_signal() -> Outcome<()> {
    let library = kernels("rpc-crash-library", 4)?;
    let mut server = Server::start("rpc-crash", &["--library", text(&library)])?;
    for (function, end) in [("crash", "was ended by SIGSEGV"), ("leave", "ended with status 7")] {
        let mut client = server.connect("client:")?;
        let error = client.call(function, &[])?;
        assert_eq!(error.error(), format!("RuntimeError: the session's process {end}"));
        server.expect_log(end)?;
    }
    assert_eq!(server.connect("client:")?.call("answer", &[])?, Answer::Word(4));
    assert!(server.stop()?);
    assert_eq!(server.leftovers()?, [""; 0]);
    Ok(())
}

#[test]
fn late_sessions_end_with_their_children() -> Outcome<()> {
    let library = kernels("rpc-late-library", 5)?;
    let arguments = ["--library", text(&library), "--timeout", "30"];
    let mut server = Server::start("rpc-late", &arguments)?;
    let mut client = server.connect("client: -timeout=1")?;
    let folder = PathBuf::from(client.server("workpath", &[""])?.text());
    let error = client.call("hang", &[])?;
    let expected = "RPCSessionTimeoutError: Your 1.0s session has expired, try to increase the \
                    \"session_timeout\" value.";
    assert_eq!(error.error(), expected);
    wait_until(|| !folder.exists())?;
    // A client that leaves during a call does not keep others out either.
    let mut client = server.connect("client:")?;
    let folder = PathBuf::from(client.server("workpath", &["processes"])?.text());
    let hang = client.ask(code::GET_GLOBAL, &[], &[Item::string(b"hang")])?.word();
    send(&mut client.0, code::CALL_FUNCTION, &hang.to_le_bytes(), &[])
        .map_err(|_| "closed".to_string())?;
    wait_until(|| fs::read_to_string(&folder).is_ok_and(|text| text.ends_with('\n')))?;
    let processes = fs::read_to_string(&folder)?;
    assert!(processes.split_whitespace().all(is_alive), "{processes}");
    drop(client);
    server.expect_log("the client left during a call")?;
    wait_until(|| !processes.split_whitespace().any(is_alive))?;
    assert!(server.stop()?);
    assert_eq!(server.leftovers()?, [""; 0]);
    Ok(())
}

#[test]
fn hostile_peers_are_refused_and_do_not_keep_others_out() -> Outcome<()> {
    let server = Server::start("rpc-hostile", &["--handshake-timeout", "1", "--key", "pi"])?;
    let silent = server.open()?;
    let mut half = server.open()?;
    half.write_all(&MAGIC.to_le_bytes())?;
    let words = |first: i32, second: i32| [first.to_le_bytes(), second.to_le_bytes()].concat();
    for (bytes, reason) in [
        (words(MAGIC, -1), "key of -1 bytes"),
        (words(MAGIC, i32::MAX), "key of 2147483647 bytes"),
        (words(0x2F271, 0), "not a client of TVM: magic number 0x2f271"),
        (b"GET / HTTP/1.1\r\n".to_vec(), "not a client of TVM"),
    ] {
        let mut peer = server.open()?;
        peer.write_all(&bytes)?;
        server.expect_log(reason)?;
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest);
        assert!(rest.is_empty());
    }
    let vanishing = server.open()?;
    vanishing.shutdown(Shutdown::Both)?;
    drop(vanishing);
    let refused = server.connect("client:other");
    assert!(format!("{:?}", refused.err()).contains("Mismatch"));
    server.expect_log("key `other` is not that of this server")?;
    assert_eq!(server.connect("client:pi")?.call("testing.echo", &[Item::int(1)])?.word(), 1);
    server.expect_log("no handshake within 1s")?;
    server.expect_log("the connection ended during the handshake")?;
    drop((silent, half));
    Ok(())
}

#[test]
fn malformed_requests_are_errors_and_the_session_goes_on() -> Outcome<()> {
    let server = Server::start("rpc-malformed", &["--max-packet", "4K"])?;
    let mut client = server.connect("client:")?;
    for (code, prefix) in [(3, vec![0xFF; 8]), (99, vec![]), (6, vec![1; 100]), (10, vec![9; 3])] {
        let answer = client.ask(code, &prefix, &[Item::int(1)])?;
        assert!(matches!(answer, Answer::Error(_)), "{code} {answer:?}");
    }
    let long = client.call("testing.echo", &[Item::string(&[b'x'; 10_000])])?;
    assert!(long.error().contains("MemoryError"), "{long:?}");
    assert_eq!(client.call("testing.echo", &[Item::int(7)])?, Answer::Word(7));
    // The end of a stream inside of a packet ends the session.
    client.0.0.write_all(&u64::MAX.to_le_bytes())?;
    client.0.0.shutdown(Shutdown::Write)?;
    server.expect_log("ended")?;
    assert_eq!(server.connect("client:")?.call("testing.echo", &[Item::int(8)])?, Answer::Word(8));
    Ok(())
}

#[test]
fn sessions_run_beside_each_other_and_further_clients_wait() -> Outcome<()> {
    let server = Server::start("rpc-two", &["--sessions", "2", "--waiting", "1"])?;
    let mut first = server.connect("client:")?;
    let mut second = server.connect("client:")?;
    for number in [1, 2] {
        for client in [&mut first, &mut second] {
            assert_eq!(client.call("testing.echo", &[Item::int(number)])?.word(), number as u64);
        }
    }
    std::thread::scope(|scope| {
        let third =
            scope.spawn(|| server.connect("client:")?.call("testing.echo", &[Item::int(3)]));
        // Of two clients that wait, one is refused.
        let fourth = scope.spawn(|| server.connect("client:").map(drop));
        server.expect_log("1 clients wait already")?;
        drop(first);
        let (third, fourth) = (third.join().unwrap(), fourth.join().unwrap());
        assert_ne!(third.is_ok(), fourth.is_ok());
        if let Ok(answer) = third {
            assert_eq!(answer, Answer::Word(3));
        }
        Ok(())
    })
}

#[test]
fn code_needs_the_token() -> Outcome<()> {
    let file = scratch("rpc-token")?.join("token");
    fs::write(&file, format!("{TOKEN}\n"))?;
    let arguments = ["--allow-code", "--token", text(&file)];
    let server = Server::start("rpc-token-server", &arguments)?;
    for (key, reason) in
        [("client:", "no token"), ("client: token=0123456789abcdeg", "wrong token")]
    {
        assert!(server.connect(key).is_err());
        server.expect_log(reason)?;
    }
    let mut client = server.connect(&format!("client: token={TOKEN}"))?;
    assert_eq!(client.upload("x", b"1")?, Answer::None);
    assert!(!server.log().contains(TOKEN));
    Ok(())
}

#[test]
fn options_that_would_offer_code_to_anyone_are_refused() -> Outcome<()> {
    let short = scratch("rpc-short")?.join("token");
    fs::write(&short, "short")?;
    for (arguments, status, reason) in [
        (&["--allow-code"][..], 2, "--allow-code needs --token FILE"),
        (&["--no-token"], 2, "--allow-code"),
        (&["--allow-code", "--no-token", "--tcp", "0.0.0.0:0"], 2, "a loopback address"),
        (&["--allow-code", "--token", text(&short)], 3, "at least 16 letters"),
        (&["--library", "none.so"], 3, "none.so"),
        (&["--tracker", "127.0.0.1:1"], 2, "--key"),
        (&["--pipe", "0", "1"], 2, "the pipe is not open"),
    ] {
        let message = ferrite(&[&["rpc", "serve"], arguments].concat(), &[])?.failure(status)?;
        assert!(message.contains(reason), "{message}");
    }
    Ok(())
}

#[test]
fn sessions_that_cannot_start_are_known_before_a_client_comes() -> Outcome<()> {
    for (program, reason) in
        [("/no/such/program", "cannot start a session: No such file"), ("false", "status 1")]
    {
        let arguments = ["rpc", "serve", "--tcp", "127.0.0.1:0", "--wrap", program];
        let message = ferrite(&arguments, &[])?.failure(4)?;
        assert!(message.contains(reason), "{message}");
    }
    Ok(())
}

#[test]
fn files_stay_inside_of_the_folder_and_are_linked() -> Outcome<()> {
    let mut server = Server::start("rpc-files", &["--allow-code", "--no-token"])?;
    let mut client = server.connect("client:")?;
    for name in ["../x", "/tmp/x", "a/../../x", "x\0y"] {
        let refused = client.upload(name, b"content")?;
        assert!(refused.error().starts_with("ValueError: "), "{refused:?}");
    }
    let (library, newer) = (kernels("rpc-files-1", 1)?, kernels("rpc-files-2", 2)?);
    for (file, answer) in [(&library, 1), (&newer, 2)] {
        client.upload("lib.so", &fs::read(file)?)?;
        assert_eq!(client.call_of("lib.so", "answer")?, Answer::Word(answer));
    }
    client.upload("lib.o", &fs::read(object("rpc-files-3", 3)?)?)?;
    assert_eq!(client.call_of("lib.o", "answer")?, Answer::Word(3));
    let object = object("rpc-files-4", 4)?;
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_path_with_name(&object, "../../lib0.o".trim_start_matches("../"))?;
    let archive = archive.into_inner()?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
    compressed.write_all(&archive)?;
    // TVM compresses archives.
    for content in [archive, compressed.finish()?] {
        client.upload("lib.tar", &content)?;
        assert_eq!(client.call_of("lib.tar", "answer")?, Answer::Word(4));
    }
    let static_library = object.with_file_name("lib.a");
    output_of(Command::new("ar").arg("rcs").arg(&static_library).arg(&object))?;
    client.upload("lib.a", &fs::read(&static_library)?)?;
    assert_eq!(client.call_of("lib.a", "answer")?, Answer::Word(4));
    match client.server("download_linked_module", &["lib.tar"])? {
        Answer::Bytes(bytes) => assert!(bytes.starts_with(b"\x7FELF")),
        other => panic!("{other:?}"),
    }
    for name in ["lib.o", "lib.o", "lib.o.so", ""] {
        assert_eq!(client.server("remove", &[name])?, Answer::None);
    }
    let names = client.server("listdir", &[""])?;
    let expected = "lib.a,lib.a.so,lib.so,lib.tar,lib.tar.objects,lib.tar.so";
    assert_eq!(names, Answer::Bytes(expected.into()));
    client.upload("bad.o", b"not an object")?;
    assert!(client.server("load_module", &["bad.o"])?.error().starts_with("RuntimeError: cc "));
    drop(client);
    assert!(server.stop()?);
    assert_eq!(server.leftovers()?, [""; 0]);
    Ok(())
}

#[test]
fn a_device_without_a_linker_says_what_to_do() -> Outcome<()> {
    let arguments = ["--allow-code", "--no-token", "--linker", "no-such-compiler"];
    let server = Server::start("rpc-linker", &arguments)?;
    let mut client = server.connect("client:")?;
    client.upload("lib.o", b"")?;
    let error = client.server("load_module", &["lib.o"])?;
    assert!(error.error().contains("upload a shared library that the client linked"), "{error:?}");
    Ok(())
}

#[test]
fn sessions_have_a_limit_of_memory() -> Outcome<()> {
    let server = Server::start("rpc-memory", &["--max-memory", "256M"])?;
    let mut client = server.connect("client:")?;
    let mut allocate = |bytes: i64| {
        let device = Item::Word(6, 1);
        client.ask(
            code::ALLOCATE_DATA,
            &[],
            &[device, Item::int(bytes), Item::int(64), Item::Word(5, 0x0001_0802)],
        )
    };
    assert!(matches!(allocate(1 << 20)?, Answer::Word(_)));
    assert!(matches!(allocate(1 << 30)?, Answer::Error(_)));
    assert!(matches!(allocate(1 << 20)?, Answer::Word(_)));
    Ok(())
}

#[test]
fn a_session_on_pipes_needs_no_handshake() -> Outcome<()> {
    let temporary = scratch("rpc-stdio")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    command.args(["rpc", "serve", "--stdio", "--allow-code"]).env("TMPDIR", &temporary);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut client = Client::begin(Wire(Duplex(output, input)))?;
    assert_eq!(client.call("testing.echo", &[Item::int(9)])?, Answer::Word(9));
    assert_eq!(client.upload("file", b"content")?, Answer::None);
    drop(client);
    assert!(child.wait()?.success());
    assert_eq!(fs::read_dir(&temporary)?.count(), 0);
    Ok(())
}

/// TVM's PopenSession ends its server by SIGKILL.
#[test]
fn a_killed_server_leaves_no_session_behind() -> Outcome<()> {
    let temporary = scratch("rpc-killed")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    command.args(["rpc", "serve", "--stdio", "--allow-code"]).env("TMPDIR", &temporary);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut client = Client::begin(Wire(Duplex(output, input)))?;
    assert_eq!(client.upload("file", b"content")?, Answer::None);
    assert_eq!(fs::read_dir(&temporary)?.count(), 1);
    child.kill()?;
    child.wait()?;
    wait_until(|| fs::read_dir(&temporary).is_ok_and(|entries| entries.count() == 0))
}

/// Two pipes as one stream.
struct Duplex<R, W>(R, W);

impl<R: Read, W> Read for Duplex<R, W> {
    fn read(&mut self, target: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(target)
    }
}

impl<R, W: Write> Write for Duplex<R, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.1.flush()
    }
}

/// Runs as many sessions as `FERRITE_RPC_SESSIONS` says.
#[test]
fn many_sessions_leave_nothing_behind() -> Outcome<()> {
    let count = match std::env::var("FERRITE_RPC_SESSIONS") {
        Ok(count) => count.parse().map_err(|_| format!("{count} is not a number"))?,
        Err(_) => 30i64,
    };
    let server = Server::start("rpc-many", &[])?;
    let session = |number: i64| -> Outcome<()> {
        let mut client = server.connect("client:")?;
        assert_eq!(client.call("testing.echo", &[Item::int(number)])?.word(), number as u64);
        Ok(())
    };
    let usage = || -> Outcome<(usize, usize, usize)> {
        // The last session may not have ended yet.
        wait_until(|| threads(server.id()).is_some_and(|threads| threads == 1))?;
        let files = fs::read_dir(format!("/proc/{}/fd", server.id()))?.count();
        Ok((resident(server.id())?, files, server.leftovers()?.len()))
    };
    (0..10).try_for_each(session)?;
    let (memory, files, folders) = usage()?;
    (0..count).try_for_each(session)?;
    let after = usage()?;
    assert_eq!((after.1, after.2), (files, folders));
    assert!(after.0 <= memory + 2048, "{memory} KiB grew to {} KiB", after.0);
    println!("{count} sessions: {memory} KiB before, {} KiB after", after.0);
    Ok(())
}

fn status(process: u32, key: &str) -> Option<usize> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

fn threads(process: u32) -> Option<usize> {
    status(process, "Threads")
}

fn resident(process: u32) -> Outcome<usize> {
    status(process, "VmRSS").ok_or_else(|| "no figure of memory".to_string().into())
}
