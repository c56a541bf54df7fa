//! Steps that run on several threads at the same time.
//!
//! Only steps whose result does not depend on the order of the threads overlap: they retain and
//! release, make values, read containers, look up functions and types, call functions, raise
//! errors. Any other step waits for the threads first. Each thread works on copies of the
//! registers, and must take the same notes as the program's own thread, which runs the steps once
//! before.

use ferrite_core::abi::kTVMFFIFunction;

use super::helper::{self, Running};
use super::name_of;
use super::state::{Machine, Outcome, status};
use crate::classes::retain;
use crate::notes::{self, note};
use crate::program::{Fork, Line, REGISTERS, Reg, Step};
use crate::{builtins, callbacks};

/// Steps of a thread, and the notes that it must take.
struct Work {
    lines: Vec<(usize, Step)>,
    rounds: usize,
    expected: Vec<String>,
}

impl Machine {
    /// Runs the lines behind the one of this number, and starts threads that run them again.
    /// Returns the number of the line behind them.
    pub(super) fn fork(
        &mut self,
        number: usize,
        fork: Fork,
        behind: &[Line],
        before: &mut impl FnMut(usize),
    ) -> usize {
        self.join();
        self.settle(&format!("{number} Fork"), None, status(0));
        callbacks::set_together(true);
        let numbered = (number + 1..).zip(behind).take(fork.steps);
        let lines: Vec<_> = numbered.map(|(number, line)| (number, line.step.clone())).collect();
        let end = number + 1 + lines.len();
        let mut expected = Vec::new();
        let mut first = self.duplicate();
        for (number, step) in &lines {
            before(*number);
            let taken = notes::collect(|| first.forked(*number, step));
            taken.iter().for_each(|line| note(|| line.clone()));
            expected.extend(taken);
        }
        self.absorb(first);
        for thread in 0..fork.threads {
            let machine = self.duplicate();
            let work =
                Work { lines: lines.clone(), rounds: fork.rounds, expected: expected.clone() };
            let job = move || machine.do_work(&work);
            self.running.push(helper::start(thread + 1, self.keeps_thread, job));
        }
        end
    }

    fn do_work(mut self, work: &Work) -> Self {
        for _ in 0..work.rounds {
            let mut round = self.duplicate();
            let taken = notes::collect(|| {
                work.lines.iter().for_each(|(number, step)| round.forked(*number, step));
            });
            if taken != work.expected {
                self.broken.push(format!("a thread got {taken:?} instead of {:?}", work.expected));
            }
            self.absorb(round);
        }
        self.empty_registers();
        self
    }

    /// Runs a step on one of several threads, if it may.
    fn forked(&mut self, number: usize, step: &Step) {
        // A thread that lives on keeps its stream.
        if self.may_overlap(step) && !matches!(step, Step::Stream { .. }) {
            self.step(number, step);
        } else {
            self.settle(&format!("{number} {}", name_of(step)), None, Outcome::Skipped);
        }
    }

    /// Waits for the threads.
    pub(super) fn join(&mut self) {
        if self.running.is_empty() {
            return;
        }
        note(|| "threads joined".into());
        for thread in std::mem::take(&mut self.running) {
            self.absorb(Running::join(thread));
        }
        callbacks::set_together(false);
    }

    /// Returns a machine with the same values in its registers.
    fn duplicate(&self) -> Self {
        let mut copy = Self::new(self.library);
        copy.registers = self.registers;
        copy.registers.iter().for_each(retain);
        copy
    }

    /// Ends a machine, and takes what has to be kept until the end of the program.
    fn absorb(&mut self, mut other: Self) {
        other.empty_registers();
        self.mutable.append(&mut other.mutable);
        self.broken.append(&mut other.broken);
    }

    pub(super) fn empty_registers(&mut self) {
        for number in 0..REGISTERS {
            self.put(Reg(number as u8), ferrite_core::abi::TVMFFIAny::NONE);
        }
    }

    /// Returns `true` if a step neither changes what other threads read nor depends on what they
    /// do.
    pub(super) fn may_overlap(&self, step: &Step) -> bool {
        match step {
            Step::Set { .. }
            | Step::Own { .. }
            | Step::Copy { .. }
            | Step::Drop { .. }
            | Step::Weak { released: false, .. }
            | Step::Payload { .. }
            | Step::BigIntContent { .. }
            | Step::DataTypeFromText { .. }
            | Step::DataTypeToText { .. }
            | Step::Version {}
            | Step::Opaque { .. }
            | Step::InitOnce { .. }
            | Step::Null { .. }
            | Step::Function { .. }
            | Step::GetGlobal { .. }
            | Step::ExternC { .. }
            | Step::Error { .. }
            | Step::ErrorWith { .. }
            | Step::Raise { .. }
            | Step::RaiseText { .. }
            | Step::RaiseParts { .. }
            | Step::Backtrace { .. }
            | Step::KeyToIndex { .. }
            | Step::TypeInfo { .. }
            | Step::Column { .. }
            | Step::New { .. }
            | Step::GetField { .. }
            | Step::Import { .. }
            | Step::Export { .. }
            | Step::View { .. }
            | Step::Stream { .. }
            | Step::TensorAlloc { .. }
            | Step::Workspace { .. }
            | Step::Launch { .. }
            | Step::RunOnce { .. } => true,
            Step::Call { function, .. } => {
                self.object_of(*function, kTVMFFIFunction).is_none_or(callbacks::is_own)
            }
            Step::Builtin { name, .. } => builtins::READING.contains(&builtins::name(*name)),
            _ => false,
        }
    }
}
