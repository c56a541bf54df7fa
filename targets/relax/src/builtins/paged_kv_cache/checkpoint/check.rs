//! Comparison of the metadata of a checkpoint with a cache.

use ferrite_alloc_ext::containers::{Array, Map};
use ferrite_alloc_ext::json;
use ferrite_core::error::Result;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::dtype;
use ferrite_core::{Any, String, plain_bail, plain_ensure, plain_error};

use super::groups::{group_bytes, shape};
use super::layout;
use crate::builtins::paged_kv_cache::config::Config;
use crate::builtins::paged_kv_cache::sequence::pages_for;

type JsonObject = Map<String, Any>;

/// Metadata, and its name in errors.
const METADATA: &str = "PagedAttentionKVCache checkpoint import metadata";
const GROUP: &str = "PagedAttentionKVCache checkpoint import group metadata";

/// Checks the metadata of a checkpoint, as JSON. Returns the length of its sequence.
///
/// # Errors
/// InternalError for text that is not JSON, missing fields and fields that do not fit the cache;
/// TypeError for fields of another type; MemoryError.
pub(super) fn check_metadata(config: &Config, text: &[u8]) -> Result<i32> {
    let value = json::parse(text).map_err(|error| {
        plain_error!(
            INTERNAL_ERROR,
            "Check failed: (error_msg.empty()) is false: Failed to parse PagedAttentionKVCache checkpoint metadata JSON: {}.",
            error.message_bytes()
        )
    })?;
    let Some(object) = value.view().try_get::<JsonObject>()? else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (json_info.as<ffi::json::Object>()) is false: PagedAttentionKVCache checkpoint metadata should be a JSON \
             object."
        );
    };
    let metadata = Fields { object, context: METADATA };
    for (name, expected) in layout::fields(config)? {
        metadata.check(name, &expected)?;
    }
    for name in ["reserved_num_seqs", "num_total_pages", "prefill_chunk_size"] {
        plain_ensure!(
            metadata.get::<i64>(name)? > 0,
            INTERNAL_ERROR,
            "{} field \"{}\" must be positive.",
            METADATA,
            name
        );
    }
    metadata.check("layout_hash", &layout::hash(config)?.into())?;
    check_kinds(config, &metadata)?;
    metadata.check("seq_id", &0i64.into())?;
    let (length, count) = check_length(config, &metadata)?;
    check_pages(config, &metadata, length, count)?;
    check_groups(config, &metadata, count)?;
    Ok(length as i32)
}

/// An object of the metadata.
struct Fields {
    object: JsonObject,
    context: &'static str,
}

impl Fields {
    fn get<T: AnyCompatible>(&self, name: &'static str) -> Result<T> {
        match self.object.get(&String::new(name)?)? {
            Some(value) => value.get(),
            None => plain_bail!(
                INTERNAL_ERROR,
                "Check failed: (it != object.end()) is false: {} missing field \"{}\".",
                self.context,
                name
            ),
        }
    }

    /// Checks the value of a field: an integer, a number, a boolean or a string.
    fn check(&self, name: &'static str, expected: &Any) -> Result<()> {
        let found = self.get::<Any>(name)?;
        let is_equal = match (expected.view().bytes_of_string(), found.view().bytes_of_string()) {
            (Some(expected), Some(found)) => expected == found,
            (None, None) => found.get::<f64>()? == expected.get::<f64>()?,
            _ => false,
        };
        if is_equal {
            return Ok(());
        }
        let [expected, found] = [json::stringify(expected, None)?, json::stringify(&found, None)?];
        plain_bail!(
            INTERNAL_ERROR,
            "{} field \"{}\" mismatch: expected {}, got {}.",
            self.context,
            name,
            unquoted(&expected),
            unquoted(&found)
        )
    }

    fn array(&self, name: &'static str, len: i64) -> Result<Array<Any>> {
        let array = self.get::<Array<Any>>(name)?;
        plain_ensure!(
            array.as_slice().len() as i64 == len,
            INTERNAL_ERROR,
            "{} field \"{}\" size mismatch: expected {}, got {}.",
            self.context,
            name,
            &len,
            array.as_slice().len()
        );
        Ok(array)
    }
}

fn unquoted(text: &String) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.strip_prefix(b"\"").and_then(|bytes| bytes.strip_suffix(b"\"")).unwrap_or(bytes)
}

fn check_kinds(config: &Config, metadata: &Fields) -> Result<()> {
    let kinds = metadata.array("attn_kinds", config.layers())?;
    for (layer, (found, expected)) in kinds.as_slice().iter().zip(config.kinds.iter()).enumerate() {
        let found = found.get::<String>()?;
        plain_ensure!(
            found.as_bytes() == expected.name().as_bytes(),
            INTERNAL_ERROR,
            "{} field \"attn_kinds\" mismatch at local layer {}: expected {}, got {}.",
            METADATA,
            layer,
            expected.name(),
            found.as_bytes()
        );
    }
    Ok(())
}

/// Returns the length of the sequence and the number of its pages, which fit the cache.
fn check_length(config: &Config, metadata: &Fields) -> Result<(i64, i64)> {
    let length = metadata.get::<i64>("seq_length")?;
    plain_ensure!(
        length >= 0,
        INTERNAL_ERROR,
        "Check failed: seq_length >= 0 ({} vs. 0) : PagedAttentionKVCache checkpoint import seq_length cannot be negative.",
        &length
    );
    plain_ensure!(
        length <= i64::from(i32::MAX),
        INTERNAL_ERROR,
        "Check failed: seq_length <= std::numeric_limits<int32_t>::max() ({} vs. 2147483647) : PagedAttentionKVCache checkpoint \
         import seq_length exceeds int32 range.",
        &length
    );
    let count = pages_for(length as i32, config.page_size) as i64;
    let source = metadata.get::<i64>("num_total_pages")?;
    plain_ensure!(
        count <= source,
        INTERNAL_ERROR,
        "Check failed: num_logical_pages <= source_num_total_pages ({} vs. {}) : PagedAttentionKVCache checkpoint metadata requires \
         {} pages, but reports a source cache with only {} pages.",
        &count,
        &source,
        &count,
        &source
    );
    let own = i64::from(config.pages);
    plain_ensure!(
        count <= own,
        INTERNAL_ERROR,
        "Check failed: num_logical_pages <= num_total_pages_ ({} vs. {}) : PagedAttentionKVCache checkpoint import requires {} \
         pages, but this cache only has {} pages.",
        &count,
        &own,
        &count,
        &own
    );
    Ok((length, count))
}

fn check_pages(config: &Config, metadata: &Fields, length: i64, count: i64) -> Result<()> {
    let pages = metadata.get::<Array<Any>>("logical_pages")?;
    plain_ensure!(
        pages.as_slice().len() as i64 == count,
        INTERNAL_ERROR,
        "PagedAttentionKVCache checkpoint import sequence length mismatch: seq_length {} requires {} logical pages, but metadata has \
         {}.",
        &length,
        &count,
        pages.as_slice().len()
    );
    for (index, page) in (0..).zip(pages.as_slice()) {
        let page = Fields { object: page.get()?, context: METADATA };
        let start = index * i64::from(config.page_size);
        page.check("logical_page_index", &index.into())?;
        page.check("start_pos", &start.into())?;
        page.check("length", &(length - start).min(i64::from(config.page_size)).into())?;
    }
    Ok(())
}

fn check_groups(config: &Config, metadata: &Fields, count: i64) -> Result<()> {
    let groups = metadata.array("groups", config.layers())?;
    for (index, group) in (0..).zip(groups.as_slice()) {
        let group = Fields { object: group.get()?, context: GROUP };
        let layer = config.first_layer + index;
        group.check("group_index", &index.into())?;
        group.check("layer_begin", &layer.into())?;
        group.check("layer_end", &(layer + 1).into())?;
        group.check("num_logical_pages", &count.into())?;
        group.check("dtype", &dtype::to_string(config.dtype)?.into())?;
        let (expected, found) = (shape(config, count), group.array("shape", 6)?);
        for (dimension, (expected, found)) in expected.iter().zip(found.as_slice()).enumerate() {
            let found = found.get::<i64>()?;
            plain_ensure!(
                found == *expected,
                INTERNAL_ERROR,
                "{} field \"shape\" mismatch at dim {}: expected {}, got {}.",
                GROUP,
                dimension,
                expected,
                &found
            );
        }
        group.check("nbytes", &group_bytes(config, count).into())?;
    }
    Ok(())
}
