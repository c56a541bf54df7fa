//! Staging buffers for reads from a device. One idle buffer is kept for the next copy.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of a staging buffer in bytes. Larger copies are split.
pub(super) const LARGEST: usize = 1 << 24;

/// Minimum size of a staging buffer in bytes.
const SMALLEST: usize = 1 << 16;

/// The idle staging buffer, if there is one.
pub(super) struct Staging(Mutex<Option<wgpu::Buffer>>);

impl Staging {
    pub(super) const fn new() -> Staging {
        Staging(Mutex::new(None))
    }

    fn spare(&self) -> MutexGuard<'_, Option<wgpu::Buffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the idle buffer, or a new one if there is none or it is too small.
    pub(super) fn take(&self, device: &wgpu::Device, bytes: usize) -> wgpu::Buffer {
        let spare = self.spare().take();
        match spare {
            Some(buffer) if buffer.size() >= bytes as u64 => buffer,
            _ => device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes.next_power_of_two().max(SMALLEST) as u64,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        }
    }

    /// Keeps an unmapped buffer as the idle one, unless the buffer already kept is as large.
    pub(super) fn put_back(&self, buffer: wgpu::Buffer) {
        let mut spare = self.spare();
        let is_larger = spare.as_ref().is_none_or(|kept| kept.size() < buffer.size());
        let other = if is_larger { spare.replace(buffer) } else { Some(buffer) };
        drop(spare);
        drop(other);
    }
}
