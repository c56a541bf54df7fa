//! Metal kernels, as compute pipelines.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use dispatch2::DispatchData;
use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBuffer, MTLComputeCommandEncoder, MTLComputePipelineState, MTLDevice, MTLLibrary, MTLSize,
};

use super::super::code::Code;
use super::device::Device;
use super::failure::description;
use super::stream;
use crate::launch::{Dimensions, Launch};

/// A kernel loaded on one device.
pub struct Kernel {
    device: &'static Device,
    pipeline: Retained<ProtocolObject<dyn MTLComputePipelineState>>,
    max_threads: usize,
}

impl Device {
    /// Compiles or loads a kernel.
    ///
    /// # Errors
    /// Same errors as [`Kernel::load`].
    pub(in super::super) fn load(&'static self, name: &[u8], code: Code<'_>) -> Result<Kernel> {
        Kernel::load(self, name, code)
    }
}

impl Kernel {
    /// Compiles or loads a kernel.
    ///
    /// # Errors
    /// InternalError with the compiler's log, or if the library does not contain the kernel.
    pub(super) fn load(device: &'static Device, name: &[u8], code: Code<'_>) -> Result<Kernel> {
        autoreleasepool(|_| {
            let metal = device.metal();
            let library = match code {
                Code::Source(source) => {
                    metal.newLibraryWithSource_options_error(&NSString::from_str(source), None)
                }
                Code::Library(bytes) => {
                    metal.newLibraryWithData_error(&DispatchData::from_bytes(bytes))
                }
            };
            let library = match library {
                Ok(library) => library,
                Err(error) => plain_bail!(
                    INTERNAL_ERROR,
                    "Fail to compile metal source:{}",
                    description(&error)?.as_bytes()
                ),
            };
            let text = core::str::from_utf8(name).unwrap_or_default();
            let Some(function) = library.newFunctionWithName(&NSString::from_str(text)) else {
                plain_bail!(INTERNAL_ERROR, "cannot find function {}", name);
            };
            match metal.newComputePipelineStateWithFunction_error(&function) {
                Ok(pipeline) => {
                    let max_threads = pipeline.maxTotalThreadsPerThreadgroup();
                    Ok(Kernel { device, pipeline, max_threads })
                }
                Err(error) => plain_bail!(
                    INTERNAL_ERROR,
                    "cannot create state: for function {} {}",
                    name,
                    description(&error)?.as_bytes()
                ),
            }
        })
    }

    /// Returns the maximum number of threads in a block.
    pub(in super::super) fn max_threads(&self) -> usize {
        self.max_threads
    }

    /// Returns the number of threads in a warp.
    pub(super) fn warp_size(&self) -> usize {
        self.pipeline.threadExecutionWidth()
    }

    /// Queues a launch. Does nothing if an earlier command of the stream failed and the failure was
    /// not reported yet.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// Handles must be buffers of this device or null; `stream` must be null or belong to the
    /// device.
    pub(in super::super) unsafe fn launch(
        &self,
        stream: *mut c_void,
        launch: &Launch<'_>,
        slots: &[u8],
    ) -> Result<()> {
        // SAFETY: the caller guarantees the stream.
        let stream = unsafe { self.device.stream(stream) };
        if stream.has_failed() {
            return Ok(());
        }
        autoreleasepool(|_| {
            let commands = stream.commands()?;
            stream::encode(&commands, |encoder| {
                encoder.setComputePipelineState(&self.pipeline);
                // SAFETY: the caller guarantees the buffers, which the command buffer retains; the
                // framework copies the scalars.
                unsafe { set_arguments(encoder, launch, slots) };
                encoder.dispatchThreadgroups_threadsPerThreadgroup(
                    size(launch.sizes.grid()),
                    size(launch.sizes.block()),
                );
            })?;
            stream.commit(&commands);
            Ok(())
        })
    }
}

/// Binds the buffers at indices from 0, and the scalars at the index after the buffers.
///
/// # Safety
/// Handles must be buffers or null.
unsafe fn set_arguments(
    encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>,
    launch: &Launch<'_>,
    slots: &[u8],
) {
    let handles = launch.parameters().filter(|(parameter, _)| parameter.is_handle());
    let mut index = 0;
    for (_, value) in handles {
        let buffer = ptr::with_exposed_provenance::<ProtocolObject<dyn MTLBuffer>>(*value as usize);
        // SAFETY: the caller guarantees the buffers, whose number was checked.
        unsafe { encoder.setBuffer_offset_atIndex(buffer.as_ref(), 0, index) };
        index += 1;
    }
    if !slots.is_empty() {
        // SAFETY: `slots` has this length, at most 4096.
        unsafe { encoder.setBytes_length_atIndex(NonNull::from(slots).cast(), slots.len(), index) };
    }
}

fn size([width, height, depth]: Dimensions) -> MTLSize {
    MTLSize { width: width as usize, height: height as usize, depth: depth as usize }
}
