//! A C program as a client of a server in this process, over TCP.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use std::io::{BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use ferrite_core::error::Result;
use ferrite_core::tensor::Input;
use ferrite_core::{Function, error};
use ferrite_rpc::functions;
use ferrite_rpc::handshake::{self, Key};
use ferrite_rpc::server::{Access, End, Host, serve};
use ferrite_rpc::wire::{Closed, Stream};
use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch, valgrind};

/// A connection to a client.
struct Connection {
    input: BufReader<TcpStream>,
    output: BufWriter<TcpStream>,
}

impl Stream for Connection {
    fn read(&mut self, target: &mut [u8]) -> std::result::Result<(), Closed> {
        self.input.read_exact(target).map_err(|_| Closed)
    }

    fn write(&mut self, bytes: &[u8]) -> std::result::Result<(), Closed> {
        self.output.write_all(bytes).map_err(|_| Closed)
    }

    fn flush(&mut self) -> std::result::Result<(), Closed> {
        self.output.flush().map_err(|_| Closed)
    }
}

impl Host for Connection {
    type Memory = Vec<u64>;

    fn take_memory(&mut self, bytes: usize) -> Option<Vec<u64>> {
        Some(vec![0; bytes.div_ceil(8)])
    }

    fn return_memory(&mut self, _: Vec<u64>) {}
}

/// The functions of the server.
struct Functions;

impl Access for Functions {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        match name {
            b"test.sum" => Function::from_typed(sum).map(Some),
            b"test.fail" => Function::from_typed(fail).map(Some),
            _ => functions::find(name).map(Function::from_packed).transpose(),
        }
    }
}

fn sum(x: Input<'_>) -> Result<f64> {
    Ok(x.array::<f32, 1>()?.1.iter().fold(0.0, |sum, x| sum + f64::from(*x)))
}

fn fail() -> Result<i64> {
    Err(error!(IndexError, "9 of 3"))
}

/// Serves one client. Returns how its session ended, and whether it knew the secret.
fn serve_one(listener: &TcpListener) -> Outcome<(End, bool)> {
    serve_stream(listener.accept()?.0)
}

fn serve_stream(stream: TcpStream) -> Outcome<(End, bool)> {
    stream.set_nodelay(true)?;
    let (input, output) = (BufReader::new(stream.try_clone()?), BufWriter::new(stream));
    let mut connection = Connection { input, output };
    let mut buffer = [0; 256];
    let key =
        handshake::read_key(&mut connection, &mut buffer).map_err(|error| format!("{error:?}"))?;
    let knows_secret = Key::parse(key).name == b"c89" && Key::parse(key).has_token(b"secret");
    handshake::accept(&mut connection, b"server:c89").map_err(|error| format!("{error:?}"))?;
    Ok((serve(&mut connection, &Functions), knows_secret))
}

/// Builds the program, and runs it by a command beside a server.
fn run(name: &str, mut command: Command, prepare: impl FnOnce(Cc) -> Cc) -> Outcome<()> {
    let program = Cc::program(scratch("rpc-client")?.join(name)).strict();
    let program = prepare(program.source(root().join("tests/programs/rpc/client.c")));
    let program = program.link_shared(Library::with_cxx()?)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let server = thread::spawn(move || serve_one(&listener).map_err(|error| format!("{error:?}")));
    command.arg(program).arg(port.to_string()).env("ASAN_OPTIONS", "detect_leaks=1");
    assert_eq!(output_of(&mut command)?, "ok\n");
    let served = server.join().map_err(|_| "the server panicked".to_owned())??;
    assert_eq!(served, (End::Shutdown, true));
    Ok(())
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh exports"]
fn a_c_program_uses_a_server() -> Outcome<()> {
    run("plain", Command::new("env"), |cc| cc)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh exports"]
fn a_c_program_uses_a_server_under_sanitizers() -> Outcome<()> {
    run("sanitized", Command::new("env"), Cc::sanitized)
}

#[test]
#[ignore = "builds the library as it is released: ./ci.sh exports"]
fn a_c_program_uses_a_server_under_valgrind() -> Outcome<()> {
    run("valgrind", valgrind("definite")?, |cc| cc)
}

/// Serves clients, each by a thread, as long as the test runs.
fn serve_all() -> Outcome<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(std::result::Result::ok) {
            thread::spawn(move || serve_stream(stream).map_err(|error| format!("{error:?}")));
        }
    });
    Ok(port)
}

/// Runs the program of `tests/robustness/alloc_fail` whose n-th allocation fails.
fn run_without_memory(what: &str, how: &str) -> Outcome<()> {
    let program = Cc::program(scratch("rpc-client")?.join(format!("{what}-{how}"))).strict();
    let program = program.args(["-pthread"]);
    let program = program.source(root().join("tests/robustness/alloc_fail/rpc.c"));
    let mut command = Command::new(program.link_shared(Library::with_rpc()?)?);
    print!("{}", output_of(command.args([what, how, &serve_all()?.to_string()]))?);
    Ok(())
}

#[test]
#[ignore = "builds the library with remote calls: ./ci.sh exports"]
fn one_object_has_no_memory() -> Outcome<()> {
    run_without_memory("objects", "once")
}

#[test]
#[ignore = "builds the library with remote calls: ./ci.sh exports"]
fn all_objects_from_one_on_have_no_memory() -> Outcome<()> {
    run_without_memory("objects", "onwards")
}

#[test]
#[ignore = "builds the library with remote calls: ./ci.sh exports"]
fn one_block_has_no_memory() -> Outcome<()> {
    run_without_memory("malloc", "once")
}

#[test]
#[ignore = "builds the library with remote calls: ./ci.sh exports"]
fn all_blocks_from_one_on_have_no_memory() -> Outcome<()> {
    run_without_memory("malloc", "onwards")
}

#[test]
fn every_symbol_of_remote_calls_is_called_without_memory() -> Outcome<()> {
    let program = std::fs::read_to_string(root().join("tests/robustness/alloc_fail/rpc.c"))?;
    let symbols =
        std::fs::read_to_string(root().join("tests/conformance/exports/rpc-symbols.txt"))?;
    let is_missing = |symbol: &&str| !program.contains(&format!("{symbol}("));
    assert_eq!(symbols.lines().filter(is_missing).collect::<Vec<_>>(), [""; 0]);
    Ok(())
}
