//! The serialised executable: parsed into a decoded form with every bound checked, saved, shown as text.
//!
//! | file | holds |
//! |---|---|
//! | `reader` | bounds-checked reading of the serialised form |
//! | `load` | the sections in their order |
//! | `constant` | constants; tensors stay in the serialised form where they are aligned |
//! | [`code`] | instructions, decoded and checked once |
//! | `save` | the serialised form again |
//! | `text`, `stats` | `as_text` and `as_python`; `stats` |

pub mod code;
mod constant;
mod load;
mod reader;
mod save;
mod stats;
mod text;

use core::mem::ManuallyDrop;
use core::ops::{Deref, Range};

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, Bytes, object_class};

use crate::class::Class;
use code::Code;

static CLASS: Class = Class::new("ferrite.relax.Executable");

object_class! {
    /// A shared reference to an executable.
    ///
    /// # Threads
    /// Any; an executable never changes.
    pub struct Executable, CLASS.index(), "ferrite.relax.Executable"
}

#[repr(C)]
struct ExecutableRecord {
    header: TVMFFIObject,
    program: ManuallyDrop<Program>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ExecutableRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<ExecutableRecord>()).program) };
    }
}

impl Executable {
    /// Parses the serialised form. What constants and names need of it stays in use; nothing is copied but tensors that are not
    /// aligned.
    ///
    /// # Errors
    /// InternalError that names the malformed section; MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::LoadFromBytes` in `src/runtime/vm/executable.cc`, which does not check the code.
    pub fn load(source: Source) -> Result<Executable> {
        let mut program = Some(Program::parse(source)?);
        let index = CLASS.register()?;
        let init = |record: *mut ExecutableRecord| {
            if let Some(program) = program.take() {
                // SAFETY: the record has room for the program.
                unsafe { (&raw mut (*record).program).write(ManuallyDrop::new(program)) };
            }
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        unsafe {
            let object = object_alloc::allocate(index, 0, init)?;
            Ok(Executable::from_object_unchecked(object))
        }
    }
}

impl Deref for Executable {
    type Target = Program;

    fn deref(&self) -> &Program {
        // SAFETY: the object is an executable, whose program never changes.
        unsafe { &(*self.as_object().as_ptr().cast::<ExecutableRecord>()).program }
    }
}

/// The serialised form, as long as the executable lives.
pub enum Source {
    /// A value.
    Bytes(Bytes),
    /// Read-only data of the program.
    Static(&'static [u8]),
}

impl Source {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Source::Bytes(bytes) => bytes.as_bytes(),
            Source::Static(bytes) => bytes,
        }
    }
}

/// The content of an executable.
pub struct Program {
    source: Source,
    /// Where the sections lie in the source.
    sections: Sections,
    functions: Buffer<FunctionInfo>,
    /// Names of parameters, of all functions.
    parameters: Buffer<Text>,
    scopes: Buffer<(usize, Text)>,
    constants: Buffer<Any>,
    code: Code,
}

/// Positions in the source that saving needs.
#[derive(Clone, Copy, Default)]
struct Sections {
    /// Whether the source is of version 1, which has no memory scopes.
    is_version_1: bool,
    /// The end of the function table.
    functions_end: usize,
    /// The end of all.
    end: usize,
}

/// The place of a text in the source.
#[derive(Clone, Copy)]
pub struct Text {
    start: usize,
    len: usize,
}

impl Text {
    fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.start..self.start + self.len).unwrap_or_default()
    }
}

/// The implementation of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel or a builtin, found by name.
    Packed = 0,
    /// The instructions of the executable.
    Bytecode = 1,
    /// Native code of the library, `__vmtir__NAME`.
    Compiled = 2,
}

/// An entry of the function table.
pub struct FunctionInfo {
    /// Its implementation.
    pub kind: FunctionKind,
    name: Text,
    /// Its instructions, by number.
    pub instructions: Range<usize>,
    /// The number of arguments; 0 for packed functions.
    pub arguments: usize,
    /// The size of its register file; not below the number of arguments.
    pub registers: usize,
    /// The largest number of arguments of its calls.
    pub call_arguments: usize,
    parameters: Range<usize>,
}

impl Program {
    fn text(&self, text: Text) -> &[u8] {
        text.of(self.source.as_bytes())
    }

    /// The function table.
    pub fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    /// The constants.
    pub fn constants(&self) -> &[Any] {
        &self.constants
    }

    /// The instructions.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The memory scope of a constant, if it has one.
    pub fn scope(&self, constant: usize) -> Option<&[u8]> {
        self.scopes.iter().rev().find(|(of, _)| *of == constant).map(|(_, scope)| self.text(*scope))
    }

    /// The name of a function.
    pub fn name(&self, function: &FunctionInfo) -> &[u8] {
        self.text(function.name)
    }

    /// The names of the parameters of a function.
    pub fn parameters(&self, function: &FunctionInfo) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parameters[function.parameters.clone()].iter().map(|name| self.text(*name))
    }

    /// The number of the function of that name. Of two with one name it is the last.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        self.functions.iter().rposition(|function| self.name(function) == name)
    }
}
