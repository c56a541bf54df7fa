//! Devices of sessions, as back ends of the tensor functions. The handle of an allocation is the
//! server's.

use core::ffi::c_void;
use core::mem;
use core::ptr::{self, NonNull};
use core::slice;
use std::sync::Arc;

use ferrite_alloc_ext::device::{self, Attribute, Backend, FindRemote, Region};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::device::kind;
use ferrite_core::{Any, ensure, error};

use super::mask::{self, SESSIONS, TYPES};
use super::session::{Connected, Place};
use super::{errors, table};
use crate::wire::{Item, code};

/// The devices of one type of one session.
struct RemoteDevices {
    session: u8,
    device_type: u8,
}

/// Back ends by session number and device type.
static BACKENDS: [[RemoteDevices; TYPES]; SESSIONS] = {
    let mut all =
        [const { [const { RemoteDevices { session: 0, device_type: 0 } }; TYPES] }; SESSIONS];
    let mut session = 0;
    while session < SESSIONS {
        let mut device_type = 0;
        while device_type < TYPES {
            all[session][device_type] =
                RemoteDevices { session: session as u8, device_type: device_type as u8 };
            device_type += 1;
        }
        session += 1;
    }
    all
};

/// Elements of copies: bytes.
const BYTE: DLDataType = DLDataType { code: 1, bits: 8, lanes: 1 };

/// Makes the devices of sessions known to the tensor functions, and registers the fork handlers.
///
/// # Threads
/// Any; atomic stores and a lock.
pub fn install() {
    static FIND: FindRemote = find;
    device::register_remote(&FIND);
    super::forks::install();
}

fn find(device_type: i32) -> Option<&'static dyn Backend> {
    let (session, device_type) = mask::split(device_type)?;
    table::get(session)?;
    let backend = BACKENDS.get(usize::from(session))?.get(usize::try_from(device_type).ok()?)?;
    Some(backend)
}

impl RemoteDevices {
    /// Returns the session.
    ///
    /// # Errors
    /// RPCError if it ended and nothing uses it any more.
    fn session(&self) -> Result<Arc<Connected>> {
        table::get(self.session).ok_or_else(errors::closed)
    }

    /// Returns a device as the server knows it.
    fn device(&self, device_id: i32) -> DLDevice {
        DLDevice { device_type: self.device_type.into(), device_id }
    }

    /// Sends a request about a device. Ignores the value of the answer.
    fn command(&self, code: i32, id: i32, further: Option<u64>) -> Result<()> {
        let items = [Item::device(self.device(id)), Item::pointer(further.unwrap_or(0))];
        let count = if further.is_some() { 2 } else { 1 };
        self.session()?.ask(code, &items[..count]).map(drop)
    }

    fn unsupported(&self, what: &str) -> Error {
        error!(RuntimeError, "Devices of an RPC session have no {what}")
    }
}

/// Returns a region of the server.
///
/// # Errors
/// ValueError for a device of another session.
fn place(session: &Connected, region: Region) -> Result<Place> {
    Ok(Place {
        data: region.data.addr() as u64,
        device: session.strip_mask(region.device)?,
        offset: region.offset as u64,
    })
}

// SAFETY: allocations and streams are numbers of the server, which checks them, and never addresses
// of this process; a copy is complete when its request is answered; `allocate` makes the session
// live until `free`.
unsafe impl Backend for RemoteDevices {
    fn device_type(&self) -> i32 {
        mask::add(self.session, self.device(0)).map_or(0, |device| device.device_type)
    }

    fn set_device(&self, id: i32) -> Result<()> {
        self.command(code::SET_DEVICE, id, None)
    }

    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
        let session = self.session()?;
        let handle = session.ask_handle(
            code::ALLOCATE_DATA,
            &[
                Item::device(self.device(id)),
                Item::int(i64::try_from(bytes).unwrap_or(i64::MAX)),
                Item::int(i64::try_from(alignment).unwrap_or(i64::MAX)),
                Item::dtype(BYTE),
            ],
        )?;
        ensure!(
            (handle != 0 || bytes == 0) && usize::try_from(handle).is_ok(),
            "RPCError",
            "The RPC server allocated no memory for {bytes} bytes"
        );
        // `free` drops this reference.
        mem::forget(session);
        Ok(ptr::without_provenance_mut(handle as usize))
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        let Ok(session) = self.session() else { return };
        if !data.is_null() && session.is_open() {
            let handle = data.addr() as u64;
            // The server may be gone.
            let _ = self.command(code::FREE_DATA, id, Some(handle));
        }
        // SAFETY: `allocate` left this reference, which is dropped once, with the data.
        drop(unsafe { Arc::from_raw(Arc::as_ptr(&session)) });
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        let session = self.session()?;
        // SAFETY: the caller guarantees the regions in main memory.
        unsafe {
            if device::is_main_memory(from.device.device_type) {
                let start = from.data.cast::<u8>().add(from.offset);
                let content = slice::from_raw_parts(start, bytes);
                return session.copy_to_server(place(&session, to)?, content);
            }
            if device::is_main_memory(to.device.device_type) {
                let start = to.data.cast::<u8>().add(to.offset);
                let content = slice::from_raw_parts_mut(start, bytes);
                return session.copy_from_server(place(&session, from)?, content);
            }
        }
        let (from, to) = (place(&session, from)?, place(&session, to)?);
        session.copy_on_server(from, to, bytes, stream.addr() as u64)
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        self.command(code::SYNCHRONIZE, id, Some(stream.addr() as u64))
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists && i32::from(self.device_type) == kind::CPU {
            // As in TVM's client; a device without a session does not exist.
            return Ok(Any::from(i64::from(self.session().is_ok_and(|session| session.is_open()))));
        }
        let items = [Item::device(self.device(id)), Item::int(attribute as i64)];
        super::result::attribute(self.session()?.ask(code::GET_ATTRIBUTE, &items)?)
    }

    fn create_stream(&self, id: i32) -> Result<*mut c_void> {
        let items = [Item::device(self.device(id))];
        let stream = self.session()?.ask_handle(code::CREATE_STREAM, &items)?;
        Ok(ptr::without_provenance_mut(stream as usize))
    }

    unsafe fn free_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        self.command(code::FREE_STREAM, id, Some(stream.addr() as u64))
    }

    unsafe fn order_streams(&self, _: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        if before.is_null() && after.is_null() {
            return Ok(());
        }
        Err(self.unsupported("order between streams"))
    }

    unsafe fn set_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        self.command(code::SET_STREAM, id, Some(stream.addr() as u64))
    }

    fn allocate_workspace(&self, _: i32, _: usize) -> Result<NonNull<c_void>> {
        Err(self.unsupported("workspaces for code of this process"))
    }

    unsafe fn free_workspace(&self, _: i32, _: NonNull<c_void>) -> Result<()> {
        Err(self.unsupported("workspaces for code of this process"))
    }
}
