//! Functions taken out of the table that a reader may still be about to retain.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::Slot;
use crate::error::{Result, out_of_memory};
use crate::function::Function;
use crate::memory;

/// A place on the list, made before the table changes so that retiring cannot fail.
pub(super) struct Node(NonNull<Link>);

struct Link {
    next: *mut Link,
    retired: Option<(&'static Slot, Function)>,
}

impl Node {
    pub(super) fn new() -> Result<Node> {
        let layout = Layout::new::<Link>();
        let block = memory::allocate(layout).ok_or_else(|| out_of_memory(layout.size()))?.cast::<Link>();
        // SAFETY: the block is fresh and has room for a link.
        unsafe { block.write(Link { next: ptr::null_mut(), retired: None }) };
        Ok(Node(block))
    }

    /// Takes the function out, if one was put in.
    fn into_function(mut self) -> Option<Function> {
        // SAFETY: the node owns its link.
        unsafe { self.0.as_mut() }.retired.take().map(|(_, function)| function)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: the node owns its link, which `new` allocated with this layout.
        unsafe {
            self.0.drop_in_place();
            memory::release(self.0.cast(), Layout::new::<Link>());
        }
    }
}

/// The functions that wait for their readers.
pub(crate) struct Retired {
    first: *mut Link,
}

// SAFETY: the list owns its links; functions may be released by any thread (ABI).
unsafe impl Send for Retired {}

impl Retired {
    pub(super) const fn new() -> Retired {
        Retired { first: ptr::null_mut() }
    }

    /// Keeps a function that was taken out of `slot`.
    pub(super) fn push(&mut self, node: Node, slot: &'static Slot, function: Function) {
        let mut link = node.0;
        core::mem::forget(node);
        // SAFETY: the link was the node's and is the list's now.
        unsafe { *link.as_mut() = Link { next: self.first, retired: Some((slot, function)) } };
        self.first = link.as_ptr();
    }

    /// Takes one function off the list that no reader can reach any more. It is to be dropped without a lock.
    pub(super) fn take_unreachable(&mut self) -> Option<Function> {
        let mut place: *mut *mut Link = &raw mut self.first;
        // SAFETY: the list owns its links; `place` is the head or the `next` of a link.
        unsafe {
            while let Some(link) = NonNull::new(*place) {
                let is_quiet =
                    (*link.as_ptr()).retired.as_ref().is_none_or(|(slot, _)| slot.function.is_quiet());
                if is_quiet {
                    *place = (*link.as_ptr()).next;
                    return Node(link).into_function();
                }
                place = &raw mut (*link.as_ptr()).next;
            }
        }
        None
    }
}
