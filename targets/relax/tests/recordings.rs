//! Tests recorded parts of models, with a device in main memory that has graphs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ferrite_alloc_ext::containers::Array;
use ferrite_alloc_ext::device::{Attribute, Backend, Device, Graph, Region, register};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, Function, Shape, plain_bail};
use ferrite_relax::machine::Machine;
use ferrite_relax::memory::{Allocator, Kind};
use support::*;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static RECORDED: AtomicUsize = AtomicUsize::new(0);
static LAUNCHED: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static IS_RECORDING: AtomicBool = AtomicBool::new(false);
static CAN_RECORD: AtomicBool = AtomicBool::new(true);
/// Whether the kernel uses main memory after it returns.
static USES_MAIN_MEMORY: AtomicBool = AtomicBool::new(false);

/// A device whose graphs count their launches.
struct Recorder;

// SAFETY: the memory has no bytes, and tests use none; all work is done at once.
unsafe impl Backend for Recorder {
    fn device_type(&self) -> i32 {
        kind::EXT_DEV
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, _bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        Ok(ptr::null_mut())
    }

    unsafe fn free(&self, _id: i32, _data: *mut c_void) {}

    unsafe fn copy(
        &self,
        _from: Region,
        _to: Region,
        _bytes: usize,
        _stream: *mut c_void,
    ) -> Result<()> {
        Ok(())
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn has_graphs(&self) -> bool {
        true
    }

    unsafe fn is_recording(&self, _id: i32, _stream: *mut c_void) -> Result<bool> {
        Ok(IS_RECORDING.load(Ordering::Relaxed))
    }

    unsafe fn record_graph(
        &self,
        _id: i32,
        _stream: *mut c_void,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<NonNull<c_void>> {
        RECORDED.fetch_add(1, Ordering::Relaxed);
        let before = IS_RECORDING.swap(true, Ordering::Relaxed);
        let result = body();
        IS_RECORDING.store(before, Ordering::Relaxed);
        result?;
        if !CAN_RECORD.load(Ordering::Relaxed) {
            plain_bail!(RUNTIME_ERROR, "cannot be recorded");
        }
        LIVE.fetch_add(1, Ordering::Relaxed);
        Ok(NonNull::dangling())
    }

    unsafe fn launch_graph(
        &self,
        _id: i32,
        _graph: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        LAUNCHED.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    unsafe fn free_graph(&self, _id: i32, _graph: NonNull<c_void>) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }

    fn allocate_workspace(&self, _id: i32, _bytes: usize) -> Result<NonNull<c_void>> {
        plain_bail!(RUNTIME_ERROR, "no workspaces")
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

/// Keeps tests apart, and sets all counts to zero.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for count in [&CALLS, &RECORDED, &LAUNCHED] {
        count.store(0, Ordering::Relaxed);
    }
    IS_RECORDING.store(false, Ordering::Relaxed);
    CAN_RECORD.store(true, Ordering::Relaxed);
    USES_MAIN_MEMORY.store(false, Ordering::Relaxed);
    guard
}

fn counts() -> [usize; 3] {
    [&CALLS, &RECORDED, &LAUNCHED].map(|count| count.load(Ordering::Relaxed))
}

/// An executable whose `main(arguments, values)` runs `kernel` as part 7, and whose `storages()`
/// allocates once.
fn model() -> Vec<u8> {
    let part = [MACHINE, function(0), 0, immediate(7), 1];
    let main = bytecode("main", &["arguments", "values"], 3, vec![call(2, 1, &part), ret(2)]);
    let storages = bytecode(
        "storages",
        &[],
        1,
        vec![call(0, 2, &[MACHINE, function(0), immediate(7)]), ret(0)],
    );
    let builtins =
        ["vm.builtin.cuda_graph.run_or_capture", "vm.builtin.cuda_graph.get_cached_alloc"];
    executable(&[packed("kernel"), packed(builtins[0]), packed(builtins[1]), main, storages], &[])
}

/// Creates a machine on a device, whose kernel returns the number of its call.
fn machine_on(device_type: i32) -> Result<Machine> {
    static RECORDER: &dyn Backend = &Recorder;
    register(&RECORDER)?;
    let machine = Machine::new(load(&model())?);
    initialize(&machine, device_type)?;
    Ok(machine)
}

fn initialize(machine: &Machine, device_type: i32) -> Result<()> {
    let mut allocators = Buffer::new();
    for device_type in [device_type, kind::CPU] {
        allocators
            .try_push(Allocator::new(DLDevice { device_type, device_id: 0 }, Kind::Naive)?)?;
    }
    machine.initialize(allocators, &|name| match name {
        b"kernel" => Function::from_packed(|_: &[AnyView<'_>]| {
            if USES_MAIN_MEMORY.load(Ordering::Relaxed) {
                Graph::check_main_memory_allowed(Device::new(kind::EXT_DEV, 0))?;
            }
            Ok(Any::from(CALLS.fetch_add(1, Ordering::Relaxed) as i64 + 1))
        })
        .map(Some),
        _ => Ok(ferrite_relax::builtins::find(name)
            .map(|builtin| Function::from_packed(builtin.body))
            .transpose()?),
    })
}

fn run(machine: &Machine, values: &[i64]) -> Result<i64> {
    let (arguments, values) = (Array::<Any>::new()?, Shape::from_slice(values)?);
    let main = machine.executable().find(b"main").unwrap();
    machine.call(main, &[(&arguments).into(), (&values).into()])?.get()
}

#[test]
fn the_first_call_records_and_later_ones_repeat() -> Result<()> {
    let _alone = alone();
    let machine = machine_on(kind::EXT_DEV)?;
    assert_eq!((run(&machine, &[4])?, counts()), (2, [2, 1, 0]));
    assert_eq!((run(&machine, &[4])?, counts()), (2, [2, 1, 1]));
    // Other symbolic values are another part.
    assert_eq!((run(&machine, &[5])?, counts()), (4, [4, 2, 1]));
    assert_eq!((run(&machine, &[4])?, run(&machine, &[5])?, counts()), (2, 4, [4, 2, 3]));
    assert_eq!(LIVE.load(Ordering::Relaxed), 2);
    drop(machine);
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    Ok(())
}

#[test]
fn a_new_initialization_forgets_what_was_recorded() -> Result<()> {
    let _alone = alone();
    let machine = machine_on(kind::EXT_DEV)?;
    run(&machine, &[4])?;
    initialize(&machine, kind::EXT_DEV)?;
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    assert_eq!((run(&machine, &[4])?, counts()), (4, [4, 2, 0]));
    Ok(())
}

#[test]
fn parts_that_cannot_be_recorded_are_called_each_time() -> Result<()> {
    let _alone = alone();
    CAN_RECORD.store(false, Ordering::Relaxed);
    let machine = machine_on(kind::EXT_DEV)?;
    assert_eq!((run(&machine, &[4])?, counts()), (1, [2, 1, 0]));
    assert_eq!((run(&machine, &[4])?, counts()), (3, [3, 1, 0]));
    Ok(())
}

#[test]
fn parts_that_use_main_memory_are_called_each_time() -> Result<()> {
    let _alone = alone();
    USES_MAIN_MEMORY.store(true, Ordering::Relaxed);
    let machine = machine_on(kind::EXT_DEV)?;
    // The kernel counts no call that is refused.
    assert_eq!((run(&machine, &[4])?, counts()), (1, [1, 1, 0]));
    assert_eq!((run(&machine, &[4])?, counts()), (2, [2, 1, 0]));
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    // A recording of others may use it: they launch it, and the refusal has ended.
    let (_, graph) = Graph::record(Device::new(kind::EXT_DEV, 0), || run(&machine, &[5]))?;
    graph.map(drop)
}

#[test]
fn a_recording_of_others_gets_the_commands() -> Result<()> {
    let _alone = alone();
    IS_RECORDING.store(true, Ordering::Relaxed);
    let machine = machine_on(kind::EXT_DEV)?;
    assert_eq!((run(&machine, &[4])?, run(&machine, &[4])?, counts()), (1, 2, [2, 0, 0]));
    Ok(())
}

#[test]
fn main_memory_has_no_graphs() -> Result<()> {
    let _alone = alone();
    let machine = machine_on(kind::CPU)?;
    assert_eq!((run(&machine, &[4])?, run(&machine, &[4])?, counts()), (1, 2, [2, 0, 0]));
    Ok(())
}

#[test]
fn storages_are_allocated_once_where_parts_are_recorded() -> Result<()> {
    let _alone = alone();
    for (device, second) in [(kind::EXT_DEV, 1), (kind::CPU, 3)] {
        let machine = machine_on(device)?;
        let storages = machine.executable().find(b"storages").unwrap();
        let first = machine.call(storages, &[])?.get::<i64>()?;
        assert_eq!(machine.call(storages, &[])?.get::<i64>()?, second, "after {first}");
    }
    Ok(())
}
