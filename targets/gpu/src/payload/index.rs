//! Sorted index of kernel names, so that hostile payloads with many kernels do not take quadratic
//! time.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;

use super::reader::{Span, at};

/// Indices of the kernels, sorted by name.
pub(super) struct NameIndex(Buffer<usize>);

impl NameIndex {
    /// Builds the index of the kernels' names.
    ///
    /// # Errors
    /// InternalError for a duplicate name; MemoryError.
    pub(super) fn new(
        kind: &'static str,
        bytes: &[u8],
        names: impl Iterator<Item = Span>,
    ) -> Result<NameIndex> {
        let mut spans = Buffer::new();
        for name in names {
            spans.try_push(name)?;
        }
        let mut order = Buffer::try_with_capacity(spans.len())?;
        for index in 0..spans.len() {
            order.try_push(index)?;
        }
        let name = |index: usize| at(bytes, spans[index]);
        order.as_mut_slice().sort_unstable_by(|one, other| name(*one).cmp(name(*other)));
        if let Some(pair) = order.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
            plain_bail!(
                INTERNAL_ERROR,
                "Malformed {} module: two kernels are called {}",
                kind,
                name(pair[0])
            );
        }
        Ok(NameIndex(order))
    }

    /// Returns the index of the kernel with this name; `None` if there is none.
    pub(super) fn find(
        &self,
        bytes: &[u8],
        span: impl Fn(usize) -> Span,
        name: &[u8],
    ) -> Option<usize> {
        let found = self.0.binary_search_by(|index| at(bytes, span(*index)).cmp(name)).ok()?;
        self.0.get(found).copied()
    }
}
