//! Compatibility with the last release only: builds without `std` run no Python package.

/// Returns `false`, as for the last release.
pub const fn fields_may_repeat() -> bool {
    false
}

/// Name of the field of `ffi.Enum` that stores an enum's name.
pub const fn name_of_enums() -> &'static [u8] {
    b"_str_index"
}

/// Returns `false`, as for the last release.
pub const fn visits_give_keys() -> bool {
    false
}

/// Returns `false`, as for the last release.
pub const fn schemas_have_args() -> bool {
    false
}
