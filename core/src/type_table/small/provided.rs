//! What the library itself registers beyond the static tables: on boards nothing.

/// Whether the library's own types are registered: always, since boards have none beyond the static tables.
#[inline(always)]
pub const fn is_provided() -> bool {
    true
}

/// Does nothing, since there is nothing to register.
#[inline(always)]
pub const fn ensure_provided() {}
