//! Implementations of the global functions on modules.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, String};

use super::{Module, Query, globals, record};
use crate::operation::{Answer, Operand, Operands, Operations};

/// The operations on modules, with their operands.
#[derive(Clone, Copy)]
pub(super) enum ModuleOperation {
    LoadFromFile(Operand<0, String>),
    GlobalsAdd(This),
    GlobalsRemove(This),
    ImplementsFunction(This, Name, SearchesImports),
    GetMetadata(This, Name, SearchesImports),
    GetDoc(This, Name, SearchesImports),
    GetFunction(This, Name, SearchesImports),
    GetPropertyMask(This),
    InspectSource(This, Operand<1, String>),
    GetKind(This),
    GetWriteFormats(This),
    WriteToFile(This, Operand<1, String>, Operand<2, String>),
    ImportModule(This, Operand<1, Module>),
    ClearImports(This),
}
use ModuleOperation::*;

type This = Operand<0, Module>;
type Name = Operand<1, String>;
type SearchesImports = Operand<2, bool>;

impl Operations for ModuleOperation {
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
        let mut result = Any::NONE;
        match self {
            LoadFromFile(file) => result = Module::from_file(operands.get(file))?.into(),
            GlobalsAdd(module) => globals::add(operands.get(module))?,
            GlobalsRemove(module) => globals::remove_added(operands.get(module)),
            ImplementsFunction(this, ..)
            | GetMetadata(this, ..)
            | GetDoc(this, ..)
            | GetFunction(this, ..)
            | GetPropertyMask(this)
            | InspectSource(this, ..)
            | GetKind(this)
            | GetWriteFormats(this)
            | WriteToFile(this, ..)
            | ImportModule(this, ..)
            | ClearImports(this) => result = self.call(operands.get(this), operands)?,
        }
        answer.write(result);
        Ok(())
    }
}

impl ModuleOperation {
    /// Runs an operation that is a method of the module implementation, and returns its result.
    fn call(self, this: &Module, operands: Operands<'_>) -> Result<Any> {
        let ops = record::ops(this)?;
        let search =
            |query, name, imports| this.search(query, operands.get(name), operands.get(imports));
        match self {
            ImplementsFunction(_, name, imports) => {
                return Ok(Any::from(!search(Query::Implementation, name, imports)?.is_none()));
            }
            GetMetadata(_, name, imports) => return search(Query::Metadata, name, imports),
            GetDoc(_, name, imports) => return search(Query::Doc, name, imports),
            GetFunction(_, name, imports) => return search(Query::Function, name, imports),
            GetPropertyMask(_) => return Ok((ops.property_mask)(this)?.into()),
            InspectSource(_, format) => {
                return Ok((ops.inspect_source)(this, operands.get(format))?.into());
            }
            GetKind(_) => return Ok(String::from_bytes((ops.kind)(this)?.to_bytes())?.into()),
            GetWriteFormats(_) => return Ok((ops.write_formats)(this)?.into_any()),
            WriteToFile(_, file, format) => {
                (ops.write_to_file)(this, operands.get(file), operands.get(format))?
            }
            ImportModule(_, other) => (ops.import_module)(this, operands.get(other))?,
            ClearImports(_) => (ops.clear_imports)(this)?,
            LoadFromFile(_) | GlobalsAdd(_) | GlobalsRemove(_) => {}
        }
        Ok(Any::NONE)
    }
}
