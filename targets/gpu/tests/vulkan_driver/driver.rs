//! Wrapper of the driver: each driver function has a wrapper that counts its calls and can fail on
//! request.
//!
//! All wrappers have the same type, with ten words and a status. In the calling conventions of
//! x86-64 and AArch64, a function with fewer words takes the first of these ten, in the same
//! registers and stack slots.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicUsize, Ordering::SeqCst};

use std::collections::BTreeMap;
use std::sync::Mutex;

use ash::vk;
use ferrite_gpu::library::DriverLibrary;

use super::allocations;

type Function = unsafe extern "system" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> i32;

/// Effect of a driver function.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// Creates an object, unless it fails.
    Creates,
    /// Destroys the object passed as the argument with this index, if it is not null.
    Destroys(usize),
    /// May fail.
    Fails,
    None,
}
use Effect::{Creates, Destroys, Fails, None as Nothing};

/// Number of calls until one fails; 0 for none.
static FAILS_IN: AtomicI64 = AtomicI64::new(0);
/// Status of the failing call.
static STATUS: AtomicI32 = AtomicI32::new(0);
static ALIVE: Mutex<BTreeMap<&str, i64>> = Mutex::new(BTreeMap::new());
static CALLS: AtomicU32 = AtomicU32::new(0);
static SUBMISSIONS: AtomicU32 = AtomicU32::new(0);
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Makes the `n`-th call from now fail with `status`, counting only calls that can fail.
pub fn fail(n: i64, status: vk::Result) {
    STATUS.store(status.as_raw(), SeqCst);
    FAILED.store(0, SeqCst);
    FAILS_IN.store(n, SeqCst);
}

/// Cancels the failure; returns `true` if a call has failed.
pub fn stop_failing() -> bool {
    FAILS_IN.store(0, SeqCst);
    FAILED.load(SeqCst) != 0
}

/// Returns the number of live driver objects by kind.
pub fn alive() -> BTreeMap<&'static str, i64> {
    ALIVE.lock().expect("no panic").clone()
}

fn count(name: &'static str, change: i64) {
    let kind = match name {
        "vkCreateComputePipelines" => "Pipeline",
        _ => ["vkCreate", "vkDestroy", "vkAllocate", "vkFree"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .unwrap_or(name),
    };
    let mut alive = ALIVE.lock().expect("no panic");
    let number = alive.entry(kind).or_default();
    *number += change;
    assert!(*number >= 0, "{kind}: more are destroyed than were made");
    if *number == 0 {
        alive.remove(kind);
    }
}

/// Returns the number of calls of the functions below so far.
pub fn calls() -> u32 {
    CALLS.load(SeqCst)
}

/// Returns the number of submissions so far.
pub fn submissions() -> u32 {
    SUBMISSIONS.load(SeqCst)
}

/// Functions that report a device loss.
#[derive(Clone, Copy, PartialEq)]
pub enum Loss {
    None,
    Wait,
    Submission,
}

static LOSS: Mutex<Loss> = Mutex::new(Loss::None);

/// Simulates the loss of the device, reported by these functions from now on.
pub fn lose(by: Loss) {
    *LOSS.lock().expect("no panic") = by;
}

/// Returns `true` if this function reports a device loss. The device is then idle, with all its
/// commands complete.
fn is_lost(name: &str, call: impl Fn() -> i32) -> bool {
    let is_lost = match (*LOSS.lock().expect("no panic"), name) {
        (Loss::Submission, "vkQueueSubmit") => return true,
        (Loss::Wait, "vkWaitForFences" | "vkGetFenceStatus") => true,
        _ => false,
    };
    while is_lost && call() != 0 {}
    is_lost
}

/// Returns `true` if this call must fail.
fn is_due() -> bool {
    let is_due = FAILS_IN.load(SeqCst) != 0 && FAILS_IN.fetch_sub(1, SeqCst) == 1;
    if is_due {
        FAILED.fetch_add(1, SeqCst);
    }
    is_due
}

fn around(name: &'static str, effect: Effect, real: usize, words: [usize; 10]) -> i32 {
    CALLS.fetch_add(1, SeqCst);
    if matches!(effect, Creates | Fails) && is_due() {
        return STATUS.load(SeqCst);
    }
    let call = || {
        // SAFETY: the address is that of the driver function with this name; the module comment
        // explains the words.
        allocations::in_driver(|| unsafe {
            let function = core::mem::transmute::<usize, Function>(real);
            let [a, b, c, d, e, f, g, h, i, j] = words;
            function(a, b, c, d, e, f, g, h, i, j)
        })
    };
    if is_lost(name, call) {
        return vk::Result::ERROR_DEVICE_LOST.as_raw();
    }
    let status = call();
    if name == "vkQueueSubmit" {
        SUBMISSIONS.fetch_add(1, SeqCst);
    }
    match effect {
        Creates if status == 0 => count(name, 1),
        Destroys(index) if words[index] != 0 => count(name, -1),
        _ => {}
    }
    changed_answer(name, status, words)
}

macro_rules! wrappers {
    ($($name:ident $effect:expr;)*) => {
        /// Returns the wrapper of a function, which calls the driver's function at the address
        /// `real`; `None` if it has no wrapper.
        fn wrapper(name: &[u8], real: usize) -> Option<usize> {
            $(if name == stringify!($name).as_bytes() {
                static REAL: AtomicUsize = AtomicUsize::new(0);
                unsafe extern "system" fn wrapped(
                    a: usize, b: usize, c: usize, d: usize, e: usize,
                    f: usize, g: usize, h: usize, i: usize, j: usize,
                ) -> i32 {
                    around(stringify!($name), $effect, REAL.load(SeqCst), [a, b, c, d, e, f, g, h, i, j])
                }
                REAL.store(real, SeqCst);
                return Some(wrapped as Function as usize);
            })*
            None
        }
    };
}

wrappers! {
    vkCreateInstance Creates;
    vkEnumerateInstanceVersion Fails;
    vkDestroyInstance Destroys(0);
    vkEnumeratePhysicalDevices Fails;
    vkEnumerateDeviceExtensionProperties Fails;
    vkGetPhysicalDeviceProperties Nothing;
    vkCreateDevice Creates;
    vkDestroyDevice Destroys(0);
    vkQueueSubmit Fails;
    vkAllocateMemory Creates;
    vkFreeMemory Destroys(1);
    vkMapMemory Fails;
    vkCreateBuffer Creates;
    vkDestroyBuffer Destroys(1);
    vkGetBufferMemoryRequirements Nothing;
    vkBindBufferMemory Fails;
    vkCreateFence Creates;
    vkResetFences Fails;
    vkGetFenceStatus Nothing;
    vkWaitForFences Fails;
    vkCreateShaderModule Creates;
    vkDestroyShaderModule Destroys(1);
    vkCreateDescriptorSetLayout Creates;
    vkDestroyDescriptorSetLayout Destroys(1);
    vkCreatePipelineLayout Creates;
    vkDestroyPipelineLayout Destroys(1);
    vkCreateComputePipelines Creates;
    vkDestroyPipeline Destroys(1);
    vkCreateDescriptorPool Creates;
    vkDestroyDescriptorPool Destroys(1);
    vkAllocateDescriptorSets Fails;
    vkUpdateDescriptorSets Nothing;
    vkCreateCommandPool Creates;
    vkResetCommandPool Fails;
    vkAllocateCommandBuffers Fails;
    vkBeginCommandBuffer Fails;
    vkEndCommandBuffer Fails;
    vkCmdBindPipeline Nothing;
    vkCmdBindDescriptorSets Nothing;
    vkCmdPushConstants Nothing;
    vkCmdDispatch Nothing;
    vkCmdCopyBuffer Nothing;
    vkCmdPipelineBarrier Nothing;
    vkCreateDescriptorUpdateTemplate Creates;
    vkDestroyDescriptorUpdateTemplate Destroys(1);
    vkCmdPushDescriptorSetWithTemplateKHR Nothing;
}

/// Kind of driver that the wrapper simulates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// The driver, unchanged.
    Itself,
    /// A driver without push descriptors.
    Sets,
    /// Vulkan 1.0.
    Old,
    /// A driver that lacks a required function.
    Incomplete,
    /// Two adapters: a CPU whose name begins with A, and a discrete GPU whose name begins with B.
    Two,
}

static LOOK: AtomicU32 = AtomicU32::new(0);
const LOOKS: [Look; 5] = [Look::Itself, Look::Sets, Look::Old, Look::Incomplete, Look::Two];

fn look() -> Look {
    LOOKS[LOOK.load(SeqCst) as usize]
}

/// Changes the driver's results to those of the simulated kind.
fn changed_answer(name: &str, status: i32, words: [usize; 10]) -> i32 {
    match (name, look()) {
        ("vkEnumerateDeviceExtensionProperties", Look::Sets) if words[3] != 0 => {
            // SAFETY: the driver has written that many records.
            let found = unsafe {
                let count = *core::ptr::with_exposed_provenance::<u32>(words[2]);
                let first =
                    core::ptr::with_exposed_provenance_mut::<vk::ExtensionProperties>(words[3]);
                core::slice::from_raw_parts_mut(first, count as usize)
            };
            for each in found {
                if each.extension_name_as_c_str() == Ok(ash::khr::push_descriptor::NAME) {
                    each.extension_name[0] = b'x' as c_char;
                }
            }
        }
        ("vkGetPhysicalDeviceProperties", Look::Old) => {
            // SAFETY: the driver has filled the record.
            unsafe {
                let record = core::ptr::with_exposed_provenance_mut::<vk::PhysicalDeviceProperties>(
                    words[1],
                );
                (*record).api_version = vk::API_VERSION_1_0;
            }
        }
        ("vkEnumeratePhysicalDevices", Look::Two) => {
            // SAFETY: the driver has written the first record, and the list has two elements, since
            // two were announced.
            unsafe {
                *core::ptr::with_exposed_provenance_mut::<u32>(words[1]) = 2;
                let first = core::ptr::with_exposed_provenance_mut::<vk::PhysicalDevice>(words[2]);
                if !first.is_null() {
                    first.add(1).write(first.read());
                }
            }
        }
        ("vkGetPhysicalDeviceProperties", Look::Two) => {
            static ASKED: AtomicU32 = AtomicU32::new(0);
            let is_second = ASKED.fetch_add(1, SeqCst) == 1;
            // SAFETY: the driver has filled the record.
            unsafe {
                let record = core::ptr::with_exposed_provenance_mut::<vk::PhysicalDeviceProperties>(
                    words[1],
                );
                (*record).device_name[0] = if is_second { b'B' } else { b'A' } as c_char;
                if is_second {
                    (*record).device_type = vk::PhysicalDeviceType::DISCRETE_GPU;
                }
            }
        }
        _ => {}
    }
    status
}

fn is_hidden(name: &[u8]) -> bool {
    match look() {
        Look::Old => {
            name == b"vkEnumerateInstanceVersion"
                || name.ends_with(b"2")
                || name.ends_with(b"UpdateTemplate")
        }
        Look::Incomplete => name == b"vkCmdDispatch",
        _ => false,
    }
}

static LOADER: AtomicUsize = AtomicUsize::new(0);
static DEVICE_LOADER: AtomicUsize = AtomicUsize::new(0);

fn wrap(name: &CStr, real: vk::PFN_vkVoidFunction) -> vk::PFN_vkVoidFunction {
    if is_hidden(name.to_bytes()) {
        return None;
    }
    let real = real? as usize;
    let found = match name.to_bytes() {
        b"vkGetDeviceProcAddr" => {
            DEVICE_LOADER.store(real, SeqCst);
            device_function as vk::PFN_vkGetDeviceProcAddr as usize
        }
        name => wrapper(name, real).unwrap_or(real),
    };
    // SAFETY: the address of a function is not null.
    unsafe { core::mem::transmute(found) }
}

unsafe extern "system" fn function(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the address is that of this function; the name ends in a NUL.
    unsafe {
        let real: vk::PFN_vkGetInstanceProcAddr = core::mem::transmute(LOADER.load(SeqCst));
        wrap(CStr::from_ptr(name), real(instance, name))
    }
}

unsafe extern "system" fn device_function(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: as in `function`.
    unsafe {
        let real: vk::PFN_vkGetDeviceProcAddr = core::mem::transmute(DEVICE_LOADER.load(SeqCst));
        wrap(CStr::from_ptr(name), real(device, name))
    }
}

/// Installs the wrapper between the library and the driver.
pub fn install(look: Look) {
    let library = DriverLibrary::open(&[c"libvulkan.so.1"]).expect("apt-get install libvulkan1");
    let real: *mut c_void = library.function(c"vkGetInstanceProcAddr").expect("a loader").as_ptr();
    LOADER.store(real.expose_provenance(), SeqCst);
    LOOK.store(LOOKS.iter().position(|each| *each == look).expect("a look") as u32, SeqCst);
    // SAFETY: the function wraps that of the loader.
    unsafe { ferrite_gpu::vulkan::use_loader(function) };
}
