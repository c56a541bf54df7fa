//! Devices that have a back end, their streams, and modules of kind `rpc`.

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute, Device, Region, stream};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::value::device::kind;
use ferrite_core::{Any, ObjectRef, Tensor, plain_error};

use super::arguments::Arguments;
use super::failure::{Failure, refused};
use super::handles::{Content, Handles};
use super::host::{Access, Limits};
use super::region::{DataRegion, Place};
use super::session::{Session, State};
use super::session_stream::SessionStream;
use crate::wire::code;

pub(super) fn make_current(device: DLDevice) -> Result<(), Failure> {
    Ok(Device::from(device).make_current()?)
}

/// Returns an attribute of a device. Whether it exists is an integer.
pub(super) fn attribute(device: DLDevice, number: i64) -> Result<Any, Failure> {
    let device = Device::from(device);
    match Attribute::from_number(number) {
        Some(Attribute::Exists) => Ok(Any::from(i64::from(device.exists()))),
        Some(attribute) => Ok(device.attribute(attribute)?),
        None => Err(refused!("ValueError: devices have no such attribute")),
    }
}

pub(super) fn allocate(
    shape: &[i64],
    dtype: DLDataType,
    device: DLDevice,
) -> Result<Tensor, Failure> {
    Ok(device::empty(shape, dtype, device)?)
}

/// Returns the device whose stream orders a copy: the one that is not main memory.
fn device_of(from: DLDevice, to: DLDevice) -> Device {
    match (device::is_main_memory(from.device_type), device::is_main_memory(to.device_type)) {
        (true, true) => Device::CPU,
        (true, false) => Device::from(to),
        _ => Device::from(from),
    }
}

const fn region(part: DataRegion) -> Region {
    Region { device: part.place.device, data: part.place.data, offset: part.place.offset }
}

/// Copies between regions of the same size, and waits until the copy is complete.
pub(super) fn copy(
    from: DataRegion,
    to: DataRegion,
    handle: u64,
    handles: &Handles,
) -> Result<(), Failure> {
    let device = device_of(from.place.device, to.place.device);
    let stream = match handle {
        0 => stream::current(device),
        handle => of_device(handles, handle, device)?,
    };
    // SAFETY: both regions are data of live tensors, of this size, and the stream was looked up for
    // the device.
    unsafe {
        device::copy(region(from), region(to), from.bytes, stream)?;
        Ok(stream::synchronize(device, stream)?)
    }
}

/// Returns the stream of a handle, which must belong to the device.
fn of_device(handles: &Handles, handle: u64, device: Device) -> Result<*mut c_void, Failure> {
    let stream = handles.stream(handle)?.stream();
    if stream.device() == device {
        Ok(stream.as_ptr())
    } else {
        Err(refused!("ValueError: the stream is one of another device"))
    }
}

/// Returns a block as a region of main memory.
fn block_region(block: &mut [u8]) -> DataRegion {
    let device = DLDevice { device_type: kind::CPU, device_id: 0 };
    let place = Place { data: block.as_mut_ptr().cast(), device, offset: 0 };
    DataRegion { place, bytes: block.len() }
}

/// Reads a region of a device, of the size of the block.
pub(super) fn read_block(part: DataRegion, block: &mut [u8]) -> Result<(), Failure> {
    copy(part, block_region(block), 0, &Handles::new(Limits::DEFAULT))
}

/// Writes a region of a device, of the size of the block.
pub(super) fn write_block(part: DataRegion, block: &mut [u8]) -> Result<(), Failure> {
    copy(block_region(block), part, 0, &Handles::new(Limits::DEFAULT))
}

/// Calls a session constructor by its name, with the other arguments. Returns the session if it is
/// one of another server; None for sessions that are served here.
pub(super) fn construct(arguments: &Arguments<'_>, access: &dyn Access) -> Result<Any, Failure> {
    let Some((_, others)) = arguments.views().split_first() else { return Ok(Any::NONE) };
    let name = arguments.string(0);
    let Some(constructor) = access.find(name)? else {
        return Err(
            plain_error!(RUNTIME_ERROR, "Cannot find the session constructor `{}`", name).into()
        );
    };
    let session = constructor.call_packed(others)?;
    let module = session.as_object().and_then(ObjectRef::as_class::<Module>);
    match module.map(Module::kind) {
        Some(Ok(kind)) if kind == c"rpc" => {
            Ok(if access.is_remote(&session)? { session } else { Any::NONE })
        }
        _ => Err(plain_error!(
            TYPE_ERROR,
            "The session constructor `{}` must return a module of kind rpc",
            name
        )
        .into()),
    }
}

/// Returns the state of a session after InitServer.
pub(super) fn state_of(session: Any) -> State {
    if session.is_none() { State::Local } else { State::Remote(session) }
}

impl Session {
    /// Serves requests about streams. The default stream has the handle 0.
    pub(super) fn stream_request(
        &mut self,
        code: i32,
        device: DLDevice,
        handle: u64,
    ) -> Result<u64, Failure> {
        let device = Device::from(device);
        match code {
            code::CREATE_STREAM => self.create_stream(device),
            code::GET_STREAM => self.current_stream(device),
            code::FREE_STREAM if handle != 0 => {
                of_device(&self.handles, handle, device)?;
                self.handles.remove(handle, code)?;
                Ok(0)
            }
            code::FREE_STREAM => Ok(0),
            _ => {
                let stream = match handle {
                    0 => core::ptr::null_mut(),
                    handle => of_device(&self.handles, handle, device)?,
                };
                // SAFETY: the stream is null or one of the device, and stays while it is in the
                // table; its removal resets the current stream.
                unsafe { use_stream(code, device, stream)? };
                Ok(0)
            }
        }
    }

    fn create_stream(&mut self, device: Device) -> Result<u64, Failure> {
        let stream = SessionStream::new(device)?;
        if stream.as_ptr().is_null() {
            return Ok(0);
        }
        self.handles.insert(Content::Stream(stream))
    }

    fn current_stream(&self, device: Device) -> Result<u64, Failure> {
        let current = stream::current(device);
        if current.is_null() {
            return Ok(0);
        }
        self.handles
            .find_stream(current)
            .ok_or(refused!("ValueError: the current stream is not one of the session"))
    }
}

/// Waits for a stream, or makes it the current one.
///
/// # Safety
/// The stream must be null or belong to the device, and stay valid while it is current.
unsafe fn use_stream(code: i32, device: Device, stream: *mut c_void) -> Result<(), Failure> {
    // SAFETY: passed on.
    unsafe {
        if code == code::SET_STREAM {
            stream::set_current(device, stream)?;
            return Ok(());
        }
        stream::synchronize(device, stream)?;
        // Kernels are on the current stream, which clients that wait for the default stream mean.
        let current = stream::current(device);
        if stream.is_null() && !current.is_null() {
            stream::synchronize(device, current)?;
        }
    }
    Ok(())
}
