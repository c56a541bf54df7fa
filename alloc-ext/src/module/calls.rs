//! What the global functions on modules do.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

use super::{Module, Wanted, globals};
use crate::operation::{Operands, Verb};

/// Runs one of the functions.
///
/// # Errors
/// Those of the methods of a module.
///
/// # Safety
/// `result` is valid for writing.
pub(super) unsafe fn run(verb: Verb, operands: Operands<'_>, result: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: each function has the arguments that are used here, which `last_operand` knows, and of these types.
    unsafe {
        let module = || operands.object::<Module>(0);
        let text = |index| operands.text(index);
        let search = |wanted| module().search(wanted, text(1), operands.integer(2) != 0);
        let mut answer = Any::NONE;
        match verb {
            Verb::LoadFromFile => answer = Module::load_from_file(text(0))?.into(),
            Verb::ImplementsFunction => answer = Any::from(!search(Wanted::Implementation)?.is_none()),
            Verb::GetMetadata => answer = search(Wanted::Metadata)?,
            Verb::GetDoc => answer = search(Wanted::Doc)?,
            Verb::GetFunction => answer = search(Wanted::Function)?,
            Verb::GetPropertyMask => answer = module().property_mask()?.into(),
            Verb::InspectSource => answer = module().inspect_source(text(1))?.into(),
            Verb::GetKind => answer = String::from_bytes(module().kind()?.to_bytes())?.into(),
            Verb::GetWriteFormats => answer = module().write_formats()?.into_any(),
            Verb::WriteToFile => module().write_to_file(text(1), text(2))?,
            Verb::ImportModule => module().import_module(operands.object(1))?,
            Verb::ClearImports => module().clear_imports()?,
            Verb::GlobalsAdd => globals::add(module())?,
            Verb::GlobalsRemove => globals::remove(module()),
            _ => {}
        }
        result.write(answer.into_raw());
    }
    Ok(())
}
