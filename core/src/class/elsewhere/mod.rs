//! Classes whose type key is defined elsewhere: hosts verify their layout by reflection, firmware
//! refuses them.

#[cfg_attr(any(feature = "std", feature = "client"), path = "std.rs")]
#[cfg_attr(not(any(feature = "std", feature = "client")), path = "bare.rs")]
mod imp;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use imp::{FieldLayout, claim_for_zeros};
pub(super) use imp::{claim_for_class, claim_for_library, is_only_declared, verify};
