//! The last release alone, for builds without `std`: no Python package runs there.

/// As for hosts: false for the last release.
pub const fn fields_may_repeat() -> bool {
    false
}

/// As for hosts: false for the last release.
pub const fn visits_give_keys() -> bool {
    false
}

/// As for hosts: false for the last release.
pub const fn schemas_have_args() -> bool {
    false
}
