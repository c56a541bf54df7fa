//! A WebGPU device with its queue.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::{Any, String, plain_bail};

use super::failure::Reports;
use super::staging::Staging;
use crate::workspace::Workspaces;

/// A WebGPU device. All commands go through its one queue, in order.
pub(super) struct Device {
    pub(super) id: i32,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) reports: Reports,
    pub(super) staging: Staging,
    pub(super) workspaces: Workspaces,
    info: wgpu::AdapterInfo,
}

/// Optional features that shaders may require.
const FEATURES: wgpu::Features = wgpu::Features::SHADER_F16.union(wgpu::Features::SUBGROUP);

impl Device {
    /// Opens the device of an adapter, with the adapter's limits and supported features.
    ///
    /// # Errors
    /// InternalError with the driver's message.
    pub(super) fn open(id: i32, adapter: &wgpu::Adapter) -> Result<Device> {
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            required_features: adapter.features() & FEATURES,
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        };
        let info = adapter.get_info();
        match now(adapter.request_device(&descriptor))? {
            Ok((device, queue)) => {
                let (reports, staging, workspaces) =
                    (Reports::watch(&device), Staging::new(), Workspaces::new());
                Ok(Device { id, device, queue, limits, reports, staging, workspaces, info })
            }
            Err(error) => {
                let reason = std::string::ToString::to_string(&error);
                plain_bail!(
                    INTERNAL_ERROR,
                    "Cannot open the WebGPU adapter {}: {}",
                    &*info.name,
                    &*reason
                )
            }
        }
    }

    /// Returns the name of the adapter.
    pub(super) fn name(&self) -> &str {
        &self.info.name
    }

    /// Waits for a submission, or for all submissions if it is `None`.
    ///
    /// # Errors
    /// RuntimeError if the device is lost; InternalError if the wait fails.
    pub(super) fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let wait = wgpu::PollType::Wait { submission_index: submission, timeout: None };
        match self.reports.of(|| self.device.poll(wait))? {
            Ok(_) => Ok(()),
            Err(_) => plain_bail!(INTERNAL_ERROR, "WebGPU Error: the queue was not waited for"),
        }
    }

    /// Returns the value of an attribute; `None` if WebGPU has no such attribute.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn attribute(&self, attribute: Attribute) -> Result<Any> {
        let limits = &self.limits;
        Ok(match attribute {
            Attribute::MaxThreadsPerBlock => {
                i64::from(limits.max_compute_invocations_per_workgroup).into()
            }
            Attribute::WarpSize => i64::from(self.info.subgroup_min_size).into(),
            Attribute::SharedMemoryPerBlock => {
                i64::from(limits.max_compute_workgroup_storage_size).into()
            }
            Attribute::DeviceName => String::new(&self.info.name)?.into(),
            Attribute::MaxThreadDimensions => String::format(format_args!(
                "[{}, {}, {}]",
                limits.max_compute_workgroup_size_x,
                limits.max_compute_workgroup_size_y,
                limits.max_compute_workgroup_size_z
            ))?
            .into(),
            Attribute::DriverVersion => String::new(&self.info.driver_info)?.into(),
            _ => Any::NONE,
        })
    }
}

/// Returns the output of a future. Outside browsers, wgpu completes its futures immediately.
///
/// # Errors
/// InternalError if it is pending.
pub(super) fn now<T>(future: impl Future<Output = T>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => {
            plain_bail!(INTERNAL_ERROR, "WebGPU Error: an answer of the driver is late")
        }
    }
}
