//! Launch plans: the parameters and launch tags of a kernel, parsed once.

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, plain_bail, plain_ensure, plain_error};

use super::{Parameter, Tag, WorkSizes};

/// Maximum number of kernel parameters: as many 8-byte values as fit into CUDA's limit of 4 KiB.
pub const MAX_PARAMETERS: usize = 512;

/// Parameter values of a launch, stored on the stack of the launching thread. Elements beyond the
/// length stay uninitialised.
pub type Values = heapless::Vec<u64, MAX_PARAMETERS>;

/// Number of axes that launch tags can name.
const MAX_AXES: usize = 12;

/// Plan for interpreting a kernel's packed arguments: first the parameters, then one number for
/// each tagged axis, then the bytes of dynamic shared memory.
#[derive(Debug)]
pub struct LaunchPlan {
    parameters: Buffer<Parameter>,
    axes: heapless::Vec<u8, MAX_AXES>,
    /// Number of work dimensions: the highest axis of grid and block, plus one.
    work_dimensions: u32,
    has_dynamic_shared: bool,
    /// Whether the kernel may begin before the previous kernel ends (programmatic dependent
    /// launch).
    pub is_programmatic: bool,
    /// Whether all blocks must run concurrently (cooperative launch).
    pub is_cooperative: bool,
}

impl LaunchPlan {
    /// Parses the parameter types, their extra tags, and the launch tags of a kernel.
    ///
    /// # Errors
    /// InternalError for an unsupported parameter type, more than [`MAX_PARAMETERS`] parameters, an
    /// unknown tag, a repeated axis, and a tag after the one for dynamic shared memory;
    /// MemoryError.
    pub fn new<'a>(
        types: &[DLDataType],
        extra_tags: &[i32],
        tags: impl Iterator<Item = &'a [u8]>,
    ) -> Result<LaunchPlan> {
        plain_ensure!(
            types.len() <= MAX_PARAMETERS,
            INTERNAL_ERROR,
            "A kernel has {} parameters, more than {}",
            types.len(),
            MAX_PARAMETERS
        );
        let mut parameters = Buffer::try_with_capacity(types.len())?;
        for (index, dtype) in types.iter().enumerate() {
            parameters
                .try_push(Parameter::new(*dtype, extra_tags.get(index).copied().unwrap_or(0))?)?;
        }
        let mut plan = LaunchPlan {
            parameters,
            axes: heapless::Vec::new(),
            work_dimensions: 1,
            has_dynamic_shared: false,
            is_programmatic: false,
            is_cooperative: false,
        };
        for tag in tags {
            plan.add(tag)?;
        }
        Ok(plan)
    }

    fn add(&mut self, tag: &[u8]) -> Result<()> {
        plain_ensure!(
            !self.has_dynamic_shared,
            INTERNAL_ERROR,
            "The launch tag tirx.use_dyn_shared_memory must be the last, but {} follows",
            tag
        );
        match Tag::parse(tag)? {
            Tag::Axis(axis) if self.axes.contains(&axis) => {
                plain_bail!(INTERNAL_ERROR, "The launch tag {} comes twice", tag)
            }
            Tag::Axis(axis) => {
                // The capacity suffices, since no axis is there twice.
                let _ = self.axes.push(axis);
                if axis < 6 {
                    self.work_dimensions = self.work_dimensions.max(u32::from(axis) % 3 + 1);
                }
            }
            Tag::DynamicSharedMemory => self.has_dynamic_shared = true,
            Tag::ProgrammaticLaunch => self.is_programmatic = true,
            Tag::CooperativeLaunch => self.is_cooperative = true,
            Tag::WriteAccess => {}
        }
        Ok(())
    }

    /// Returns the parameters of the kernel.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the number of work dimensions: the highest axis named by grid or block, plus one; at
    /// least 1.
    pub fn work_dimensions(&self) -> u32 {
        self.work_dimensions
    }

    /// Returns the number of packed arguments.
    pub fn argument_count(&self) -> usize {
        self.parameters.len() + self.axes.len() + usize::from(self.has_dynamic_shared)
    }

    /// Converts packed arguments for a launch on a device: stores the parameter values in `values`,
    /// and returns the work sizes. Allocates nothing.
    ///
    /// # Errors
    /// TypeError for a wrong number or type of arguments; ValueError for work sizes that are
    /// negative or exceed 32 bits, and for tensors on another device or with an offset.
    pub fn convert(
        &self,
        arguments: &[AnyView<'_>],
        device: DLDevice,
        values: &mut Values,
    ) -> Result<WorkSizes> {
        if arguments.len() != self.argument_count() {
            return Err(self.wrong_count(arguments.len()));
        }
        let (given, work) = arguments.split_at(self.parameters.len());
        for (index, (parameter, argument)) in self.parameters.iter().zip(given).enumerate() {
            // The capacity suffices for the parameters of every plan.
            let _ = values.push(parameter.value(argument, index, device)?);
        }
        let mut sizes = WorkSizes::ONE;
        for (axis, argument) in self.axes.iter().zip(work) {
            sizes.set(*axis, work_size(argument)?);
        }
        if self.has_dynamic_shared
            && let Some(argument) = work.last()
        {
            sizes.dynamic_shared_bytes = work_size(argument)?;
        }
        Ok(sizes)
    }

    #[cold]
    fn wrong_count(&self, count: usize) -> Error {
        plain_error!(
            TYPE_ERROR,
            "A kernel with {} parameters and {} launch sizes takes {} arguments, but got {}",
            self.parameters.len(),
            self.argument_count() - self.parameters.len(),
            self.argument_count(),
            count
        )
    }
}

/// Converts a packed argument to a work size.
fn work_size(argument: &AnyView<'_>) -> Result<u32> {
    if argument.type_index() == type_index::INT
        && let Ok(size) = u32::try_from(argument.payload_bits())
    {
        return Ok(size);
    }
    Err(bad_work_size(argument))
}

#[cold]
fn bad_work_size(argument: &AnyView<'_>) -> Error {
    match argument.get::<i64>() {
        Ok(size) => {
            plain_error!(VALUE_ERROR, "A launch size is {}, which is not in 0 to 4294967295", &size)
        }
        Err(error) => error,
    }
}

/// A launch, as passed to a driver.
pub struct Launch<'a> {
    /// Parameters and properties of the kernel.
    pub plan: &'a LaunchPlan,
    /// Value of each parameter. A 4-byte value is in the low half.
    pub values: &'a [u64],
    /// Grid, block and cluster sizes, and dynamic shared memory.
    pub sizes: &'a WorkSizes,
}

impl Launch<'_> {
    /// Returns the parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (Parameter, &u64)> {
        self.plan.parameters().iter().copied().zip(self.values)
    }
}

#[cfg(test)]
mod tests;
