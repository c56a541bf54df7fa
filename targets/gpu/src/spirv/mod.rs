//! Validates the declarations of SPIR-V shaders against the kernels that they implement.
//!
//! Drivers trust a shader: with a binding that its layout lacks, or with push constants out of
//! range, it would access other memory. So the declarations are checked before a driver receives
//! the shader. Instructions within functions are not checked: they are trusted like the machine
//! code of a library.
//!
//! Each query scans the declarations again; shaders have a few hundred words of them. Nothing is
//! allocated except the list of capabilities.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure, plain_error};

use crate::launch::MAX_PARAMETERS;
use crate::payload::{Kernel, Payload};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

// Opcodes.
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const OP_MEMBER_DECORATE: u32 = 72;

// Values of operands.
const MODEL_GL_COMPUTE: u32 = 5;
const MODE_LOCAL_SIZE: u32 = 17;
const DECORATION_BLOCK: u32 = 2;
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BINDING: u32 = 33;
const DECORATION_DESCRIPTOR_SET: u32 = 34;
const DECORATION_OFFSET: u32 = 35;
const CLASS_INPUT: u32 = 1;
const CLASS_UNIFORM: u32 = 2;
const CLASS_WORKGROUP: u32 = 4;
const CLASS_PRIVATE: u32 = 6;
const CLASS_FUNCTION: u32 = 7;
const CLASS_PUSH_CONSTANT: u32 = 9;
const CLASS_STORAGE_BUFFER: u32 = 12;

/// Shader flag: scalars are in a uniform buffer.
const FLAG_UNIFORM: u32 = 1;

/// Size of a scalar in push constants and uniform buffers, in bytes.
pub const SLOT_BYTES: u32 = 8;

/// Requirements and interface of a validated shader.
#[derive(Debug)]
pub struct Shader {
    /// SPIR-V version: major * 256 + minor.
    pub version: u32,
    /// Capabilities, by their SPIR-V numbers.
    pub capabilities: Buffer<u32>,
    /// Threads in a block along x, y and z; zeros if a specialisation constant of the shader gives
    /// them.
    pub block: [u32; 3],
    /// Number of storage buffers. Their bindings count from 0.
    pub buffer_count: u32,
    /// Number of scalars, each in a slot of [`SLOT_BYTES`].
    pub scalar_count: u32,
    /// Whether scalars are in a uniform buffer, bound after the storage buffers, instead of push
    /// constants.
    pub has_uniform: bool,
}

/// Validates the shaders of a payload. Returns them in the order of its kernels.
///
/// # Errors
/// InternalError for a shader that is malformed or does not match its kernel; MemoryError.
pub fn read_shaders(payload: &Payload) -> Result<Buffer<Shader>> {
    let mut shaders = Buffer::try_with_capacity(payload.kernels().len())?;
    for kernel in payload.kernels() {
        shaders.try_push(read_shader(payload, kernel)?)?;
    }
    Ok(shaders)
}

fn read_shader(payload: &Payload, kernel: &Kernel) -> Result<Shader> {
    const HANDLE: u8 = 3;
    let name = payload.name_of(kernel);
    plain_ensure!(
        kernel.parameters.len() <= MAX_PARAMETERS,
        INTERNAL_ERROR,
        "The kernel {} has {} parameters, more than {}",
        name,
        kernel.parameters.len(),
        MAX_PARAMETERS
    );
    let buffer_count = kernel.parameters.iter().filter(|dtype| dtype.code == HANDLE).count() as u32;
    let scalar_count = kernel.parameters.len() as u32 - buffer_count;
    plain_ensure!(
        !kernel.extra_tags.iter().any(|tag| *tag != 0),
        INTERNAL_ERROR,
        "The kernel {} takes a parameter in a form that shaders do not have",
        name
    );
    let module = Module::check(payload.code_of(kernel), name)?;
    let entry = module.entry_point(name)?;
    let mut capabilities = Buffer::new();
    for operands in module.declarations_of(OP_CAPABILITY) {
        capabilities.try_push(operands.word(0))?;
    }
    let shader = Shader {
        version: module.words.word(1) >> 8,
        capabilities,
        block: module.block(entry),
        buffer_count,
        scalar_count,
        has_uniform: kernel.flags & FLAG_UNIFORM != 0 && scalar_count != 0,
    };
    module.check_variables(&shader)?;
    Ok(shader)
}

/// Little-endian words, unaligned. Words beyond the end read as zero.
#[derive(Clone, Copy)]
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn len(self) -> usize {
        self.0.len() / 4
    }

    fn word(self, index: usize) -> u32 {
        self.0.as_chunks().0.get(index).map_or(0, |word| u32::from_le_bytes(*word))
    }

    fn from(self, start: usize) -> Words<'a> {
        Words(self.0.get(start * 4..).unwrap_or_default())
    }

    fn split_at(self, len: usize) -> Option<(Words<'a>, Words<'a>)> {
        self.0.split_at_checked(len.checked_mul(4)?).map(|(head, tail)| (Words(head), Words(tail)))
    }

    /// Returns `true` if the words begin with this string and its NUL.
    fn begin_with_text(self, text: &[u8]) -> bool {
        self.0.strip_prefix(text).is_some_and(|rest| rest.first() == Some(&0))
    }
}

/// Iterator over the instructions of a module: opcodes and operands.
struct Instructions<'a>(Words<'a>);

impl<'a> Iterator for Instructions<'a> {
    type Item = (u32, Words<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.word(0);
        let (instruction, rest) = self.0.split_at((first >> 16) as usize)?;
        // An instruction of length 0 ends the iteration, too.
        let (_, operands) = instruction.split_at(1)?;
        self.0 = rest;
        Some((first & 0xffff, operands))
    }
}

/// A SPIR-V module whose instructions fill it exactly.
struct Module<'a> {
    name: &'a [u8],
    words: Words<'a>,
}

impl<'a> Module<'a> {
    /// Checks the header and the instruction lengths of a module.
    fn check(code: &'a [u8], name: &'a [u8]) -> Result<Module<'a>> {
        let module = Module { name, words: Words(code) };
        if module.words.len() < HEADER_WORDS || module.words.word(0) != MAGIC {
            return Err(module.malformed("it does not begin as SPIR-V does"));
        }
        let mut instructions = module.instructions();
        let last = instructions.by_ref().last();
        if instructions.0.len() != 0 {
            return Err(module.malformed("an instruction has no words, or more than there are"));
        }
        if last.is_none_or(|(opcode, _)| opcode != OP_FUNCTION_END) {
            return Err(module.malformed("it does not end with a function"));
        }
        Ok(module)
    }

    #[cold]
    fn malformed(&self, reason: &str) -> Error {
        plain_error!(INTERNAL_ERROR, "Malformed shader of the kernel {}: {}", self.name, reason)
    }

    fn instructions(&self) -> Instructions<'a> {
        Instructions(self.words.from(HEADER_WORDS))
    }

    /// Iterates over the declarations: the instructions before the first function.
    fn declarations(&self) -> impl Iterator<Item = (u32, Words<'a>)> + use<'a> {
        self.instructions().take_while(|(opcode, _)| *opcode != OP_FUNCTION)
    }

    fn declarations_of(&self, opcode: u32) -> impl Iterator<Item = Words<'a>> + use<'a> {
        self.declarations().filter(move |(found, _)| *found == opcode).map(|(_, operands)| operands)
    }

    /// Returns the id of the function that is the entry point with this name.
    fn entry_point(&self, name: &[u8]) -> Result<u32> {
        let mut entries = self.declarations_of(OP_ENTRY_POINT);
        let entry = entries.find(|entry| {
            entry.word(0) == MODEL_GL_COMPUTE
                && entry.from(2).begin_with_text(name)
                && !name.contains(&0)
        });
        match entry {
            Some(entry) => Ok(entry.word(1)),
            None => Err(self.malformed("it has no entry point of that name")),
        }
    }

    fn block(&self, entry: u32) -> [u32; 3] {
        let mut modes = self.declarations_of(OP_EXECUTION_MODE);
        let size = modes.find(|mode| mode.word(0) == entry && mode.word(1) == MODE_LOCAL_SIZE);
        size.map_or([0; 3], |size| [2, 3, 4].map(|at| size.word(at)))
    }

    /// Checks that the shader's interface variables match the kernel's parameters.
    fn check_variables(&self, shader: &Shader) -> Result<()> {
        let mut resources = 0;
        for variable in self.declarations_of(OP_VARIABLE) {
            let (pointer, id, class) = (variable.word(0), variable.word(1), variable.word(2));
            match class {
                CLASS_INPUT | CLASS_WORKGROUP | CLASS_PRIVATE | CLASS_FUNCTION => continue,
                CLASS_STORAGE_BUFFER | CLASS_UNIFORM => {
                    let is_storage = self.is_storage(class, pointer)?;
                    self.check_binding(id, is_storage, shader)?;
                    if !is_storage {
                        self.check_scalars(pointer, shader)?;
                    }
                }
                CLASS_PUSH_CONSTANT if shader.has_uniform => {
                    return Err(self.malformed(
                        "it has push constants, but its scalars are in a uniform buffer",
                    ));
                }
                CLASS_PUSH_CONSTANT => self.check_scalars(pointer, shader)?,
                _ => plain_bail!(
                    INTERNAL_ERROR,
                    "The shader of the kernel {} has a variable of storage class {}, which kernels do not have",
                    self.name,
                    class
                ),
            }
            // Bounds the number of scans for a hostile shader.
            resources += 1;
            if resources > 2 * (shader.buffer_count + 1) {
                return Err(self.malformed("it has more buffers than its kernel"));
            }
        }
        Ok(())
    }

    /// Returns `true` if a buffer variable is a storage buffer rather than a uniform buffer. Before
    /// SPIR-V 1.3, both may have the storage class `Uniform`.
    fn is_storage(&self, class: u32, pointer: u32) -> Result<bool> {
        if class == CLASS_STORAGE_BUFFER {
            return Ok(true);
        }
        let structure = self.pointee(pointer)?;
        let mut decorations =
            self.declarations_of(OP_DECORATE).filter(|each| each.word(0) == structure);
        match decorations
            .find(|each| matches!(each.word(1), DECORATION_BLOCK | DECORATION_BUFFER_BLOCK))
        {
            Some(found) => Ok(found.word(1) == DECORATION_BUFFER_BLOCK),
            None => Err(self.malformed("a buffer has no block")),
        }
    }

    fn check_binding(&self, id: u32, is_storage: bool, shader: &Shader) -> Result<()> {
        let decoration = |wanted| {
            let mut all = self.declarations_of(OP_DECORATE);
            all.find(|each| each.word(0) == id && each.word(1) == wanted).map(|each| each.word(2))
        };
        let set = decoration(DECORATION_DESCRIPTOR_SET);
        let Some(binding) = decoration(DECORATION_BINDING) else {
            return Err(self.malformed("a buffer has no binding"));
        };
        let fits = match is_storage {
            true => binding < shader.buffer_count,
            false => shader.has_uniform && binding == shader.buffer_count,
        };
        plain_ensure!(
            fits && set == Some(0),
            INTERNAL_ERROR,
            "The shader of the kernel {} has a {} buffer at binding {} of set {}; the kernel has {} buffers and {} scalars",
            self.name,
            if is_storage { "storage" } else { "uniform" },
            binding,
            set.unwrap_or(u32::MAX),
            shader.buffer_count,
            shader.scalar_count
        );
        Ok(())
    }

    /// Checks that the members of the scalar block are numbers within their slots.
    fn check_scalars(&self, pointer: u32, shader: &Shader) -> Result<()> {
        let structure = self.pointee(pointer)?;
        let mut structures = self.declarations_of(OP_TYPE_STRUCT);
        let Some(members) =
            structures.find(|each| each.word(0) == structure).map(|each| each.from(1))
        else {
            return Err(self.malformed("its scalars are in no structure"));
        };
        let mut given = 0;
        let offsets = self.declarations_of(OP_MEMBER_DECORATE);
        for offset in
            offsets.filter(|each| each.word(0) == structure && each.word(2) == DECORATION_OFFSET)
        {
            let member = offset.word(1) as usize;
            let size =
                if member < members.len() { self.number_bytes(members.word(member)) } else { None };
            let end = size.and_then(|size| offset.word(3).checked_add(size));
            given += 1;
            plain_ensure!(
                end.is_some_and(|end| end <= shader.scalar_count * SLOT_BYTES)
                    && given <= shader.scalar_count,
                INTERNAL_ERROR,
                "The shader of the kernel {} has a member {} at offset {} that is not a scalar of the kernel, which has {}",
                self.name,
                offset.word(1),
                offset.word(3),
                shader.scalar_count
            );
        }
        if given as usize != members.len() {
            return Err(self.malformed("a scalar has no offset, or two"));
        }
        Ok(())
    }

    /// Returns the type id that a pointer type points to.
    fn pointee(&self, pointer: u32) -> Result<u32> {
        match self.declarations_of(OP_TYPE_POINTER).find(|each| each.word(0) == pointer) {
            Some(found) => Ok(found.word(2)),
            None => Err(self.malformed("a variable has no pointer type")),
        }
    }

    /// Returns the size of a numeric type in bytes; `None` for other types.
    fn number_bytes(&self, id: u32) -> Option<u32> {
        let mut types = self.declarations();
        types
            .find(|(opcode, operands)| {
                matches!(*opcode, OP_TYPE_INT | OP_TYPE_FLOAT) && operands.word(0) == id
            })
            .map(|(_, operands)| operands.word(1) / 8)
    }
}

#[cfg(test)]
mod tests;
