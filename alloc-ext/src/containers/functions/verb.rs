//! What the functions on containers do.

/// What an operation does with a container; each layout has some of them.
#[derive(Clone, Copy)]
pub(super) enum Verb {
    Size,
    GetItem,
    GetItemOrMissing,
    Contains,
    Count,
    ForwardIterFunctor,
    SetItem,
    Append,
    Insert,
    Pop,
    Erase,
    EraseRange,
    ReplaceSlice,
    Reverse,
    Clear,
    Reserve,
}

impl Verb {
    /// Index of the last argument that it uses.
    pub(super) const fn last_operand(self) -> usize {
        match self {
            Verb::Size | Verb::ForwardIterFunctor | Verb::Reverse | Verb::Clear => 0,
            Verb::GetItem | Verb::GetItemOrMissing | Verb::Contains | Verb::Count => 1,
            Verb::Append | Verb::Pop | Verb::Erase | Verb::Reserve => 1,
            Verb::SetItem | Verb::Insert | Verb::EraseRange => 2,
            Verb::ReplaceSlice => 3,
        }
    }
}
