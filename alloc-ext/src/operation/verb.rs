//! The verbs of operations: what they do with their arguments.

/// What an operation does with a container or module; each family has some of them.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    // Containers.
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
    // Modules.
    LoadFromFile,
    ImplementsFunction,
    GetMetadata,
    GetDoc,
    GetFunction,
    GetPropertyMask,
    InspectSource,
    GetKind,
    GetWriteFormats,
    WriteToFile,
    ImportModule,
    ClearImports,
    GlobalsAdd,
    GlobalsRemove,
    // JSON.
    Parse,
    Stringify,
    // Structure.
    StructuralEqual,
    StructuralHash,
}

impl Verb {
    /// Index of the last argument that it uses.
    pub(crate) const fn last_operand(self) -> usize {
        match self {
            Verb::Size | Verb::ForwardIterFunctor | Verb::Reverse | Verb::Clear => 0,
            Verb::GetItem | Verb::GetItemOrMissing | Verb::Contains | Verb::Count => 1,
            Verb::Append | Verb::Pop | Verb::Erase | Verb::Reserve => 1,
            Verb::SetItem | Verb::Insert | Verb::EraseRange => 2,
            Verb::ReplaceSlice => 3,
            Verb::Parse
            | Verb::LoadFromFile
            | Verb::GetPropertyMask
            | Verb::GetKind
            | Verb::GetWriteFormats => 0,
            Verb::ClearImports | Verb::GlobalsAdd | Verb::GlobalsRemove => 0,
            Verb::InspectSource | Verb::ImportModule | Verb::Stringify => 1,
            Verb::ImplementsFunction | Verb::GetMetadata | Verb::GetDoc | Verb::GetFunction => 2,
            Verb::WriteToFile | Verb::StructuralHash => 2,
            Verb::StructuralEqual => 3,
        }
    }
}
