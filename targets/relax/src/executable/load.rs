//! Parsing of the sections of an executable, in their order; serialisation.

use ferrite_core::Bytes;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::code::{Code, Known};
use super::constant;
use super::reader::{Reader, Text};
use super::{FunctionInfo, FunctionKind, Program, Sections, Source};

const MAGIC_VERSION_1: u64 = 0xD225_DE2F_4214_151D;
/// Magic number of an executable with memory scopes (version 2).
const MAGIC: u64 = 0xD225_DE2F_4214_151E;

/// Version string of the format.
const VERSION: &[u8] = b"0.14";

/// Size in bytes of a function entry without its name and parameters.
const FUNCTION_BYTES: usize = 4 + 8 + 4 * 8 + 8;

/// Maximum number of registers of a function. Each takes 16 bytes in every call.
const MOST_REGISTERS: usize = 1 << 20;

impl Program {
    /// Parses a serialised executable.
    pub(super) fn parse(source: Source) -> Result<Program> {
        let mut program = Program {
            source,
            sections: Sections::default(),
            functions: Buffer::new(),
            parameters: Buffer::new(),
            scopes: Buffer::new(),
            constants: Buffer::new(),
            code: Code::new(),
        };
        program.read()?;
        Ok(program)
    }

    fn read(&mut self) -> Result<()> {
        let mut reader = Reader::new(self.source.as_bytes());
        self.sections.is_version_1 = read_header(&mut reader)?;
        read_functions(&mut reader, &mut self.functions, &mut self.parameters)?;
        self.sections.functions_end = reader.at();
        if !self.sections.is_version_1 {
            reader.enter("memory scopes");
            for _ in 0..reader.count(16)? {
                let constant = reader.i64()?;
                let scope = reader.text()?;
                // A scope of no constant is never asked for.
                if let Ok(constant) = usize::try_from(constant) {
                    self.scopes.try_push((constant, scope))?;
                }
            }
        }
        reader.enter("constant");
        for _ in 0..reader.count(8)? {
            self.constants.try_push(constant::read(&mut reader, &self.source)?)?;
        }
        reader.enter("instr offset");
        let offsets = reader.words()?;
        reader.enter("instr data");
        let words = reader.words()?;
        self.sections.end = reader.at();
        let source = self.source.as_bytes();
        let known = |name: &[u8]| {
            self.functions.iter().position(|function| {
                function.kind == FunctionKind::Packed && function.name.of(source) == name
            })
        };
        let known = Known {
            null_value: known(b"vm.builtin.null_value"),
            alloc_tensor: known(b"vm.builtin.alloc_tensor"),
        };
        self.code.decode(offsets, words, &mut self.functions, known, self.constants.len())
    }
}

/// Reads the magic number and the version string. Returns `true` for version 1 of the format.
fn read_header(reader: &mut Reader<'_>) -> Result<bool> {
    let magic = reader.u64()?;
    if magic != MAGIC && magic != MAGIC_VERSION_1 {
        return Err(reader.malformed());
    }
    reader.enter("version");
    let len = reader.size()?;
    if reader.bytes(len)? != VERSION {
        return Err(reader.malformed());
    }
    Ok(magic == MAGIC_VERSION_1)
}

fn read_functions(
    reader: &mut Reader<'_>,
    functions: &mut Buffer<FunctionInfo>,
    parameters: &mut Buffer<Text>,
) -> Result<()> {
    reader.enter("Global Section");
    let count = reader.count(FUNCTION_BYTES)?;
    functions.try_reserve(count)?;
    for _ in 0..count {
        let kind = match reader.i32()? {
            0 => FunctionKind::Packed,
            1 => FunctionKind::Bytecode,
            2 => FunctionKind::Compiled,
            _ => return Err(reader.malformed()),
        };
        let name = reader.text()?;
        let (start, end) = (reader.size()?, reader.size()?);
        let (arguments, registers) = (reader.i64()?, reader.size()?);
        let first = parameters.len();
        for _ in 0..reader.count(8)? {
            parameters.try_push(reader.text()?)?;
        }
        let arguments = match kind {
            FunctionKind::Packed => 0,
            _ => usize::try_from(arguments).map_err(|_| reader.malformed())?,
        };
        // Native code puts its result behind the arguments.
        let results = usize::from(kind == FunctionKind::Compiled);
        let is_possible = registers <= MOST_REGISTERS
            && arguments < MOST_REGISTERS
            && arguments + results <= registers;
        if kind != FunctionKind::Packed && !is_possible {
            return Err(reader.malformed());
        }
        functions.try_push(FunctionInfo {
            kind,
            name,
            instructions: start..end,
            arguments,
            registers: if kind == FunctionKind::Packed { 0 } else { registers },
            call_arguments: 0,
            parameters: first..parameters.len(),
        })?;
    }
    Ok(())
}

impl Program {
    /// Serialises the executable: returns the bytes from which it was loaded, in version 2 of the
    /// format and without trailing bytes.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::SaveToBytes`, which writes the memory scopes in the order of a hash table.
    pub fn save(&self) -> Result<Bytes> {
        let all = self.source.as_bytes().get(..self.sections.end).unwrap_or_default();
        if !self.sections.is_version_1 {
            return match &self.source {
                Source::Bytes(bytes) if bytes.as_bytes().len() == all.len() => Ok(bytes.clone()),
                _ => Bytes::new(all),
            };
        }
        let (functions, rest) =
            all.split_at_checked(self.sections.functions_end).unwrap_or_default();
        let mut saved = Buffer::try_with_capacity(all.len() + 8)?;
        saved.try_extend_from_slice(&MAGIC.to_le_bytes())?;
        saved.try_extend_from_slice(functions.get(8..).unwrap_or_default())?;
        saved.try_extend_from_slice(&0u64.to_le_bytes())?;
        saved.try_extend_from_slice(rest)?;
        Bytes::new(&saved)
    }
}
