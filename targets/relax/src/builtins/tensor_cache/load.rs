//! Loading the tensors of a folder into the cache.

use core::ffi::c_void;

use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Element;
use ferrite_core::{Bytes, String, Tensor, plain_ensure, plain_error};

use super::cache::CACHE;
use super::index::{self, Record, Shard};
use crate::memory::{copy, empty};
use crate::module::{path, read_file};

/// Name of the index in a folder.
const INDEX: &[u8] = b"tensor-cache.json";

/// Loads all tensors of a folder to a device, replacing those of the same names.
///
/// # Errors
/// InternalError for an index that cannot be read; ValueError that names the file with a malformed
/// tensor; MemoryError; errors of the device. Tensors before the error are in the cache.
pub(super) fn load(folder: String, device_type: i32, device_id: i32) -> Result<()> {
    let device = DLDevice { device_type, device_id };
    for shard in index::read(read_file(path(&inside(&folder, INDEX)?)?)?.as_bytes())?.iter() {
        let loaded = load_shard(&folder, shard, device);
        loaded.map_err(|error| with_path(&shard.path, error))?;
    }
    Ok(())
}

/// Returns the path of a file in a folder.
fn inside(folder: &String, file: &[u8]) -> Result<String> {
    let mut path = Buffer::new();
    path.try_extend_from_slice(folder.as_bytes())?;
    path.try_push(b'/')?;
    path.try_extend_from_slice(file)?;
    String::from_bytes(&path)
}

fn with_path(path: &String, error: Error) -> Error {
    if error.kind_bytes() == b"MemoryError" {
        return error;
    }
    plain_error!(
        VALUE_ERROR,
        "Error when loading parameters from {}: {}",
        path,
        error.message_bytes()
    )
}

fn load_shard(folder: &String, shard: &Shard, device: DLDevice) -> Result<()> {
    plain_ensure!(
        shard.format.as_bytes() == b"raw-shard",
        VALUE_ERROR,
        "Only `raw-shard` format is supported"
    );
    let content = read_file(path(&inside(folder, shard.path.as_bytes())?)?)?;
    plain_ensure!(
        usize::try_from(shard.bytes) == Ok(content.as_bytes().len()),
        VALUE_ERROR,
        "Encountered an corrupted parameter shard. It means it is not downloaded completely or downloading is interrupted. \
         Please try to download again."
    );
    for record in shard.records()?.iter() {
        CACHE.set(record.name.clone(), tensor_of(record, &content, device)?)?;
    }
    Ok(())
}

/// Creates the tensor of a record.
///
/// # Errors
/// ValueError if the tensor's bytes are not in the file, or have another size than the tensor;
/// MemoryError; errors of the device.
fn tensor_of(record: &Record, content: &Bytes, device: DLDevice) -> Result<Tensor> {
    let range = usize::try_from(record.offset).ok().zip(usize::try_from(record.bytes).ok());
    let bytes =
        range.and_then(|(offset, len)| content.as_bytes().get(offset..)?.get(..len)).ok_or_else(
            || plain_error!(VALUE_ERROR, "The bytes of {} are not in the file", &record.name),
        )?;
    if record.dtype == f32::DTYPE && record.format.as_bytes() == b"f32-to-bf16" {
        let mut decoded = Buffer::try_with_capacity(bytes.len() / 2)?;
        for half in bytes.as_chunks().0 {
            decoded.try_push(u32::from(u16::from_le_bytes(*half)) << 16)?;
        }
        return copied(record, decoded.as_ptr().cast(), 4 * decoded.len(), device);
    }
    copied(record, bytes.as_ptr().cast(), bytes.len(), device)
}

/// Creates a tensor from `len` bytes of content.
fn copied(record: &Record, from: *const c_void, len: usize, device: DLDevice) -> Result<Tensor> {
    let tensor = empty(&record.shape, record.dtype, device)?;
    plain_ensure!(
        tensor.as_tensor_ref().size_bytes() == Some(len),
        VALUE_ERROR,
        "{} has {} bytes, which are not those of its shape and dtype",
        &record.name,
        len
    );
    let host = DLDevice { device_type: ferrite_core::value::device::kind::CPU, device_id: 0 };
    let source =
        DLTensor { data: from.cast_mut(), device: host, byte_offset: 0, ..*tensor.dl_tensor() };
    // SAFETY: the source has as many bytes as the tensor, which nobody else knows yet.
    unsafe { copy(&source, tensor.dl_tensor()) }?;
    Ok(tensor)
}
