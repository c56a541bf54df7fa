//! Metadata of a checkpoint as JSON.

use ferrite_alloc_ext::containers::{Array, Map};
use ferrite_alloc_ext::json;
use ferrite_core::error::Result;
use ferrite_core::value::dtype;
use ferrite_core::{Any, String};

use super::groups::group_bytes;
use super::layout;
use crate::builtins::paged_kv_cache::config::Config;
use crate::builtins::paged_kv_cache::sequence::{Sequence, pages_for};

/// A JSON object, whose fields stay in the order in which they are added.
type JsonObject = Map<String, Any>;

fn add(object: &mut JsonObject, name: &str, value: impl Into<Any>) -> Result<()> {
    object.insert(String::new(name)?, value.into())
}

/// Returns the metadata of a sequence.
///
/// # Errors
/// MemoryError.
pub(super) fn of_sequence(config: &Config, id: i64, sequence: &Sequence) -> Result<String> {
    let mut object = JsonObject::new()?;
    for (name, value) in layout::fields(config)? {
        add(&mut object, name, value)?;
        match name {
            "v_head_dim" => {
                add(&mut object, "reserved_num_seqs", config.sequences)?;
                add(&mut object, "num_total_pages", i64::from(config.pages))?;
                add(&mut object, "prefill_chunk_size", config.longest_step)?;
            }
            "dtype" => add(&mut object, "attn_kinds", kinds(config)?)?,
            _ => (),
        }
    }
    add(&mut object, "layout_hash", layout::hash(config)?)?;
    add(&mut object, "seq_id", id)?;
    add(&mut object, "seq_length", i64::from(sequence.length))?;
    add(&mut object, "logical_pages", pages(config, sequence)?)?;
    add(&mut object, "groups", groups(config, sequence)?)?;
    json::stringify(&object.into(), None)
}

fn kinds(config: &Config) -> Result<Array<Any>> {
    let mut kinds = Array::<Any>::new()?;
    for kind in config.kinds.iter() {
        kinds.push(String::new(kind.name())?.into())?;
    }
    Ok(kinds)
}

fn pages(config: &Config, sequence: &Sequence) -> Result<Array<Any>> {
    let mut pages = Array::<Any>::new()?;
    let page_size = i64::from(config.page_size);
    for index in 0..pages_for(sequence.length, config.page_size) as i64 {
        let (mut page, start) = (JsonObject::new()?, index * page_size);
        add(&mut page, "logical_page_index", index)?;
        add(&mut page, "start_pos", start)?;
        add(&mut page, "length", page_size.min(i64::from(sequence.length) - start))?;
        pages.push(page.into())?;
    }
    Ok(pages)
}

fn groups(config: &Config, sequence: &Sequence) -> Result<Array<Any>> {
    let mut groups = Array::<Any>::new()?;
    let count = pages_for(sequence.length, config.page_size) as i64;
    for index in 0..config.layers() {
        let (mut group, layer) = (JsonObject::new()?, config.first_layer + index);
        add(&mut group, "group_index", index)?;
        add(&mut group, "layer_begin", layer)?;
        add(&mut group, "layer_end", layer + 1)?;
        add(&mut group, "num_logical_pages", count)?;
        add(&mut group, "dtype", dtype::to_string(config.dtype)?)?;
        let mut shape = Array::<Any>::new()?;
        for extent in super::groups::shape(config, count) {
            shape.push(extent.into())?;
        }
        add(&mut group, "shape", shape)?;
        add(&mut group, "nbytes", group_bytes(config, count))?;
        groups.push(group.into())?;
    }
    Ok(groups)
}
