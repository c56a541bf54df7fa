//! Types that the library itself registers beyond the static tables: none on bare metal.

/// Whether the library's own types are registered: always, since there are none beyond the static tables.
#[inline(always)]
pub const fn is_provided() -> bool {
    true
}

/// Does nothing, since there is nothing to register.
#[inline(always)]
pub const fn ensure_provided() {}
