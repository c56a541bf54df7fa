//! Plans: the descriptors of a problem and the algorithm that cuBLASLt chooses for it.
//!
//! cuBLASLt reads matrices in column-major order, in which a matrix in row-major order is its
//! transpose. So a plan calculates outᵀ = wᵀ · xᵀ: its A is `w`, and its B is `x`.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_core::error::Result;

use super::api::{self, Api, Destroy, Found, Handle, Set};
use super::problem::{Factor, Operands, Problem};

/// Largest workspace of an algorithm: NVIDIA's recommendation for GPUs since Hopper.
const WORKSPACE_BYTES: usize = 32 << 20;

/// A descriptor of cuBLASLt, destroyed when dropped.
struct Descriptor {
    handle: Handle,
    set: Set,
    destroy: Destroy,
}

impl Descriptor {
    /// Sets an attribute.
    ///
    /// # Safety
    /// `T` must be the attribute's type.
    unsafe fn set<T>(
        &self,
        api: &Api,
        problem: &Problem,
        attribute: c_int,
        value: T,
    ) -> Result<()> {
        let address = ptr::from_ref(&value).cast::<c_void>();
        // SAFETY: the caller guarantees the type; the library copies the value.
        let status = unsafe { (self.set)(self.handle, attribute, address, size_of::<T>()) };
        api.check("cublasLt*SetAttribute", status, problem)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: this is the owner of the descriptor. Errors are ignored.
        unsafe { (self.destroy)(self.handle) };
    }
}

/// A plan. It is used by one thread at a time, since each call sets the address of its bias.
pub(super) struct Plan {
    api: &'static Api,
    description: Descriptor,
    x: Descriptor,
    w: Descriptor,
    out: Descriptor,
    algorithm: [u64; 8],
    pub(super) workspace_bytes: usize,
}

// SAFETY: descriptors are memory of the host, which any thread may use.
unsafe impl Send for Plan {}

impl Plan {
    /// Makes the plan of a problem for the current device.
    ///
    /// # Errors
    /// Errors of the library, such as a problem without an algorithm.
    ///
    /// # Safety
    /// The handle must belong to the current device.
    pub(super) unsafe fn new(
        api: &'static Api,
        handle: Handle,
        problem: &Problem,
        operands: &Operands,
    ) -> Result<Plan> {
        let out =
            Factor { is_transposed: false, batch_stride: (problem.rows * problem.columns) as i64 };
        let mut plan = Plan {
            api,
            description: describe(api, problem)?,
            x: layout(api, problem, problem.x, [problem.rows, problem.inner])?,
            w: layout(api, problem, problem.w, [problem.inner, problem.columns])?,
            out: layout(api, problem, out, [problem.rows, problem.columns])?,
            algorithm: [0; 8],
            workspace_bytes: 0,
        };
        // The search depends on the alignment of the address.
        plan.set_bias(problem, operands)?;
        // SAFETY: the caller's promise.
        let found = unsafe { plan.search(handle, problem)? };
        (plan.algorithm, plan.workspace_bytes) = (found.algorithm, found.workspace_bytes);
        Ok(plan)
    }

    fn set_bias(&self, problem: &Problem, operands: &Operands) -> Result<()> {
        if !problem.has_bias() {
            return Ok(());
        }
        // SAFETY: the attribute is an address.
        unsafe { self.description.set(self.api, problem, api::BIAS_POINTER, operands.bias) }
    }

    /// Returns the algorithm that the library prefers.
    ///
    /// # Safety
    /// The handle must belong to the current device.
    unsafe fn search(&self, handle: Handle, problem: &Problem) -> Result<Found> {
        let preference = prefer(self.api, problem)?;
        let (mut found, mut count) = (Found::default(), 0);
        // SAFETY: the descriptors are live; the library writes at most one result.
        let status = unsafe {
            (self.api.cublasLtMatmulAlgoGetHeuristic)(
                handle,
                self.description.handle,
                self.w.handle,
                self.x.handle,
                self.out.handle,
                self.out.handle,
                preference.handle,
                1,
                &mut found,
                &mut count,
            )
        };
        let check = |status| self.api.check("cublasLtMatmulAlgoGetHeuristic", status, problem);
        check(status)?;
        check(if count == 0 { api::NOT_SUPPORTED } else { found.state })?;
        Ok(found)
    }

    /// Queues the product on a stream.
    ///
    /// # Errors
    /// Errors of the library.
    ///
    /// # Safety
    /// The plan must be that of the problem, and `handle` that of the current device, to which the
    /// operands, a workspace of the plan's size and the stream must belong.
    pub(super) unsafe fn run(
        &self,
        handle: Handle,
        problem: &Problem,
        operands: &Operands,
        workspace: *mut c_void,
        stream: Handle,
    ) -> Result<()> {
        self.set_bias(problem, operands)?;
        let has_residual = !operands.residual.is_null();
        let beta = if has_residual { 1f32 } else { 0f32 };
        // With a factor of 0, C is not read.
        let c = if has_residual { operands.residual } else { operands.out.cast_const() };
        // SAFETY: the factors are float32; the caller guarantees the rest.
        let status = unsafe {
            (self.api.cublasLtMatmul)(
                handle,
                self.description.handle,
                ptr::from_ref(&operands.alpha).cast(),
                operands.w,
                self.w.handle,
                operands.x,
                self.x.handle,
                ptr::from_ref(&beta).cast(),
                c,
                self.out.handle,
                operands.out,
                self.out.handle,
                &self.algorithm,
                workspace,
                self.workspace_bytes,
                stream,
            )
        };
        self.api.check("cublasLtMatmul", status, problem)
    }
}

/// Describes the operation.
fn describe(api: &Api, problem: &Problem) -> Result<Descriptor> {
    let mut handle = ptr::null_mut();
    // SAFETY: the library writes the handle.
    let status = unsafe {
        (api.cublasLtMatmulDescCreate)(&mut handle, problem.precision.compute(), api::R_32F)
    };
    api.check("cublasLtMatmulDescCreate", status, problem)?;
    let (set, destroy) = (api.cublasLtMatmulDescSetAttribute, api.cublasLtMatmulDescDestroy);
    let description = Descriptor { handle, set, destroy };
    // SAFETY: the attributes are int32_t and uint32_t.
    unsafe {
        if problem.w.is_transposed {
            description.set(api, problem, api::TRANSPOSE_A, api::TRANSPOSED)?;
        }
        if problem.x.is_transposed {
            description.set(api, problem, api::TRANSPOSE_B, api::TRANSPOSED)?;
        }
        description.set(api, problem, api::EPILOGUE, problem.epilogue)?;
    }
    Ok(description)
}

/// Describes the matrices of a tensor. `extents` are those in the product.
fn layout(api: &Api, problem: &Problem, factor: Factor, extents: [u64; 2]) -> Result<Descriptor> {
    let [rows, columns] = if factor.is_transposed { [extents[1], extents[0]] } else { extents };
    let mut handle = ptr::null_mut();
    // SAFETY: the library writes the handle.
    let status = unsafe {
        let element = problem.precision.element();
        (api.cublasLtMatrixLayoutCreate)(&mut handle, element, columns, rows, columns as i64)
    };
    api.check("cublasLtMatrixLayoutCreate", status, problem)?;
    let (set, destroy) = (api.cublasLtMatrixLayoutSetAttribute, api.cublasLtMatrixLayoutDestroy);
    let layout = Descriptor { handle, set, destroy };
    if problem.batch > 1 {
        // SAFETY: the attributes are int32_t and int64_t.
        unsafe {
            layout.set(api, problem, api::BATCH_COUNT, problem.batch)?;
            layout.set(api, problem, api::BATCH_STRIDE, factor.batch_stride)?;
        }
    }
    Ok(layout)
}

/// Describes the algorithms that may be chosen.
fn prefer(api: &Api, problem: &Problem) -> Result<Descriptor> {
    let mut handle = ptr::null_mut();
    // SAFETY: the library writes the handle.
    let status = unsafe { (api.cublasLtMatmulPreferenceCreate)(&mut handle) };
    api.check("cublasLtMatmulPreferenceCreate", status, problem)?;
    let (set, destroy) =
        (api.cublasLtMatmulPreferenceSetAttribute, api.cublasLtMatmulPreferenceDestroy);
    let preference = Descriptor { handle, set, destroy };
    // SAFETY: the attributes are uint64_t and uint32_t.
    unsafe {
        preference.set(api, problem, api::MAX_WORKSPACE_BYTES, WORKSPACE_BYTES as u64)?;
        for matrix in 0..4 {
            preference.set(api, problem, api::MIN_ALIGNMENT + matrix, problem.alignment)?;
        }
    }
    Ok(preference)
}
