//! The bodies of the global functions on modules.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

use super::{Module, Query, globals, record};
use crate::operation::{Family, Operands, Verb};

/// What the operations here share.
pub(super) const FAMILY: Family = Family::new(run);

/// Runs one of the functions.
///
/// # Errors
/// Those of the methods of a module.
///
/// # Safety
/// `result` is valid for writing.
unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each function has the arguments that are used here, which `last_operand` knows, and of these types.
    unsafe {
        let mut answer = Any::NONE;
        match verb {
            Verb::LoadFromFile => answer = Module::load_from_file(operands.text(0))?.into(),
            Verb::GlobalsAdd => globals::add(operands.object(0))?,
            Verb::GlobalsRemove => globals::remove(operands.object(0)),
            _ => answer = use_module(verb, operands)?,
        }
        result.write(answer.into_raw());
    }
    Ok(())
}

/// Runs one of those that are functions of the module itself.
///
/// # Safety
/// The function has the arguments of the verb.
unsafe fn use_module(verb: Verb, operands: Operands<'_>) -> Result<Any> {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let module = operands.object::<Module>(0);
        let ops = record::ops(module)?;
        let text = |index| operands.text(index);
        let search = |query| module.search(query, text(1), operands.integer(2) != 0);
        match verb {
            Verb::ImplementsFunction => return Ok(Any::from(!search(Query::Implementation)?.is_none())),
            Verb::GetMetadata => return search(Query::Metadata),
            Verb::GetDoc => return search(Query::Doc),
            Verb::GetFunction => return search(Query::Function),
            Verb::GetPropertyMask => return Ok((ops.property_mask)(module)?.into()),
            Verb::InspectSource => return Ok((ops.inspect_source)(module, text(1))?.into()),
            Verb::GetKind => return Ok(String::from_bytes((ops.kind)(module)?.to_bytes())?.into()),
            Verb::GetWriteFormats => return Ok((ops.write_formats)(module)?.into_any()),
            Verb::WriteToFile => (ops.write_to_file)(module, text(1), text(2))?,
            Verb::ImportModule => (ops.import_module)(module, operands.object(1))?,
            Verb::ClearImports => (ops.clear_imports)(module)?,
            _ => {}
        }
    }
    Ok(Any::NONE)
}
