//! The library's own types beyond the built-in ones: none on bare metal.

/// Returns `true`: there are no types to register.
#[inline(always)]
pub const fn is_provided() -> bool {
    true
}

/// Returns `false`: there are no types that could be missing.
#[inline(always)]
pub const fn lacks_provided() -> bool {
    false
}

/// Does nothing: there are no types to register.
#[inline(always)]
pub const fn ensure_provided() {}
