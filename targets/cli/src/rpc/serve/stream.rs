//! The stream of a session, on two file descriptors: one system call to read a small packet, and
//! one to write it; the elements of tensors are read and written in place.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{ErrorKind, IoSlice, Read, Write};

use ferrite_rpc::server::Host;
use ferrite_rpc::wire::{Closed, Stream};

/// Size of both buffers. Longer pieces bypass them.
const BUFFER_BYTES: usize = 64 << 10;
/// Memory for arguments that is kept for the next request.
const KEPT_BYTES: usize = 1 << 20;

/// Stream of a session with memory for arguments.
pub struct SessionStream {
    input: File,
    output: File,
    /// Bytes that were read, from `start` to `end`.
    read: Box<[u8]>,
    start: usize,
    end: usize,
    written: Vec<u8>,
    memory: Vec<u64>,
    max_packet: usize,
}

impl SessionStream {
    /// Creates a stream.
    pub fn new(input: File, output: File, max_packet: u64) -> SessionStream {
        SessionStream {
            input,
            output,
            read: vec![0; BUFFER_BYTES].into(),
            start: 0,
            end: 0,
            written: Vec::with_capacity(BUFFER_BYTES),
            memory: Vec::new(),
            max_packet: usize::try_from(max_packet).unwrap_or(usize::MAX),
        }
    }

    /// Reads what is there, at least one byte, into an empty buffer.
    fn fill(&mut self) -> Result<(), Closed> {
        self.start = 0;
        self.end = read_some(&mut self.input, &mut self.read)?;
        Ok(())
    }

    /// Writes the buffer and then `bytes`.
    fn write_through(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        let (mut first, mut second) = (self.written.as_slice(), bytes);
        while !first.is_empty() || !second.is_empty() {
            // Most answers are one piece, for which the plain call is faster.
            let written = match second {
                [] => self.output.write(first),
                _ => self.output.write_vectored(&[IoSlice::new(first), IoSlice::new(second)]),
            };
            let count = match written {
                Ok(0) => return Err(Closed),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(Closed),
            };
            let of_first = count.min(first.len());
            first = &first[of_first..];
            second = &second[count - of_first..];
        }
        self.written.clear();
        Ok(())
    }
}

/// Reads at least one byte.
fn read_some(input: &mut File, target: &mut [u8]) -> Result<usize, Closed> {
    loop {
        match input.read(target) {
            Ok(0) => return Err(Closed),
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Closed),
        }
    }
}

impl Stream for SessionStream {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let mut rest = target;
        loop {
            let count = rest.len().min(self.end - self.start);
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            now.copy_from_slice(&self.read[self.start..self.start + count]);
            self.start += count;
            rest = later;
            match rest.len() {
                0 => return Ok(()),
                BUFFER_BYTES.. => {
                    let count = read_some(&mut self.input, rest)?;
                    rest = &mut rest[count..];
                }
                _ => self.fill()?,
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        if self.written.len() + bytes.len() > BUFFER_BYTES {
            return self.write_through(bytes);
        }
        self.written.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Closed> {
        self.write_through(&[])
    }
}

impl Host for SessionStream {
    type Memory = Vec<u64>;

    fn take_memory(&mut self, bytes: usize) -> Option<Vec<u64>> {
        if bytes > self.max_packet {
            return None;
        }
        let words = bytes.div_ceil(size_of::<u64>());
        let mut memory = std::mem::take(&mut self.memory);
        let missing = words.saturating_sub(memory.len());
        memory.try_reserve_exact(missing).ok()?;
        memory.resize(memory.len() + missing, 0);
        Some(memory)
    }

    fn return_memory(&mut self, memory: Vec<u64>) {
        if size_of_val(memory.as_slice()) <= KEPT_BYTES {
            self.memory = memory;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    fn pair(max_packet: u64) -> (SessionStream, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        let input = File::from(OwnedFd::from(one.try_clone().unwrap()));
        (SessionStream::new(input, OwnedFd::from(one).into(), max_packet), other)
    }

    #[test]
    fn pieces_of_all_sizes_arrive_in_order() {
        let (mut stream, peer) = pair(1);
        let echo = std::thread::spawn(move || {
            let (mut from, mut to) = (peer.try_clone().unwrap(), peer);
            std::io::copy(&mut from, &mut to).unwrap();
        });
        let sizes = [1, 8, 4, 100_000, 65_535, 65_536, 65_537, 3];
        let piece = |size: usize| (0..size).map(|at| (at * 7 + size) as u8).collect::<Vec<_>>();
        for size in sizes {
            stream.write(&piece(size)).unwrap();
            stream.flush().unwrap();
            let mut back = vec![0; size];
            let (head, tail) = back.split_at_mut(size / 2);
            stream.read(head).unwrap();
            stream.read(tail).unwrap();
            assert!(back == piece(size), "{size}");
        }
        stream
            .input
            .try_clone()
            .map(OwnedFd::from)
            .map(UnixStream::from)
            .unwrap()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
        echo.join().unwrap();
        assert_eq!(stream.read(&mut [0]), Err(Closed));
    }

    #[test]
    fn memory_has_a_limit_and_large_memory_is_not_kept() {
        let (mut stream, _peer) = pair(KEPT_BYTES as u64 * 4);
        let small = stream.take_memory(10).unwrap();
        assert_eq!(small.len(), 2);
        stream.return_memory(small);
        assert_eq!(stream.memory.len(), 2);
        let large = stream.take_memory(KEPT_BYTES * 4).unwrap();
        assert_eq!(large.len(), KEPT_BYTES / 2);
        stream.return_memory(large);
        assert!(stream.memory.is_empty() && stream.take_memory(KEPT_BYTES * 4 + 1).is_none());
    }
}
