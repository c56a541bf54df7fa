//! CUDA kernels and their launches.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure, plain_error};

use super::api::{self, Api, Handle, LaunchAttribute, LaunchConfig, Status};
use super::failure;
use super::module::Module;
use super::stream;
use crate::allocation::UsedStreams;
use crate::launch::{Dimensions, Launch, MAX_PARAMETERS, Parameter};
use crate::payload;

/// Bytes of dynamic shared memory that a kernel may use without opting in to more.
const SHARED_BYTES: u32 = 48 << 10;

/// Maximum portable cluster size, in thread blocks. Larger clusters need the non-portable
/// attribute.
const CLUSTER_BLOCKS: u64 = 8;

/// Size of a TMA descriptor in bytes.
const TENSOR_MAP_BYTES: usize = 128;
/// Alignment of a TMA descriptor in bytes.
const TENSOR_MAP_ALIGNMENT: usize = 64;

/// A kernel loaded on one device.
pub struct Kernel {
    api: &'static Api,
    /// Streams of the device.
    streams: &'static UsedStreams,
    function: Handle,
    /// Name, with its terminating NUL.
    name: Buffer<u8>,
    /// Bytes of dynamic shared memory allowed so far.
    allowed_shared_bytes: AtomicU32,
    allows_large_clusters: AtomicBool,
    /// Held while a larger limit is requested from the driver.
    asking: Mutex<()>,
}

// SAFETY: the driver's functions accept a kernel on any thread.
unsafe impl Send for Kernel {}
// SAFETY: as for Send.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Looks up a kernel in its module, and compares its parameters with the payload's.
    ///
    /// # Errors
    /// CUDAError if the module does not have the kernel; InternalError if its parameters differ;
    /// MemoryError.
    pub(super) fn new(module: &Module, name: &[u8], described: &payload::Kernel) -> Result<Kernel> {
        plain_ensure!(
            !name.contains(&0),
            INTERNAL_ERROR,
            "The name of a kernel has a NUL byte: {}",
            name
        );
        let mut terminated = Buffer::try_with_capacity(name.len() + 1)?;
        terminated.try_extend_from_slice(name)?;
        terminated.try_push(0)?;
        let kernel = Kernel {
            api: module.device().api,
            streams: &module.device().pool.streams,
            function: module.find(&terminated)?,
            name: terminated,
            allowed_shared_bytes: AtomicU32::new(SHARED_BYTES),
            allows_large_clusters: AtomicBool::new(false),
            asking: Mutex::new(()),
        };
        kernel.check_parameters(described)?;
        Ok(kernel)
    }

    /// Returns the name.
    fn name(&self) -> &[u8] {
        self.name.strip_suffix(b"\0").unwrap_or_default()
    }

    /// Compares the compiled kernel's parameters with the payload's, since the driver reads as many
    /// as the kernel declares. Drivers before 550 cannot report them, so nothing is compared there.
    fn check_parameters(&self, described: &payload::Kernel) -> Result<()> {
        let Some(parameter_info) = self.api.cuFuncGetParamInfo else { return Ok(()) };
        let count = described.parameters.len();
        for index in 0..=count {
            let (mut offset, mut bytes) = (0, 0);
            // SAFETY: the driver writes the numbers.
            let status = unsafe { parameter_info(self.function, index, &mut offset, &mut bytes) };
            let expected = described.parameters.get(index).map(|dtype| {
                let extra_tag = described.extra_tags.get(index).copied().unwrap_or(0);
                Parameter::new(*dtype, extra_tag).map(parameter_bytes)
            });
            match (expected.transpose()?, status) {
                (None, api::INVALID_VALUE) => return Ok(()),
                (Some(expected), api::SUCCESS) if expected == bytes => {}
                (_, api::SUCCESS | api::INVALID_VALUE) => plain_bail!(
                    INTERNAL_ERROR,
                    "The kernel {} does not have the {} parameters that its module tells: #{} is another",
                    self.name(),
                    count,
                    index
                ),
                (_, status) => failure::check_made(self.api, "cuFuncGetParamInfo", status)?,
            }
        }
        Ok(())
    }

    /// Queues a launch on this thread's stream.
    ///
    /// # Errors
    /// Errors of the driver; ValueError for a TMA descriptor that is null or not aligned.
    ///
    /// # Safety
    /// The values must have the kernel's parameter types, and the context of `device` must be
    /// current.
    #[inline]
    pub(super) unsafe fn launch(&self, device: i32, launch: &Launch<'_>) -> Result<()> {
        let mut parameters = heapless::Vec::<*const c_void, MAX_PARAMETERS>::new();
        for (parameter, value) in launch.parameters() {
            // The capacity suffices for the parameters of every plan.
            let _ = parameters.push(match parameter {
                Parameter::TensorMap => tensor_map(*value)?,
                _ => ptr::from_ref(value).cast(),
            });
        }
        let sizes = launch.sizes;
        if sizes.dynamic_shared_bytes > self.allowed_shared_bytes.load(Ordering::Acquire) {
            self.allow_shared_bytes(sizes.dynamic_shared_bytes)?;
        }
        let mut attributes = Attributes::new();
        if launch.plan.is_programmatic {
            add_attribute(&mut attributes, api::PROGRAMMATIC_STREAM_SERIALIZATION, [1, 0, 0]);
        }
        if launch.plan.is_cooperative {
            add_attribute(&mut attributes, api::COOPERATIVE, [1, 0, 0]);
        }
        if (sizes.cluster(), sizes.preferred_cluster()) != ([1; 3], [1; 3]) {
            self.add_clusters(launch, &mut attributes)?;
        }
        let stream = stream::current(device);
        self.streams.note(stream);
        let config = LaunchConfig {
            grid: sizes.grid(),
            block: sizes.block(),
            dynamic_shared_bytes: sizes.dynamic_shared_bytes,
            stream,
            attributes: if attributes.is_empty() { ptr::null() } else { attributes.as_ptr() },
            attribute_count: attributes.len() as u32,
        };
        // SAFETY: the kernel has as many parameters as there are pointers; the caller guarantees
        // the values.
        let status = unsafe {
            (self.api.cuLaunchKernelEx)(&config, self.function, parameters.as_ptr(), ptr::null())
        };
        if failure::is_done(status) { Ok(()) } else { Err(self.launch_error(status, launch)) }
    }

    #[cold]
    fn launch_error(&self, status: Status, launch: &Launch<'_>) -> Error {
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) =
            (launch.sizes.grid(), launch.sizes.block());
        plain_error!(
            INTERNAL_ERROR,
            "CUDALaunch Error: {}\n grid=({},{},{}),  block=({},{},{}), {} bytes of dynamic shared memory\n kernel {}",
            failure::name(self.api, status),
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            launch.sizes.dynamic_shared_bytes,
            self.name()
        )
    }

    /// Raises the kernel's limit of dynamic shared memory to at least `bytes`.
    #[cold]
    fn allow_shared_bytes(&self, bytes: u32) -> Result<()> {
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have allowed more meanwhile.
        if bytes <= self.allowed_shared_bytes.load(Ordering::Acquire) {
            return Ok(());
        }
        let number = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: the kernel is loaded.
        let status = unsafe {
            (self.api.cuFuncSetAttribute)(self.function, api::MAX_DYNAMIC_SHARED_SIZE_BYTES, number)
        };
        if status != api::SUCCESS {
            plain_bail!(
                INTERNAL_ERROR,
                "Failed to set the allowed dynamic shared memory size to {}: {}",
                bytes,
                failure::name(self.api, status)
            );
        }
        self.allowed_shared_bytes.store(bytes, Ordering::Release);
        Ok(())
    }

    /// Adds the launch attributes for clusters.
    #[cold]
    fn add_clusters(&self, launch: &Launch<'_>, attributes: &mut Attributes) -> Result<()> {
        let (cluster, preferred) = (launch.sizes.cluster(), launch.sizes.preferred_cluster());
        if block_count(cluster).max(block_count(preferred)) > CLUSTER_BLOCKS {
            self.allow_large_clusters()?;
        }
        if cluster != [1; 3] {
            add_attribute(attributes, api::CLUSTER_DIMENSION, cluster);
        }
        if preferred != [1; 3] {
            add_attribute(attributes, api::PREFERRED_CLUSTER_DIMENSION, preferred);
        }
        Ok(())
    }

    fn allow_large_clusters(&self) -> Result<()> {
        if self.allows_large_clusters.load(Ordering::Acquire) {
            return Ok(());
        }
        // SAFETY: the kernel is loaded. Racing threads set the same value.
        unsafe {
            failure::made!(
                self.api,
                cuFuncSetAttribute(self.function, api::NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
            )?;
        }
        self.allows_large_clusters.store(true, Ordering::Release);
        Ok(())
    }
}

/// Returns the number of blocks in a cluster.
fn block_count(cluster: Dimensions) -> u64 {
    cluster.iter().fold(1, |product, extent| u64::from(*extent).saturating_mul(product))
}

/// Returns the size in bytes that a parameter has in the kernel.
fn parameter_bytes(parameter: Parameter) -> usize {
    match parameter {
        Parameter::TensorMap => TENSOR_MAP_BYTES,
        _ => parameter.bytes(),
    }
}

/// Returns the address of a TMA descriptor, which is passed by value: the driver copies the 128
/// bytes at this address.
fn tensor_map(value: u64) -> Result<*const c_void> {
    let address = value as usize;
    plain_ensure!(
        address != 0 && address.is_multiple_of(TENSOR_MAP_ALIGNMENT),
        VALUE_ERROR,
        "A TMA descriptor must be aligned to {} bytes",
        TENSOR_MAP_ALIGNMENT
    );
    Ok(ptr::with_exposed_provenance(address))
}

/// Launch attributes, each of the four kinds at most once.
type Attributes = heapless::Vec<LaunchAttribute, 4>;

/// Adds an attribute. The capacity suffices, since each kind is added at most once.
fn add_attribute(attributes: &mut Attributes, id: i32, [x, y, z]: Dimensions) {
    let mut value = [0; 16];
    value[..3].copy_from_slice(&[x, y, z]);
    let _ = attributes.push(LaunchAttribute { id, padding: 0, value });
}
