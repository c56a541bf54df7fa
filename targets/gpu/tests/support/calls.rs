//! Calls of kernels and of global functions.

use std::string::String as Text;

use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::payload::Writer;

pub const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
pub const F64: DLDataType = DLDataType { code: 2, bits: 64, lanes: 1 };
pub const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
pub const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
pub const U32: DLDataType = DLDataType { code: 1, bits: 32, lanes: 1 };
pub const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
pub const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Returns the payload of a module with one kernel.
pub fn payload_of(
    format: &str,
    code: &[u8],
    name: &str,
    types: &[DLDataType],
    tags: &[&str],
) -> Result<Bytes> {
    payload_with_extra_tags(format, code, name, types, tags, &[])
}

/// Returns the payload of a module with one kernel, whose parameters have extra tags.
pub fn payload_with_extra_tags(
    format: &str,
    code: &[u8],
    name: &str,
    types: &[DLDataType],
    tags: &[&str],
    extra_tags: &[u32],
) -> Result<Bytes> {
    let mut payload = Writer::new();
    payload.text(format.as_bytes())?;
    payload.count(1)?;
    payload.kernel_name(name.as_bytes())?;
    payload.count(types.len())?;
    types.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(tags.len())?;
    tags.iter().try_for_each(|tag| payload.text(tag.as_bytes()))?;
    payload.count(extra_tags.len())?;
    extra_tags.iter().try_for_each(|tag| payload.word(*tag))?;
    payload.text(code)?;
    payload.finish()
}

pub fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(module.get_function(&String::new(name)?, false)?.expect("the module has the function"))
}

pub fn global(name: &str) -> Result<Function> {
    Ok(Function::find_global(name)?.expect("a global function"))
}

pub fn message(error: &Error) -> Text {
    Text::from_utf8_lossy(error.message_bytes()).into_owned()
}

/// Returns the message of an error, which must be of this kind.
pub fn refused<T>(result: Result<T>, kind: &str) -> Text {
    let error = result.map(drop).expect_err("an error");
    assert_eq!(std::str::from_utf8(error.kind_bytes()), Ok(kind), "{}", message(&error));
    message(&error)
}

/// Queues a copy on the stream of the calling thread, as TVM's Python package does.
pub fn copy(from: &Tensor, to: &Tensor) -> Result<()> {
    global("runtime.TVMTensorCopyFromTo")?.call_packed(&[from.into(), to.into()]).map(drop)
}

pub fn data(tensor: &Tensor) -> Any {
    // SAFETY: kernels that get the address find a tensor's data there.
    Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(tensor.dl_tensor().data) })
}

/// Launches `add_one_kernel` of the fixtures on tensors of 64 elements per block.
pub fn add_one(kernel: &Function, x: &Tensor, y: &Tensor, blocks: i64) -> Result<Any> {
    kernel.call_packed(&[data(x).view(), data(y).view(), blocks.into(), 64i64.into()])
}

/// Launches `axpy_dyn_kernel` of the fixtures: `a * x + k` for `n` elements.
pub fn axpy(kernel: &Function, x: &Tensor, y: &Tensor, (a, k, n): (f64, i64, i64)) -> Result<Any> {
    let blocks = (n + 63) / 64;
    let args: [AnyView<'_>; 7] =
        [x.into(), y.into(), a.into(), k.into(), n.into(), blocks.into(), 64i64.into()];
    kernel.call_packed(&args)
}
