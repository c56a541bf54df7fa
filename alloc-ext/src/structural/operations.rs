//! The global functions of structural operations, by their Rust functions.

pub(super) use super::mutate::functions::{
    default_mutate, mutate, mutate_in_place, structural_map, structural_mutate, var_remap_get,
    var_remap_set,
};
pub(super) use super::visit::functions::{default_visit, structural_visit, structural_walk, visit};
