//! Frames on a serial line: FLAG, kind, number, payload, CRC-32, FLAG. FLAG and ESCAPE within are
//! sent as ESCAPE and the byte with bit 5 changed, as in RFC 1662.
#![forbid(unsafe_code)]

const FLAG: u8 = 0x7E;
const ESCAPE: u8 = 0x7D;
const CHANGED: u8 = 0x20;

/// Bytes of kind, number and checksum.
const OVERHEAD: usize = 6;

/// Maximum bytes of a payload: `kFerriteRpcLinkPayload`.
pub const MAX_PAYLOAD: usize = 128;

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Bytes of the stream, numbered.
    Data = 1,
    /// The number of the frame that is expected next: all before it have arrived.
    Next = 2,
    /// Begins a session, which the payload names, and the answer to it.
    Restart = 3,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    pub number: u8,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Returns the bytes of the frame on the line.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![self.kind as u8, self.number];
        body.extend_from_slice(&self.payload);
        let checksum = crc32fast::hash(&body);
        body.extend_from_slice(&checksum.to_le_bytes());
        let mut out = Vec::with_capacity(2 * body.len() + 2);
        out.push(FLAG);
        for byte in body {
            match byte {
                FLAG | ESCAPE => out.extend([ESCAPE, byte ^ CHANGED]),
                _ => out.push(byte),
            }
        }
        out.push(FLAG);
        out
    }

    /// Reads what is between two flags. Returns `None` for anything but an intact frame.
    fn parse(body: &[u8]) -> Option<Frame> {
        let (content, checksum) = body.split_last_chunk::<4>()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let ([kind, number], payload) = content.split_first_chunk()?;
        let kind = [FrameKind::Data, FrameKind::Next, FrameKind::Restart]
            .into_iter()
            .find(|known| *known as u8 == *kind)?;
        Some(Frame { kind, number: *number, payload: payload.to_vec() })
    }
}

/// Finds frames among the bytes of a line.
#[derive(Default)]
pub struct FrameDecoder {
    body: Vec<u8>,
    is_escaped: bool,
    is_too_long: bool,
}

impl FrameDecoder {
    /// Takes a byte. Returns the frame that it ends.
    pub fn push(&mut self, byte: u8) -> Option<Frame> {
        match byte {
            FLAG => {
                let decoder = std::mem::take(self);
                return if decoder.is_too_long { None } else { Frame::parse(&decoder.body) };
            }
            ESCAPE => self.is_escaped = true,
            _ => {
                let change = if self.is_escaped { CHANGED } else { 0 };
                self.is_escaped = false;
                self.is_too_long = self.body.len() == MAX_PAYLOAD + OVERHEAD;
                if !self.is_too_long {
                    self.body.push(byte ^ change);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut decoder = FrameDecoder::default();
        bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    #[test]
    fn frames_of_every_byte_are_decoded() {
        let payload: Vec<u8> = (0..=255).collect();
        for part in payload.chunks(MAX_PAYLOAD) {
            let frame = Frame { kind: FrameKind::Data, number: 0x7E, payload: part.to_vec() };
            assert_eq!(frames(&frame.encode()), [frame]);
        }
        let empty = Frame { kind: FrameKind::Next, number: 0x7D, payload: Vec::new() };
        assert_eq!(frames(&empty.encode()), [empty]);
    }

    #[test]
    fn damaged_frames_are_dropped_and_the_next_one_is_found() {
        let frame = Frame { kind: FrameKind::Data, number: 1, payload: b"payload".to_vec() };
        let bytes = frame.encode();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                damaged.extend(frame.encode());
                let found = frames(&damaged);
                // A flag that is lost at an end is that of the next frame, or was not needed.
                assert!(found.iter().all(|found| *found == frame), "{at} {bit} {found:?}");
                assert!(!found.is_empty(), "{at} {bit}");
            }
        }
    }

    #[test]
    fn long_frames_are_dropped() {
        let frame = Frame { kind: FrameKind::Data, number: 1, payload: vec![0; 1000] };
        let small = Frame { kind: FrameKind::Next, number: 2, payload: Vec::new() };
        assert_eq!(frames(&[frame.encode(), small.encode()].concat()), [small]);
    }
}
