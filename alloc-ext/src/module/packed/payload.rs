//! Conversion of device module payloads from the old to the current format. Old payloads have no
//! length field.
//!
//! ```text
//! bytes         format, such as `ptx`
//! u64           number of kernels
//! kernels       bytes: key; bytes: name; u64, u32[n]: parameter types; u64, bytes[m]: launch tags
//! cuda, opencl, hip: bytes     code
//! vulkan: u64, shaders         bytes: name; u32 flags; u64, u32[n]: words
//! ```
//! In the current format a kernel has one more list, a shader has a length, and tag names begin
//! with `tirx.` instead of `tir.`. OpenCL source is a sequence of kernels, each after a title line
//! with its name. Source up to 0.7 has no title lines: it is repeated for each kernel after a title
//! line.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::super::bin_reader::BinReader;

/// Format of the code that follows the kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CodeFormat {
    Whole,
    Shaders,
}

/// Module kinds with a known payload format. Metal is not supported, since it had several formats.
const KINDS: [(&[u8], CodeFormat); 4] = [
    (b"cuda", CodeFormat::Whole),
    (b"opencl", CodeFormat::Whole),
    (b"hip", CodeFormat::Whole),
    (b"vulkan", CodeFormat::Shaders),
];

/// Old prefix of tag names.
const TAG: &[u8] = b"tir.";
/// Current prefix of tag names.
const TAG_OF_TODAY: &[u8] = b"tirx.";

/// Start of the title line before each kernel in OpenCL source; the kernel's name follows.
const TITLE: &[u8] = b"// Function: ";

/// Converts the payload of a module; `None` for a kind with an unknown payload format.
///
/// # Errors
/// InternalError for a truncated payload, with the field and its offset; MemoryError.
pub(super) fn read(kind: &[u8], reader: &mut BinReader<'_>) -> Result<Option<Buffer<u8>>> {
    let Some((_, code)) = KINDS.into_iter().find(|(known, _)| *known == kind) else {
        return Ok(None);
    };
    let mut payload = PayloadWriter(Buffer::new());
    let format = reader.bytes("the format of a device module")?;
    payload.bytes(format)?;
    let mut names = Buffer::new();
    let count = reader.word("the number of kernels")?;
    payload.word(count)?;
    for _ in 0..count {
        names.try_push(read_kernel(reader, &mut payload)?)?;
    }
    match code {
        CodeFormat::Shaders => read_shaders(reader, &mut payload)?,
        CodeFormat::Whole => {
            let source = reader.bytes("the code of a device module")?;
            let is_without_titles =
                kind == b"opencl" && format == b"cl" && !contains(source, TITLE);
            if is_without_titles {
                payload.titled(&names, source)?
            } else {
                payload.bytes(source)?
            }
        }
    }
    Ok(Some(payload.0))
}

/// Converts a kernel. Returns its name.
fn read_kernel<'a>(reader: &mut BinReader<'a>, payload: &mut PayloadWriter) -> Result<&'a [u8]> {
    payload.bytes(reader.bytes("the key of a kernel")?)?;
    let name = reader.bytes("the name of a kernel")?;
    payload.bytes(name)?;
    let types = reader.word("the number of parameters")?;
    payload.word(types)?;
    payload.raw(reader.take(types.saturating_mul(4), "the parameter types")?)?;
    let tags = reader.word("the number of launch tags")?;
    payload.word(tags)?;
    for _ in 0..tags {
        let tag = reader.bytes("a launch tag")?;
        match tag.strip_prefix(TAG) {
            Some(rest) => payload.joined(TAG_OF_TODAY, rest)?,
            None => payload.bytes(tag)?,
        }
    }
    payload.word(0)?;
    Ok(name)
}

fn read_shaders(reader: &mut BinReader<'_>, payload: &mut PayloadWriter) -> Result<()> {
    let count = reader.word("the number of shaders")?;
    payload.word(count)?;
    for _ in 0..count {
        payload.bytes(reader.bytes("the name of a shader")?)?;
        let flags = reader.take(4, "the flags of a shader")?;
        let words = reader.word("the number of words of a shader")?;
        let code = reader.take(words.saturating_mul(4), "the words of a shader")?;
        payload.word(4 + 8 + code.len())?;
        payload.raw(flags)?;
        payload.word(words)?;
        payload.raw(code)?;
    }
    Ok(())
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window == wanted)
}

/// Writer of a payload in the current format.
struct PayloadWriter(Buffer<u8>);

impl PayloadWriter {
    fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.try_extend_from_slice(bytes)?)
    }

    fn word(&mut self, word: usize) -> Result<()> {
        self.raw(&(word as u64).to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.joined(bytes, b"")
    }

    fn joined(&mut self, first: &[u8], second: &[u8]) -> Result<()> {
        self.word(first.len() + second.len())?;
        self.raw(first)?;
        self.raw(second)
    }

    /// Writes the source once for each kernel, after a title line with the kernel's name.
    fn titled(&mut self, names: &[&[u8]], source: &[u8]) -> Result<()> {
        let len = names.iter().map(|name| TITLE.len() + name.len() + source.len() + 2).sum();
        self.word(len)?;
        for name in names {
            for part in [TITLE, name, b"\n", source, b"\n"] {
                self.raw(part)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bytes(stream: &mut Vec<u8>, bytes: &[u8]) {
        stream.extend((bytes.len() as u64).to_le_bytes());
        stream.extend(bytes);
    }

    /// Builds the payload of a module with the kernels `one` and `two`, in the current format if
    /// `is_today`.
    fn kernels(format: &[u8], tag: &[u8], is_today: bool) -> Vec<u8> {
        let mut stream = Vec::new();
        bytes(&mut stream, format);
        stream.extend(2u64.to_le_bytes());
        for name in [b"one", b"two"] {
            bytes(&mut stream, name);
            bytes(&mut stream, name);
            stream.extend(2u64.to_le_bytes());
            stream.extend([3, 64, 1, 0, 0, 32, 1, 0]);
            stream.extend(2u64.to_le_bytes());
            bytes(&mut stream, b"blockIdx.x");
            bytes(&mut stream, tag);
            if is_today {
                stream.extend(0u64.to_le_bytes());
            }
        }
        stream
    }

    fn rewritten(kind: &[u8], stream: &[u8]) -> Vec<u8> {
        let mut rest = [stream, b"behind"].concat();
        let mut reader = BinReader::new(&rest);
        let payload = read(kind, &mut reader).unwrap().unwrap();
        assert_eq!(reader.take(6, "what follows").unwrap(), b"behind");
        rest.clear();
        payload.as_slice().to_vec()
    }

    #[test]
    fn code_of_all_kernels_stays_as_it_is() {
        for kind in [&b"cuda"[..], b"hip", b"opencl"] {
            let mut stream = kernels(b"ptx", b"tir.use_dyn_shared_memory", false);
            let mut today = kernels(b"ptx", b"tirx.use_dyn_shared_memory", true);
            bytes(&mut stream, b"code");
            bytes(&mut today, b"code");
            assert_eq!(rewritten(kind, &stream), today);
        }
    }

    #[test]
    fn source_of_opencl_gets_titles_unless_it_has_them() {
        for (source, titled) in [
            ("// Function: one\nA// Function: two\nB", "// Function: one\nA// Function: two\nB"),
            ("A B", "// Function: one\nA B\n// Function: two\nA B\n"),
        ] {
            let mut stream = kernels(b"cl", b"threadIdx.x", false);
            let mut today = kernels(b"cl", b"threadIdx.x", true);
            bytes(&mut stream, source.as_bytes());
            bytes(&mut today, titled.as_bytes());
            assert_eq!(rewritten(b"opencl", &stream), today);
        }
    }

    fn shaders(is_today: bool) -> Vec<u8> {
        let mut stream = kernels(b"vulkan", b"threadIdx.x", is_today);
        stream.extend(2u64.to_le_bytes());
        for name in [b"two", b"one"] {
            let shader = [&1u32.to_le_bytes()[..], &3u64.to_le_bytes(), b"twelve bytes"].concat();
            bytes(&mut stream, name);
            if is_today { bytes(&mut stream, &shader) } else { stream.extend(shader) }
        }
        stream
    }

    #[test]
    fn shaders_get_a_length() {
        assert_eq!(rewritten(b"vulkan", &shaders(false)), shaders(true));
    }

    #[test]
    fn every_truncation_is_an_error_and_other_kinds_are_unknown() {
        let mut whole = kernels(b"cl", b"threadIdx.x", false);
        bytes(&mut whole, b"source");
        for (kind, stream) in [(&b"opencl"[..], whole), (b"vulkan", shaders(false))] {
            for len in 0..stream.len() {
                let error = read(kind, &mut BinReader::new(&stream[..len])).map(drop).unwrap_err();
                assert_eq!(error.kind_bytes(), b"InternalError", "{len}");
            }
        }
        assert!(read(b"metadata", &mut BinReader::new(b"")).unwrap().is_none());
    }

    #[test]
    fn no_count_is_believed() {
        for at in [0, 8 + 2, 8 + 2 + 8, 8 + 2 + 8 + 2 * (8 + 3)] {
            let mut stream = kernels(b"cl", b"threadIdx.x", false);
            bytes(&mut stream, b"source");
            for count in [u64::MAX, u64::MAX / 4, 1 << 40] {
                stream[at..at + 8].copy_from_slice(&count.to_le_bytes());
                assert!(read(b"opencl", &mut BinReader::new(&stream)).is_err(), "{at}");
            }
        }
    }
}
