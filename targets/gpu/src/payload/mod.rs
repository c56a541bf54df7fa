//! Payloads of device modules: the serialised form, which `ffi.Module.load_from_bytes.KIND` takes
//! as its argument.
//!
//! Payloads are untrusted: each length is checked against the remaining bytes before memory is
//! allocated, and parsing does not recurse. A parsed payload keeps its bytes, and refers to its
//! parts by spans.
#![forbid(unsafe_code)]

mod index;
mod reader;
mod writer;

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Bytes, plain_bail, plain_ensure};

use index::NameIndex;
pub use reader::Span;
use reader::{Reader, at};
pub use writer::Writer;

/// Layout of the payloads of one kind of module.
#[derive(Debug)]
pub struct Layout {
    /// Name of the kind, for error messages.
    pub kind: &'static str,
    /// Whether the payload begins with a format, such as `ptx`.
    pub has_format: bool,
    /// Arrangement of the code.
    pub code: CodeLayout,
}

/// Arrangement of the code in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLayout {
    /// A single code for all kernels.
    Whole,
    /// A separate code for each kernel, by name.
    PerKernel,
    /// Like `PerKernel`; each code consists of flags and SPIR-V words.
    Shaders,
}

impl Layout {
    /// CUDA: format `cuda`, `ptx`, `cubin` or `fatbin`.
    pub const CUDA: Layout = Layout { kind: "cuda", has_format: true, code: CodeLayout::Whole };
    /// OpenCL: format `cl`, or a binary.
    pub const OPENCL: Layout = Layout { kind: "opencl", has_format: true, code: CodeLayout::Whole };
    /// ROCm: format `hsaco`.
    pub const HIP: Layout = Layout { kind: "hip", has_format: true, code: CodeLayout::Whole };
    /// Metal: format `metal` or `metallib`.
    pub const METAL: Layout =
        Layout { kind: "metal", has_format: true, code: CodeLayout::PerKernel };
    /// Vulkan: SPIR-V.
    pub const VULKAN: Layout =
        Layout { kind: "vulkan", has_format: true, code: CodeLayout::Shaders };
    /// WebGPU: WGSL.
    pub const WEBGPU: Layout =
        Layout { kind: "webgpu", has_format: false, code: CodeLayout::PerKernel };
}

/// A kernel: its parameters, launch tags, and code.
#[derive(Debug)]
pub struct Kernel {
    name: Span,
    /// Parameter types, in order.
    pub parameters: Buffer<DLDataType>,
    tags: Buffer<Span>,
    /// Extra tag of each parameter, 1 for a TMA descriptor; the list may be shorter than the
    /// parameters.
    pub extra_tags: Buffer<i32>,
    /// Flags of a shader. Bit 0: scalars are in a uniform buffer.
    pub flags: u32,
    code: Span,
}

/// A completely parsed payload.
pub struct Payload {
    bytes: Bytes,
    format: Span,
    kernels: Buffer<Kernel>,
    names: NameIndex,
    /// Code of all kernels, for [`CodeLayout::Whole`].
    code: Span,
}

impl Payload {
    /// Parses a payload.
    ///
    /// # Errors
    /// InternalError that states the defect and its position; MemoryError.
    pub fn read(layout: &Layout, bytes: Bytes) -> Result<Payload> {
        let mut reader = Reader::new(layout.kind, bytes.as_bytes());
        let format = if layout.has_format { reader.name("format")? } else { Span::default() };
        let mut kernels = read_kernels(&mut reader)?;
        let names = NameIndex::new(
            layout.kind,
            bytes.as_bytes(),
            kernels.iter().map(|kernel| kernel.name),
        )?;
        let code = match layout.code {
            CodeLayout::Whole => reader.span("code")?,
            CodeLayout::PerKernel | CodeLayout::Shaders => {
                read_codes(&mut reader, layout, &mut kernels, &names)?;
                Span::default()
            }
        };
        reader.end()?;
        Ok(Payload { bytes, format, kernels, names, code })
    }

    /// Serialises the parsed payload again. The codes are in the order of the kernels.
    ///
    /// # Errors
    /// MemoryError.
    pub fn rewrite(&self, layout: &Layout) -> Result<Bytes> {
        let mut writer = Writer::new();
        if layout.has_format {
            writer.text(self.format())?;
        }
        writer.count(self.kernels.len())?;
        for kernel in self.kernels.iter() {
            writer.kernel_name(self.name_of(kernel))?;
            writer.count(kernel.parameters.len())?;
            kernel.parameters.iter().try_for_each(|dtype| writer.dtype(*dtype))?;
            writer.count(kernel.tags.len())?;
            self.tags_of(kernel).try_for_each(|tag| writer.text(tag))?;
            writer.count(kernel.extra_tags.len())?;
            kernel.extra_tags.iter().try_for_each(|tag| writer.word(tag.cast_unsigned()))?;
        }
        if layout.code == CodeLayout::Whole {
            writer.text(self.code())?;
            return writer.finish();
        }
        writer.count(self.kernels.len())?;
        for kernel in self.kernels.iter() {
            writer.text(self.name_of(kernel))?;
            match layout.code {
                CodeLayout::Shaders => writer.shader(kernel.flags, self.code_of(kernel))?,
                _ => writer.text(self.code_of(kernel))?,
            }
        }
        writer.finish()
    }

    /// Returns the whole payload.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the bytes of a span.
    fn at(&self, span: Span) -> &[u8] {
        at(self.bytes.as_bytes(), span)
    }

    /// Returns the format, such as `ptx`; empty for kinds without one.
    pub fn format(&self) -> &[u8] {
        self.at(self.format)
    }

    /// Returns the code of all kernels; empty for kinds with a separate code for each kernel.
    pub fn code(&self) -> &[u8] {
        self.at(self.code)
    }

    /// Returns the kernels, in the order of the payload.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the index of the kernel with this name; `None` if there is none.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        self.names.find(self.bytes.as_bytes(), |index| self.kernels[index].name, name)
    }

    /// Returns the name of a kernel of this payload.
    pub fn name_of(&self, kernel: &Kernel) -> &[u8] {
        self.at(kernel.name)
    }

    /// Returns the name of a kernel of this payload with a terminating NUL.
    ///
    /// # Errors
    /// InternalError for a name that contains a NUL; MemoryError.
    pub fn c_name_of(&self, kernel: &Kernel) -> Result<Buffer<u8>> {
        let name = self.name_of(kernel);
        plain_ensure!(
            !name.contains(&0),
            INTERNAL_ERROR,
            "The name of a kernel has a NUL byte: {}",
            name
        );
        let mut terminated = Buffer::try_with_capacity(name.len() + 1)?;
        terminated.try_extend_from_slice(name)?;
        terminated.try_push(0)?;
        Ok(terminated)
    }

    /// Returns the code of one kernel, for kinds whose payloads have separate code per kernel.
    /// SPIR-V code may be unaligned.
    pub fn code_of(&self, kernel: &Kernel) -> &[u8] {
        self.at(kernel.code)
    }

    /// Returns the launch tags of a kernel of this payload.
    pub fn tags_of<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a [u8]> {
        kernel.tags.iter().map(|tag| self.at(*tag))
    }
}

/// Parses the result of `opencl.GetPreCompiledPrograms`: pairs of a kernel name and a program
/// binary.
///
/// # Errors
/// InternalError for malformed bytes; MemoryError.
pub fn read_binaries(bytes: &[u8]) -> Result<Buffer<(&[u8], &[u8])>> {
    let mut reader = Reader::new("opencl", bytes);
    let binaries = reader.list("program count", 16, |reader| {
        let (name, binary) = (reader.span("kernel name")?, reader.span("program")?);
        Ok((reader.text(name), reader.text(binary)))
    })?;
    reader.end()?;
    Ok(binaries)
}

/// Reads the FunctionInfo map.
fn read_kernels(reader: &mut Reader<'_>) -> Result<Buffer<Kernel>> {
    // Minimum size: a key, a name and three counts.
    let count = reader.count("kernel count", 40)?;
    let mut kernels = Buffer::try_with_capacity(count)?;
    for _ in 0..count {
        let key = reader.name("kernel key")?;
        let name = reader.name("kernel name")?;
        plain_ensure!(
            reader.text(key) == reader.text(name),
            INTERNAL_ERROR,
            "Malformed {} module: the kernel {} has the key {}",
            reader.kind(),
            reader.text(name),
            reader.text(key)
        );
        let parameters = reader.list("parameter type count", 4, Reader::dtype)?;
        let tags = reader.list("launch tag count", 8, |reader| reader.name("launch tag"))?;
        let extra_tags = reader
            .list("extra tag count", 4, |reader| Ok(reader.u32("extra tag")?.cast_signed()))?;
        let (flags, code) = (0, Span::default());
        kernels.try_push(Kernel { name, parameters, tags, extra_tags, flags, code })?;
    }
    Ok(kernels)
}

/// Reads a code for each kernel.
fn read_codes(
    reader: &mut Reader<'_>,
    layout: &Layout,
    kernels: &mut Buffer<Kernel>,
    names: &NameIndex,
) -> Result<()> {
    // Minimum size: a name and a code.
    let count = reader.count("code count", 16)?;
    let mut has_code = Buffer::new();
    has_code.try_resize(kernels.len(), false)?;
    for _ in 0..count {
        let name = reader.span("kernel name of a code")?;
        let mut code = reader.span("kernel code")?;
        let mut flags = 0;
        if layout.code == CodeLayout::Shaders {
            (flags, code) = read_shader(reader, code)?;
        }
        let text = reader.text(name);
        let Some(index) = names.find(reader.bytes(), |index| kernels[index].name, text) else {
            plain_bail!(
                INTERNAL_ERROR,
                "Malformed {} module: code of {}, which is not a kernel",
                layout.kind,
                text
            );
        };
        let is_first = !core::mem::replace(&mut has_code[index], true);
        plain_ensure!(
            is_first,
            INTERNAL_ERROR,
            "Malformed {} module: {} has two codes",
            layout.kind,
            text
        );
        (kernels[index].flags, kernels[index].code) = (flags, code);
    }
    match has_code.iter().position(|has_code| !has_code) {
        Some(index) => {
            let name = reader.text(kernels[index].name);
            plain_bail!(
                INTERNAL_ERROR,
                "Malformed {} module: the kernel {} has no code",
                layout.kind,
                name
            )
        }
        None => Ok(()),
    }
}

/// Reads a shader, nested in a byte string: flags and SPIR-V words.
fn read_shader(reader: &Reader<'_>, shader: Span) -> Result<(u32, Span)> {
    let mut inner = reader.within(shader);
    let flags = inner.u32("shader flags")?;
    let words = inner.count("SPIR-V word count", 4)?;
    let code = inner.take(words * 4, "SPIR-V words")?;
    inner.end()?;
    Ok((flags, code))
}

#[cfg(test)]
mod tests;
