//! Baselines by well-known Rust libraries: parsing the same JSON document and looking up the same
//! names, as C functions.
//!
//! The worker passes valid pointers, and handles created by these functions. There are no other
//! requirements.
#![allow(clippy::missing_safety_doc)]

use std::slice;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use sonic_rs::JsonContainerTrait;

type Table = HashMap<&'static [u8], u64, RandomState>;

/// A document parsed by one of the libraries.
pub enum Document {
    /// A document of sonic-rs.
    Sonic(sonic_rs::Value),
    /// A document of serde_json.
    Serde(serde_json::Value),
}

unsafe fn bytes(data: *const u8, len: usize) -> &'static [u8] {
    // SAFETY: the worker keeps its strings until it exits.
    unsafe { slice::from_raw_parts(data, len) }
}

/// Parses a document and drops it; returns the number of elements, or -1. `kind`: 0 sonic-rs, 1
/// simd-json, 2 serde_json.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_json_parse(kind: i32, data: *const u8, len: usize) -> i64 {
    // SAFETY: see the crate.
    let text = unsafe { bytes(data, len) };
    let elements = match kind {
        0 => sonic_rs::from_slice::<sonic_rs::Value>(text)
            .ok()
            .and_then(|v| Some(v.as_array()?.len())),
        // simd-json parses in place, so the copy is part of the cost.
        1 => match simd_json::to_owned_value(&mut text.to_vec()) {
            Ok(simd_json::OwnedValue::Array(array)) => Some(array.len()),
            _ => None,
        },
        _ => serde_json::from_slice::<serde_json::Value>(text)
            .ok()
            .and_then(|v| Some(v.as_array()?.len())),
    };
    elements.map_or(-1, |n| n as i64)
}

/// Parses a document and returns it, for `fl_json_write`. `kind`: 0 sonic-rs, 2 serde_json.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_json_hold(kind: i32, data: *const u8, len: usize) -> *mut Document {
    // SAFETY: see the crate.
    let text = unsafe { bytes(data, len) };
    let held = match kind {
        0 => sonic_rs::from_slice(text).ok().map(Document::Sonic),
        _ => serde_json::from_slice(text).ok().map(Document::Serde),
    };
    held.map_or(std::ptr::null_mut(), |document| Box::into_raw(Box::new(document)))
}

/// Writes a document to a string and drops the string; returns its length, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_json_write(document: *const Document) -> i64 {
    // SAFETY: see the crate.
    let text = match unsafe { &*document } {
        Document::Sonic(value) => sonic_rs::to_string(value).ok(),
        Document::Serde(value) => serde_json::to_string(value).ok(),
    };
    text.map_or(-1, |text| text.len() as i64)
}

/// Creates a table that maps `len` names to their indices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_map_new(
    names: *const *const u8,
    lens: *const usize,
    len: usize,
) -> *mut Table {
    let mut table = Table::default();
    for at in 0..len {
        // SAFETY: see the crate.
        let name = unsafe { bytes(*names.add(at), *lens.add(at)) };
        table.insert(name, at as u64);
    }
    Box::into_raw(Box::new(table))
}

/// Returns the index of a name, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_map_get(table: *const Table, data: *const u8, len: usize) -> i64 {
    // SAFETY: see the crate.
    let (table, name) = unsafe { (&*table, bytes(data, len)) };
    table.get(name).map_or(-1, |at| *at as i64)
}

/// Frees the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fl_map_free(table: *mut Table) {
    // SAFETY: see the crate; the worker does not use it again.
    drop(unsafe { Box::from_raw(table) });
}
