//! Validation of launch arguments and sizes, since Metal aborts the process on invalid ones.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::{plain_bail, plain_ensure};

use crate::launch::{Launch, MAX_PARAMETERS, pack_slots_of_8};

/// Maximum number of buffers of a kernel, including the buffer of its scalars.
const MAX_BUFFERS: usize = 31;

/// Checks that a kernel with these numbers of handles and scalars does not exceed the maximum
/// number of buffers.
///
/// # Errors
/// InternalError if there are too many.
pub fn check_buffers(name: &[u8], handles: usize, scalars: usize) -> Result<()> {
    let buffers = handles + usize::from(scalars != 0);
    plain_ensure!(
        buffers <= MAX_BUFFERS,
        INTERNAL_ERROR,
        "The Metal kernel {} has {} buffers, more than {}",
        name,
        buffers,
        MAX_BUFFERS
    );
    Ok(())
}

/// Checks the work sizes of a launch against the kernel's maximum number of threads in a block.
///
/// # Errors
/// ValueError if the block is too large; RuntimeError for dynamic shared memory, which TVM's
/// kernels do not declare.
pub fn check_sizes(launch: &Launch<'_>, max_threads: usize) -> Result<()> {
    let [x, y, z] = launch.sizes.block();
    let threads = u128::from(x) * u128::from(y) * u128::from(z);
    if threads > max_threads as u128 {
        plain_bail!(
            VALUE_ERROR,
            "A block of {} x {} x {} threads is larger than the kernel allows: {}",
            x,
            y,
            z,
            max_threads
        );
    }
    plain_ensure!(
        launch.sizes.dynamic_shared_bytes == 0,
        RUNTIME_ERROR,
        "Metal kernels have no dynamic shared memory, but are launched with {} bytes",
        launch.sizes.dynamic_shared_bytes
    );
    Ok(())
}

/// Number of scalars that fit into the smaller stack buffer.
const FEW: usize = 16;

/// Packs the scalars of a launch in slots of 8 bytes on the stack, and passes them to `body`.
///
/// # Errors
/// Errors of `body`.
pub fn with_slots<R>(launch: &Launch<'_>, body: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    let mut slots = [0; 8 * FEW];
    match pack_slots_of_8(launch, &mut slots) {
        Some(bytes) => body(&slots[..bytes]),
        None => with_many_slots(launch, body),
    }
}

#[cold]
fn with_many_slots<R>(launch: &Launch<'_>, body: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    let mut slots = [0; 8 * MAX_PARAMETERS];
    // No plan has more parameters than the buffer's capacity.
    let bytes = pack_slots_of_8(launch, &mut slots).unwrap_or(0);
    body(&slots[..bytes])
}

#[cfg(test)]
mod tests {
    use ferrite_core::AnyView;
    use ferrite_core::abi::{DLDataType, DLDevice};

    use super::*;
    use crate::launch::{LaunchPlan, Values};

    const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
    const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
    const F64: DLDataType = DLDataType { code: 2, bits: 64, lanes: 1 };
    const METAL: DLDevice = DLDevice { device_type: 8, device_id: 0 };

    /// Passes a launch with these parameters and arguments to `body`.
    fn launched(
        types: &[DLDataType],
        tags: &[&[u8]],
        args: &[AnyView<'_>],
        body: impl FnOnce(&Launch<'_>),
    ) {
        let plan = LaunchPlan::new(types, &[], tags.iter().copied()).unwrap();
        let mut values = Values::new();
        let sizes = plan.convert(args, METAL, &mut values).unwrap();
        body(&Launch { plan: &plan, values: values.as_slice(), sizes: &sizes });
    }

    #[test]
    fn scalars_have_slots_of_8_bytes_in_order() {
        let (one, half) = (AnyView::from(-1i64), AnyView::from(0.5f64));
        launched(
            &[HANDLE, I32, HANDLE, F64],
            &[],
            &[AnyView::NONE, one, AnyView::NONE, half],
            |launch| {
                with_slots(launch, |slots| {
                    assert_eq!(slots[..4], [0xff; 4]);
                    assert_eq!(slots[8..], 0.5f64.to_le_bytes());
                    Ok(())
                })
                .unwrap();
            },
        );
        launched(&[HANDLE], &[], &[AnyView::NONE], |launch| {
            with_slots(launch, |slots| {
                assert!(slots.is_empty());
                Ok(())
            })
            .unwrap();
        });
    }

    #[test]
    fn as_many_scalars_as_a_plan_has_are_packed() {
        let args: std::vec::Vec<_> = (0..MAX_PARAMETERS).map(|i| AnyView::from(i as i64)).collect();
        launched(&[I32; MAX_PARAMETERS], &[], &args, |launch| {
            with_slots(launch, |slots| {
                assert_eq!(slots.len(), 4096);
                assert!(
                    slots.chunks(8).enumerate().all(|(i, slot)| slot == (i as u64).to_le_bytes())
                );
                Ok(())
            })
            .unwrap();
        });
    }

    #[test]
    fn blocks_above_the_maximum_are_refused() {
        let tags: &[&[u8]] = &[b"threadIdx.x", b"threadIdx.y", b"threadIdx.z"];
        let check = |extents: [i64; 3], expected: &str| {
            let args = extents.map(AnyView::from);
            launched(&[], tags, &args, |launch| match check_sizes(launch, 1024) {
                Ok(()) => assert_eq!(expected, ""),
                Err(error) => {
                    assert_eq!(
                        (error.kind_bytes(), error.message_bytes()),
                        (&b"ValueError"[..], expected.as_bytes())
                    );
                }
            });
        };
        check([1024, 1, 1], "");
        check([16, 16, 4], "");
        check(
            [1025, 1, 1],
            "A block of 1025 x 1 x 1 threads is larger than the kernel allows: 1024",
        );
        // Products that overflow to 0 in 32 and in 64 bits.
        check(
            [65536, 65536, 1],
            "A block of 65536 x 65536 x 1 threads is larger than the kernel allows: 1024",
        );
        let text =
            "A block of 4194304 x 2097152 x 2097152 threads is larger than the kernel allows: 1024";
        check([1 << 22, 1 << 21, 1 << 21], text);
        let largest = i64::from(u32::MAX);
        let text = std::format!(
            "A block of {largest} x {largest} x {largest} threads is larger than the kernel allows: 1024"
        );
        check([largest; 3], &text);
    }

    #[test]
    fn dynamic_shared_memory_is_refused() {
        let tags: &[&[u8]] = &[b"tirx.use_dyn_shared_memory"];
        launched(&[], tags, &[AnyView::from(0i64)], |launch| check_sizes(launch, 1).unwrap());
        launched(&[], tags, &[AnyView::from(16i64)], |launch| {
            assert_eq!(check_sizes(launch, 1).unwrap_err().kind_bytes(), b"RuntimeError");
        });
    }

    #[test]
    fn kernels_have_31_buffers_at_most() {
        for (handles, scalars) in [(0, 0), (31, 0), (30, 400)] {
            check_buffers(b"k", handles, scalars).unwrap();
        }
        for (handles, scalars) in [(32, 0), (31, 1)] {
            let error = check_buffers(b"k", handles, scalars).unwrap_err();
            assert_eq!(error.message_bytes(), b"The Metal kernel k has 32 buffers, more than 31");
        }
    }
}
