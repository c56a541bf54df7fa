//! Executables: parsing with bounds checks into a decoded form, serialisation, and text output.
//!
//! | file | content |
//! |---|---|
//! | `reader` | bounds-checked reading of the serialised form |
//! | `load` | parsing of the sections in their order; serialisation |
//! | `function` | entries of the function table |
//! | `constant` | constants; tensors stay in the serialised form where they are aligned |
//! | [`code`] | instructions, decoded and checked once |
//! | `signature` | types of inputs and numbers of results |
//! | `text`, `stats` | `as_text` and `as_python`; `stats` |

pub mod code;
mod constant;
mod function;
mod load;
pub(crate) mod reader;
mod signature;
mod stats;
mod text;

use core::mem::ManuallyDrop;
use core::ops::Deref;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, Bytes, object_class};

use crate::class::Class;
use code::Code;
pub use function::{FunctionInfo, FunctionKind};
use reader::Text;

pub(crate) use constant::read_tensor;
pub use signature::TensorType;

static CLASS: Class = Class::new("ferrite.relax.Executable");

object_class! {
    /// A shared reference to an executable.
    ///
    /// # Threads
    /// Callable from any thread; an executable is immutable.
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
    /// Parses a serialised executable. Names and aligned tensor constants refer to the source,
    /// which the executable keeps alive; other constants are copied.
    ///
    /// # Errors
    /// InternalError that names the malformed section; TypeError if a Rust class of the program has
    /// the type key; MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::LoadFromBytes` in `src/runtime/vm/executable.cc`, which does not validate the
    /// instructions.
    pub fn load(source: Source) -> Result<Executable> {
        let program = Program::parse(source).map_err(Error::with_numbers)?;
        let index = CLASS.register()?;
        // SAFETY: the record has room for the program.
        let init = move |record: *mut ExecutableRecord| unsafe {
            (&raw mut (*record).program).write(ManuallyDrop::new(program));
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

/// Bytes of a serialised executable. The executable keeps them alive.
pub enum Source {
    /// Shared bytes.
    Bytes(Bytes),
    /// Read-only data of the program.
    Static(&'static [u8]),
}

impl Source {
    /// Returns the bytes.
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
    /// Boundaries of the sections in the source.
    sections: Sections,
    functions: Buffer<FunctionInfo>,
    /// Parameter names of all functions.
    parameters: Buffer<Text>,
    scopes: Buffer<(usize, Text)>,
    constants: Buffer<Any>,
    code: Code,
}

/// Section boundaries in the source that serialisation needs.
#[derive(Clone, Copy, Default)]
struct Sections {
    /// Whether the source has version 1 of the format, which has no memory scopes.
    is_version_1: bool,
    /// End of the function table, as a byte offset.
    functions_end: usize,
    /// End of the executable, as a byte offset.
    end: usize,
}

impl Program {
    fn text(&self, text: Text) -> &[u8] {
        text.of(self.source.as_bytes())
    }

    /// Returns the function table.
    pub fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    /// Returns the constants.
    pub fn constants(&self) -> &[Any] {
        &self.constants
    }

    /// Returns the instructions.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns the memory scope of a constant; `None` if it has none.
    pub fn scope(&self, constant: usize) -> Option<&[u8]> {
        self.scopes.iter().rev().find(|(of, _)| *of == constant).map(|(_, scope)| self.text(*scope))
    }

    /// Returns the name of a function.
    pub fn name(&self, function: &FunctionInfo) -> &[u8] {
        self.text(function.name)
    }

    /// Returns the parameter names of a function.
    pub fn parameters(&self, function: &FunctionInfo) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parameters
            .get(function.parameters.clone())
            .unwrap_or_default()
            .iter()
            .map(|name| self.text(*name))
    }

    /// Returns the index of the function with this name; `None` if there is none. If several
    /// functions have the name, returns the last one.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        self.functions.iter().rposition(|function| self.name(function) == name)
    }
}
