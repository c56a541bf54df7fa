//! The list of retired functions: removed from the table, but kept alive while a reader may be
//! about to retain them.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::GlobalEntry;
use crate::call::function::Function;
use crate::error::{Result, out_of_memory};
use crate::platform::memory;

/// A list node allocated before a change, so that retiring a function cannot fail after the table
/// has changed.
pub(super) struct RetiredNode(NonNull<RetiredLink>);

struct RetiredLink {
    next: *mut RetiredLink,
    retired: Option<(&'static GlobalEntry, Function)>,
}

impl RetiredNode {
    pub(super) fn new() -> Result<RetiredNode> {
        let layout = Layout::new::<RetiredLink>();
        let block = memory::allocate(layout)
            .ok_or_else(|| out_of_memory(layout.size()))?
            .cast::<RetiredLink>();
        // SAFETY: the block is new and has space for a link.
        unsafe { block.write(RetiredLink { next: ptr::null_mut(), retired: None }) };
        Ok(RetiredNode(block))
    }

    /// Takes the retired function from the node, if any.
    fn into_function(mut self) -> Option<Function> {
        // SAFETY: the node owns its link.
        unsafe { self.0.as_mut() }.retired.take().map(|(_, function)| function)
    }
}

impl Drop for RetiredNode {
    fn drop(&mut self) {
        // SAFETY: the node owns its link, which `new` allocated with this layout.
        unsafe {
            self.0.drop_in_place();
            memory::release(self.0.cast(), Layout::new::<RetiredLink>());
        }
    }
}

/// A list of retired functions.
pub(crate) struct Retired {
    first: *mut RetiredLink,
}

// SAFETY: the list owns its links; functions may be released by any thread (ABI).
unsafe impl Send for Retired {}

impl Retired {
    pub(super) const fn new() -> Retired {
        Retired { first: ptr::null_mut() }
    }

    /// Adds a function that was removed from `slot`, stored in a preallocated node.
    pub(super) fn push(
        &mut self,
        node: RetiredNode,
        slot: &'static GlobalEntry,
        function: Function,
    ) {
        let mut link = node.0;
        core::mem::forget(node);
        // SAFETY: ownership of the link moves from the node to the list.
        unsafe {
            *link.as_mut() = RetiredLink { next: self.first, retired: Some((slot, function)) }
        };
        self.first = link.as_ptr();
    }

    /// Removes a function that no reader can reach from the list, and returns it. The caller must
    /// release the lock before dropping it.
    pub(super) fn take_unreachable(&mut self) -> Option<Function> {
        let mut place: *mut *mut RetiredLink = &raw mut self.first;
        // SAFETY: the list owns its links; `place` is the head or the `next` of a link.
        unsafe {
            while let Some(link) = NonNull::new(*place) {
                let is_quiescent = (*link.as_ptr())
                    .retired
                    .as_ref()
                    .is_none_or(|(slot, _)| slot.function.is_quiescent());
                if is_quiescent {
                    *place = (*link.as_ptr()).next;
                    return RetiredNode(link).into_function();
                }
                place = &raw mut (*link.as_ptr()).next;
            }
        }
        None
    }
}
