//! The loop of every walk: frames of what is open lie in a buffer, results go from children to parents.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::error::{Error, Result};
use ferrite_core::memory::{Buffer, SpareSlot};
use ferrite_core::plain_error;

/// Values that may be open at once.
///
/// # Upstream
/// `kMaxTraversalStackDepth` in `dataclass.cc`.
pub const MAX_DEPTH: usize = 1 << 20;

/// What is known of a node when a walk gets to it.
pub enum Entered<F, V> {
    /// Its result.
    Value(V),
    /// It has children to walk first.
    Frame(F),
    /// The same; its frame is open already.
    Open,
}

/// What going down from the last frame came to.
pub enum NextChild<N, V> {
    /// Nothing: [`Fold::next`] tells which child comes next.
    ByNode,
    /// This child comes next.
    Child(N),
    /// The frame of the next child is open already.
    Open,
    /// The result of the next child is known.
    Value(V),
    /// No child is left.
    End,
}

/// An operation over everything inside a value, children before parents.
pub trait Fold {
    /// What is walked: a value, or a pair of them.
    type Node;
    /// A node whose children are being walked.
    type Frame;
    /// The result for a node.
    type Value;
    /// What errors call the walk.
    const NAME: &'static str;

    /// Gets to a node. An operation whose speed counts opens the frame itself, in the [room](reserve_frame) for it. When it
    /// fails after that, the frame is [given up](Self::abandon) with the others; otherwise it must leave no trace.
    ///
    /// # Errors
    /// Those of the operation.
    fn enter(
        &mut self,
        node: Self::Node,
        open: &mut Buffer<Self::Frame>,
    ) -> Result<Entered<Self::Frame, Self::Value>>;

    /// The next child of a node, where [`descend`](Self::descend) leaves it to this.
    ///
    /// # Errors
    /// Those of the operation.
    fn next(&mut self, frame: &mut Self::Frame) -> Result<Option<Self::Node>> {
        let _ = frame;
        Ok(None)
    }

    /// Goes from the last frame to its next child. An operation may open the frame of that itself, which spares it the way as a
    /// node.
    ///
    /// # Errors
    /// Those of the operation.
    #[inline]
    fn descend(&mut self, open: &mut Buffer<Self::Frame>) -> Result<NextChild<Self::Node, Self::Value>> {
        let _ = open;
        Ok(NextChild::ByNode)
    }

    /// Takes the result of the last child; a break ends the walk with that result.
    ///
    /// # Errors
    /// Those of the operation.
    fn feed(&mut self, frame: &mut Self::Frame, value: Self::Value) -> Result<ControlFlow<Self::Value>>;

    /// The result of a node after its last child.
    ///
    /// # Errors
    /// Those of the operation.
    fn leave(&mut self, frame: &mut Self::Frame) -> Result<Self::Value>;

    /// The result of the walk after a break, while `open` has what was not finished.
    ///
    /// # Errors
    /// Those of the operation.
    fn stopped(&mut self, open: &[Self::Frame], value: Self::Value) -> Result<Self::Value> {
        let _ = open;
        Ok(value)
    }

    /// Tells a node that is not finished, innermost first, of the error that ends the walk; [`Self::abandon`] follows.
    fn failed(&mut self, frame: &Self::Frame, error: &Error) {
        let _ = (frame, error);
    }

    /// Gives up a node that is not finished, after an error or a break.
    fn abandon(&mut self, frame: Self::Frame);
}

/// SpareSlot for the frame of a child, which is made where it stays: moving what was just written waits until that is in memory,
/// a fifth of the time of a walk.
///
/// # Errors
/// As [`fold`], for depth and memory.
#[cfg_attr(feature = "speed", inline(always))]
pub fn reserve_frame<F: Fold>(open: &mut Buffer<F::Frame>) -> Result<SpareSlot<'_, F::Frame>> {
    if open.len() < MAX_DEPTH { Ok(open.try_spare_slot()?) } else { Err(too_deep::<F>()) }
}

#[cold]
fn too_deep<F: Fold>() -> Error {
    plain_error!(VALUE_ERROR, "{}: maximum stack depth ({}) exceeded", F::NAME, MAX_DEPTH)
}

/// Walks from `root`.
///
/// # Errors
/// Those of the operation; ValueError beyond [`MAX_DEPTH`]; MemoryError.
pub fn fold<F: Fold>(operation: &mut F, root: F::Node) -> Result<F::Value> {
    let mut open = Buffer::new();
    let outcome = run(operation, root, &mut open);
    while let Some(frame) = open.pop() {
        if let Err(error) = &outcome {
            operation.failed(&frame, error);
        }
        operation.abandon(frame);
    }
    outcome
}

fn run<F: Fold>(operation: &mut F, root: F::Node, open: &mut Buffer<F::Frame>) -> Result<F::Value> {
    let mut node = root;
    loop {
        // The only place that calls `enter`, so that frames are made where they stay.
        let mut value = enter(operation, node, open)?;
        node = loop {
            let Some(frame) = open.last_mut() else {
                return value
                    .ok_or_else(|| plain_error!(INTERNAL_ERROR, "{}: a walk without a result", F::NAME));
            };
            if let Some(value) = value.take()
                && let ControlFlow::Break(value) = operation.feed(frame, value)?
            {
                return operation.stopped(open, value);
            }
            match operation.descend(open)? {
                NextChild::Open => continue,
                NextChild::Value(known) => {
                    value = Some(known);
                    continue;
                }
                NextChild::Child(child) => break child,
                NextChild::End => {}
                NextChild::ByNode => {
                    if let Some(frame) = open.last_mut()
                        && let Some(child) = operation.next(frame)?
                    {
                        break child;
                    }
                }
            }
            value = open.last_mut().map(|frame| operation.leave(frame)).transpose()?;
            open.truncate(open.len() - 1);
        };
    }
}

/// Gets to a node, and gives its result unless that has to wait for its children.
#[cfg_attr(feature = "speed", inline(always))]
fn enter<F: Fold>(operation: &mut F, node: F::Node, open: &mut Buffer<F::Frame>) -> Result<Option<F::Value>> {
    // Made before the node is entered, so that its frame is sure to have a place.
    open.try_reserve(1)?;
    match operation.enter(node, open)? {
        Entered::Value(value) => Ok(Some(value)),
        Entered::Open => Ok(None),
        Entered::Frame(frame) if open.len() < MAX_DEPTH => Ok(open.try_push(frame).map(|()| None)?),
        Entered::Frame(frame) => {
            operation.abandon(frame);
            Err(too_deep::<F>())
        }
    }
}
