//! Code of Metal modules and kernels: formats and validation.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::{plain_bail, plain_ensure};

/// Format of a module's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Source in the Metal shading language, compiled by the driver.
    Source,
    /// Compiled libraries (`metallib`).
    Library,
}

impl Format {
    /// Parses a format name.
    ///
    /// # Errors
    /// InternalError for an unknown format.
    pub fn parse(name: &[u8]) -> Result<Format> {
        match name {
            b"metal" => Ok(Format::Source),
            b"metallib" => Ok(Format::Library),
            _ => plain_bail!(INTERNAL_ERROR, "Unknown Metal format {}", name),
        }
    }
}

/// A kernel's code, validated for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code<'a> {
    /// Source in the Metal shading language.
    Source(&'a str),
    /// A compiled library (`metallib`).
    Library(&'a [u8]),
}

impl<'a> Code<'a> {
    /// Validates a kernel's code.
    ///
    /// # Errors
    /// InternalError for source that is not UTF-8, and for a library without the magic number.
    pub fn new(format: Format, kernel: &[u8], code: &'a [u8]) -> Result<Code<'a>> {
        match (format, core::str::from_utf8(code)) {
            (Format::Source, Ok(source)) => Ok(Code::Source(source)),
            (Format::Source, Err(error)) => plain_bail!(
                INTERNAL_ERROR,
                "The source of the Metal kernel {} is not valid UTF-8 at offset {}",
                kernel,
                error.valid_up_to()
            ),
            (Format::Library, _) => {
                let is_library = code.starts_with(b"MTLB");
                plain_ensure!(
                    is_library,
                    INTERNAL_ERROR,
                    "The code of the Metal kernel {} is not a metallib",
                    kernel
                );
                Ok(Code::Library(code))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_names() {
        assert_eq!(Format::parse(b"metal").unwrap(), Format::Source);
        assert_eq!(Format::parse(b"metallib").unwrap(), Format::Library);
        for other in ["", "Metal", "metalli", "spirv"] {
            let error = Format::parse(other.as_bytes()).unwrap_err();
            assert_eq!(
                error.message_bytes(),
                std::format!("Unknown Metal format {other}").as_bytes()
            );
        }
    }

    #[test]
    fn source_is_text_and_a_library_begins_as_one() {
        let source = Code::new(Format::Source, b"k", "kernel void k() {} // µ".as_bytes()).unwrap();
        assert_eq!(source, Code::Source("kernel void k() {} // µ"));
        assert_eq!(Code::new(Format::Library, b"k", b"MTLB\0").unwrap(), Code::Library(b"MTLB\0"));
        let error = Code::new(Format::Source, b"k", b"ab\xff").unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"The source of the Metal kernel k is not valid UTF-8 at offset 2"
        );
        for other in [&b""[..], b"MTL", b"kernel void k() {}"] {
            let error = Code::new(Format::Library, b"k", other).unwrap_err();
            assert_eq!(error.message_bytes(), b"The code of the Metal kernel k is not a metallib");
        }
    }
}
