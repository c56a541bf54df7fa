//! Lock-free stack of idle workers, by number. The worker that became idle last is popped first,
//! since it is most likely still awake.
#![forbid(unsafe_code)]

use ferrite_core::platform::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Number of low bits of [`IdleStack::head`] that contain the number of the first worker plus one,
/// or zero if the stack is empty.
const NUMBER_BITS: u32 = 11;
const NUMBER: usize = (1 << NUMBER_BITS) - 1;
const ONE_CHANGE: usize = 1 << NUMBER_BITS;

/// A lock-free stack of numbers below `N`.
pub(super) struct IdleStack<const N: usize> {
    /// Number of the first worker plus one in the low bits, and a change count in the high bits.
    /// The count prevents the ABA problem: it tells a preempted thread that others popped the first
    /// number and pushed it again. On 32-bit targets it wraps around after 2^21 changes.
    head: AtomicUsize,
    /// Successor of each number plus one; zero for the last. Also links the numbers of a [`Chain`].
    next: [AtomicU32; N],
}

/// A linked list of numbers that are not on the stack, linked through the stack's `next` array.
pub(super) struct Chain {
    first: u32,
    last: u32,
    len: usize,
}

impl Chain {
    /// A chain without elements.
    pub(super) const EMPTY: Chain = Chain { first: 0, last: 0, len: 0 };

    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<const N: usize> IdleStack<N> {
    /// Creates an empty stack from atomics that are all zero.
    pub(super) const fn new(head: AtomicUsize, next: [AtomicU32; N]) -> Self {
        const { assert!(N <= NUMBER, "numbers have 11 bits") };
        IdleStack { head, next }
    }

    /// Pops the first number. Returns `None` if the stack is empty.
    pub(super) fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let number = (head & NUMBER).checked_sub(1)?;
            let next = self.next[number].load(Ordering::Relaxed);
            match self.replace(head, next) {
                Ok(()) => return Some(number),
                Err(now) => head = now,
            }
        }
    }

    /// Pushes all numbers of a chain at once, in their order.
    pub(super) fn push(&self, chain: Chain) {
        let Some(last) = chain.last.checked_sub(1) else { return };
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            self.next[last as usize].store((head & NUMBER) as u32, Ordering::Relaxed);
            match self.replace(head, chain.first) {
                Ok(()) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Replaces the first number by `first` if the head is still `head` (compare-and-swap).
    /// Otherwise returns the current head as an error.
    fn replace(&self, head: usize, first: u32) -> Result<(), usize> {
        let changed = (head & !NUMBER).wrapping_add(ONE_CHANGE) | first as usize;
        // A thread that pops a number sees all writes made before it was pushed.
        let outcome =
            self.head.compare_exchange_weak(head, changed, Ordering::AcqRel, Ordering::Acquire);
        outcome.map(|_| ())
    }

    /// Appends a number to a chain.
    pub(super) fn append(&self, chain: &mut Chain, number: usize) {
        let link = number as u32 + 1;
        match chain.last.checked_sub(1) {
            Some(last) => self.next[last as usize].store(link, Ordering::Relaxed),
            None => chain.first = link,
        }
        chain.last = link;
        chain.len += 1;
    }

    /// Returns the numbers of a chain, in order.
    pub(super) fn numbers(&self, chain: &Chain) -> impl Iterator<Item = usize> {
        let mut next = chain.first;
        (0..chain.len).map_while(move |_| {
            let number = (next as usize).checked_sub(1)?;
            next = self.next[number].load(Ordering::Relaxed);
            Some(number)
        })
    }

    /// Removes all numbers from the stack.
    pub(super) fn clear(&self) {
        let head = self.head.load(Ordering::Relaxed);
        self.head.store((head & !NUMBER).wrapping_add(ONE_CHANGE), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn stack() -> IdleStack<4> {
        IdleStack::new(AtomicUsize::new(0), [const { AtomicU32::new(0) }; 4])
    }

    #[test]
    fn a_chain_keeps_its_order_through_the_stack() {
        let stack = stack();
        assert_eq!(stack.pop(), None);
        let mut chain = Chain::EMPTY;
        [2, 0, 3].into_iter().for_each(|number| stack.append(&mut chain, number));
        assert_eq!((chain.len(), stack.numbers(&chain).collect::<Vec<_>>()), (3, vec![2, 0, 3]));
        stack.push(chain);
        let mut later = Chain::EMPTY;
        stack.append(&mut later, 1);
        stack.push(later);
        assert_eq!(std::iter::from_fn(|| stack.pop()).collect::<Vec<_>>(), [1, 2, 0, 3]);
    }

    #[test]
    fn no_numbers_are_left_after_clearing() {
        let stack = stack();
        let mut chain = Chain::EMPTY;
        stack.append(&mut chain, 1);
        stack.push(chain);
        stack.clear();
        assert_eq!(stack.pop(), None);
    }
}
