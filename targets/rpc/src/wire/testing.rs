//! A stream in memory, and packets as bytes, for tests.

use std::vec::Vec;

use super::{Closed, Stream};

/// A stream that reads from one vector and writes to another.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) input: Vec<u8>,
    pub(crate) at: usize,
    pub(crate) output: Vec<u8>,
    /// Number of calls of `flush`.
    pub(crate) flushes: usize,
}

impl Memory {
    pub(crate) fn new(input: &[u8]) -> Memory {
        Memory { input: input.to_vec(), ..Memory::default() }
    }
}

impl Stream for Memory {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let end = self.at + target.len();
        target.copy_from_slice(self.input.get(self.at..end).ok_or(Closed)?);
        self.at = end;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Closed> {
        self.flushes += 1;
        Ok(())
    }
}
