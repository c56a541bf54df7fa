//! Functions of libcublasLt, whose products are commands of streams.
//!
//! Matrices are in column-major order. Descriptors are numbers, so that a library that uses one
//! after its end, or of another kind, gets a complaint.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cuda::current_context;
use crate::faults::{self, Fault, Outcome};
use crate::machine::machine;
use crate::product::{BIAS, DEFAULT, Description, Layout, Product, WORKSPACE_BYTES, invalid};
use crate::queue::Work;

/// `cublasStatus_t`.
type Status = c_int;
type Handle = u64;

/// Marks the algorithms of this library.
const ALGORITHM: u64 = 0x616c_676f;

/// An object of the library.
#[derive(Clone, Copy)]
enum Object {
    Context(u64),
    Description(Description),
    Layout(Layout),
    Preference { workspace_bytes: u64, alignments: [u32; 4] },
}

static OBJECTS: Mutex<BTreeMap<Handle, Object>> = Mutex::new(BTreeMap::new());

fn objects() -> MutexGuard<'static, BTreeMap<Handle, Object>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of objects of the library, except handles.
#[unsafe(no_mangle)]
extern "C" fn stand_in_cublaslt_live() -> u64 {
    objects().values().filter(|object| !matches!(object, Object::Context(_))).count() as u64
}

fn call(name: &'static str, body: impl FnOnce() -> Outcome<()>) -> Status {
    match faults::enter(name).and_then(|()| body()) {
        Ok(()) => 0,
        Err(Fault::OutOfMemory) => 3,
        Err(Fault::Requested(code)) => code,
        Err(_) => 7,
    }
}

/// Creates an object. Its handle is written to `place`, which the library passes.
fn create(place: *mut Handle, object: Object) -> Outcome<()> {
    let handle = machine().new_handle();
    objects().insert(handle, object);
    // SAFETY: the library passes a valid result pointer.
    unsafe { place.write(handle) };
    Ok(())
}

/// Destroys an object, even if a test requested that the call fails.
fn destroy(name: &'static str, handle: Handle) -> Status {
    let found = objects().remove(&handle).is_some();
    call(name, || if found { Ok(()) } else { Err(invalid("an unknown object is destroyed")) })
}

fn layout(handle: Handle) -> Outcome<Layout> {
    match objects().get(&handle) {
        Some(Object::Layout(layout)) => Ok(*layout),
        _ => Err(invalid("not a matrix layout")),
    }
}

fn description(handle: Handle) -> Outcome<Description> {
    match objects().get(&handle) {
        Some(Object::Description(description)) => Ok(*description),
        _ => Err(invalid("not a description of a product")),
    }
}

/// Reads the value of an attribute of 4 or 8 bytes, sign-extended.
fn value(address: *const c_void, bytes: usize, expected: usize) -> Outcome<i64> {
    if bytes != expected || address.is_null() {
        return Err(invalid("an attribute of another size"));
    }
    // SAFETY: the library passes a value of that size.
    Ok(unsafe {
        if bytes == 4 {
            i64::from(address.cast::<i32>().read_unaligned())
        } else {
            address.cast::<i64>().read_unaligned()
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtCreate(handle: *mut Handle) -> Status {
    call("cublasLtCreate", || {
        let context = current_context();
        machine().context(context)?;
        create(handle, Object::Context(context))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtDestroy(handle: Handle) -> Status {
    destroy("cublasLtDestroy", handle)
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetStatusName(status: Status) -> *const c_char {
    let name: &CStr = match status {
        3 => c"CUBLAS_STATUS_ALLOC_FAILED",
        7 => c"CUBLAS_STATUS_INVALID_VALUE",
        13 => c"CUBLAS_STATUS_EXECUTION_FAILED",
        15 => c"CUBLAS_STATUS_NOT_SUPPORTED",
        _ => c"CUBLAS_STATUS_UNKNOWN",
    };
    name.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescCreate(place: *mut Handle, compute: c_int, scale: c_int) -> Status {
    call("cublasLtMatmulDescCreate", || {
        if !matches!(compute, 68 | 77) || scale != 0 {
            return Err(invalid("an unknown type of sums or factors"));
        }
        let (transposes_a, transposes_b) = (false, false);
        let is_tf32 = compute == 77;
        let made = Description { is_tf32, transposes_a, transposes_b, epilogue: DEFAULT, bias: 0 };
        create(place, Object::Description(made))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescSetAttribute(
    handle: Handle,
    attribute: c_int,
    address: *const c_void,
    bytes: usize,
) -> Status {
    call("cublasLtMatmulDescSetAttribute", || {
        let mut objects = objects();
        let Some(Object::Description(description)) = objects.get_mut(&handle) else {
            return Err(invalid("not a description of a product"));
        };
        match attribute {
            3 => description.transposes_a = value(address, bytes, 4)? == 1,
            4 => description.transposes_b = value(address, bytes, 4)? == 1,
            7 => description.epilogue = value(address, bytes, 4)? as u64,
            8 => description.bias = value(address, bytes, 8)? as u64,
            _ => return Err(invalid("an unknown attribute of a product")),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescDestroy(handle: Handle) -> Status {
    destroy("cublasLtMatmulDescDestroy", handle)
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutCreate(
    place: *mut Handle,
    element: c_int,
    rows: u64,
    columns: u64,
    stride: i64,
) -> Status {
    call("cublasLtMatrixLayoutCreate", || {
        if !matches!(element, 0 | 2 | 14) || rows == 0 || columns == 0 || stride < rows as i64 {
            return Err(invalid("a matrix of an unknown type, without elements or too narrow"));
        }
        let (batch, batch_stride) = (1, 0);
        let made = Layout { element, rows, columns, stride, batch, batch_stride };
        create(place, Object::Layout(made))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutSetAttribute(
    handle: Handle,
    attribute: c_int,
    address: *const c_void,
    bytes: usize,
) -> Status {
    call("cublasLtMatrixLayoutSetAttribute", || {
        let mut objects = objects();
        let Some(Object::Layout(layout)) = objects.get_mut(&handle) else {
            return Err(invalid("not a matrix layout"));
        };
        match attribute {
            5 => layout.batch = value(address, bytes, 4)? as i32,
            6 => layout.batch_stride = value(address, bytes, 8)?,
            _ => return Err(invalid("an unknown attribute of a matrix")),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutDestroy(handle: Handle) -> Status {
    destroy("cublasLtMatrixLayoutDestroy", handle)
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceCreate(place: *mut Handle) -> Status {
    call("cublasLtMatmulPreferenceCreate", || {
        create(place, Object::Preference { workspace_bytes: 0, alignments: [256; 4] })
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceSetAttribute(
    handle: Handle,
    attribute: c_int,
    address: *const c_void,
    bytes: usize,
) -> Status {
    call("cublasLtMatmulPreferenceSetAttribute", || {
        let mut objects = objects();
        let Some(Object::Preference { workspace_bytes, alignments }) = objects.get_mut(&handle)
        else {
            return Err(invalid("not a preference"));
        };
        match attribute {
            1 => *workspace_bytes = value(address, bytes, 8)? as u64,
            5..=8 => alignments[attribute as usize - 5] = value(address, bytes, 4)? as u32,
            _ => return Err(invalid("an unknown attribute of a preference")),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceDestroy(handle: Handle) -> Status {
    destroy("cublasLtMatmulPreferenceDestroy", handle)
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
struct Found {
    algorithm: [u64; 8],
    workspace_bytes: usize,
    state: Status,
    waves: f32,
    reserved: [c_int; 4],
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _handle: Handle,
    operation: Handle,
    a: Handle,
    b: Handle,
    c: Handle,
    d: Handle,
    preference: Handle,
    requested: c_int,
    found: *mut Found,
    count: *mut c_int,
) -> Status {
    call("cublasLtMatmulAlgoGetHeuristic", || {
        description(operation)?.check(&[layout(a)?, layout(b)?, layout(c)?, layout(d)?])?;
        let (bytes, alignment) = match objects().get(&preference) {
            Some(Object::Preference { workspace_bytes, alignments }) => {
                (*workspace_bytes, alignments[0])
            }
            _ => return Err(invalid("not a preference")),
        };
        if requested < 1 || !alignment.is_power_of_two() || bytes < WORKSPACE_BYTES {
            return Err(invalid("a search without an outcome"));
        }
        let algorithm = [ALGORITHM, u64::from(alignment), 0, 0, 0, 0, 0, 0];
        let workspace_bytes = WORKSPACE_BYTES as usize;
        let result = Found { algorithm, workspace_bytes, state: 0, waves: 1.0, reserved: [0; 4] };
        // SAFETY: the library passes result pointers for at least one algorithm.
        unsafe {
            found.write(result);
            count.write(1);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cublasLtMatmul(
    handle: Handle,
    operation: Handle,
    alpha: *const f32,
    a: u64,
    a_layout: Handle,
    b: u64,
    b_layout: Handle,
    beta: *const f32,
    c: u64,
    c_layout: Handle,
    d: u64,
    d_layout: Handle,
    algorithm: *const [u64; 8],
    workspace: u64,
    workspace_bytes: usize,
    stream: u64,
) -> Status {
    call("cublasLtMatmul", || {
        let context = current_context();
        match objects().get(&handle) {
            Some(Object::Context(of)) if *of == context => {}
            _ => return Err(invalid("a handle of another device")),
        }
        let description = description(operation)?;
        let layouts = [layout(a_layout)?, layout(b_layout)?, layout(c_layout)?, layout(d_layout)?];
        description.check(&layouts)?;
        // SAFETY: the library passes factors and an algorithm.
        let (alpha, beta, algorithm) = unsafe { (*alpha, *beta, *algorithm) };
        let addresses = [a, b, c, d];
        let bias = if description.epilogue & BIAS == 0 { 0 } else { description.bias };
        if algorithm[0] != ALGORITHM
            || (workspace_bytes as u64) < WORKSPACE_BYTES
            || addresses.iter().any(|address| address % algorithm[1] != 0)
            || bias % algorithm[1] != 0
        {
            return Err(invalid("an algorithm for other memory"));
        }
        let mut machine = machine();
        let queue = machine.stream(context, stream)?;
        let matrices = std::array::from_fn(|index| (addresses[index], layouts[index]));
        let product = Product { description, alpha, beta, matrices, workspace };
        machine.enqueue(queue, Vec::new(), Work::Product(product));
        Ok(())
    })
}
