//! The last release alone, for builds without `std`: no Python package runs there.

/// As for hosts: false for the last release.
pub const fn fields_may_repeat() -> bool {
    false
}

/// The field of `ffi.Enum` that holds the name of an enum.
pub const fn name_of_enums() -> &'static [u8] {
    b"_str_index"
}

/// As for hosts: false for the last release.
pub const fn visits_give_keys() -> bool {
    false
}

/// As for hosts: false for the last release.
pub const fn schemas_have_args() -> bool {
    false
}
