//! Fields that a cache and a checkpoint must have in common, and their hash.

use ferrite_alloc_ext::json;
use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::dtype;
use ferrite_core::{Any, String};

use crate::builtins::paged_kv_cache::config::Config;

/// Layout of the tensor of a layer.
const GROUP_LAYOUT: &str = "1,num_logical_pages,2,num_kv_heads,page_size,qk_head_dim";

/// Offset basis and prime of FNV-1a with 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x100_0000_01b3;

/// Returns the fields in their order: names and values.
///
/// # Errors
/// MemoryError.
pub(super) fn fields(config: &Config) -> Result<[(&'static str, Any); 18]> {
    let text = |text: &str| -> Result<Any> { Ok(Any::from(String::new(text)?)) };
    let first = config.first_layer;
    Ok([
        ("format_version", 1i64.into()),
        // The name is upstream's: each runtime reads the checkpoints of the other.
        ("cache_type", text("relax.vm.PagedAttentionKVCache")?),
        ("page_size", i64::from(config.page_size).into()),
        ("num_layers", config.layers().into()),
        ("layer_begin", first.into()),
        ("layer_end", (first + config.layers()).into()),
        ("num_qo_heads", config.query_heads.into()),
        ("num_kv_heads", config.key_heads.into()),
        ("qk_head_dim", config.key_width.into()),
        ("v_head_dim", config.value_width.into()),
        ("dtype", dtype::to_string(config.dtype)?.into()),
        ("rope_mode", text(config.rotary.mode.name())?),
        ("rotary_scale", config.rotary.scale.into()),
        ("rotary_theta", config.rotary.theta.into()),
        ("has_rope_ext_factors", config.rotary.factors.is_some().into()),
        ("support_sliding_window", config.slides.into()),
        ("support_layer_sliding_window", config.has_layer_windows.into()),
        ("page_group_layout", text(GROUP_LAYOUT)?),
    ])
}

/// Returns the hash of the fields: FNV-1a of `name=value;` of each and the kinds of the layers, as
/// 16 hexadecimal digits.
///
/// # Errors
/// MemoryError.
pub(super) fn hash(config: &Config) -> Result<String> {
    let mut hash = BASIS;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    };
    for (name, value) in fields(config)? {
        add(name.as_bytes());
        add(b"=");
        add(&text_of(&value)?);
        add(b";");
    }
    add(b"attn_kinds=");
    for (index, kind) in config.kinds.iter().enumerate() {
        if index != 0 {
            add(b",");
        }
        add(kind.name().as_bytes());
    }
    let mut digits = [0; 16];
    for (index, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(hash >> (60 - 4 * index)) as usize & 15];
    }
    String::from_bytes(&digits)
}

/// Returns a value as the hash reads it: strings as they are, numbers with 17 digits and no
/// trailing `.0`, and booleans as 0 or 1.
fn text_of(value: &Any) -> Result<Buffer<u8>> {
    let mut text = Buffer::new();
    if value.type_index() == type_index::BOOL {
        text.try_push(b'0' + u8::from(value.get::<bool>()?))?;
    } else if let Some(string) = value.view().bytes_of_string() {
        text.try_extend_from_slice(string)?;
    } else {
        let number = json::stringify(value, None)?;
        let number = number.as_bytes();
        text.try_extend_from_slice(number.strip_suffix(b".0").unwrap_or(number))?;
    }
    Ok(text)
}
