//! Global functions: `tvmjs.*`, which tvmjs looks up when an instance starts, and `ferrite.web.*`.
//!
//! # Upstream
//! `web/emcc/wasm_runtime.cc` of Apache TVM.

use core::ffi::c_void;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::device::{self, Device, Region, is_main_memory, stream};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::defaults::Group;
use ferrite_core::platform::memory::{self, Buffer};
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, Bytes, Tensor, plain_bail, plain_ensure, static_function};

use crate::webgpu;

/// All groups of global functions.
pub const GROUPS: &[Group] = &[
    Group {
        prefix: "tvmjs.",
        functions: &[
            static_function!("tvmjs.runtime.TensorCopyFromBytes", copy_from_bytes),
            static_function!("tvmjs.runtime.TensorCopyToBytes", copy_to_bytes),
            static_function!(packed "tvmjs.runtime.ArrayConcat", concatenate_arrays),
            static_function!(packed "tvmjs.runtime.ConcatEmbeddings", concatenate_embeddings),
            static_function!("tvmjs.array.decode_storage", decode_storage),
        ],
        wrap: None,
    },
    Group {
        prefix: "ffi.Module.load_from_bytes.",
        functions: &[static_function!("ffi.Module.load_from_bytes.webgpu", webgpu::load)],
        wrap: None,
    },
    Group {
        prefix: "ferrite.web.",
        functions: &[static_function!("ferrite.web.set_memory_limit", set_memory_limit)],
        wrap: None,
    },
    #[cfg(feature = "testing")]
    crate::testing::ECHO,
    #[cfg(feature = "testing")]
    crate::testing::CALLS,
];

/// Sets the size in bytes up to which the memory of the instance grows.
fn set_memory_limit(bytes: i64) -> Result<()> {
    let Ok(bytes) = usize::try_from(bytes) else {
        plain_bail!(VALUE_ERROR, "Memory cannot have {} bytes", &bytes);
    };
    memory::set_limit(bytes);
    Ok(())
}

/// Main memory.
const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Returns the memory of a contiguous tensor and its size in bytes.
///
/// # Errors
/// ValueError for other tensors.
fn region_of(tensor: &Tensor) -> Result<(Region, usize)> {
    let reader = tensor.as_tensor_ref();
    let (true, Some(bytes)) = (reader.is_contiguous(), reader.size_bytes()) else {
        plain_bail!(VALUE_ERROR, "Copies need contiguous tensors");
    };
    let region = Region {
        device: reader.device(),
        data: reader.data_ptr(),
        offset: reader.byte_offset() as usize,
    };
    Ok((region, bytes))
}

/// Copies to a tensor on any device. The bytes have been read when this returns.
fn copy_from_bytes(tensor: Tensor, bytes: &[u8]) -> Result<()> {
    let (to, size) = region_of(&tensor)?;
    plain_ensure!(
        size == bytes.len(),
        VALUE_ERROR,
        "The tensor has {} bytes, not {}",
        size,
        bytes.len()
    );
    let from = Region { device: CPU, data: bytes.as_ptr().cast_mut().cast::<c_void>(), offset: 0 };
    if size == 0 {
        return Ok(());
    }
    // SAFETY: both regions have that many bytes; a copy has read main memory when it returns.
    unsafe { device::copy(from, to, size, stream::current(Device::from(to.device))) }
}

/// Returns the bytes of a tensor in main memory.
fn copy_to_bytes(tensor: Tensor) -> Result<Bytes> {
    let (from, size) = region_of(&tensor)?;
    plain_ensure!(
        is_main_memory(from.device.device_type),
        RUNTIME_ERROR,
        "The tensor is on a device: copy it to a tensor in main memory, and await the device's sync"
    );
    if size == 0 {
        return Bytes::new(b"");
    }
    // SAFETY: a contiguous tensor in main memory has that many bytes.
    Bytes::new(unsafe {
        core::slice::from_raw_parts(from.data.cast::<u8>().add(from.offset), size)
    })
}

/// Returns the elements of all Arrays as one Array.
fn concatenate_arrays(args: &[AnyView<'_>]) -> Result<Any> {
    let mut elements = Buffer::new();
    for arg in args {
        for element in arg.get::<ArrayObject>()?.as_slice() {
            elements.try_push(element.clone())?;
        }
    }
    Ok(ArrayObject::from_slice(&elements)?.into())
}

/// Returns the rows of all matrices as one matrix, on their device.
fn concatenate_embeddings(args: &[AnyView<'_>]) -> Result<Any> {
    let Some(first) = args.first() else {
        plain_bail!(VALUE_ERROR, "tvmjs.runtime.ConcatEmbeddings needs at least one tensor");
    };
    let first: Tensor = first.get()?;
    let (width, dtype, device) = (first.shape().get(1).copied(), first.dtype(), first.device());
    let mut rows = 0i64;
    for arg in args {
        let tensor: Tensor = arg.get()?;
        let other = tensor.device();
        let ([height, columns], true) = (tensor.shape(), tensor.dtype() == dtype) else {
            plain_bail!(VALUE_ERROR, "Embeddings must be matrices of one dtype");
        };
        plain_ensure!(
            Some(*columns) == width
                && (other.device_type, other.device_id) == (device.device_type, device.device_id),
            VALUE_ERROR,
            "Embeddings must be matrices of one width on one device"
        );
        rows = rows.saturating_add(*height);
    }
    let joined = device::empty(&[rows, width.unwrap_or(0)], dtype, device)?;
    let (mut to, _) = region_of(&joined)?;
    for arg in args {
        let (from, bytes) = region_of(&arg.get::<Tensor>()?)?;
        if bytes == 0 {
            continue;
        }
        // SAFETY: the sizes of all sources add up to that of the target; the stream is the
        // device's, on which later uses of the target are queued, too.
        unsafe { device::copy(from, to, bytes, stream::current(Device::from(device)))? };
        to.offset += bytes;
    }
    Ok(joined.into())
}

/// Decodes a stored parameter to a tensor. The format `f32-to-bf16` stores the upper half of each
/// float32; all other formats store the tensor's bytes.
fn decode_storage(tensor: Tensor, bytes: &[u8], format: &str, dtype: &str) -> Result<()> {
    if (format, dtype) != ("f32-to-bf16", "float32") {
        return copy_from_bytes(tensor, bytes);
    }
    let (halves, rest) = bytes.as_chunks::<2>();
    plain_ensure!(
        rest.is_empty() && tensor.as_tensor_ref().size_bytes() == Some(2 * bytes.len()),
        VALUE_ERROR,
        "The tensor does not have {} float32 values",
        halves.len()
    );
    let mut elements = tensor.borrow_mut::<f32>()?;
    for (element, half) in elements.iter_mut().zip(halves) {
        *element = f32::from_bits(u32::from(u16::from_le_bytes(*half)) << 16);
    }
    Ok(())
}
