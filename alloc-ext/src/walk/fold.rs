//! The loop shared by all walks: an iterative depth-first traversal with an explicit stack of
//! frames. Results propagate from children to parents.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::{Buffer, SpareSlot};

/// Maximum depth of a walk.
///
/// # Upstream
/// `kMaxTraversalStackDepth` in `dataclass.cc`.
pub const MAX_DEPTH: usize = 1 << 20;

/// Outcome of entering a node; see [`Fold::enter`].
pub enum Entered<F, V> {
    /// The node's result, known without visiting its children.
    Value(V),
    /// A frame for the loop to push, because the node has children to visit.
    Frame(F),
    /// The operation has already pushed the node's frame.
    Open,
}

/// Outcome of [`Fold::descend`].
pub enum NextChild<N, V> {
    /// The loop has to ask [`Fold::next`] for the next child.
    ByNode,
    /// The next child, for the loop to enter.
    Child(N),
    /// The operation has already pushed the frame of the next child.
    Open,
    /// The result of the next child, known without visiting its children.
    Value(V),
    /// All children have been visited.
    End,
}

/// An operation that computes a result for every node of a value, children before parents.
pub trait Fold {
    /// Node of the walk: an object, or a pair of objects.
    type Node;
    /// Stack entry of a node whose children are being visited.
    type Frame;
    /// Result for a node.
    type Value;
    /// Name of the walk in error messages.
    const NAME: &'static str;

    /// Enters a node. A performance-critical operation may push the frame itself, with
    /// [`reserve_frame`]. If it fails after pushing, the frame is [abandoned](Self::abandon) like
    /// all others; if it fails before, it must undo its changes.
    ///
    /// # Errors
    /// Errors of the operation.
    fn enter(
        &mut self,
        node: Self::Node,
        open: &mut Buffer<Self::Frame>,
    ) -> Result<Entered<Self::Frame, Self::Value>>;

    /// Returns the next child of a node, or `None` after the last. Called if
    /// [`descend`](Self::descend) returned [`NextChild::ByNode`].
    ///
    /// # Errors
    /// Errors of the operation.
    fn next(&mut self, frame: &mut Self::Frame) -> Result<Option<Self::Node>> {
        let _ = frame;
        Ok(None)
    }

    /// Descends from the topmost frame to its next child. An operation may push the child's frame
    /// here, without creating a node first.
    ///
    /// # Errors
    /// Errors of the operation.
    #[inline]
    fn descend(
        &mut self,
        open: &mut Buffer<Self::Frame>,
    ) -> Result<NextChild<Self::Node, Self::Value>> {
        let _ = open;
        Ok(NextChild::ByNode)
    }

    /// Passes the result of the child just visited to its parent's frame. `Break` ends the walk
    /// with the given result.
    ///
    /// # Errors
    /// Errors of the operation.
    fn feed(
        &mut self,
        frame: &mut Self::Frame,
        value: Self::Value,
    ) -> Result<ControlFlow<Self::Value>>;

    /// Returns the result of a node after all children have been visited.
    ///
    /// # Errors
    /// Errors of the operation.
    fn leave(&mut self, frame: &mut Self::Frame) -> Result<Self::Value>;

    /// Returns the result of the walk after a `Break` with `value`. `open` contains the unfinished
    /// frames.
    ///
    /// # Errors
    /// Errors of the operation.
    fn stopped(&mut self, open: &[Self::Frame], value: Self::Value) -> Result<Self::Value> {
        let _ = open;
        Ok(value)
    }

    /// Reports the error that ends the walk, and may change it. Called for every unfinished frame,
    /// innermost first, before [`Self::abandon`].
    fn failed(&mut self, frame: &Self::Frame, error: &mut Error) {
        let _ = (frame, error);
    }

    /// Drops an unfinished frame after an error or a `Break`.
    fn abandon(&mut self, frame: Self::Frame);
}

/// Reserves a stack slot for a frame, so that the frame is built in place. Moving a frame that was
/// just written would wait for store forwarding, which takes a fifth of the time of a walk.
///
/// # Errors
/// ValueError beyond [`MAX_DEPTH`]; MemoryError.
#[inline(always)]
pub fn reserve_frame<F: Fold>(open: &mut Buffer<F::Frame>) -> Result<SpareSlot<'_, F::Frame>> {
    if open.len() < MAX_DEPTH { Ok(open.try_spare_slot()?) } else { Err(too_deep::<F>()) }
}

#[cold]
fn too_deep<F: Fold>() -> Error {
    plain_error!(VALUE_ERROR, "{}: maximum stack depth ({}) exceeded", F::NAME, MAX_DEPTH)
}

/// Runs an operation over `root` and everything reachable from it, and returns the result for
/// `root`.
///
/// # Errors
/// Errors of the operation; ValueError beyond [`MAX_DEPTH`]; MemoryError.
pub fn fold<F: Fold>(operation: &mut F, root: F::Node) -> Result<F::Value> {
    let mut open = Buffer::new();
    let mut outcome = run(operation, root, &mut open);
    while let Some(frame) = open.pop() {
        if let Err(error) = &mut outcome {
            operation.failed(&frame, error);
        }
        operation.abandon(frame);
    }
    outcome
}

fn run<F: Fold>(operation: &mut F, root: F::Node, open: &mut Buffer<F::Frame>) -> Result<F::Value> {
    let mut node = root;
    loop {
        // The only call of `enter`, so that it is inlined and frames are built in place.
        let mut value = enter(operation, node, open)?;
        node = loop {
            let Some(frame) = open.last_mut() else {
                return value.ok_or_else(|| {
                    plain_error!(INTERNAL_ERROR, "{}: a walk without a result", F::NAME)
                });
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

/// Enters a node. Returns its result, or `None` if a frame was pushed.
#[inline(always)]
fn enter<F: Fold>(
    operation: &mut F,
    node: F::Node,
    open: &mut Buffer<F::Frame>,
) -> Result<Option<F::Value>> {
    // Reserved before the node is entered, so that pushing its frame cannot fail.
    open.try_reserve(1)?;
    match operation.enter(node, open)? {
        Entered::Value(value) => Ok(Some(value)),
        Entered::Open => Ok(None),
        Entered::Frame(frame) if open.len() < MAX_DEPTH => {
            Ok(open.try_push(frame).map(|()| None)?)
        }
        Entered::Frame(frame) => {
            operation.abandon(frame);
            Err(too_deep::<F>())
        }
    }
}
