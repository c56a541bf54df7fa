//! Streams: commands run in order, but only when a caller waits for them. So a library that forgets
//! to wait or to order two streams reads garbage.

use std::collections::VecDeque;

use crate::kernels::{Kernel, MAX_PARAMETERS};

/// Source or destination of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Main memory.
    Host(*mut u8),
    /// A device address.
    Device(u64),
}

// SAFETY: the code that queues a copy guarantees the memory until it is complete, on any thread.
unsafe impl Send for Place {}

/// Work sizes and attributes of a launch.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// Cluster extents; zeros without the attribute.
    pub cluster: [u32; 3],
    /// Preferred cluster extents; zeros without the attribute.
    pub preferred_cluster: [u32; 3],
    pub is_programmatic: u32,
    pub is_cooperative: u32,
}

impl Geometry {
    /// Returns the number of threads in a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|extent| u64::from(*extent)).product()
    }
}

/// A position in a stream: all commands up to a ticket.
#[derive(Clone, Copy)]
pub struct Position {
    pub stream: u64,
    pub ticket: u64,
}

#[derive(Clone, Copy)]
pub enum Work {
    Launch {
        kernel: &'static Kernel,
        module: u64,
        geometry: Geometry,
        arguments: [u64; MAX_PARAMETERS],
    },
    Copy {
        from: Place,
        to: Place,
        bytes: u64,
    },
    /// Calculates a product of matrices.
    #[cfg(feature = "cuda")]
    Product(crate::product::Product),
    /// Frees a block of a pool.
    Free(u64),
    /// No operation, only dependencies.
    Marker,
}

pub struct Command {
    pub ticket: u64,
    /// Dependencies, which must complete first.
    pub after: Vec<Position>,
    pub work: Work,
}

pub struct Stream {
    pub context: u64,
    /// Whether the stream and the default stream wait for each other.
    pub is_blocking: bool,
    /// Whether the stream exists. Commands of a destroyed stream still run.
    pub is_alive: bool,
    pub queue: VecDeque<Command>,
    pub last_ticket: u64,
    /// Commands that are recorded instead of queued; `None` unless the stream is being recorded.
    pub recording: Option<Recording>,
}

/// A recording in progress.
#[derive(Default)]
pub struct Recording {
    pub work: Vec<Work>,
    /// Whether a call was made that cannot be recorded.
    pub is_spoiled: bool,
}

impl Stream {
    pub fn new(context: u64, is_blocking: bool) -> Stream {
        let queue = VecDeque::with_capacity(64);
        Stream { context, is_blocking, is_alive: true, queue, last_ticket: 0, recording: None }
    }
}
