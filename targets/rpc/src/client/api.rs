//! Sessions for programs in Rust.
#![forbid(unsafe_code)]

use std::boxed::Box;
use std::sync::Arc;

use ferrite_alloc_ext::device::Device;
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{AnyView, Bytes, Function, bail, ensure};

use super::channel::Channel;
use super::connect::{self, Options};
use super::module::{self, LOAD_MODULE, RemoteModule, TIME_EVALUATOR, server_function};
use super::session::Connected;
use super::transport::Transport;
use super::{devices, mask};

/// Server function that stores a file in the session's folder.
const UPLOAD: &str = "tvm.rpc.server.upload";
/// Server function that returns a file of the session's folder.
const DOWNLOAD: &str = "tvm.rpc.server.download";
/// Server function that removes a file of the session's folder.
const REMOVE: &str = "tvm.rpc.server.remove";
/// A session with a server on another machine or in another process: its functions, modules and
/// devices. Clones are the same session, which ends when nothing uses it any more.
///
/// Functions of the server are ordinary [`Function`]s, modules are [`Module`]s, and tensors of its
/// devices are ordinary tensors whose device is one of the session. Errors that the server raises
/// have the kind that they had there; those of the connection are of kind `RPCError`. A session
/// whose connection broke gives an RPCError for every use.
///
/// # Threads
/// Any thread may use a session. One request is in progress at a time; others wait for it. The
/// child of a fork gets an RPCError.
///
/// # Upstream
/// `RPCSession` of `python/tvm/rpc/client.py`.
#[derive(Clone)]
pub struct Session(pub(super) Arc<Connected>);

impl Session {
    /// Connects to a server by TCP.
    ///
    /// # Errors
    /// RPCError if the server cannot be reached, refuses, or does not answer within the time limit;
    /// ValueError for invalid options; MemoryError.
    ///
    /// # Upstream
    /// `tvm.rpc.connect`.
    pub fn connect(host: &str, port: u16, options: &Options<'_>) -> Result<Session> {
        devices::install();
        connect::connect(host, port, options, &[]).map(Session)
    }

    /// Connects to a server by TCP, and begins the session that the server opens with the function
    /// `constructor`, such as `rpc.Connect` for a session with a further server.
    ///
    /// # Errors
    /// Those of [`connect`](Session::connect); the error of the constructor.
    pub fn connect_through(
        host: &str,
        port: u16,
        options: &Options<'_>,
        constructor: &[AnyView<'_>],
    ) -> Result<Session> {
        devices::install();
        connect::connect(host, port, options, constructor).map(Session)
    }

    /// Begins a session on a stream that is connected to a server, and on which there is no
    /// handshake.
    ///
    /// # Errors
    /// Errors of the transport; RPCError if the server does not answer as one; MemoryError.
    pub fn over(transport: impl Transport) -> Result<Session> {
        devices::install();
        connect::begin(Channel::new(Box::new(transport))?, &[]).map(Session)
    }

    /// Starts a server as a child process, which gets the numbers of two file descriptors as its
    /// last arguments, to read and to write. The child ends with the session.
    ///
    /// # Errors
    /// RPCError if the program cannot be started or does not answer as a server; MemoryError.
    ///
    /// # Upstream
    /// `rpc.CreatePipeClient`.
    #[cfg(unix)]
    pub fn start(
        program: impl AsRef<std::ffi::OsStr>,
        arguments: &[&std::ffi::OsStr],
    ) -> Result<Session> {
        devices::install();
        super::process::start(program.as_ref(), arguments).map(Session)
    }

    /// Starts a server in a thread of this process, which offers every global function, and begins
    /// a session with it. For tests of code that uses sessions.
    ///
    /// # Errors
    /// RPCError if the system has no further thread; MemoryError.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::device::DeviceTensor;
    /// use ferrite_core::names::global_table;
    /// use ferrite_core::tensor::Input;
    /// use ferrite_core::{AnyView, Function, Result};
    /// use ferrite_rpc::client::Session;
    ///
    /// # fn main() -> Result<()> {
    /// fn sum(x: Input<'_>) -> Result<f64> {
    ///     let ([_], x) = x.array::<f64, 1>()?;
    ///     Ok(x.iter().sum())
    /// }
    /// global_table::set(b"example.sum", &Function::from_typed(sum)?, false)?;
    ///
    /// let session = Session::local()?;
    /// let x = DeviceTensor::from_slice(session.cpu(), &[1.5, 2.5], &[2])?;
    /// let sum = session.function("example.sum")?;
    /// assert_eq!(sum.call_packed(&[AnyView::from(x.as_tensor())])?.get::<f64>()?, 4.0);
    /// assert_eq!(sum.call::<f64>((1,)).unwrap_err().kind().as_str(), "TypeError");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `tvm.rpc.LocalSession`, whose server is in the calling thread.
    #[cfg(unix)]
    pub fn local() -> Result<Session> {
        devices::install();
        super::local::start(&[]).map(Session)
    }

    /// Returns the session as a module of kind `rpc`, whose functions are the global functions of
    /// the server.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_module(&self) -> Result<Module> {
        module::create(&self.0, 0)
    }

    /// Returns the session of a module of kind `rpc`.
    ///
    /// # Errors
    /// TypeError for other modules.
    pub fn of(module: &Module) -> Result<Session> {
        Ok(Session(RemoteModule::of(module)?.session().clone()))
    }

    /// Looks up a global function of the server.
    ///
    /// # Errors
    /// AttributeError if there is none, or the server does not offer it; RPCError; MemoryError.
    pub fn function(&self, name: &str) -> Result<Function> {
        server_function(&self.0, name)
    }

    /// Returns a device of the server, by its [type](ferrite_core::value::device::kind) and id
    /// there.
    ///
    /// # Errors
    /// ValueError for a type that no device has.
    pub fn device(&self, device_type: i32, id: i32) -> Result<Device> {
        match mask::add(self.0.number(), DLDevice { device_type, device_id: id }) {
            Some(device) => Ok(device.into()),
            None => bail!(ValueError, "A session has no device of type {device_type}"),
        }
    }

    /// Returns the server's CPU, whose memory is the server's main memory.
    pub fn cpu(&self) -> Device {
        let cpu = DLDevice { device_type: kind::CPU, device_id: 0 };
        // Sessions have numbers for which this exists.
        Device::from(mask::add(self.0.number(), cpu).unwrap_or(cpu))
    }

    /// Stores a file in the session's folder on the server.
    ///
    /// # Errors
    /// AttributeError if the server takes no files; errors of the server.
    pub fn upload(&self, name: &str, content: &[u8]) -> Result<()> {
        let content = Bytes::new(content)?;
        self.function(UPLOAD)?.call((name, &content))
    }

    /// Returns a file of the session's folder on the server.
    ///
    /// # Errors
    /// AttributeError if the server gives no files; errors of the server.
    pub fn download(&self, name: &str) -> Result<Bytes> {
        self.function(DOWNLOAD)?.call((name,))
    }

    /// Removes a file of the session's folder on the server.
    ///
    /// # Errors
    /// AttributeError if the server takes no files; errors of the server.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.function(REMOVE)?.call((name,))
    }

    /// Loads a module from a file that was uploaded. Its code runs on the server.
    ///
    /// # Errors
    /// AttributeError if the server loads no modules; errors of the server.
    pub fn load_module(&self, name: &str) -> Result<Module> {
        self.function(LOAD_MODULE)?.call((name,))
    }

    /// Returns the module of the code that is linked into the server's program.
    ///
    /// # Errors
    /// AttributeError if the server has no system library; errors of the server.
    pub fn system_lib(&self) -> Result<Module> {
        self.function("ffi.SystemLib")?.call(())
    }

    /// Creates a function that measures the time of calls of a function on the server: of a module
    /// of the session, or of a global function.
    ///
    /// # Errors
    /// AttributeError if the server cannot measure; ValueError for a module or a device of another
    /// session; errors of the server.
    pub fn time_evaluator(
        &self,
        module: Option<&Module>,
        function: &str,
        device: Device,
        options: &EvaluatorOptions<'_>,
    ) -> Result<TimeEvaluator> {
        let device = self.0.strip_mask(device.into())?;
        let function = ferrite_core::String::new(function)?;
        let preprocessing = ferrite_core::String::new(options.preprocessing)?;
        let arguments = [
            module.map_or(AnyView::NONE, AnyView::from),
            AnyView::from(&function),
            AnyView::from(i64::from(device.device_type)),
            AnyView::from(i64::from(device.device_id)),
            AnyView::from(i64::from(options.number)),
            AnyView::from(i64::from(options.repeat)),
            AnyView::from(i64::from(options.min_repeat_ms)),
            AnyView::from(i64::from(options.limit_zero_time_iterations)),
            AnyView::from(i64::from(options.cooldown_interval_ms)),
            AnyView::from(i64::from(options.repeats_to_cooldown)),
            AnyView::from(i64::from(options.cache_flush_bytes)),
            AnyView::from(&preprocessing),
        ];
        let made = self.function(TIME_EVALUATOR)?.call_packed(&arguments)?;
        made.get().map(TimeEvaluator)
    }

    /// Returns the number of the session in this process, as `rpc.SessTableIndex` does.
    pub fn number(&self) -> u8 {
        self.0.number()
    }

    /// Ends the session. Functions, modules and tensors of the server give an RPCError afterwards.
    ///
    /// # Errors
    /// RPCError in the child of a fork.
    pub fn close(&self) -> Result<()> {
        self.0.close()
    }
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session")
            .field("number", &self.0.number())
            .field("is_open", &self.0.is_open())
            .finish()
    }
}

/// Numbers of calls and pauses of a [`TimeEvaluator`].
///
/// # Upstream
/// `time_evaluator` of `tvm.runtime.Module`.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatorOptions<'a> {
    /// Number of calls whose mean is one result.
    pub number: u32,
    /// Number of results.
    pub repeat: u32,
    /// Shortest time of the calls of one result; their number grows until they take it.
    pub min_repeat_ms: u32,
    /// Number of times that the number grows while the calls take no measurable time.
    pub limit_zero_time_iterations: u32,
    /// Pause between results.
    pub cooldown_interval_ms: u32,
    /// Number of results between two pauses.
    pub repeats_to_cooldown: u32,
    /// Bytes that are written before each call to empty caches.
    pub cache_flush_bytes: u32,
    /// Name of the server's function that runs before each result; empty for none.
    pub preprocessing: &'a str,
}

impl Default for EvaluatorOptions<'_> {
    fn default() -> Self {
        EvaluatorOptions {
            number: 10,
            repeat: 1,
            min_repeat_ms: 0,
            limit_zero_time_iterations: 100,
            cooldown_interval_ms: 0,
            repeats_to_cooldown: 1,
            cache_flush_bytes: 0,
            preprocessing: "",
        }
    }
}

/// Measures the time of calls on the server.
#[derive(Clone, Debug)]
pub struct TimeEvaluator(Function);

impl TimeEvaluator {
    /// Calls the measured function with these arguments. Returns the seconds that one call took, a
    /// number for each repetition.
    ///
    /// # Errors
    /// Errors of the function; RPCError; MemoryError.
    pub fn run(&self, arguments: &[AnyView<'_>]) -> Result<Buffer<f64>> {
        let times: Bytes = self.0.call_packed(arguments)?.get()?;
        let (times, rest) = times.as_bytes().as_chunks::<8>();
        ensure!(rest.is_empty(), "RPCError", "The RPC server returned a part of a number");
        let mut seconds = Buffer::new();
        for time in times {
            seconds.try_push(f64::from_le_bytes(*time))?;
        }
        Ok(seconds)
    }
}
