//! The host's side of the link in `ferrite/rpc.h`: a stream over a line that loses and changes
//! bytes. It has the timers of both sides: it repeats its frames, and asks for those of the board.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::frame::{Frame, FrameDecoder, FrameKind, MAX_PAYLOAD};
use super::line::{Line, LineError};

/// Longest pause before a question is repeated: the board may be computing.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A link over a line.
pub struct Link<L> {
    line: L,
    decoder: FrameDecoder,
    /// Bytes of the line that were not decoded.
    unread: VecDeque<u8>,
    /// Bytes of the stream that were not received.
    received: VecDeque<u8>,
    /// Number of the next frame in each direction.
    next_sent: u8,
    next_received: u8,
    /// First pause before a frame is repeated.
    pause: Duration,
}

impl<L: Line> Link<L> {
    /// Creates a link over a line of that many bits per second.
    pub fn new(line: L, baud: u32) -> Link<L> {
        // Two frames of the maximum size, with all bytes escaped, and what adapters add.
        let bits = 2 * 10 * 2 * (MAX_PAYLOAD as u64 + 8);
        let pause = Duration::from_micros(bits * 1_000_000 / u64::from(baud.max(300)));
        let (unread, received) = (VecDeque::new(), VecDeque::new());
        let pause = pause + Duration::from_millis(100);
        Link {
            line,
            decoder: FrameDecoder::default(),
            unread,
            received,
            next_sent: 0,
            next_received: 0,
            pause,
        }
    }

    /// Returns the line.
    pub fn line(&mut self) -> &mut L {
        &mut self.line
    }

    /// Begins a session of this name on the board, which ends the one before.
    ///
    /// # Errors
    /// Errors of the line; [`LineError::Silent`] if there is no answer before `end`.
    pub fn restart(&mut self, name: [u8; 4], end: Instant) -> Result<(), LineError> {
        (self.next_sent, self.next_received) = (0, 0);
        self.received.clear();
        let frame = Frame { kind: FrameKind::Restart, number: 0, payload: name.to_vec() };
        self.exchange(&frame, end, |_, answer| *answer == frame)
    }

    /// Sends bytes, and waits until they have arrived.
    ///
    /// # Errors
    /// Errors of the line; [`LineError::Silent`] if they do not arrive before `end`.
    pub fn send(&mut self, bytes: &[u8], end: Instant) -> Result<(), LineError> {
        for payload in bytes.chunks(MAX_PAYLOAD) {
            let number = self.next_sent;
            let next = number.wrapping_add(1);
            let frame = Frame { kind: FrameKind::Data, number, payload: payload.to_vec() };
            self.exchange(&frame, end, |link, answer| {
                link.take(answer);
                (answer.kind, answer.number) == (FrameKind::Next, next)
            })?;
            self.next_sent = next;
        }
        Ok(())
    }

    /// Waits for bytes, and reads some of them. Returns their number.
    ///
    /// # Errors
    /// Errors of the line; [`LineError::Silent`] if there are none before `end`.
    pub fn receive(&mut self, target: &mut [u8], end: Instant) -> Result<usize, LineError> {
        if self.received.is_empty() {
            // The board sends without being asked; a frame that is lost is asked for.
            self.wait_for_data(end)?;
        }
        let count = target.len().min(self.received.len());
        for (byte, received) in target.iter_mut().zip(self.received.drain(..count)) {
            *byte = received;
        }
        Ok(count)
    }

    fn wait_for_data(&mut self, end: Instant) -> Result<(), LineError> {
        let mut pause = self.pause;
        loop {
            let until = end.min(Instant::now() + pause);
            while let Some(frame) = self.frame(until)? {
                if self.take(&frame) {
                    return self.acknowledge();
                }
            }
            if Instant::now() >= end {
                return Err(LineError::Silent);
            }
            self.acknowledge()?;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Takes data of the board. Returns `true` if they are new: those that the board repeated get
    /// no answer, which would make it repeat the next ones.
    fn take(&mut self, frame: &Frame) -> bool {
        let is_new = (frame.kind, frame.number) == (FrameKind::Data, self.next_received);
        if is_new {
            self.received.extend(&frame.payload);
            self.next_received = self.next_received.wrapping_add(1);
        }
        is_new
    }

    fn acknowledge(&mut self) -> Result<(), LineError> {
        let next = self.next_received;
        let frame = Frame { kind: FrameKind::Next, number: next, payload: Vec::new() };
        self.line.write(&frame.encode())
    }

    /// Sends a frame, again and again, until a frame comes that `is_answer` accepts.
    fn exchange(
        &mut self,
        frame: &Frame,
        end: Instant,
        mut is_answer: impl FnMut(&mut Link<L>, &Frame) -> bool,
    ) -> Result<(), LineError> {
        let bytes = frame.encode();
        let mut pause = self.pause;
        while Instant::now() < end {
            self.line.write(&bytes)?;
            let until = end.min(Instant::now() + pause);
            while let Some(answer) = self.frame(until)? {
                if is_answer(self, &answer) {
                    return Ok(());
                }
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        Err(LineError::Silent)
    }

    /// Returns the next intact frame; `None` if there is none until then.
    fn frame(&mut self, until: Instant) -> Result<Option<Frame>, LineError> {
        loop {
            while let Some(byte) = self.unread.pop_front() {
                if let Some(frame) = self.decoder.push(byte) {
                    return Ok(Some(frame));
                }
            }
            let mut bytes = [0; 256];
            match self.line.read(&mut bytes, until) {
                Ok(count) => self.unread.extend(bytes.get(..count).unwrap_or_default()),
                Err(LineError::Silent) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Board behind a line that loses and changes bytes: it sends back what it receives.
    #[derive(Default)]
    struct NoisyBoard {
        decoder: FrameDecoder,
        /// Bytes on the line to the host.
        output: VecDeque<u8>,
        session: Vec<u8>,
        expected: u8,
        sent: Option<Frame>,
        next: u8,
        /// One in this number of bytes is lost, and one is changed.
        rate: u64,
        random: u64,
        repeated: usize,
    }

    impl NoisyBoard {
        /// Returns the byte as it arrives.
        fn noisy(&mut self, byte: u8) -> Option<u8> {
            self.random =
                self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match (self.random >> 33).checked_rem(self.rate) {
                Some(0) => None,
                Some(1) => Some(byte ^ 1 << (self.random >> 60 & 7)),
                _ => Some(byte),
            }
        }

        fn put(&mut self, kind: FrameKind, number: u8, payload: &[u8]) {
            for byte in (Frame { kind, number, payload: payload.to_vec() }).encode() {
                let arrives = self.noisy(byte);
                self.output.extend(arrives);
            }
        }

        fn take(&mut self, frame: Frame) {
            match frame.kind {
                FrameKind::Restart => {
                    if self.session != frame.payload {
                        let (rate, random) = (self.rate, self.random);
                        *self = NoisyBoard {
                            rate,
                            random,
                            session: frame.payload.clone(),
                            ..NoisyBoard::default()
                        };
                    }
                    self.put(FrameKind::Restart, 0, &frame.payload);
                }
                FrameKind::Data if frame.number == self.expected => {
                    self.expected = self.expected.wrapping_add(1);
                    self.put(FrameKind::Next, self.expected, &[]);
                    self.next = self.next.wrapping_add(u8::from(self.sent.is_some()));
                    self.put(FrameKind::Data, self.next, &frame.payload);
                    self.sent = Some(frame);
                }
                FrameKind::Data => self.put(FrameKind::Next, self.expected, &[]),
                FrameKind::Next if frame.number == self.next => {
                    if let Some(sent) = self.sent.clone() {
                        self.repeated += 1;
                        self.put(FrameKind::Data, self.next, &sent.payload);
                    }
                }
                FrameKind::Next if self.sent.is_some() => {
                    self.next = self.next.wrapping_add(1);
                    self.sent = None;
                }
                FrameKind::Next => {}
            }
        }
    }

    impl Line for NoisyBoard {
        fn read(&mut self, target: &mut [u8], _end: Instant) -> Result<usize, LineError> {
            let count = target.len().min(self.output.len());
            for (byte, output) in target.iter_mut().zip(self.output.drain(..count)) {
                *byte = output;
            }
            if count == 0 { Err(LineError::Silent) } else { Ok(count) }
        }

        fn write(&mut self, bytes: &[u8]) -> Result<(), LineError> {
            for byte in bytes {
                let frame = self.noisy(*byte).and_then(|byte| self.decoder.push(byte));
                if let Some(frame) = frame {
                    self.take(frame);
                }
            }
            Ok(())
        }
    }

    fn in_a_minute() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn all_bytes_come_back_over_lines_that_lose_and_change_bytes() -> Result<(), LineError> {
        for rate in [0, 1000, 300, 100] {
            let board = NoisyBoard { rate, ..NoisyBoard::default() };
            let mut link = Link::new(board, 115_200);
            link.restart([1, 2, 3, 4], in_a_minute())?;
            for length in (1..=MAX_PAYLOAD).chain([1, 2, 3]) {
                let sent: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
                link.send(&sent, in_a_minute())?;
                let mut received = vec![0; length];
                let mut rest = &mut *received;
                while !rest.is_empty() {
                    let count = link.receive(rest, in_a_minute())?;
                    rest = &mut rest[count..];
                }
                assert_eq!(received, sent, "{rate}");
            }
            assert_eq!(link.line.repeated == 0, rate == 0, "{rate}");
        }
        Ok(())
    }

    #[test]
    fn a_session_that_restarts_forgets_the_frames_before() -> Result<(), LineError> {
        let mut link = Link::new(NoisyBoard::default(), 115_200);
        link.restart([1; 4], in_a_minute())?;
        link.send(b"unread", in_a_minute())?;
        link.restart([2; 4], in_a_minute())?;
        link.send(b"read", in_a_minute())?;
        let mut received = [0; 10];
        assert_eq!(link.receive(&mut received, in_a_minute())?, 4);
        assert_eq!(&received[..4], b"read");
        Ok(())
    }

    #[test]
    fn a_board_that_says_nothing_is_silent() {
        struct Nothing;
        impl Line for Nothing {
            fn read(&mut self, _: &mut [u8], end: Instant) -> Result<usize, LineError> {
                std::thread::sleep(end.saturating_duration_since(Instant::now()));
                Err(LineError::Silent)
            }
            fn write(&mut self, _: &[u8]) -> Result<(), LineError> {
                Ok(())
            }
        }
        let mut link = Link::new(Nothing, 115_200);
        let soon = Instant::now() + Duration::from_millis(20);
        assert!(matches!(link.restart([1; 4], soon), Err(LineError::Silent)));
        assert!(matches!(link.receive(&mut [0], soon), Err(LineError::Silent)));
    }
}
