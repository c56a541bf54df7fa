//! Lookup as `lookup/mod.rs` of the core chooses it on bare metal.

#[path = "../../../../../../core/src/names/name_table/lookup/bare.rs"]
mod imp;

pub(super) use imp::*;
