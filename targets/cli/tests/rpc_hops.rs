//! Runs sessions with a server through another one, both of them `ferrite rpc serve`.
#![allow(missing_docs, reason = "each test's name says it")]
#![cfg(target_os = "linux")]

#[path = "rpc/client.rs"]
mod client;

use std::path::{Path, PathBuf};

use client::{Answer, Client, Server};
use ferrite::Any;
use ferrite::device::DeviceTensor;
use ferrite::rpc::{Options, Session};
use ferrite_rpc::wire::Item;
use ferrite_tests::{Cc, Outcome, scratch};

/// Compiles the library whose function `answer` returns 6.
fn kernels(name: &str) -> Outcome<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rpc/kernels.c");
    let output = scratch(name)?.join("kernels.so");
    Cc::shared(output).strict().args(["-DANSWER=6"]).source(source).link()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[test]
fn a_session_leads_to_a_further_server_if_that_is_allowed() -> Outcome<()> {
    let library = kernels("rpc-hop-library")?;
    let last = Server::start("rpc-hop-last", &["--library", text(&library)])?;
    let (host, key) = (Item::string(b"127.0.0.1"), Item::string(b""));
    let constructor =
        [Item::string(b"rpc.Connect"), host, Item::int(last.port()), key, Item::Word(2, 0)];
    let closed = Server::start("rpc-hop-closed", &[])?;
    let refused = Client::begin_by(closed.greet("client:")?, &constructor).err();
    assert!(format!("{refused:?}").contains("--allow rpc.Connect"), "{refused:?}");
    let first = Server::start("rpc-hop-first", &["--allow", "rpc.Connect"])?;
    let mut client = Client::begin_by(first.greet("client:")?, &constructor)?;
    assert_eq!(client.call("answer", &[])?, Answer::Word(6));
    assert!(client.call("ffi.ModuleLoadFromFile", &[])?.error().contains("PermissionError"));
    let error = client.call("crash", &[])?;
    assert!(error.error().contains("SIGSEGV"), "{error:?}");
    Ok(())
}

/// Begins a session with the server at `last`, whose key is `key`, through the one at `first`.
fn connect_through(first: &Server, last: &Server, key: &str) -> ferrite::Result<Session> {
    let (connect, host, key) =
        (Any::try_new("rpc.Connect")?, Any::try_new("127.0.0.1")?, Any::try_new(key)?);
    let (port, is_logged) = (Any::from(last.port()), Any::from(false));
    let constructor = [&connect, &host, &port, &key, &is_logged].map(Any::view);
    let port = u16::try_from(first.port()).unwrap_or_default();
    Session::connect_through("127.0.0.1", port, &Options::default(), &constructor)
}

/// Calls a function of the server without arguments. Returns its result, or the error.
fn number(session: &Session, function: &str) -> std::result::Result<i64, String> {
    let call = || session.function(function)?.call::<i64>(());
    call().map_err(|error| format!("{error:?}"))
}

fn copy_back(session: &Session, content: &[u8]) -> ferrite::Result<Vec<u8>> {
    let shape = [content.len() as i64];
    let tensor = DeviceTensor::from_slice(session.cpu(), content, &shape)?;
    Ok(tensor.read::<u8>()?.to_vec())
}

#[test]
fn our_client_goes_on_to_a_further_server() -> Outcome<()> {
    let library = kernels("rpc-own-hop-library")?;
    let arguments = ["--library", text(&library), "--key", "last", "--sessions", "2"];
    let last = Server::start("rpc-own-hop-last", &arguments)?;
    let first = Server::start("rpc-own-hop-first", &["--allow", "rpc.Connect", "--sessions", "2"])?;
    let to = |key: &str| connect_through(&first, &last, key).map_err(|error| format!("{error:?}"));
    let refused = to("other").err().unwrap_or_default();
    assert!(refused.contains("refuses the key \"other\""), "{refused}");
    let (session, other) = (to("last")?, to("last")?);
    assert_eq!(number(&session, "answer")?, 6);
    let content: Vec<u8> = (0..1 << 20).map(|at| (at % 251) as u8).collect();
    let back = copy_back(&session, &content).map_err(|error| format!("{error:?}"))?;
    assert!(back == content);
    let crash = number(&session, "crash").err().unwrap_or_default();
    assert!(crash.contains("SIGSEGV"), "{crash}");
    assert_eq!(number(&other, "answer")?, 6);
    Ok(())
}
