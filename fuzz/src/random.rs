//! Random programs from a seed.

use crate::program::{Line, Program, Step};

/// A generator of numbers: splitmix64.
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// Returns a program, made of random bytes or of pieces of other programs.
    pub fn program(&mut self, corpus: &[Program]) -> Program {
        if corpus.is_empty() || self.below(3) == 0 {
            let len = 16 + self.below(400);
            let bytes: Vec<u8> = (0..len).map(|_| self.small_byte()).collect();
            return Program::decode(&bytes);
        }
        let mut lines = Vec::new();
        for _ in 0..1 + self.below(4) {
            let from = &corpus[self.below(corpus.len())].lines;
            let start = self.below(from.len().max(1)).min(from.len());
            lines.extend_from_slice(&from[start..]);
        }
        lines.truncate(48);
        if self.below(4) == 0 {
            let numbers = [(); 3].map(|()| self.number() as u8);
            let step = Step::Fork { steps: numbers[0], threads: numbers[1], rounds: numbers[2] };
            lines.insert(self.below(lines.len() + 1), Line { other_thread: false, step });
        }
        self.mutated(Program { lines })
    }

    /// Small numbers are registers and lengths, and so more useful.
    fn small_byte(&mut self) -> u8 {
        let byte = self.number() as u8;
        if self.below(3) == 0 {
            byte % 8
        } else {
            byte & if self.below(8) == 0 { 0xff } else { 0x7f }
        }
    }

    fn mutated(&mut self, program: Program) -> Program {
        let mut bytes = program.encode();
        for _ in 0..self.below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.below(bytes.len());
            bytes[at] = self.small_byte();
        }
        Program::decode(&bytes)
    }
}
