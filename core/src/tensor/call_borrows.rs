//! Borrows of the tensors among the arguments of a call, for as long as its function runs.

use core::marker::PhantomData;

use super::borrow::{HeldRoot, root_of};
use crate::error::{Error, Result};
use crate::plain_error;
use crate::value::any::AnyView;
use crate::value::callee::{Call, TensorUse};

/// Sets of arguments whose elements a function reads and writes, with one bit for each argument.
#[derive(Clone, Copy)]
pub(crate) struct TensorUses {
    reads: u16,
    writes: u16,
}

impl TensorUses {
    /// Collects the uses of the arguments, of which there are at most sixteen.
    pub(crate) const fn of(uses: &[TensorUse]) -> TensorUses {
        let (mut reads, mut writes, mut index) = (0, 0, 0);
        while index < uses.len() {
            match uses[index] {
                TensorUse::None => {}
                TensorUse::Read => reads |= 1 << index,
                TensorUse::Write => writes |= 1 << index,
            }
            index += 1;
        }
        TensorUses { reads, writes }
    }

    /// Returns whether the function uses no elements.
    pub(crate) const fn is_empty(self) -> bool {
        self.reads == 0 && self.writes == 0
    }
}

/// The borrows of the tensors among the arguments of a call, until it is dropped. A root of two
/// arguments is borrowed once if one of them writes it.
pub(crate) struct CallBorrows<'a, const N: usize> {
    held: [HeldRoot; N],
    /// Number of borrows. The exclusive ones come first.
    count: usize,
    args: PhantomData<&'a [AnyView<'a>]>,
}

impl<'a, const N: usize> CallBorrows<'a, N> {
    /// Borrows the elements of each argument for its use.
    ///
    /// # Errors
    /// RuntimeError that names the first argument with a conflicting borrow. No argument is
    /// borrowed then.
    #[inline(always)]
    pub(crate) fn new(call: &Call<'a>, uses: TensorUses) -> Result<Self> {
        let mut borrows = CallBorrows { held: [HeldRoot::NONE; N], count: 0, args: PhantomData };
        borrow_all(call, uses, &mut borrows.held, &mut borrows.count)?;
        Ok(borrows)
    }
}

impl<const N: usize> Drop for CallBorrows<'_, N> {
    #[inline(always)]
    fn drop(&mut self) {
        for borrow in self.held.iter().take(self.count) {
            // SAFETY: the borrows are those of this call, whose arguments are alive.
            unsafe { borrow.release() };
        }
    }
}

/// Borrows the elements of each argument for its use: first for writing, so that the order of the
/// arguments does not matter.
#[inline(never)]
fn borrow_all(
    call: &Call<'_>,
    uses: TensorUses,
    held: &mut [HeldRoot],
    count: &mut usize,
) -> Result<()> {
    borrow_each::<true>(call, uses.writes, held, count)?;
    borrow_each::<false>(call, uses.reads, held, count)
}

#[inline(always)]
fn borrow_each<const WRITES: bool>(
    call: &Call<'_>,
    mut arguments: u16,
    held: &mut [HeldRoot],
    count: &mut usize,
) -> Result<()> {
    let exclusive = *count;
    while arguments != 0 {
        let index = arguments.trailing_zeros() as usize;
        arguments &= arguments - 1;
        let Some(root) = call.args.get(index).and_then(|view| root_of(*view)) else { continue };
        // Outputs share no memory with other arguments, so the root of one may be that of others.
        let written = if WRITES { *count } else { exclusive };
        if held.iter().take(written).any(|held| held.is_exclusive(root)) {
            continue;
        }
        // SAFETY: the argument is a live tensor.
        match (unsafe { HeldRoot::borrow::<WRITES>(root) }, held.get_mut(*count)) {
            (Some(borrowed), Some(place)) => *place = borrowed,
            _ => return Err(conflict(call, index, WRITES)),
        }
        *count += 1;
    }
    Ok(())
}

/// Creates the error for an argument whose elements another borrow makes unavailable.
#[cold]
#[inline(never)]
fn conflict(call: &Call<'_>, index: usize, writes: bool) -> Error {
    let others = if writes { "uses" } else { "writes" };
    let name = call.callee.name_of(index);
    let error = plain_error!(
        RUNTIME_ERROR,
        "Borrowed {}, expected a tensor whose elements nobody else {}",
        name,
        others;
        "tensor in use"
    );
    call.callee.refused_argument(index, &error, &|_| {})
}
