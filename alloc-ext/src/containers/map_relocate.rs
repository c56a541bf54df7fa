//! Makes room at a slot of a dense table by moving the part of a foreign hash chain that starts there.
//!
//! The new places are reserved first, as a chain of their own in the metadata, and taken when there is one for every item, so
//! that a table that must grow instead, and then finds no memory, is as it was.

use super::map_dense::{Dense, EMPTY, TAIL};

/// Moves the item at `slot`, which is not the head of its chain, and all that follow it in the chain to other slots.
///
/// `slot` is empty then. Answers false, with nothing changed, when some item finds no slot.
///
/// # Safety
///
/// Nobody else uses the table now.
///
/// # Upstream
///
/// `DenseMapBaseObj::TrySpareListHead` in `include/tvm/ffi/container/map_base.h`, which may also use the slots that items
/// before have left.
pub(super) unsafe fn move_chain_away(table: Dense<'_>, slot: usize) -> bool {
    let Some(before) = table.chain_prev(slot) else { return false };
    let Some((target, jump)) = table.next_empty(before) else { return false };
    if !reserve(table, slot, target) {
        release(table, target);
        return false;
    }
    table.set_jump(before, jump);
    let (mut from, mut to) = (Some(slot), Some(target));
    while let (Some(source), Some(target)) = (from, to) {
        // SAFETY: the slot of the target was empty, and that of the source is given up.
        unsafe { table.move_item(source, target) }
        from = table.chain_next(source, table.meta(source));
        to = table.chain_next(target, table.meta(target));
        table.set_meta(source, EMPTY);
    }
    true
}

/// Makes a chain that starts at `target`, as long as that from `first` on. False when it ends early.
fn reserve(table: Dense<'_>, first: usize, target: usize) -> bool {
    let (mut item, mut last) = (first, target);
    loop {
        table.set_meta(last, TAIL);
        let Some(next) = table.chain_next(item, table.meta(item)) else { return true };
        let Some((slot, jump)) = table.next_empty(last) else { return false };
        table.set_jump(last, jump);
        (item, last) = (next, slot);
    }
}

/// Empties the slots of a chain without items.
fn release(table: Dense<'_>, first: usize) {
    let mut next = Some(first);
    while let Some(slot) = next {
        next = table.chain_next(slot, table.meta(slot));
        table.set_meta(slot, EMPTY);
    }
}
