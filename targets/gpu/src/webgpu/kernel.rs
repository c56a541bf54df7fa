//! WebGPU kernels: a compute pipeline, and launches.

use std::borrow::Cow;

use ferrite_core::error::{Error, Result, kind};
use ferrite_core::plain_error;

use super::binding::{Arguments, Bindings};
use super::device::Device;
use crate::forks;
use crate::launch::{Launch, webgpu_grid};

/// A kernel loaded on one device.
pub struct Kernel {
    device: &'static Device,
    pipeline: wgpu::ComputePipeline,
    arguments: Arguments,
    bindings: Bindings,
}

/// Source of a kernel, with its name and its buffer accesses.
pub(super) struct KernelSource<'a> {
    pub(super) name: &'a [u8],
    pub(super) wgsl: &'a [u8],
    /// For each buffer, whether the kernel writes it.
    pub(super) is_written: &'a [bool],
    pub(super) scalar_count: usize,
}

impl Kernel {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// InternalError with the compiler's message; RuntimeError if the device is lost; MemoryError.
    pub(super) fn compile(device: &'static Device, source: &KernelSource<'_>) -> Result<Kernel> {
        let arguments = Arguments::new(device, source.is_written, source.scalar_count)
            .map_err(|error| build_error(device, source, error))?;
        let pipeline = compile(device, source, arguments.layout())
            .map_err(|error| build_error(device, source, error))?;
        Ok(Kernel { device, pipeline, arguments, bindings: Bindings::new() })
    }

    /// Queues a launch.
    ///
    /// # Errors
    /// ValueError for arguments that cannot be bound and for grids that are too large; errors of
    /// the driver.
    pub(super) fn launch(&self, launch: &Launch<'_>) -> Result<()> {
        forks::check()?;
        let [x, y, z] = webgpu_grid::split(launch.sizes.grid())?;
        let taken = self.bindings.take(&self.arguments, self.device, launch)?;
        let Device { device, queue, reports, .. } = self.device;
        let queued = reports.of(|| {
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, taken.group(), &[]);
            pass.dispatch_workgroups(x, y, z);
            drop(pass);
            queue.submit([encoder.finish()]);
        });
        if queued.is_err() {
            taken.discard();
        }
        queued
    }
}

fn compile(
    device: &Device,
    source: &KernelSource<'_>,
    layout: &wgpu::BindGroupLayout,
) -> Result<wgpu::ComputePipeline> {
    let (name, wgsl) = (text(source.name)?, text(source.wgsl)?);
    // The first error concerns the shader, with line numbers; subsequent errors are dropped.
    let Device { device, reports, .. } = device;
    reports.of(|| {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(wgsl)),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(name),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    })
}

fn text(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| plain_error!(INTERNAL_ERROR, "the text is not UTF-8"))
}

/// Returns the error for a kernel that does not compile. Returns errors unrelated to the kernel
/// unchanged.
#[cold]
fn build_error(device: &Device, source: &KernelSource<'_>, error: Error) -> Error {
    if error.kind_bytes() != kind::INTERNAL_ERROR.as_bytes() {
        return error;
    }
    plain_error!(
        INTERNAL_ERROR,
        "WebGPU build error for device={}, kernel {}\n{}",
        device.name(),
        source.name,
        error.message_bytes()
    )
}
