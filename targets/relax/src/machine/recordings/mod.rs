//! Recorded parts of a model: functions whose commands the device repeats in one call, and the
//! storages that these use.

use ferrite_alloc_ext::containers::Array;
use ferrite_alloc_ext::device::{Device, Graph};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Shape};

use super::{Machine, with_views};

/// A part of a model, by its number among the parts and the symbolic values that its commands
/// depend on.
pub(crate) struct Part {
    pub number: i64,
    pub values: Option<Shape>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        let (here, there) = (self.values.as_ref(), other.values.as_ref());
        self.number == other.number && here.map(Shape::as_slice) == there.map(Shape::as_slice)
    }
}

struct Recorded {
    part: Part,
    result: Any,
    /// `None` if the commands cannot be recorded, for instance copies from main memory: the part is
    /// called each time.
    graph: Option<Graph>,
    /// Memory that the commands use.
    _arguments: Array<Any>,
}

/// Parts and storages that a machine recorded.
#[derive(Default)]
pub(super) struct Recordings {
    parts: Buffer<Recorded>,
    /// Storages, by the number of the function that allocated them.
    storages: Buffer<(i64, Any)>,
}

impl Machine {
    /// Calls a part of the model. The first call on a device with graphs runs it and records its
    /// commands; later ones queue these, and return the same result. Its arguments are the same
    /// each time.
    ///
    /// # Errors
    /// Errors of the part and of the driver; MemoryError.
    pub(crate) fn record_or_repeat(
        &self,
        callee: &AnyView<'_>,
        arguments: Array<Any>,
        part: Part,
    ) -> Result<Any> {
        let call = || with_views(arguments.as_slice(), |views| self.invoke(callee, views));
        let device = Device::from(self.allocator(0)?.device());
        if !Graph::is_supported(device)? {
            return call();
        }
        let entry = self.enter()?;
        if let Some(found) =
            entry.state().recordings.parts.iter().find(|recorded| recorded.part == part)
        {
            let Some(graph) = &found.graph else { return call() };
            // SAFETY: the arguments and the result own the memory, workspaces are reserved for the
            // graph, and no command uses main memory, which would not be borrowed. The machine is
            // entered, by one thread.
            unsafe { graph.launch()? };
            return Ok(found.result.clone());
        }
        if Graph::is_recording(device)? {
            return call(); // The commands belong into that recording.
        }
        let (result, graph) = Graph::record_device_only(device, call)?;
        let recorded =
            Recorded { part, result: result.clone(), graph: graph.ok(), _arguments: arguments };
        entry.state().recordings.parts.try_push(recorded)?;
        Ok(result)
    }

    /// Calls a function that allocates the storages of recorded parts, once on a device with
    /// graphs.
    ///
    /// # Errors
    /// Errors of the function; MemoryError.
    pub(crate) fn allocate_once(&self, callee: &AnyView<'_>, number: i64) -> Result<Any> {
        if !Graph::is_supported(Device::from(self.allocator(0)?.device()))? {
            return self.invoke(callee, &[]);
        }
        let entry = self.enter()?;
        if let Some((_, storages)) =
            entry.state().recordings.storages.iter().find(|(known, _)| *known == number)
        {
            return Ok(storages.clone());
        }
        let storages = self.invoke(callee, &[])?;
        entry.state().recordings.storages.try_push((number, storages.clone()))?;
        Ok(storages)
    }
}
