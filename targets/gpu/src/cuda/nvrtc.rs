//! NVRTC, the compiler of CUDA source: a library that needs neither a device nor a toolkit.
//!
//! `FERRITE_NVRTC` names the library, its folder, or the folder of the Python package
//! `nvidia-cuda-nvrtc`.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Mutex;
use ferrite_core::{Bytes, plain_bail};

use super::failure::cuda_error;
use super::headers;
use super::image::Format;
use crate::library;
use crate::owned::Owned;
use crate::variable;

/// `nvrtcResult`.
type Status = c_int;
/// `nvrtcProgram`.
type Handle = *mut c_void;

const SUCCESS: Status = 0;

const PATH: &CStr = c"FERRITE_NVRTC";
/// Paths of the library relative to a folder.
const IN_FOLDER: [&str; 4] =
    ["/libnvrtc.so.13", "/libnvrtc.so.12", "/lib/libnvrtc.so.13", "/lib/libnvrtc.so.12"];

library::driver_table! {
    /// Functions of NVRTC.
    pub struct Nvrtc from ["libnvrtc.so.13", "libnvrtc.so.12"] {
        fn nvrtcGetErrorString(error: Status) -> *const c_char;
        fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> Status;
        fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> Status;
        fn nvrtcCreateProgram(
            program: *mut Handle,
            source: *const c_char,
            name: *const c_char,
            header_count: c_int,
            headers: *const *const c_char,
            header_names: *const *const c_char,
        ) -> Status;
        fn nvrtcDestroyProgram(program: *mut Handle) -> Status;
        fn nvrtcCompileProgram(program: Handle, option_count: c_int, options: *const *const c_char) -> Status;
        fn nvrtcGetProgramLogSize(program: Handle, bytes: *mut usize) -> Status;
        fn nvrtcGetProgramLog(program: Handle, log: *mut c_char) -> Status;
        fn nvrtcGetPTXSize(program: Handle, bytes: *mut usize) -> Status;
        fn nvrtcGetPTX(program: Handle, ptx: *mut c_char) -> Status;
        fn nvrtcGetCUBINSize(program: Handle, bytes: *mut usize) -> Status;
        fn nvrtcGetCUBIN(program: Handle, cubin: *mut c_char) -> Status;
    }
}

/// Held while the library is opened, which a fork waits for: the compiler is not a device, so a
/// child may use it.
pub(crate) static NVRTC_OPENING: Mutex<()> = Mutex::new(());

/// Returns the library; opens it on first use.
///
/// # Errors
/// RuntimeError if it is not found, with the places that were searched.
pub(super) fn nvrtc() -> Result<&'static Nvrtc> {
    static LIBRARY: AtomicPtr<Nvrtc> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: null, or created below and never freed.
    let opened = || unsafe { LIBRARY.load(Ordering::Acquire).as_ref() };
    if let Some(nvrtc) = opened() {
        return Ok(nvrtc);
    }
    let _opening = NVRTC_OPENING.lock();
    if let Some(nvrtc) = opened() {
        return Ok(nvrtc);
    }
    let found = match variable::get_c_str(PATH) {
        Some(path) => library::open_in(path, &IN_FOLDER)?.and_then(Nvrtc::find_in),
        None => Nvrtc::open(),
    };
    let nvrtc = match found {
        Ok(nvrtc) => nvrtc,
        Err(error) => plain_bail!(
            RUNTIME_ERROR,
            "CUDA source is compiled by NVRTC (pip install nvidia-cuda-nvrtc-cu12, and set FERRITE_NVRTC to its folder), or by \
             the global function tvm_callback_cuda_compile. {}",
            error.message_bytes()
        ),
    };
    let nvrtc = Owned::new(nvrtc)?.into_raw();
    LIBRARY.store(nvrtc.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { nvrtc.as_ref() })
}

impl Nvrtc {
    fn check(&self, call: &str, status: Status, log: &[u8]) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the library returns a static string.
        let name = unsafe { CStr::from_ptr((self.nvrtcGetErrorString)(status)) };
        let separator: &[u8] = if log.is_empty() { b"" } else { b"\n" };
        Err(cuda_error(&[
            call.as_bytes(),
            b" failed with error: ",
            name.to_bytes(),
            separator,
            log,
        ]))
    }

    /// Returns the architectures that this NVRTC supports, such as 75 and 90, in ascending order.
    ///
    /// # Errors
    /// CUDAError; MemoryError.
    pub(super) fn architectures(&self) -> Result<Buffer<c_int>> {
        let mut count = 0;
        // SAFETY: the library writes the count, then that many numbers.
        unsafe {
            self.check(
                "nvrtcGetNumSupportedArchs",
                (self.nvrtcGetNumSupportedArchs)(&mut count),
                b"",
            )?;
            let mut architectures = Buffer::new();
            architectures.try_resize(count.max(0) as usize, 0)?;
            let out = architectures.as_mut_slice().as_mut_ptr();
            self.check("nvrtcGetSupportedArchs", (self.nvrtcGetSupportedArchs)(out), b"")?;
            Ok(architectures)
        }
    }

    /// Compiles source: to machine code for an architecture such as `sm_90a`, or to PTX for one
    /// such as `compute_75`.
    ///
    /// # Errors
    /// CUDAError with the compiler's log; MemoryError.
    pub(super) fn compile(
        &self,
        source: &CStr,
        architecture: &str,
        include_folders: &[Buffer<u8>],
    ) -> Result<(Format, Bytes)> {
        let program = Program::new(self, source)?;
        let mut option = Buffer::new();
        option.try_extend_from_slice(b"--gpu-architecture=")?;
        option.try_extend_from_slice(architecture.as_bytes())?;
        option.try_push(0)?;
        let mut options = Buffer::new();
        options.try_push(option.as_ptr().cast::<c_char>())?;
        // TVM's helper functions have no `__device__` annotation.
        options.try_push(c"--device-as-default-execution-space".as_ptr())?;
        options.try_push(c"--disable-warnings".as_ptr())?;
        for folder in include_folders {
            options.try_push(folder.as_ptr().cast())?;
        }
        program.compile(&options)?;
        let (bytes, format) = if architecture.starts_with("sm_") {
            (
                program.output("nvrtcGetCUBIN", self.nvrtcGetCUBINSize, self.nvrtcGetCUBIN)?,
                Format::Binary,
            )
        } else {
            let mut text = program.output("nvrtcGetPTX", self.nvrtcGetPTXSize, self.nvrtcGetPTX)?;
            while text.last() == Some(&0) {
                text.pop();
            }
            (text, Format::Ptx)
        };
        Ok((format, Bytes::new(&bytes)?))
    }
}

/// A program under compilation.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl<'a> Program<'a> {
    fn new(nvrtc: &'a Nvrtc, source: &CStr) -> Result<Program<'a>> {
        let texts = headers::TEXTS.map(CStr::as_ptr);
        let names = headers::NAMES.map(CStr::as_ptr);
        let mut handle = ptr::null_mut();
        // SAFETY: all strings end in a NUL, and there are as many names as contents.
        let status = unsafe {
            let (name, count) = (c"module.cu".as_ptr(), texts.len() as c_int);
            (nvrtc.nvrtcCreateProgram)(
                &mut handle,
                source.as_ptr(),
                name,
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        nvrtc.check("nvrtcCreateProgram", status, b"")?;
        Ok(Program { nvrtc, handle })
    }

    fn compile(&self, options: &[*const c_char]) -> Result<()> {
        // SAFETY: every option ends in a NUL.
        let status = unsafe {
            (self.nvrtc.nvrtcCompileProgram)(self.handle, options.len() as c_int, options.as_ptr())
        };
        if status == SUCCESS {
            return Ok(());
        }
        let log = self.output(
            "nvrtcGetProgramLog",
            self.nvrtc.nvrtcGetProgramLogSize,
            self.nvrtc.nvrtcGetProgramLog,
        );
        let log = log.unwrap_or_default();
        self.nvrtc.check(
            "nvrtcCompileProgram",
            status,
            log.split(|byte| *byte == 0).next().unwrap_or_default(),
        )
    }

    /// Reads an output of the program: first its size, then its content.
    fn output(
        &self,
        call: &str,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        get: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Buffer<u8>> {
        let (mut bytes, mut output) = (0, Buffer::new());
        // SAFETY: the library writes the size, then that many bytes.
        unsafe {
            self.nvrtc.check(call, size(self.handle, &mut bytes), b"")?;
            output.try_resize(bytes, 0u8)?;
            self.nvrtc.check(
                call,
                get(self.handle, output.as_mut_slice().as_mut_ptr().cast()),
                b"",
            )?;
        }
        Ok(output)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: this is the owner of the program. Errors are ignored.
        unsafe { (self.nvrtc.nvrtcDestroyProgram)(&mut self.handle) };
    }
}
