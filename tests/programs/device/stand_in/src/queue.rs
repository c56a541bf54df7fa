//! Streams: commands in order, which run when somebody waits for them and not before. So a library that does not wait reads
//! garbage, and one that does not order two streams reads it, too.

use std::collections::VecDeque;

use crate::kernels::{Kernel, MAX_PARAMETERS};

/// One side of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Host memory.
    Host(*mut u8),
    /// An address of a device.
    Device(u64),
}

// SAFETY: whoever queues a copy vouches for the memory until it is over, in any thread.
unsafe impl Send for Place {}

/// The sizes of a launch, and what attributes it has.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// Zeros without the attribute.
    pub cluster: [u32; 3],
    /// Zeros without the attribute.
    pub preferred_cluster: [u32; 3],
    pub is_programmatic: u32,
    pub is_cooperative: u32,
}

impl Geometry {
    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|extent| u64::from(*extent)).product()
    }
}

/// A position in a stream: everything up to a ticket.
#[derive(Clone, Copy)]
pub struct Position {
    pub stream: u64,
    pub ticket: u64,
}

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
    /// Only the commands that come before.
    Marker,
}

pub struct Command {
    pub ticket: u64,
    /// Positions that must be done before.
    pub after: Vec<Position>,
    pub work: Work,
}

pub struct Stream {
    pub context: u64,
    /// Whether it waits for the default stream, and the default stream for it.
    pub is_blocking: bool,
    /// Destroyed streams still end their work.
    pub is_alive: bool,
    pub queue: VecDeque<Command>,
    pub last_ticket: u64,
}

impl Stream {
    pub fn new(context: u64, is_blocking: bool) -> Stream {
        let queue = VecDeque::with_capacity(64);
        Stream { context, is_blocking, is_alive: true, queue, last_ticket: 0 }
    }
}
