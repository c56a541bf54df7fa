//! Relocation of a chain away from the home slot of another chain.
//!
//! All moves are planned on the metadata alone, and carried out only if all are possible. A table
//! that must grow instead, and then runs out of memory, is therefore unchanged.

use ferrite_core::platform::memory::Buffer;

use super::slots::{Dense, EMPTY, PROTECTED, TAIL};

/// A planned move of an item to an empty slot.
#[derive(Clone, Copy)]
struct Move {
    from: usize,
    to: usize,
    /// Metadata of `from` before the plan.
    meta: u8,
    /// Index of the probe distance from the previous item of the chain to `to`.
    distance: u8,
}

const NO_MOVE: Move = Move { from: 0, to: 0, meta: EMPTY, distance: 0 };

/// Number of moves that are stored without allocation. Chains are short unless hashes are poor.
const NEAR: usize = 4;

/// A list of planned moves, in order.
struct Plan {
    near: [Move; NEAR],
    far: Buffer<Move>,
    len: usize,
}

impl Plan {
    fn new() -> Self {
        Self { near: [NO_MOVE; NEAR], far: Buffer::new(), len: 0 }
    }

    /// Appends a move. Returns `false` when out of memory.
    fn push(&mut self, step: Move) -> bool {
        match self.near.get_mut(self.len) {
            Some(place) => *place = step,
            None => {
                // Creates no error object, since the error is not reported.
                if self.far.reserve_silently(1).is_err() || self.far.try_push(step).is_err() {
                    return false;
                }
            }
        }
        self.len += 1;
        true
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = Move> {
        self.near[..self.len.min(NEAR)].iter().chain(self.far.iter()).copied()
    }
}

/// Moves the item at `slot`, which must not be the head of its chain, and all later items of the
/// chain to other slots.
///
/// `slot` is left protected, and the caller must fill it. Returns `false` and changes nothing if an
/// item finds no slot, or when out of memory for a long plan.
///
/// # Safety
/// Nothing else may use the table.
///
/// # Upstream
/// `DenseMapBaseObj::TrySpareListHead` in `include/tvm/ffi/container/map_base.h`, which tries the
/// same slots in the same order.
pub(super) unsafe fn move_chain_away(table: Dense<'_>, slot: usize) -> bool {
    let Some(before) = table.chain_prev(slot) else { return false };
    let mut plan = Plan::new();
    if !make_plan(table, before, slot, &mut plan) {
        undo_plan(table, &plan);
        return false;
    }
    let mut previous = before;
    for step in plan.steps() {
        // SAFETY: the plan reserved `to`, and whatever was there has moved on in an earlier step.
        unsafe { table.move_item(step.from, step.to) }
        table.set_meta(step.to, TAIL);
        table.set_distance(previous, step.distance);
        previous = step.to;
    }
    true
}

/// Reserves a slot for each item of the chain from `first` on. Slots that become free are available
/// to later items. Returns `false` if an item finds no slot, or when out of memory.
fn make_plan(table: Dense<'_>, before: usize, first: usize, plan: &mut Plan) -> bool {
    let (mut previous, mut item) = (before, Some(first));
    while let Some(from) = item {
        let Some((to, distance)) = table.next_empty(previous) else { return false };
        let meta = table.meta(from);
        if !plan.push(Move { from, to, meta, distance }) {
            return false;
        }
        table.set_meta(to, PROTECTED);
        table.set_meta(from, if from == first { PROTECTED } else { EMPTY });
        previous = to;
        item = table.chain_next(from, meta);
    }
    true
}

fn undo_plan(table: Dense<'_>, plan: &Plan) {
    for step in plan.steps().rev() {
        table.set_meta(step.to, EMPTY);
        table.set_meta(step.from, step.meta);
    }
}
