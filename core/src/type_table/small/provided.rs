//! What the library itself registers beyond the static tables: on boards nothing.

/// Nothing is missing.
#[inline(always)]
pub const fn is_provided() -> bool {
    true
}

/// Nothing is left to do.
#[inline(always)]
pub const fn ensure_provided() {}
