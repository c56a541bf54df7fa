//! C functions for sessions with servers of TVM's remote procedure calls.

use core::ffi::{c_char, c_int};
use core::time::Duration;

use ferrite_alloc_ext::device;
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObjectHandle};
use ferrite_core::bail;
use ferrite_core::error::Result;
use ferrite_rpc::client::{Options, Session};

use crate::boundary::{self, arg};

/// How to connect to a server of remote procedure calls. Fields that are zero or null have their
/// defaults.
#[repr(C)]
pub struct FerriteRpcOptions {
    /// Key of the server, a null-terminated string; empty by default. A server with another key
    /// refuses.
    pub key: *const c_char,
    /// Secret of a server that has one, a null-terminated string; none by default.
    pub token: *const c_char,
    /// Seconds after which the server ends the session; no limit by default.
    pub session_timeout: f64,
    /// Longest time in seconds for the connection, and for each answer until the session has begun;
    /// 30 by default.
    pub connect_timeout: f64,
    /// Longest time in seconds until an answer begins, which includes the time of a call; no limit
    /// by default. A session that exceeds it ends.
    pub read_timeout: f64,
}

/// Connects to a server of remote procedure calls by TCP, and begins a session.
///
/// `host` is a name or an address, a null-terminated string. `options` may be null. Returns 0 and
/// stores the session, owned by the caller, in `out`: a module, whose functions are the global
/// functions of the server. `TVMFFIObjectDecRef` releases it; the session ends when its functions,
/// modules and tensors are released, too.
///
/// On failure, returns -1 with an error raised: RPCError if the server cannot be reached, refuses,
/// or does not answer within the time limit; ValueError for a null pointer, a port that does not
/// exist, and invalid options; MemoryError.
///
/// Errors that functions of the server raise have the kind that they had there. If the connection
/// breaks, each use of the session raises RPCError.
///
/// # Safety
/// Strings must be null-terminated, or null where that is allowed.
///
/// # Upstream
/// The global function `rpc.Connect`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteRpcConnect(
    host: *const c_char,
    port: i32,
    options: *const FerriteRpcOptions,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        crate::builtins::ensure_installed();
        let out = boundary::out(out, arg(4, "out"))?;
        let host = text(boundary::c_str(host, arg(1, "host"))?)?;
        let Ok(port @ 1..) = u16::try_from(port) else {
            bail!(ValueError, "There is no port {port}");
        };
        let session = Session::connect(host, port, &read_options(options.as_ref())?)?;
        out.write_object(Some(session.to_module()?));
        Ok(())
    })
}

/// Reads options, which are the defaults if there are none.
///
/// # Safety
/// Strings must be null-terminated, or null.
unsafe fn read_options<'a>(options: Option<&'a FerriteRpcOptions>) -> Result<Options<'a>> {
    let defaults = Options::default();
    let Some(options) = options else { return Ok(defaults) };
    // SAFETY: the caller's promise.
    let (key, token) =
        unsafe { (boundary::c_str_or_empty(options.key), boundary::c_str_or_empty(options.token)) };
    Ok(Options {
        key: text(key)?,
        token: if token.is_empty() { None } else { Some(text(token)?) },
        session_timeout: seconds(options.session_timeout, defaults.session_timeout)?,
        connect_timeout: seconds(options.connect_timeout, defaults.connect_timeout)?,
        read_timeout: seconds(options.read_timeout, defaults.read_timeout)?,
    })
}

fn text(bytes: &[u8]) -> Result<&str> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => bail!(ValueError, "Names of remote calls are UTF-8"),
    }
}

/// Converts a number of seconds; zero means the default.
fn seconds(seconds: f64, default: Option<Duration>) -> Result<Option<Duration>> {
    if seconds == 0.0 {
        return Ok(default);
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(Some(limit)),
        _ => bail!(ValueError, "A time limit is a positive number of seconds"),
    }
}

/// Returns the session of a module.
///
/// # Safety
/// `session` must be an object or null.
unsafe fn session_of(session: TVMFFIObjectHandle) -> Result<Session> {
    // SAFETY: the caller's promise.
    let module = unsafe { boundary::object_of::<Module>(session, arg(1, "session"))? };
    Session::of(&module)
}

/// Looks up a global function of the server of a session.
///
/// `name` is a null-terminated string. Returns 0 and stores the function, owned by the caller, in
/// `out`. `TVMFFIFunctionCall` calls it on the server. Arguments are numbers, strings, bytes, and
/// functions, modules, objects, devices and tensors of the session.
///
/// On failure, returns -1 with an error raised: AttributeError if the server offers no such
/// function, TypeError if the object is not a session, ValueError for a null pointer, RPCError,
/// MemoryError.
///
/// # Safety
/// `session` must be an object; `name` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteRpcGetFunction(
    session: TVMFFIObjectHandle,
    name: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(3, "out"))?;
        let name = text(boundary::c_str(name, arg(2, "name"))?)?;
        out.write_object(Some(session_of(session)?.function(name)?));
        Ok(())
    })
}

/// Stores the device under which this process knows a device of the server: the argument of the
/// session's functions, and the place of tensors.
///
/// `device` has the type and the id that it has there. Returns 0, or -1 with an error raised:
/// TypeError if the object is not a session, ValueError for a null pointer and for a device type
/// that does not exist.
///
/// # Safety
/// `session` must be an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteRpcGetDevice(
    session: TVMFFIObjectHandle,
    device: DLDevice,
    out: *mut DLDevice,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(3, "out"))?;
        let session = session_of(session)?;
        out.write(session.device(device.device_type, device.device_id)?.into());
        Ok(())
    })
}

/// Creates a compact row-major tensor on a device of a session, with unspecified elements.
///
/// `shape` has `ndim` extents. Returns 0 and stores the tensor, owned by the caller, in `out`. On
/// failure, returns -1 with an error raised: ValueError for a null pointer and for a shape that no
/// tensor has, InternalError for a device whose session has ended, RPCError, the error of the
/// server, or MemoryError.
///
/// # Safety
/// `shape` must have `ndim` extents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteRpcTensorAlloc(
    device: DLDevice,
    shape: *const i64,
    ndim: i32,
    dtype: DLDataType,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(5, "out"))?;
        let shape = boundary::slice(shape, ndim, arg(2, "shape"))?;
        out.write_object(Some(device::empty(shape, dtype, device)?));
        Ok(())
    })
}

/// Copies the elements of a contiguous tensor to another one of the same size in bytes, and waits
/// for the copy: from this process to a device of a session, back, or between devices of a session.
///
/// Returns 0, or -1 with an error raised: ValueError for a null pointer, for a tensor that is not
/// contiguous, and for different sizes; RuntimeError for devices of two sessions; RPCError; the
/// error of the server.
///
/// # Safety
/// Both tensors must be valid; nothing else may access the target during the copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteRpcTensorCopy(from: *const DLTensor, to: *mut DLTensor) -> c_int {
    // SAFETY: the caller's promise; null is the default stream.
    boundary::status(|| unsafe {
        let from = boundary::reference(from, arg(1, "from"))?;
        let to = boundary::reference(to.cast_const(), arg(2, "to"))?;
        device::copy_tensor(from, to, core::ptr::null_mut())?;
        let main = device::is_main_memory(from.device.device_type);
        device::Device::from(if main { to.device } else { from.device }).synchronize()
    })
}
