//! Both forms of the name table: with the index of hosts, and with the trie of bare metal.

pub mod bare;
#[path = "../../../../../core/src/names/name_table/mod.rs"]
mod on_hosts;

pub use on_hosts::NameTable;
