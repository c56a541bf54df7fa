//! Compatibility with upstream's latest release only: builds without `std` run no Python package.

/// Returns `false`, as in the latest release.
pub const fn fields_may_repeat() -> bool {
    false
}

/// Returns the name of the field of `ffi.Enum` that stores an enum's name.
pub const fn name_of_enums() -> &'static [u8] {
    b"_str_index"
}

/// Returns `false`, as in the latest release.
pub const fn visits_include_keys() -> bool {
    false
}

/// Returns `false`, as in the latest release.
pub const fn schemas_have_args() -> bool {
    false
}
