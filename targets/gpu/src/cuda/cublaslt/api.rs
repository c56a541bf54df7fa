//! Functions and constants of cuBLASLt that the back end uses. All exist since CUDA 11.8.
//!
//! `FERRITE_CUBLASLT` names the library, its folder, or the folder of the Python package
//! `nvidia-cublas`.

use core::ffi::{CStr, c_char, c_int, c_void};

use ferrite_core::error::{Error, Result};
use ferrite_core::{String, plain_error};

use crate::cuda::failure::cuda_error;
use crate::library;
use crate::open_once::OpenOnce;
use crate::variable;

/// `cublasStatus_t`.
pub(super) type Status = c_int;
/// `cublasLtHandle_t`, `cublasLtMatmulDesc_t`, `cublasLtMatrixLayout_t`,
/// `cublasLtMatmulPreference_t`, `cudaStream_t`.
pub(super) type Handle = *mut c_void;

const SUCCESS: Status = 0;
const ALLOC_FAILED: Status = 3;
pub(super) const NOT_SUPPORTED: Status = 15;

// `cudaDataType_t`.
pub(super) const R_32F: c_int = 0;
pub(super) const R_16F: c_int = 2;
pub(super) const R_16BF: c_int = 14;

// `cublasComputeType_t`.
pub(super) const COMPUTE_32F: c_int = 68;
pub(super) const COMPUTE_32F_FAST_TF32: c_int = 77;

/// `CUBLAS_OP_T`.
pub(super) const TRANSPOSED: c_int = 1;

// Attributes of a matrix product.
pub(super) const TRANSPOSE_A: c_int = 3;
pub(super) const TRANSPOSE_B: c_int = 4;
pub(super) const EPILOGUE: c_int = 7;
pub(super) const BIAS_POINTER: c_int = 8;

// Bits of an epilogue.
pub(super) const EPILOGUE_DEFAULT: u32 = 1;
pub(super) const EPILOGUE_RELU: u32 = 2;
pub(super) const EPILOGUE_BIAS: u32 = 4;
pub(super) const EPILOGUE_GELU: u32 = 32;

// Attributes of a matrix.
pub(super) const BATCH_COUNT: c_int = 5;
pub(super) const BATCH_STRIDE: c_int = 6;

// Attributes of a search for algorithms.
pub(super) const MAX_WORKSPACE_BYTES: c_int = 1;
/// Alignment of A, and those of B, C and D in the next three numbers.
pub(super) const MIN_ALIGNMENT: c_int = 5;

/// `cublasLtMatmulHeuristicResult_t`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Found {
    pub algorithm: [u64; 8],
    pub workspace_bytes: usize,
    pub state: Status,
    pub waves: f32,
    reserved: [c_int; 4],
}

const _: () = assert!(size_of::<Found>() == 96 && core::mem::offset_of!(Found, state) == 72);

/// Sets an attribute of a descriptor.
pub(super) type Set = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> Status;
/// Destroys a descriptor.
pub(super) type Destroy = unsafe extern "C" fn(Handle) -> Status;

library::driver_table! {
    /// Functions of cuBLASLt.
    pub struct Api from ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"] {
        fn cublasLtCreate(handle: *mut Handle) -> Status;
        fn cublasLtDestroy(handle: Handle) -> Status;
        fn cublasLtGetStatusName(status: Status) -> *const c_char;
        fn cublasLtMatmulDescCreate(description: *mut Handle, compute: c_int, scale: c_int) -> Status;
        fn cublasLtMatmulDescSetAttribute(description: Handle, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
        fn cublasLtMatmulDescDestroy(description: Handle) -> Status;
        fn cublasLtMatrixLayoutCreate(layout: *mut Handle, element: c_int, rows: u64, columns: u64, stride: i64) -> Status;
        fn cublasLtMatrixLayoutSetAttribute(layout: Handle, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
        fn cublasLtMatrixLayoutDestroy(layout: Handle) -> Status;
        fn cublasLtMatmulPreferenceCreate(preference: *mut Handle) -> Status;
        fn cublasLtMatmulPreferenceSetAttribute(preference: Handle, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
        fn cublasLtMatmulPreferenceDestroy(preference: Handle) -> Status;
        fn cublasLtMatmulAlgoGetHeuristic(
            handle: Handle,
            description: Handle,
            a: Handle,
            b: Handle,
            c: Handle,
            d: Handle,
            preference: Handle,
            requested: c_int,
            found: *mut Found,
            found_count: *mut c_int,
        ) -> Status;
        fn cublasLtMatmul(
            handle: Handle,
            description: Handle,
            alpha: *const c_void,
            a: *const c_void,
            a_layout: Handle,
            b: *const c_void,
            b_layout: Handle,
            beta: *const c_void,
            c: *const c_void,
            c_layout: Handle,
            d: *mut c_void,
            d_layout: Handle,
            algorithm: *const [u64; 8],
            workspace: *mut c_void,
            workspace_bytes: usize,
            stream: Handle,
        ) -> Status;
    }
}

const PATH: &CStr = c"FERRITE_CUBLASLT";
/// Paths of the library relative to a folder.
const IN_FOLDER: [&str; 6] = [
    "/libcublasLt.so.13",
    "/libcublasLt.so.12",
    "/libcublasLt.so.11",
    "/lib/libcublasLt.so.13",
    "/lib/libcublasLt.so.12",
    "/lib/libcublasLt.so.11",
];

/// Returns the library; opens it on first use.
///
/// # Errors
/// RuntimeError if it is not found, with the places that were searched, and in a forked child.
pub(super) fn api() -> Result<&'static Api> {
    static LIBRARY: OpenOnce<Api> = OpenOnce::new();
    LIBRARY.get(open)
}

fn open() -> Result<Api> {
    let found = match variable::get_c_str(PATH) {
        Some(path) => library::open_in(path, &IN_FOLDER)?.and_then(Api::find_in),
        None => Api::open(),
    };
    found.map_err(|error| {
        plain_error!(
            RUNTIME_ERROR,
            "ferrite.cublaslt.matmul calls cuBLASLt (pip install nvidia-cublas-cu12, and set FERRITE_CUBLASLT to its folder). {}",
            error.message_bytes()
        )
    })
}

impl Api {
    /// Converts the status of a call for this problem into a result.
    ///
    /// # Errors
    /// MemoryError if memory ran out, otherwise CUDAError, with the library's name of the status
    /// and the problem.
    #[inline]
    pub(super) fn check(
        &self,
        call: &str,
        status: Status,
        problem: &dyn core::fmt::Display,
    ) -> Result<()> {
        if status == SUCCESS { Ok(()) } else { Err(self.error(call, status, problem)) }
    }

    #[cold]
    fn error(&self, call: &str, status: Status, problem: &dyn core::fmt::Display) -> Error {
        // SAFETY: the library returns a static string.
        let name = unsafe { CStr::from_ptr((self.cublasLtGetStatusName)(status)) }.to_bytes();
        let problem = match String::format(format_args!("{problem}")) {
            Ok(problem) => problem,
            Err(error) => return error,
        };
        if status == ALLOC_FAILED {
            let problem = problem.as_bytes();
            return plain_error!(
                MEMORY_ERROR,
                "{} failed with error: {} for {}",
                call,
                name,
                problem
            );
        }
        cuda_error(&[call.as_bytes(), b" failed with error: ", name, b" for ", problem.as_bytes()])
    }
}
