//! Sequences: the slot of each, its position in the history, and the step that is taken.

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Tensor, plain_ensure, plain_error};

/// A sequence: its number, slot and history.
#[derive(Clone, Copy)]
struct Sequence {
    id: i64,
    slot: i64,
    /// Position of the last value in the history.
    position: i64,
    /// Number of steps that can be taken back.
    available: i64,
}

/// Slots and positions of the sequences of a step.
pub(super) struct Step {
    pub(super) slots: Buffer<i32>,
    pub(super) positions: Buffer<i32>,
}

/// The sequences of a model, and its step.
pub(super) struct Sequences {
    history: i64,
    all: Buffer<Sequence>,
    /// Free slots; the next one is the last.
    free: Buffer<i64>,
    /// Sequences of the step, and the number of tokens of each.
    batch: Buffer<(i64, i64)>,
    /// Slots and positions of the step, on the device. `None` if they changed since.
    views: Option<[Tensor; 2]>,
}

impl Sequences {
    /// Creates an empty set of sequences, with capacity for one in each slot.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(slots: i64, history: i64) -> Result<Sequences> {
        let count = usize::try_from(slots).unwrap_or(usize::MAX);
        let mut free = Buffer::try_with_capacity(count)?;
        for slot in (0..slots).rev() {
            free.try_push(slot)?;
        }
        let all = Buffer::try_with_capacity(count)?;
        Ok(Sequences { history, all, free, batch: Buffer::new(), views: None })
    }

    fn find(&self, id: i64) -> Option<&Sequence> {
        self.all.iter().find(|sequence| sequence.id == id)
    }

    fn at(&mut self, id: i64, place: &'static str) -> Result<&mut Sequence> {
        let found = self.all.as_mut_slice().iter_mut().find(|sequence| sequence.id == id);
        found.ok_or_else(|| unknown("sequence", "it", id, place))
    }

    /// Returns slot and position of a sequence.
    ///
    /// # Errors
    /// InternalError if there is none.
    pub(super) fn place(&self, id: i64) -> Result<(i64, i64)> {
        match self.find(id) {
            Some(sequence) => Ok((sequence.slot, sequence.position)),
            None => Err(unknown("sequence", "it", id, "the space state storage")),
        }
    }

    /// Takes a free slot for a new sequence.
    ///
    /// # Errors
    /// InternalError if the sequence exists, or no slot is free.
    pub(super) fn take_slot(&mut self, id: i64) -> Result<i64> {
        self.check_new("sequence", "seq_id", id)?;
        self.free.pop().ok_or_else(|| {
            plain_error!(
                INTERNAL_ERROR,
                "Check failed: (!free_slot_ids_.empty()) is false: The Sequence slot is full, cannot accept new sequence."
            )
        })
    }

    fn check_new(&self, what: &'static str, name: &'static str, id: i64) -> Result<()> {
        plain_ensure!(
            self.find(id).is_none(),
            INTERNAL_ERROR,
            "Check failed: (seq_map_.find({}) == seq_map_.end()) is false: The {} \"{}\" is already in the space state storage.",
            name,
            what,
            &id
        );
        Ok(())
    }

    /// Returns a slot to the free list.
    pub(super) fn give_back(&mut self, slot: i64) {
        // There is room: it was taken from there.
        let _ = self.free.try_push(slot);
    }

    /// Adds a sequence in a slot that was taken for it.
    pub(super) fn add(&mut self, id: i64, slot: i64) {
        self.push(Sequence { id, slot, position: 0, available: 0 });
    }

    fn push(&mut self, sequence: Sequence) {
        // There is room for one in each slot.
        let _ = self.all.try_push(sequence);
        self.forget_views();
    }

    /// Drops the views of a step that is no longer current. Their memory belongs to the object, so
    /// no deleter runs.
    fn forget_views(&mut self) {
        self.views = None;
    }

    /// Returns the slot of a sequence, and takes one for its copy.
    ///
    /// # Errors
    /// InternalError if the sequence does not exist, its copy does, or no slot is free.
    pub(super) fn take_slot_to_fork(&mut self, parent: i64, child: i64) -> Result<(i64, i64)> {
        let Some(from) = self.find(parent).map(|sequence| sequence.slot) else {
            return Err(unknown("parent sequence", "parent_it", parent, "space state storage"));
        };
        self.check_new("child sequence", "child_seq_id", child)?;
        Ok((from, self.take_slot(child)?))
    }

    /// Adds a copy of a sequence in a slot that was reserved for it.
    pub(super) fn fork(&mut self, parent: i64, child: i64, slot: i64) {
        match self.find(parent).copied() {
            Some(parent) => self.push(Sequence { id: child, slot, ..parent }),
            // Another thread removed it meanwhile.
            None => self.give_back(slot),
        }
    }

    /// Removes a sequence.
    ///
    /// # Errors
    /// InternalError if there is none.
    pub(super) fn remove(&mut self, id: i64) -> Result<()> {
        let at = self.all.iter().position(|sequence| sequence.id == id);
        let Some(removed) = at.and_then(|at| self.all.swap_remove(at)) else {
            return Err(unknown("sequence", "it", id, "the space state storage"));
        };
        self.give_back(removed.slot);
        self.forget_views();
        Ok(())
    }

    /// Rolls a sequence back by `steps` steps.
    ///
    /// # Errors
    /// InternalError if there is no such sequence, `steps` is negative, or the history has fewer
    /// steps.
    pub(super) fn take_back(&mut self, id: i64, steps: i64) -> Result<()> {
        let history = self.history;
        let sequence = self.at(id, "space state")?;
        plain_ensure!(
            steps >= 0,
            INTERNAL_ERROR,
            "Check failed: n >= 0 ({} vs. 0) : The length of rolling back {} cannot be negative.",
            &steps,
            &steps
        );
        plain_ensure!(
            steps <= sequence.available,
            INTERNAL_ERROR,
            "Check failed: n <= it->second.available_history_num ({} vs. {}) : The sequence only has {} available history in the \
             space state storage, while the length of rollback is {} which exceeds the sequence length.",
            &steps,
            &sequence.available,
            &sequence.available,
            &steps
        );
        sequence.available -= steps;
        sequence.position = (sequence.position - steps).rem_euclid(history);
        self.forget_views();
        Ok(())
    }

    /// Begins a step. Returns the places of its sequences, which the caller writes to the device.
    ///
    /// # Errors
    /// InternalError for a sequence that does not exist, more sequences than slots, or another
    /// number of lengths. The step before remains then.
    pub(super) fn begin(&mut self, ids: &[i64], lengths: &[i64]) -> Result<Step> {
        plain_ensure!(
            ids.len() == lengths.len(),
            INTERNAL_ERROR,
            "Check failed: seq_ids.size() == append_lengths.size() ({} vs. {}) : The seq_ids size ({}) and append_lengths size \
             ({}) mismatch.",
            ids.len(),
            lengths.len(),
            ids.len(),
            lengths.len()
        );
        let most = self.all.len() + self.free.len();
        plain_ensure!(
            ids.len() <= most,
            INTERNAL_ERROR,
            "A step has at most {} sequences, not {}",
            most,
            ids.len()
        );
        let mut step = Step {
            slots: Buffer::try_with_capacity(ids.len())?,
            positions: Buffer::try_with_capacity(ids.len())?,
        };
        let mut batch = Buffer::try_with_capacity(ids.len())?;
        for (id, length) in ids.iter().zip(lengths) {
            let (slot, position) = self.place(*id)?;
            step.slots.try_push(slot as i32)?;
            step.positions.try_push(position as i32)?;
            batch.try_push((*id, *length))?;
        }
        self.batch = batch;
        self.forget_views();
        Ok(step)
    }

    /// Sets the tensors with the slots and positions of the step. Returns those of the previous
    /// step.
    pub(super) fn set_views(&mut self, views: [Tensor; 2]) -> Option<[Tensor; 2]> {
        self.views.replace(views)
    }

    /// Returns the tensors with the slots and positions of the step.
    ///
    /// # Errors
    /// InternalError if there is no step, or the sequences changed since it began.
    pub(super) fn step(&self, operation: &'static str) -> Result<[Tensor; 2]> {
        let Some(views) = &self.views else {
            return Err(plain_error!(
                INTERNAL_ERROR,
                "Check failed: (!dirty_aux_data_device_) is false: The auxiliary arrays are not synchronized to device. Please \
                 call `BeginForward` to synchronize before calling `{}`.",
                operation
            ));
        };
        plain_ensure!(
            !self.batch.is_empty(),
            INTERNAL_ERROR,
            "Check failed: cur_batch_size_ > 0 (0 vs. 0) : The curent batch size should be greater than 0."
        );
        Ok(views.clone())
    }

    /// Ends the step: the positions of its sequences advance.
    ///
    /// # Errors
    /// InternalError if a sequence was removed meanwhile; those before it have advanced.
    pub(super) fn end(&mut self) -> Result<()> {
        let history = self.history;
        for at in 0..self.batch.len() {
            let (id, length) = self.batch[at];
            let sequence = self.at(id, "the space state storage")?;
            // Only single tokens can be taken back.
            sequence.available =
                if length > 1 { 0 } else { (sequence.available + 1).min(history - 1) };
            sequence.position = (sequence.position + 1) % history;
        }
        self.forget_views();
        Ok(())
    }
}

/// Checks that the tokens of each sequence are a chain: the parent of each is the one before, -1
/// for the first.
///
/// # Errors
/// InternalError for any other tree.
pub(super) fn check_chains(lengths: &[i64], parents: &[i64]) -> Result<()> {
    let mut parents = parents.iter();
    for length in lengths {
        for place in 0..*length {
            let parent = parents.next().copied().unwrap_or(i64::MIN);
            plain_ensure!(
                parent == place - 1,
                INTERNAL_ERROR,
                "Check failed: token_tree_parent_ptr[matched_pos] == i - 1 ({} vs. {}) : Unexpected token tree for RNN state. RNN \
                 state only supports chains as token trees.",
                &parent,
                &(place - 1)
            );
        }
    }
    Ok(())
}

#[cold]
fn unknown(what: &'static str, iterator: &'static str, id: i64, place: &'static str) -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "Check failed: ({} != seq_map_.end()) is false: The {} \"{}\" cannot be found in {}.",
        iterator,
        what,
        &id,
        place
    )
}
