//! Plain records of the type table's interface, the same for the table itself and for its clients.

/// A request to register a type, or to query its index.
#[derive(Clone, Copy, Debug)]
pub struct NewTypeRequest<'a> {
    /// The key of the type.
    pub type_key: &'a [u8],
    /// The required index of the type; if negative, the next free index is assigned.
    pub static_type_index: i32,
    /// The number of ancestors.
    pub type_depth: i32,
    /// Number of indices to reserve for children.
    pub num_child_slots: i32,
    /// Whether children may get other indices when all reserved indices are in use.
    pub child_slots_can_overflow: bool,
    /// The index of the parent; -1 for a root type, or -2 to query an existing type only.
    pub parent_type_index: i32,
}

/// Member counts and object size of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// Number of fields, without those of ancestors.
    pub fields: usize,
    /// Number of methods, without those of ancestors.
    pub methods: usize,
    /// The size of an object in bytes, or 0 if unknown; `None` if the type has no metadata.
    pub total_size: Option<i32>,
}
