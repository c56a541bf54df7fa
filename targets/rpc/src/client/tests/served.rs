//! Sessions with a server: in a thread, on a TCP port, and by way of another server.

use core::time::Duration;
use std::boxed::Box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::string::String as StdString;
use std::sync::Arc;
use std::thread;
use std::vec::Vec;

use ferrite_alloc_ext::device::DeviceTensor;
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::tensor::Input;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor, error};

use super::super::channel::Channel;
use super::super::connect::begin;
use super::super::local;
use super::super::session::Connected;
use super::super::{EvaluatorOptions, Options, Session, Transport};

/// Registers the functions of these tests, once for each test that calls it.
fn register() -> Result<()> {
    let sum = |x: Input<'_>| -> Result<f64> { Ok(x.array::<f64, 1>()?.1.iter().sum()) };
    global_table::set(b"rpc_client.sum", &Function::from_typed(sum)?, true)?;
    let fail = || -> Result<i64> { Err(error!(KeyError, "no such key")) };
    global_table::set(b"rpc_client.fail", &Function::from_typed(fail)?, true)?;
    let twice = |x: Input<'_>| -> Result<Tensor> {
        let ([extent], x) = x.array::<f64, 1>()?;
        let elements: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
        Tensor::from_slice(&elements, &[extent as i64])
    };
    global_table::set(b"rpc_client.twice", &Function::from_typed(twice)?, true)?;
    let make = || Module::system_lib("rpc_client_");
    global_table::set(b"rpc_client.module", &Function::from_typed(make)?, true)?;
    let session = || Session::local()?.to_module();
    global_table::set(b"rpc.LocalSession", &Function::from_typed(session)?, true)
}

/// Uses everything that a session has.
fn use_session(session: &Session) -> Result<()> {
    let echo = session.function("testing.echo")?;
    assert_eq!(echo.call::<i64>((42,))?, 42);
    let text = String::new("a\0b")?;
    assert_eq!(echo.call::<String>((&text,))?.as_bytes(), b"a\0b");
    let bytes = Bytes::new(&[0xff, 0])?;
    assert_eq!(echo.call::<Bytes>((&bytes,))?.as_bytes(), [0xff, 0]);
    assert!(echo.call_packed(&[AnyView::NONE])?.is_none());

    let error = session.function("rpc_client.fail")?.call::<i64>(()).unwrap_err();
    assert_eq!((error.kind().as_str(), error.message()), ("KeyError", "no such key"));
    let error = session.function("rpc_client.absent").map(drop).unwrap_err();
    assert_eq!(error.kind().as_str(), "AttributeError");

    let x = DeviceTensor::from_slice(session.cpu(), &[1.5f64, 2.5, 3.0], &[3])?;
    let arguments = [AnyView::from(x.as_tensor())];
    let sum = session.function("rpc_client.sum")?;
    assert_eq!(sum.call_packed(&arguments)?.get::<f64>()?, 7.0);
    let twice: Tensor = session.function("rpc_client.twice")?.call_packed(&arguments)?.get()?;
    assert_eq!(ferrite_alloc_ext::device::Device::from(twice.device()), session.cpu());
    let local = Tensor::from_slice(&[0f64; 3], &[3])?;
    // SAFETY: both tensors are live, and nothing else uses the local one.
    unsafe {
        ferrite_alloc_ext::device::copy_tensor(
            twice.dl_tensor(),
            local.dl_tensor(),
            core::ptr::null_mut(),
        )?;
    }
    assert_eq!(local.as_slice::<f64>()?[..], [3.0, 5.0, 6.0]);
    let copy = x.to_device(session.cpu())?;
    assert_eq!(*copy.read::<f64>()?, [1.5, 2.5, 3.0]);

    let module: Module = session.function("rpc_client.module")?.call(())?;
    assert_eq!(module.kind()?, c"rpc");
    assert!(module.get("absent").is_err());

    let options = EvaluatorOptions { number: 3, repeat: 2, ..EvaluatorOptions::default() };
    let timer = session.time_evaluator(None, "rpc_client.sum", session.cpu(), &options)?;
    let seconds = timer.run(&arguments)?;
    assert_eq!((seconds.len(), seconds.iter().all(|seconds| *seconds >= 0.0)), (2, true));
    Ok(())
}

#[test]
fn a_server_in_a_thread_serves_everything() -> Result<()> {
    register()?;
    let session = Session::local()?;
    use_session(&session)?;
    session.close()
}

#[test]
fn a_session_reaches_a_server_by_way_of_another() -> Result<()> {
    register()?;
    let constructor = String::new("rpc.LocalSession")?;
    let session = Session(local::start(&[AnyView::from(&constructor)])?);
    use_session(&session)
}

#[test]
fn errors_of_constructors_are_raised() -> Result<()> {
    register()?;
    for (constructor, kind) in [("rpc_client.fail", "KeyError"), ("rpc_client.module", "TypeError")]
    {
        let name = String::new(constructor)?;
        let error = local::start(&[AnyView::from(&name)]).map(drop).unwrap_err();
        assert_eq!(error.kind().as_str(), kind, "{}", error.message());
    }
    Ok(())
}

#[test]
fn large_tensors_come_back_unchanged() -> Result<()> {
    let session = Session::local()?;
    let content: Vec<u8> = (0..3_000_001u32).map(|x| (x * 31 % 251) as u8).collect();
    let tensor = DeviceTensor::from_slice(session.cpu(), &content, &[content.len() as i64])?;
    assert!(*tensor.read::<u8>()? == content[..]);
    Ok(())
}

#[test]
fn threads_share_a_session() -> Result<()> {
    let session = Session::local()?;
    thread::scope(|scope| {
        for start in 0..4i64 {
            let session = session.clone();
            scope.spawn(move || {
                for number in start * 100..start * 100 + 50 {
                    let echo = session.function("testing.echo").unwrap();
                    assert_eq!(echo.call::<i64>((number,)).unwrap(), number);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn sessions_give_their_numbers_back() -> Result<()> {
    for _ in 0..100 {
        Session::local()?.function("testing.echo")?.call::<i64>((1,))?;
    }
    Ok(())
}

/// Starts a listener that answers one client by `answer`, and returns its port.
fn listen(answer: impl FnOnce(std::net::TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || answer(listener.accept().unwrap().0));
    port
}

fn refusal(port: u16, options: &Options<'_>) -> StdString {
    let error = Session::connect("127.0.0.1", port, options).unwrap_err();
    assert_eq!(error.kind_bytes(), b"RPCError");
    error.message().into()
}

#[test]
fn refusals_say_why() {
    const MAGIC: i32 = 0xFF271;
    for (answer, expected) in [
        ((MAGIC + 2).to_le_bytes().to_vec(), "refuses the key \"pi\""),
        ((MAGIC + 1).to_le_bytes().to_vec(), "already has a client"),
        (0x2F271i32.to_le_bytes().to_vec(), "is an RPC tracker"),
        (b"HTTP/1.1 400".to_vec(), "is not an RPC server"),
        ([MAGIC.to_le_bytes(), (-1i32).to_le_bytes()].concat(), "a key of -1 bytes"),
        ([MAGIC.to_le_bytes(), i32::MAX.to_le_bytes()].concat(), "a key of 2147483647 bytes"),
    ] {
        let port = listen(move |mut stream| {
            let mut key = [0; 17];
            stream.read_exact(&mut key).unwrap();
            assert!(key.ends_with(b"client:pi"), "{key:?}");
            stream.write_all(&answer).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let message = refusal(port, &Options { key: "pi", ..Options::default() });
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn silent_servers_do_not_hang_their_clients() {
    let port = listen(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let limit = Some(Duration::from_millis(50));
    let message = refusal(port, &Options { connect_timeout: limit, ..Options::default() });
    assert!(message.contains("within the time limit"), "{message}");
}

/// A server that sends packets without content for ever.
struct Chatter;

impl Transport for Chatter {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        buffer.fill(0);
        Ok(buffer.len())
    }

    fn write(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

#[test]
fn servers_that_send_nothing_but_empty_packets_do_not_hang_their_clients() -> Result<()> {
    let mut channel = Channel::new(Box::new(Chatter))?;
    channel.set_time_limit(Some(Duration::from_millis(50)))?;
    let error = begin(channel, &[]).map(drop).unwrap_err();
    assert!(error.message().contains("within the time limit"), "{}", error.message());
    Ok(())
}

#[test]
fn a_port_without_a_server_is_an_error() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    // The port of a connected socket, which no other program gets meanwhile.
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = stream.local_addr().unwrap().port();
    assert!(refusal(port, &Options::default()).contains("Error connecting"));
}

#[test]
fn programs_that_do_not_serve_are_errors() {
    let start = |program: &str, arguments: &[&str]| {
        let arguments: Vec<&std::ffi::OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        let error = Session::start(program, &arguments).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RPCError");
        StdString::from(error.message())
    };
    assert!(start("/absent/server", &[]).contains("Error starting"));
    assert!(start("true", &[]).contains("closed the connection"));
}

#[test]
fn a_process_session_reads_and_writes_by_its_descriptors() {
    // Sends the request back: a packet whose code is InitServer, which no answer has. Not by `sh`,
    // which may be a shell without descriptors above 9.
    let script = "exec dd bs=1 count=24 <&$0 >&$1 2>/dev/null";
    let arguments: [&std::ffi::OsStr; 2] = ["-c".as_ref(), script.as_ref()];
    let error = Session::start("bash", &arguments).unwrap_err();
    assert!(error.message().contains("malformed"), "{}", error.message());
}

#[allow(dead_code, reason = "compiles only if sessions may go to other threads")]
fn sessions_are_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<Session>();
    check::<Arc<Connected>>();
    check::<Any>();
}
