//! WebGPU device memory and copies.
//!
//! WebGPU copies words of 4 bytes between buffers. If a copy begins or ends within a word, the rest
//! of the word is read first, unless it lies beyond the requested size.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_alloc_ext::device::Region;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure};

use super::buffers::{self, Memory};
use super::device::Device;
use super::{adapter, staging};
use crate::workspace::DeviceMemory;

/// Granularity of buffer sizes in bytes: the largest array element in a shader, so that even an
/// empty tensor has one element.
const GRANULARITY: usize = 16;

const WORD: usize = 4;

/// Allocates a buffer. A size of zero gets a buffer, too.
///
/// # Errors
/// MemoryError if the device is out of memory; errors of the driver.
pub(super) fn allocate(device: &Device, bytes: usize) -> Result<NonNull<c_void>> {
    let size = match bytes.max(1).checked_next_multiple_of(GRANULARITY) {
        Some(size) if size as u64 <= device.limits.max_buffer_size => size as u64,
        _ => return Err(out_of_memory(bytes)),
    };
    let buffer = device.reports.of(|| {
        device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    })?;
    buffers::insert(Memory { buffer, bytes, device: device.id })
}

/// Frees memory from [`allocate`]. Commands queued before may still use it.
pub(super) fn free(device: &Device, data: NonNull<c_void>) {
    let Some(memory) = buffers::remove(data.addr().get()) else { return };
    // Cached bindings of kernels retain the buffer, but destroying it frees its memory. Errors are
    // ignored.
    let _ = device.reports.of(|| {
        memory.buffer.destroy();
        drop(memory);
    });
}

impl DeviceMemory for Device {
    const NAME: &'static str = "WebGPU";

    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        allocate(self, bytes)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        free(self, memory);
    }
}

/// A range of a buffer.
struct Span {
    device: &'static Device,
    memory: Memory,
    at: usize,
    bytes: usize,
}

/// A validated region: in main memory, or a range of a buffer.
enum Side {
    Main(NonNull<u8>),
    Device(Span),
}

impl Side {
    /// Validates a region.
    ///
    /// # Safety
    /// A region in main memory must have `bytes` bytes.
    unsafe fn new(region: &Region, bytes: usize) -> Result<Side> {
        if region.device.device_type != kind::WEB_GPU {
            // SAFETY: the caller guarantees the region.
            let start = unsafe { region.data.cast::<u8>().add(region.offset) };
            return match NonNull::new(start) {
                Some(start) => Ok(Side::Main(start)),
                None => plain_bail!(VALUE_ERROR, "A copy needs memory, not null"),
            };
        }
        let device = adapter::device(region.device.device_id)?;
        let memory = buffers::get(region.data.addr())?;
        plain_ensure!(
            memory.device == region.device.device_id,
            VALUE_ERROR,
            "The buffer is on device webgpu:{}, not {}",
            memory.device,
            region.device.device_id
        );
        plain_ensure!(
            region.offset.checked_add(bytes).is_some_and(|end| end <= memory.bytes),
            VALUE_ERROR,
            "A copy of {} bytes at {} goes beyond a buffer of {}",
            bytes,
            region.offset,
            memory.bytes
        );
        Ok(Side::Device(Span { device, memory, at: region.offset, bytes }))
    }
}

/// Copies bytes. Copies from and to main memory are complete on return; others are queued.
///
/// # Errors
/// ValueError for unknown buffer handles, and for regions beyond their buffer; InternalError if
/// neither region is on a device; MemoryError; errors of the driver.
///
/// # Safety
/// A region in main memory must have `bytes` bytes.
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller guarantees the regions, which no other thread uses during the copy.
    unsafe {
        match (Side::new(&from, bytes)?, Side::new(&to, bytes)?) {
            (Side::Main(_), Side::Main(_)) => {
                plain_bail!(INTERNAL_ERROR, "A copy of WebGPU needs a buffer")
            }
            (Side::Device(source), Side::Main(target)) => {
                source.read(core::slice::from_raw_parts_mut(target.as_ptr(), bytes))
            }
            (Side::Main(source), Side::Device(target)) => {
                target.write(core::slice::from_raw_parts(source.as_ptr(), bytes))
            }
            (Side::Device(source), Side::Device(target)) => source.copy_to(&target),
        }
    }
}

impl Span {
    /// Returns a sub-range.
    fn part(&self, from: usize, bytes: usize) -> Span {
        Span { device: self.device, memory: self.memory.clone(), at: self.at + from, bytes }
    }

    /// Returns `true` if the range consists of whole words, where the last word may extend beyond
    /// the requested size of the buffer.
    fn is_of_words(&self) -> bool {
        let end = self.at + self.bytes;
        self.at.is_multiple_of(WORD) && (end.is_multiple_of(WORD) || end == self.memory.bytes)
    }

    /// Reads the range into main memory, in chunks.
    fn read(&self, to: &mut [u8]) -> Result<()> {
        let mut done = 0;
        for piece in to.chunks_mut(staging::LARGEST) {
            self.part(done, piece.len()).read_piece(piece)?;
            done += piece.len();
        }
        Ok(())
    }

    fn read_piece(&self, to: &mut [u8]) -> Result<()> {
        let Device { device, queue, staging, reports, .. } = self.device;
        let skipped = self.at % WORD;
        let size = (skipped + to.len()).next_multiple_of(WORD);
        let (buffer, submission) = reports.of(|| {
            let buffer = staging.take(device, size);
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let start = (self.at - skipped) as u64;
            encoder.copy_buffer_to_buffer(&self.memory.buffer, start, &buffer, 0, size as u64);
            let submission = queue.submit([encoder.finish()]);
            // The result of mapping is reported by `get_mapped_range`.
            buffer.slice(..size as u64).map_async(wgpu::MapMode::Read, |_| ());
            (buffer, submission)
        })?;
        self.device.wait(Some(submission))?;
        let is_mapped = reports.of(|| match buffer.slice(..size as u64).get_mapped_range() {
            Ok(range) => {
                to.copy_from_slice(&range[skipped..skipped + to.len()]);
                drop(range);
                buffer.unmap();
                true
            }
            Err(_) => false,
        })?;
        plain_ensure!(is_mapped, INTERNAL_ERROR, "WebGPU Error: a buffer cannot be mapped");
        staging.put_back(buffer);
        Ok(())
    }

    /// Writes the range from main memory: whole words directly, partial words one at a time.
    fn write(&self, from: &[u8]) -> Result<()> {
        let head = (self.at.next_multiple_of(WORD) - self.at).min(from.len());
        let (first, rest) = from.split_at(head);
        let (words, last) = rest.split_at(rest.len() - rest.len() % WORD);
        self.write_shared_word(0, first)?;
        for (index, piece) in words.chunks(staging::LARGEST).enumerate() {
            self.write_words(head + index * staging::LARGEST, piece)?;
        }
        self.write_shared_word(head + words.len(), last)
    }

    fn write_words(&self, at: usize, words: &[u8]) -> Result<()> {
        let Device { queue, reports, .. } = self.device;
        reports.of(|| {
            queue.write_buffer(&self.memory.buffer, (self.at + at) as u64, words);
            // Submits the copy, so that its staging memory is freed again.
            queue.submit([]);
        })
    }

    /// Writes bytes within one word. If the word's other bytes are in use, reads them first.
    fn write_shared_word(&self, at: usize, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let skipped = (self.at + at) % WORD;
        let is_end = self.at + at + bytes.len() == self.memory.bytes;
        let mut word = [0; WORD];
        let shared = Span { at: self.at + at - skipped, ..self.part(0, WORD) };
        if skipped != 0 || !is_end {
            shared.read_piece(&mut word)?;
        }
        word[skipped..skipped + bytes.len()].copy_from_slice(bytes);
        shared.write_words(0, &word)
    }

    /// Queues a copy to another range of the same size. Copies through main memory if WebGPU cannot
    /// copy the range.
    fn copy_to(&self, target: &Span) -> Result<()> {
        let are_apart = self.memory.buffer != target.memory.buffer;
        let is_one_device = core::ptr::eq(self.device, target.device);
        if !(is_one_device && are_apart && self.at.is_multiple_of(WORD) && target.is_of_words()) {
            let mut content = Buffer::new();
            content.try_resize(self.bytes, 0u8)?;
            self.read(content.as_mut_slice())?;
            return target.write(&content);
        }
        let Device { device, queue, reports, .. } = self.device;
        reports.of(|| {
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let size = self.bytes.next_multiple_of(WORD) as u64;
            let (from, to) = (&self.memory.buffer, &target.memory.buffer);
            encoder.copy_buffer_to_buffer(from, self.at as u64, to, target.at as u64, size);
            queue.submit([encoder.finish()]);
        })
    }
}
