//! A device's handle of cuBLASLt, and its plans by problem.

use core::ffi::c_void;
use core::hash::BuildHasher;
use core::ptr::{self, NonNull};
use std::hash::RandomState;
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::{Result, out_of_memory};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::api::{Api, Handle, api};
use super::arguments::Call;
use super::plan::Plan;
use super::problem::Problem;
use crate::cuda::device::Device;
use crate::cuda::{platform, stream};
use crate::driver::MAX_DEVICES;
use crate::set_once::SetOnce;

/// Largest number of plans of a device. A model has a few dozen problems, and a new one for each
/// length of a sequence.
const MAX_PLANS: usize = 256;

/// A device's handle and its plans.
struct Context {
    api: &'static Api,
    handle: Handle,
    plans: Mutex<Plans>,
}

// SAFETY: the library allows every thread to use a handle.
unsafe impl Send for Context {}
// SAFETY: as for `Send`; a lock guards the plans.
unsafe impl Sync for Context {}

static CONTEXTS: [SetOnce<Context>; MAX_DEVICES] = [const { SetOnce::new() }; MAX_DEVICES];

/// Queues the product of a call on the calling thread's stream.
///
/// # Errors
/// RuntimeError if the driver or cuBLASLt is missing; errors of both; MemoryError.
///
/// # Safety
/// The tensors of the call must be memory of their device while the product is calculated.
pub(super) unsafe fn run(call: &Call) -> Result<()> {
    let device = platform::device(call.device)?;
    let _entered = device.enter()?;
    let context = Context::of(device)?;
    let mut plans = context.plans.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the context's device is current.
    let plan = plans.get(&call.problem, || unsafe {
        Plan::new(context.api, context.handle, &call.problem, &call.operands)
    })?;
    let stream = stream::current(device.id);
    let workspace = Workspace::new(device, plan.workspace_bytes, stream)?;
    device.pool.streams.note(stream);
    // SAFETY: the plan is that of the problem; the caller guarantees the operands, and the code
    // that set the stream guarantees it.
    unsafe { plan.run(context.handle, &call.problem, &call.operands, workspace.data(), stream) }
}

impl Context {
    /// Returns the context of the current device. The first call creates it.
    fn of(device: &Device) -> Result<&'static Context> {
        let api = api()?;
        // Devices have numbers below `MAX_DEVICES`.
        let context = &CONTEXTS[device.id as usize];
        if let Some(context) = context.get() {
            return Ok(context);
        }
        let mut handle = ptr::null_mut();
        // SAFETY: the library writes the handle.
        let status = unsafe { (api.cublasLtCreate)(&mut handle) };
        api.check("cublasLtCreate", status, &format_args!("CUDA device {}", device.id))?;
        context.set(Context { api, handle, plans: Mutex::new(Plans::new()) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: this is the owner of the handle. Errors are ignored.
        unsafe { (self.api.cublasLtDestroy)(self.handle) };
    }
}

/// Plans by problem, at most [`MAX_PLANS`].
struct Plans {
    table: HashTable<(Problem, Plan)>,
    hasher: RandomState,
}

impl Plans {
    fn new() -> Plans {
        Plans { table: HashTable::new(), hasher: RandomState::new() }
    }

    /// Returns the plan of a problem. Makes it if there is none, in place of all others if their
    /// number is [`MAX_PLANS`].
    fn get(&mut self, problem: &Problem, make: impl FnOnce() -> Result<Plan>) -> Result<&Plan> {
        let hash = |problem: &Problem| self.hasher.hash_one(problem);
        if self.table.find(hash(problem), |(known, _)| known == problem).is_none()
            && self.table.len() >= MAX_PLANS
        {
            self.table.clear();
        }
        if self.table.try_reserve(1, |(known, _)| hash(known)).is_err() {
            return Err(out_of_memory(size_of::<(Problem, Plan)>()));
        }
        let place = self.table.entry(
            hash(problem),
            |(known, _)| known == problem,
            |(known, _)| hash(known),
        );
        let entry = match place {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(entry) => entry.insert((*problem, make()?)),
        };
        Ok(&entry.into_mut().1)
    }
}

/// A workspace of the device's pool, returned to it when dropped: later commands of the stream may
/// reuse it.
struct Workspace<'a> {
    device: &'a Device,
    stream: Handle,
    data: Option<NonNull<c_void>>,
}

impl<'a> Workspace<'a> {
    fn new(device: &'a Device, bytes: usize, stream: Handle) -> Result<Workspace<'a>> {
        let data = match bytes {
            0 => None,
            _ => Some(device.workspaces.allocate(device, bytes, stream)?),
        };
        Ok(Workspace { device, stream, data })
    }

    fn data(&self) -> *mut c_void {
        self.data.map_or(ptr::null_mut(), NonNull::as_ptr)
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        if let Some(data) = self.data {
            // The pool knows its workspace.
            let _ = self.device.workspaces.free::<Device>(data, self.stream);
        }
    }
}
