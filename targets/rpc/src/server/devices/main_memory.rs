//! Main memory as the only device, for firmware.

use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::value::device::kind;
use ferrite_core::{Any, Tensor};

use super::arguments::Arguments;
use super::failure::{Failure, refused};
use super::handles::Handles;
use super::host::Access;
use super::region::DataRegion;
use super::session::{Session, State};

const NO_DEVICE: Failure = refused!("InternalError: no such device");

const fn is_cpu(device: DLDevice) -> bool {
    device.device_type == kind::CPU && device.device_id == 0
}

fn check(device: DLDevice) -> Result<(), Failure> {
    if is_cpu(device) { Ok(()) } else { Err(NO_DEVICE) }
}

pub(super) fn make_current(device: DLDevice) -> Result<(), Failure> {
    check(device)
}

/// Returns an attribute: whether the device exists. The CPU has no others.
pub(super) fn attribute(device: DLDevice, number: i64) -> Result<Any, Failure> {
    Ok(if number == 0 { Any::from(is_cpu(device) as i64) } else { Any::NONE })
}

pub(super) fn allocate(
    shape: &[i64],
    dtype: DLDataType,
    device: DLDevice,
) -> Result<Tensor, Failure> {
    check(device)?;
    Ok(Tensor::empty(shape, dtype, device)?)
}

/// Copies between regions of the same size. A copy that overlaps itself is refused: it would need
/// 1.5 KB of flash for `memmove`.
pub(super) fn copy(
    from: DataRegion,
    to: DataRegion,
    _stream: u64,
    _: &Handles,
) -> Result<(), Failure> {
    let (source, target) = (from.place.start(), to.place.start());
    if source.addr().abs_diff(target.addr()) < from.bytes {
        return Err(refused!("ValueError: overlap"));
    }
    // SAFETY: both regions are elements of live tensors in main memory, the only device, of this
    // size; they do not overlap, and no reference to either is alive.
    unsafe { source.copy_to_nonoverlapping(target, from.bytes) };
    Ok(())
}

/// Serves a session here. There are no session constructors: modules are of ring 2.
pub(super) fn construct(arguments: &Arguments<'_>, _: &dyn Access) -> Result<Any, Failure> {
    if arguments.views().is_empty() {
        return Ok(Any::NONE);
    }
    Err(refused!("RuntimeError: no session constructors"))
}

/// Returns the state of a session after InitServer.
pub(super) fn state_of(_: Any) -> State {
    State::Local
}

impl Session {
    /// Serves requests about streams: the CPU has only its default stream, whose handle is 0.
    pub(super) fn stream_request(
        &mut self,
        _code: i32,
        device: DLDevice,
        handle: u64,
    ) -> Result<u64, Failure> {
        check(device)?;
        if handle == 0 { Ok(0) } else { Err(refused!("ValueError: no such handle")) }
    }
}
