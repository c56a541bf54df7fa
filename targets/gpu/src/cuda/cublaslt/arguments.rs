//! Arguments of `ferrite.cublaslt.matmul`, checked and converted to a problem.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::DLDataType;
use ferrite_core::error::{Error, Result};
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::device::kind;
use ferrite_core::value::dtype::code;
use ferrite_core::{AnyView, plain_bail, plain_ensure, plain_error};

use super::api;
use super::problem::{Factor, Operands, Precision, Problem};

/// Codes of activation functions, which are those of `targets/kernels`.
const NO_ACTIVATION: i64 = 0;
const RELU: i64 = 1;
const GELU_TANH: i64 = 6;

/// Largest alignment by which cuBLASLt chooses algorithms.
const LARGEST_ALIGNMENT: usize = 256;

/// A checked call.
pub(super) struct Call {
    pub device: i32,
    pub problem: Problem,
    pub operands: Operands,
}

/// Matrices of a tensor: its last two axes, once for each index of the others.
struct Matrices {
    batch: i64,
    rows: i64,
    columns: i64,
}

impl Call {
    /// Reads the arguments. Returns `None` if the result has no elements.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; ValueError for tensors that do not fit
    /// together, that are not contiguous, or that are not on one CUDA device.
    pub(super) fn read(args: &[AnyView<'_>]) -> Result<Option<Call>> {
        let [x, w, bias, residual, transpose_x, transpose_w, alpha, activation, tf32, out] = args
        else {
            plain_bail!(
                TYPE_ERROR,
                "ferrite.cublaslt.matmul takes 10 arguments, but got {}",
                args.len()
            );
        };
        let out = tensor(out, "out", None)?;
        let (x, w) = (tensor(x, "x", Some(out))?, tensor(w, "w", Some(out))?);
        let (bias, residual) = (optional(bias, "bias", out)?, optional(residual, "residual", out)?);
        let (transpose_x, transpose_w) = (transpose_x.get()?, transpose_w.get()?);
        let mut problem = product(x, transpose_x, w, transpose_w, out)?;
        problem.precision = precision(out.dtype(), tf32.get()?)?;
        let has_bias = bias.map(|bias| check_bias(bias, &problem)).transpose()?.is_some();
        residual.map(|residual| check_residual(residual, out)).transpose()?;
        problem.epilogue = epilogue(activation.get()?, has_bias)?;
        let address = |tensor: Option<TensorRef<'_>>| {
            tensor.map_or(ptr::null(), |tensor| tensor.first_byte().cast_const().cast::<c_void>())
        };
        let operands = Operands {
            x: address(Some(x)),
            w: address(Some(w)),
            bias: address(bias),
            residual: address(residual),
            out: out.first_byte().cast(),
            alpha: alpha.get::<f64>()? as f32,
        };
        problem.alignment = operands.alignment();
        let is_empty = problem.rows == 0 || problem.columns == 0 || problem.batch == 0;
        Ok((!is_empty).then(|| Call { device: out.device().device_id, problem, operands }))
    }
}

impl Operands {
    /// Returns the alignment of all tensors, at most [`LARGEST_ALIGNMENT`].
    fn alignment(&self) -> u32 {
        let addresses = [self.x, self.w, self.bias, self.residual, self.out.cast_const()];
        let bits = addresses.iter().fold(LARGEST_ALIGNMENT, |bits, pointer| bits | pointer.addr());
        1 << bits.trailing_zeros()
    }
}

/// Reads a contiguous tensor on a CUDA device, on that of `out` and with its element type.
fn tensor<'a>(
    view: &AnyView<'a>,
    name: &'static str,
    out: Option<TensorRef<'_>>,
) -> Result<TensorRef<'a>> {
    let Some(tensor) = TensorRef::from_view(view) else {
        plain_bail!(TYPE_ERROR, "{} of ferrite.cublaslt.matmul is not a tensor", name);
    };
    tensor.check(name).device_type(kind::CUDA)?.contiguous()?;
    if let Some(out) = out {
        tensor.check(name).same_device(out.check("out"))?;
        plain_ensure!(
            tensor.dtype() == out.dtype(),
            VALUE_ERROR,
            "Mismatched {}.dtype, expected to match out.dtype",
            name
        );
    }
    Ok(tensor)
}

/// Reads a tensor that may be absent: None, or a tensor without elements.
fn optional<'a>(
    view: &AnyView<'a>,
    name: &'static str,
    out: TensorRef<'_>,
) -> Result<Option<TensorRef<'a>>> {
    let is_absent = view.is_none()
        || TensorRef::from_view(view).is_some_and(|tensor| tensor.numel() == Some(0));
    if is_absent { Ok(None) } else { tensor(view, name, Some(out)).map(Some) }
}

fn precision(dtype: DLDataType, tf32: bool) -> Result<Precision> {
    match (dtype.code, dtype.bits, dtype.lanes) {
        (code::FLOAT, 32, 1) if tf32 => Ok(Precision::Tf32),
        (code::FLOAT, 32, 1) => Ok(Precision::Float32),
        (code::FLOAT, 16, 1) => Ok(Precision::Float16),
        (code::BFLOAT, 16, 1) => Ok(Precision::BFloat16),
        _ => {
            plain_bail!(VALUE_ERROR, "ferrite.cublaslt.matmul takes float32, float16 and bfloat16")
        }
    }
}

fn epilogue(activation: i64, has_bias: bool) -> Result<u32> {
    let function = match activation {
        NO_ACTIVATION => 0,
        RELU => api::EPILOGUE_RELU,
        GELU_TANH => api::EPILOGUE_GELU,
        _ => plain_bail!(
            VALUE_ERROR,
            "The activation of ferrite.cublaslt.matmul must be 0 (none), 1 (relu) or 6 (gelu_tanh), not {}",
            &activation
        ),
    };
    let bias = if has_bias { api::EPILOGUE_BIAS } else { 0 };
    Ok(if function | bias == 0 { api::EPILOGUE_DEFAULT } else { function | bias })
}

/// Returns the product of two tensors, whose result is `out`, without precision and epilogue.
fn product(
    x: TensorRef<'_>,
    transpose_x: bool,
    w: TensorRef<'_>,
    transpose_w: bool,
    out: TensorRef<'_>,
) -> Result<Problem> {
    let (left, right) = (matrices(x, "x", transpose_x)?, matrices(w, "w", transpose_w)?);
    let result = matrices(out, "out", false)?;
    // One matrix for all rows: a batch of `x` is more rows.
    let is_flat = right.batch == 1 && !transpose_x;
    let (batch, rows) = if is_flat {
        (1, left.batch.checked_mul(left.rows))
    } else {
        (left.batch.max(right.batch), Some(left.rows))
    };
    let result_rows =
        if is_flat { result.batch.checked_mul(result.rows) } else { Some(result.rows) };
    let fits = left.columns == right.rows
        && left.columns > 0
        && result.columns == right.columns
        && rows == result_rows
        && (is_flat || result.batch == batch)
        && [left.batch, right.batch].iter().all(|one| is_flat || *one == 1 || *one == batch);
    let (Some(rows), true, Ok(batch)) = (rows, fits, i32::try_from(batch)) else {
        return Err(mismatch(&left, &right, &result));
    };
    let factor = |matrices: &Matrices, is_transposed| Factor {
        is_transposed,
        batch_stride: if batch == 1 || matrices.batch == 1 {
            0
        } else {
            matrices.rows * matrices.columns
        },
    };
    Ok(Problem {
        precision: Precision::Float32,
        batch,
        rows: rows as u64,
        columns: right.columns as u64,
        inner: left.columns as u64,
        x: factor(&left, transpose_x),
        w: factor(&right, transpose_w),
        epilogue: api::EPILOGUE_DEFAULT,
        alignment: 1,
    })
}

#[cold]
fn mismatch(x: &Matrices, w: &Matrices, out: &Matrices) -> Error {
    plain_error!(
        VALUE_ERROR,
        "ferrite.cublaslt.matmul: {} matrices of {} by {} times {} of {} by {} do not make {} of {} by {}",
        &x.batch,
        &x.rows,
        &x.columns,
        &w.batch,
        &w.rows,
        &w.columns,
        &out.batch,
        &out.rows,
        &out.columns
    )
}

/// Returns the matrices of a tensor, as factors if their axes are exchanged in memory.
fn matrices(tensor: TensorRef<'_>, name: &str, is_transposed: bool) -> Result<Matrices> {
    let [leading @ .., rows, columns] = tensor.shape() else {
        plain_bail!(VALUE_ERROR, "{} of ferrite.cublaslt.matmul has fewer than 2 dimensions", name);
    };
    // The number of elements fits, since the tensor exists.
    let batch = leading.iter().product();
    let (rows, columns) = if is_transposed { (*columns, *rows) } else { (*rows, *columns) };
    Ok(Matrices { batch, rows, columns })
}

fn check_bias(bias: TensorRef<'_>, problem: &Problem) -> Result<()> {
    plain_ensure!(
        bias.numel() == Some(problem.columns as i64),
        VALUE_ERROR,
        "bias of ferrite.cublaslt.matmul must have {} elements",
        &problem.columns
    );
    Ok(())
}

fn check_residual(residual: TensorRef<'_>, out: TensorRef<'_>) -> Result<()> {
    plain_ensure!(
        residual.numel() == out.numel(),
        VALUE_ERROR,
        "residual of ferrite.cublaslt.matmul must have as many elements as out"
    );
    Ok(())
}
