//! Processor caches are emptied before a measurement, so that it begins with data in main memory.

use ferrite_core::tensor::{TensorRef, is_host_accessible};
use ferrite_core::{Any, AnyView, Result};

/// Distance in bytes between addresses that are flushed: at most the size of a cache line.
const LINE: usize = 64;

/// Flushes the caches over the tensors in main memory among the arguments but the first, which is
/// usually the output.
///
/// # Upstream
/// `cache_flush_cpu_non_first_arg`, which also flushes on x86-64 and 64-bit Arm alone.
pub(super) fn flush_arguments(args: &[AnyView<'_>]) -> Result<Any> {
    for view in args.iter().skip(1) {
        let tensor =
            TensorRef::from_view(view).filter(|tensor| is_host_accessible(tensor.device()));
        let bytes = tensor.and_then(|tensor| Some((tensor.first_byte(), tensor.size_bytes()?)));
        if let Some((first, bytes)) = bytes.filter(|(first, bytes)| !first.is_null() && *bytes > 0)
        {
            for offset in (0..bytes).step_by(LINE).chain([bytes - 1]) {
                // The address is inside of the tensor.
                flush_line(first.wrapping_add(offset));
            }
            wait_for_flushes();
        }
    }
    Ok(Any::NONE)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn flush_line(address: *const u8) {
    // SAFETY: SSE2 is part of x86-64, and the instruction only writes back and evicts the line of
    // an address of the process.
    unsafe { core::arch::x86_64::_mm_clflush(address) };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn wait_for_flushes() {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { core::arch::x86_64::_mm_mfence() };
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn flush_line(address: *const u8) {
    // SAFETY: the instruction, which Linux allows programs, only writes back and evicts the line of
    // an address of the process.
    unsafe { core::arch::asm!("dc civac, {}", in(reg) address, options(nostack)) };
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn wait_for_flushes() {
    // SAFETY: a barrier has no operands.
    unsafe { core::arch::asm!("dsb ish", options(nostack)) };
}

/// Does nothing: programs of this processor cannot flush.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn flush_line(_: *const u8) {}

/// Does nothing: there was no flush.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn wait_for_flushes() {}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::Tensor;

    #[test]
    fn tensors_keep_their_elements() -> Result<()> {
        let elements: std::vec::Vec<f32> = (0..100u8).map(f32::from).collect();
        let tensor = Tensor::from_slice(&elements, &[100])?;
        let empty = Tensor::from_slice::<f32>(&[], &[0])?;
        flush_arguments(&[1i64.into(), (&tensor).into(), (&empty).into(), AnyView::NONE])?;
        assert_eq!(&*tensor.as_slice::<f32>()?, elements);
        Ok(())
    }
}
