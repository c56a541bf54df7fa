//! Launch tags: strings that describe the packed arguments after the parameters of a kernel, or a
//! property of its launches.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;

/// A parsed launch tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A work size, given by its axis index in [`WorkSizes`](super::WorkSizes).
    Axis(u8),
    /// Bytes of dynamic shared memory, the last argument.
    DynamicSharedMemory,
    /// The kernel may begin before the previous kernel ends. Takes no argument.
    ProgrammaticLaunch,
    /// All blocks must run concurrently. Takes no argument.
    CooperativeLaunch,
    /// Buffers that a WebGPU kernel writes; see [`write_access`]. Takes no argument.
    WriteAccess,
}

/// Prefixes of axis tags, in the order of the groups of [`WorkSizes`](super::WorkSizes).
const AXES: [&[u8]; 4] =
    [b"blockIdx.", b"threadIdx.", b"clusterCtaIdx.", b"preferredClusterCtaIdx."];

const WRITE_ACCESS: &[u8] = b"paramWriteAccess:";

impl Tag {
    /// Parses a tag.
    ///
    /// # Errors
    /// InternalError for an unknown tag.
    pub fn parse(text: &[u8]) -> Result<Tag> {
        match text {
            b"tirx.use_dyn_shared_memory" => return Ok(Tag::DynamicSharedMemory),
            // Spelled this way by TVM.
            b"tirx.use_programtic_dependent_launch" => return Ok(Tag::ProgrammaticLaunch),
            b"tirx.use_cooperative_launch" => return Ok(Tag::CooperativeLaunch),
            _ if text.starts_with(WRITE_ACCESS) => return Ok(Tag::WriteAccess),
            _ => {}
        }
        for (group, prefix) in AXES.iter().enumerate() {
            let Some(axis) = text.strip_prefix(*prefix) else { continue };
            if let Some(axis) = [b"x", b"y", b"z"].iter().position(|name| *name == axis) {
                return Ok(Tag::Axis((group * 3 + axis) as u8));
            }
        }
        plain_bail!(INTERNAL_ERROR, "Unknown threadscope {}", text)
    }
}

/// Parses the tag `paramWriteAccess:[0,1]`: for each buffer, whether the WebGPU kernel writes it.
/// Returns `None` for any other tag.
///
/// # Errors
/// InternalError for a malformed list; MemoryError.
pub fn write_access(text: &[u8]) -> Result<Option<Buffer<bool>>> {
    let Some(list) = text.strip_prefix(WRITE_ACCESS) else { return Ok(None) };
    let mut written = Buffer::new();
    let inner = list.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]"));
    let entries =
        inner.unwrap_or(b"?").split(|byte| *byte == b',').filter(|entry| !entry.is_empty());
    for entry in entries {
        match entry.trim_ascii() {
            b"0" => written.try_push(false)?,
            b"1" => written.try_push(true)?,
            _ => plain_bail!(INTERNAL_ERROR, "Malformed launch tag {}", text),
        }
    }
    Ok(Some(written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_places_in_the_work_sizes() {
        let tags = [
            "blockIdx.x",
            "blockIdx.z",
            "threadIdx.y",
            "clusterCtaIdx.x",
            "preferredClusterCtaIdx.z",
        ];
        let places = tags.map(|tag| Tag::parse(tag.as_bytes()).unwrap());
        assert_eq!(places, [0, 2, 4, 6, 11].map(Tag::Axis));
    }

    #[test]
    fn unknown_tags_are_named() {
        for tag in
            ["", "blockIdx", "blockIdx.", "blockIdx.w", "threadIdx.xy", "vthread", "tirx.other"]
        {
            let error = Tag::parse(tag.as_bytes()).unwrap_err();
            assert_eq!(error.kind_bytes(), b"InternalError");
            assert_eq!(error.message_bytes(), std::format!("Unknown threadscope {tag}").as_bytes());
        }
    }

    #[test]
    fn write_access_is_a_list_of_flags() {
        let of =
            |tag: &str| write_access(tag.as_bytes()).map(|list| list.map(|list| list.to_vec()));
        assert_eq!(of("paramWriteAccess:[0,1, 1]").unwrap(), Some(std::vec![false, true, true]));
        assert_eq!(of("paramWriteAccess:[]").unwrap(), Some(std::vec![]));
        assert_eq!(of("blockIdx.x").unwrap(), None);
        for malformed in [
            "paramWriteAccess:",
            "paramWriteAccess:[0",
            "paramWriteAccess:[2]",
            "paramWriteAccess:0]",
        ] {
            assert_eq!(of(malformed).unwrap_err().kind_bytes(), b"InternalError", "{malformed}");
        }
    }
}
