//! Global functions of clients: those of TVM's runtime, under its names, and `ferrite.rpc.*` under
//! names of this library alone.
//!
//! TVM's are defaults: if `libtvm_runtime` registers its own, these serve the sessions that this
//! library began.
#![forbid(unsafe_code)]

use core::ffi::c_void;
use core::time::Duration;

use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::defaults::Group;
#[cfg(unix)]
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::{Tensor, TensorView};
use ferrite_core::{Any, AnyView, Function, String, bail, static_function};

use super::connect::{Options, connect};
use super::evaluator::{any_time_evaluator, device_time_evaluator};
use super::module::{self, LOAD_MODULE, RemoteModule, TIME_EVALUATOR, server_function};
use super::{mask, tensor};

/// Longest time for the handshake of `rpc.Connect`: a proxy answers when the server has come.
const HANDSHAKE: Duration = Duration::from_secs(600);

/// All groups of global functions.
///
/// # Upstream
/// `src/runtime/rpc` of Apache TVM, linked into `libtvm_runtime`, and `rpc.PopenSession` of its
/// Python package.
pub const GROUPS: &[Group] = &[
    Group {
        prefix: "rpc.",
        functions: &[
            static_function!(packed "rpc.Connect", connect_tvm),
            #[cfg(unix)]
            static_function!(packed "rpc.CreatePipeClient", start_process),
            #[cfg(unix)]
            static_function!(packed "rpc.PopenSession", start_program),
            #[cfg(unix)]
            static_function!("rpc.LocalSession", start_local),
        ],
        wrap: None,
    },
    Group { prefix: "rpc.", functions: OF_SESSIONS, wrap: Some(wrap) },
    Group {
        prefix: "tvm.rpc.",
        functions: &[static_function!("tvm.rpc.TensorFromRemoteOpaqueHandle", tensor_from_handle)],
        wrap: Some(wrap),
    },
    Group {
        prefix: TIME_EVALUATOR,
        functions: &[static_function!(packed "runtime.RPCTimeEvaluator", any_time_evaluator)],
        wrap: Some(wrap),
    },
    Group {
        prefix: "ferrite.rpc.",
        functions: &[
            static_function!("ferrite.rpc.Connect", connect_with_options),
            #[cfg(unix)]
            static_function!(packed "ferrite.rpc.Start", start_process),
            #[cfg(unix)]
            static_function!("ferrite.rpc.Local", start_local),
            static_function!("ferrite.rpc.Device", device),
            static_function!("ferrite.rpc.LoadModule", load_module),
            static_function!(packed "ferrite.rpc.TimeEvaluator", device_time_evaluator),
        ],
        wrap: None,
    },
];

/// Functions whose first argument is a module of a session.
const OF_SESSIONS: &[StaticFunction] = &[
    static_function!("rpc.SessTableIndex", session_index),
    static_function!("rpc.LoadRemoteModule", load_module),
    static_function!("rpc.ImportRemoteModule", import_module),
];

/// Returns the function to use when `libtvm_runtime` registers one of these names: it serves the
/// modules of this library's sessions, and forwards others, since each runtime can use its own
/// modules only.
fn wrap(default: &'static StaticFunction, registered: &Function) -> Result<Option<Function>> {
    let (own, other) = (default.to_function()?, registered.clone());
    let serve = move |args: &[AnyView<'_>]| match args.first().and_then(RemoteModule::of_view) {
        Some(_) => own.call_packed(args),
        None => other.call_packed(args),
    };
    Function::from_packed(serve).map(Some)
}

/// Implements `rpc.Connect`: (host, port, key, whether to log, constructor, its arguments).
fn connect_tvm(args: &[AnyView<'_>]) -> Result<Any> {
    let [host, port, key, _, constructor @ ..] = args else {
        bail!(TypeError, "rpc.Connect takes at least 4 arguments, got {}", args.len());
    };
    let (host, key): (String, String) = (host.get()?, key.get()?);
    let options =
        Options { key: text(&key)?, connect_timeout: Some(HANDSHAKE), ..Options::default() };
    let session = connect(text(&host)?, port_of(port.get()?)?, &options, constructor)?;
    module::create(&session, 0).map(Any::from)
}

/// Implements `ferrite.rpc.Connect`. Times are in seconds; zero means no limit.
fn connect_with_options(
    host: String,
    port: i64,
    key: String,
    token: Option<String>,
    session_timeout: f64,
    connect_timeout: f64,
    read_timeout: f64,
) -> Result<Module> {
    let options = Options {
        key: text(&key)?,
        token: token.as_ref().map(text).transpose()?,
        session_timeout: seconds(session_timeout)?,
        connect_timeout: seconds(connect_timeout)?,
        read_timeout: seconds(read_timeout)?,
    };
    module::create(&connect(text(&host)?, port_of(port)?, &options, &[])?, 0)
}

fn text(string: &String) -> Result<&str> {
    match string.as_str() {
        Some(text) => Ok(text),
        None => bail!(ValueError, "Host names, keys and tokens are UTF-8"),
    }
}

fn port_of(port: i64) -> Result<u16> {
    match u16::try_from(port) {
        Ok(port @ 1..) => Ok(port),
        _ => bail!(ValueError, "There is no port {port}"),
    }
}

fn seconds(seconds: f64) -> Result<Option<Duration>> {
    if seconds == 0.0 {
        return Ok(None);
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(Some(limit)),
        _ => bail!(ValueError, "A time limit has 1e-9 to 2^64 seconds"),
    }
}

/// Implements `rpc.CreatePipeClient` and `ferrite.rpc.Start`: (program, arguments).
#[cfg(unix)]
fn start_process(args: &[AnyView<'_>]) -> Result<Any> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut words: Buffer<String> = Buffer::new();
    for argument in args {
        words.try_push(argument.get()?)?;
    }
    let mut command: Buffer<&OsStr> = Buffer::new();
    for word in words.iter() {
        command.try_push(OsStr::from_bytes(word.as_bytes()))?;
    }
    match &*command {
        [program, arguments @ ..] => {
            module::create(&super::process::start(program, arguments)?, 0).map(Any::from)
        }
        [] => bail!(ValueError, "rpc.CreatePipeClient needs the name of a program"),
    }
}

/// Implements `rpc.PopenSession`: the path of a program, or a program as bytes.
#[cfg(unix)]
fn start_program(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [program] if program.bytes_of_bytes().is_some() => {
            let program = program.bytes_of_bytes().unwrap_or_default();
            module::create(&super::process::start_bytes(program)?, 0).map(Any::from)
        }
        [_] => start_process(args),
        _ => bail!(TypeError, "rpc.PopenSession takes 1 argument, got {}", args.len()),
    }
}

/// Implements `rpc.LocalSession` and `ferrite.rpc.Local`.
#[cfg(unix)]
fn start_local() -> Result<Module> {
    module::create(&super::local::start(&[])?, 0)
}

/// Implements `rpc.SessTableIndex`.
fn session_index(module: Module) -> Result<i64> {
    Ok(i64::from(RemoteModule::of(&module)?.session().number()))
}

/// Implements `rpc.LoadRemoteModule` and `ferrite.rpc.LoadModule`: (session, name of an uploaded
/// file).
fn load_module(session: Module, name: String) -> Result<Module> {
    let load = server_function(RemoteModule::of(&session)?.session(), LOAD_MODULE)?;
    load.call_packed(&[AnyView::from(&name)])?.get()
}

/// Implements `rpc.ImportRemoteModule`.
fn import_module(parent: Module, child: Module) -> Result<()> {
    RemoteModule::of(&parent)?;
    parent.import_module(&child)
}

/// Implements `tvm.rpc.TensorFromRemoteOpaqueHandle`: (session, handle of the data, tensor with the
/// shape and the element type, device, handle of the tensor, which the new tensor owns).
fn tensor_from_handle(
    session: Module,
    data: *mut c_void,
    template: TensorView<'_>,
    device: DLDevice,
    owner: *mut c_void,
) -> Result<Tensor> {
    let session = RemoteModule::of(&session)?.session();
    let template = template.as_tensor_ref();
    tensor::from_parts(session, data.addr() as u64, template, device, owner.addr() as u64)
}

/// Implements `ferrite.rpc.Device`: the device under which this process knows a device of a
/// server, by its type and id there.
fn device(session: Module, device_type: i32, device_id: i32) -> Result<DLDevice> {
    let device = DLDevice { device_type, device_id };
    let number = RemoteModule::of(&session)?.session().number();
    match mask::add(number, device) {
        Some(device) => Ok(device),
        None => bail!(ValueError, "A session has no device of type {}", device.device_type),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_numbers_of_seconds_in_their_range() -> Result<()> {
        assert_eq!(seconds(0.0)?, None);
        assert_eq!(seconds(1.5)?, Some(Duration::from_millis(1500)));
        for outside in [-1.0, 1e-12, 1e20, f64::INFINITY, f64::NAN] {
            let error = seconds(outside).unwrap_err();
            assert_eq!(error.message(), "A time limit has 1e-9 to 2^64 seconds", "{outside}");
        }
        Ok(())
    }
}
