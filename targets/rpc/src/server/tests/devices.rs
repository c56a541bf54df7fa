//! Requests about a device with a back end of the tests, whose memory is main memory, at addresses
//! that are not those of tensors.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::boxed::Box;
use std::collections::HashMap;
use std::sync::Mutex;

use ferrite_alloc_ext::device::{Attribute, Backend, Region, register};

use super::*;

const DEVICE: DLDevice = DLDevice { device_type: 12, device_id: 0 };

/// Memory by handle; a block that is `None` fails to be read.
static BLOCKS: Mutex<Option<HashMap<usize, Vec<u8>>>> = Mutex::new(None);
/// Handles of live streams.
static STREAMS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

struct TestBackend;

static BACKEND: &dyn Backend = &TestBackend;

fn blocks<R>(body: impl FnOnce(&mut HashMap<usize, Vec<u8>>) -> R) -> R {
    body(BLOCKS.lock().unwrap().get_or_insert_with(HashMap::new))
}

/// Returns the bytes of a region, copied.
fn bytes_at(region: Region, bytes: usize) -> Vec<u8> {
    if region.device == DEVICE {
        let start = region.offset;
        return blocks(|blocks| blocks[&region.data.addr()][start..start + bytes].to_vec());
    }
    // SAFETY: the caller guarantees the region of main memory.
    unsafe {
        let start = region.data.cast::<u8>().add(region.offset);
        core::slice::from_raw_parts(start, bytes).to_vec()
    }
}

// SAFETY: device memory is never addressed, streams are numbers, and copies are complete at once.
unsafe impl Backend for TestBackend {
    fn device_type(&self) -> i32 {
        DEVICE.device_type
    }

    fn set_device(&self, id: i32) -> Result<()> {
        if id == 0 { Ok(()) } else { Err(error!(ValueError, "no device {id}")) }
    }

    fn allocate(&self, id: i32, bytes: usize, _: usize) -> Result<*mut c_void> {
        self.set_device(id)?;
        Ok(blocks(|blocks| {
            let handle = blocks.keys().max().map_or(0x1000, |last| last + 0x1000);
            blocks.insert(handle, std::vec![0; bytes]);
            core::ptr::without_provenance_mut(handle)
        }))
    }

    unsafe fn free(&self, _: i32, data: *mut c_void) {
        blocks(|blocks| blocks.remove(&data.addr())).expect("freed once");
    }

    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, _: *mut c_void) -> Result<()> {
        let source = bytes_at(from, bytes);
        if to.device == DEVICE {
            blocks(|blocks| {
                let block = blocks.get_mut(&to.data.addr()).unwrap();
                block[to.offset..to.offset + bytes].copy_from_slice(&source);
            });
            return Ok(());
        }
        // SAFETY: the caller guarantees the region of main memory.
        unsafe {
            let target = to.data.cast::<u8>().add(to.offset);
            source.as_ptr().copy_to_nonoverlapping(target, bytes);
        }
        Ok(())
    }

    unsafe fn synchronize(&self, _: i32, _: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        match attribute {
            Attribute::Exists => Ok(Any::from(id == 0)),
            Attribute::DeviceName => Any::try_new("a device of the tests"),
            _ => Ok(Any::NONE),
        }
    }

    fn create_stream(&self, _: i32) -> Result<*mut c_void> {
        let stream = Box::into_raw(Box::new(0u8)).cast::<c_void>();
        STREAMS.lock().unwrap().push(stream.addr());
        Ok(stream)
    }

    unsafe fn free_stream(&self, _: i32, stream: *mut c_void) -> Result<()> {
        STREAMS.lock().unwrap().retain(|live| *live != stream.addr());
        // SAFETY: from `create_stream`, and freed once.
        drop(unsafe { Box::from_raw(stream.cast::<u8>()) });
        Ok(())
    }

    unsafe fn set_stream(&self, _: i32, stream: *mut c_void) -> Result<()> {
        assert!(stream.is_null() || STREAMS.lock().unwrap().contains(&stream.addr()));
        Ok(())
    }

    fn allocate_workspace(&self, _: i32, _: usize) -> Result<NonNull<c_void>> {
        Err(error!(RuntimeError, "no workspaces"))
    }

    unsafe fn free_workspace(&self, _: i32, _: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

fn peer() -> Peer {
    register(&BACKEND).unwrap();
    Peer::begun()
}

fn attribute(peer: &mut Peer, device: DLDevice, number: i64) -> Answer {
    peer.ask(code::GET_ATTRIBUTE, b"", &[Item::device(device), Item::int(number)])
}

#[test]
fn attributes_tell_whether_a_device_exists() {
    let mut peer = peer();
    let exists = |value| Answer::Values(std::vec![Value::Word(type_index::INT, value)]);
    assert_eq!(attribute(&mut peer, CPU, 0), exists(1));
    assert_eq!(attribute(&mut peer, DEVICE, 0), exists(1));
    assert_eq!(attribute(&mut peer, DLDevice { device_id: 1, ..DEVICE }, 0), exists(0));
    assert_eq!(attribute(&mut peer, DLDevice { device_type: 9, device_id: 0 }, 0), exists(0));
    assert_eq!(attribute(&mut peer, DLDevice { device_type: -9, device_id: -1 }, 0), exists(0));
    let name = Value::Bytes(type_index::RAW_STR, b"a device of the tests".to_vec());
    assert_eq!(attribute(&mut peer, DEVICE, 5), Answer::Values(std::vec![name]));
    assert_eq!(attribute(&mut peer, DEVICE, 1), none());
    for number in [-1, 17, i64::MAX] {
        let error = attribute(&mut peer, DEVICE, number).error();
        assert_eq!(error, "ValueError: devices have no such attribute");
    }
    let select = |peer: &mut Peer, device| peer.ask(code::SET_DEVICE, b"", &[Item::device(device)]);
    assert_eq!(select(&mut peer, DEVICE), none());
    let other = DLDevice { device_id: 3, ..DEVICE };
    assert_eq!(select(&mut peer, other).error(), "ValueError: no device 3");
}

#[test]
fn data_of_devices_is_copied_in_blocks() {
    let mut peer = peer();
    let bytes: Vec<u8> = (0..600_000u32).map(|at| at as u8).collect();
    let data = peer.allocate(DEVICE, 600_000).handle();
    let shape = [150_000];
    let tensor = TensorItem { device: DEVICE, ..floats(data, &shape, 0) };
    // Blocks are as large as the memory for arguments at most.
    peer.host.most_asked = 0;
    let error = peer.write(&tensor, &bytes).error();
    assert!(error.starts_with("MemoryError"), "{error}");
    assert_eq!(peer.host.most_asked, 1 << 18);
    let small = TensorItem { byte_offset: 100, ..tensor };
    assert_eq!(peer.write(&small, &bytes[..5000]), none());
    assert_eq!(peer.read(&small, 5000), Answer::Data(bytes[..5000].to_vec()));
    assert_eq!(peer.read(&small, 0), Answer::Data(Vec::new()));
    assert!(peer.read(&small, 600_000).error().contains("outside"));
    let items = [Item::device(DEVICE), Item::pointer(data)];
    assert_eq!(peer.ask(code::FREE_DATA, b"", &items), none());
}

#[test]
fn data_belongs_to_its_device() {
    let mut peer = peer();
    let data = peer.allocate(DEVICE, 16).handle();
    let error = peer.read(&floats(data, &[4], 0), 16).error();
    assert_eq!(error, "ValueError: the data is on another device");
    let error = peer.call("sum", &[Item::Tensor(floats(data, &[4], 0))]).error();
    assert_eq!(error, "ValueError: the data is on another device");
}

#[test]
fn copies_between_devices_and_main_memory_are_complete() {
    let mut peer = peer();
    let (here, there) = (peer.allocate(CPU, 8).handle(), peer.allocate(DEVICE, 8).handle());
    let (here, there) =
        (floats(here, &[2], 0), TensorItem { device: DEVICE, ..floats(there, &[2], 0) });
    assert_eq!(peer.write(&there, b"abcdefgh"), none());
    let items = [Item::Tensor(there), Item::Tensor(here), Item::pointer(0)];
    assert_eq!(peer.ask(code::COPY_AMONG_REMOTE, b"", &items), none());
    assert_eq!(peer.read(&here, 8), Answer::Data(b"abcdefgh".to_vec()));
}

#[test]
fn streams_are_handles_of_their_device() {
    let mut peer = peer();
    let on = |device, stream| [Item::device(device), Item::pointer(stream)];
    let stream = peer.ask(code::CREATE_STREAM, b"", &[Item::device(DEVICE)]).handle();
    assert_ne!(stream, 0);
    for code in [code::SYNCHRONIZE, code::SET_STREAM] {
        assert_eq!(peer.ask(code, b"", &on(DEVICE, stream)).handle(), 0);
        let error = peer.ask(code, b"", &on(CPU, stream)).error();
        assert_eq!(error, "ValueError: the stream is one of another device");
        assert_eq!(peer.ask(code, b"", &on(DEVICE, 77)).error(), "ValueError: no such handle");
    }
    let current =
        |peer: &mut Peer| peer.ask(code::GET_STREAM, b"", &[Item::device(DEVICE)]).handle();
    assert_eq!(current(&mut peer), stream);
    assert_eq!(peer.ask(code::SYNCHRONIZE, b"", &on(DEVICE, 0)).handle(), 0);
    assert_eq!(peer.free(stream).error(), "TypeError: the handle has another kind");
    // The current stream ceases to be current when it is freed.
    assert_eq!(peer.ask(code::FREE_STREAM, b"", &on(DEVICE, stream)).handle(), 0);
    assert_eq!(current(&mut peer), 0);
    let error = peer.ask(code::FREE_STREAM, b"", &on(DEVICE, stream)).error();
    assert_eq!(error, "ValueError: no such handle");
    // So it does when the session ends.
    let stream = peer.ask(code::CREATE_STREAM, b"", &[Item::device(DEVICE)]).handle();
    assert_eq!(peer.ask(code::SET_STREAM, b"", &on(DEVICE, stream)).handle(), 0);
    drop(peer);
    assert_eq!(current(&mut Peer::begun()), 0);
    // The CPU has its default stream alone.
    assert_eq!(Peer::begun().ask(code::CREATE_STREAM, b"", &[Item::device(CPU)]).handle(), 0);
}
