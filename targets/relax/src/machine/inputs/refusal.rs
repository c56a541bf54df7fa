//! Errors for tensors that are not aligned, and that cannot be copied.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::error::message::SHORT;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::stack;
use ferrite_core::platform::text::Writer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{AnyView, ObjectRef, plain_error};

use super::{is_aligned, is_usable};
use crate::executable::{FunctionInfo, Program};
use crate::memory::required_alignment;

/// Checks that the tensors among the arguments are aligned, elements of tuples included.
///
/// # Errors
/// ValueError that names the argument.
#[cold]
pub(in crate::machine) fn refuse(
    program: &Program,
    info: &FunctionInfo,
    args: &[AnyView<'_>],
) -> Result<()> {
    for (index, arg) in args.iter().enumerate() {
        if let Some(alignment) = unmet_alignment(arg)? {
            return Err(unaligned(program, info, index, alignment));
        }
    }
    Ok(())
}

/// Returns the alignment that a tensor lacks; `None` for values that kernels can use.
fn unmet_alignment(arg: &AnyView<'_>) -> Result<Option<usize>> {
    if let Some(tensor) = TensorRef::from_view(arg) {
        // Boards have main memory alone, and check no more than they must.
        let is_fit = is_aligned(tensor) || !SHORT && is_usable(tensor);
        return Ok((!is_fit).then(|| required_alignment(tensor.dtype())));
    }
    let Some(object) = arg.try_get::<ObjectRef>()? else { return Ok(None) };
    let Some(tuple) = object.as_class::<ArrayObject>() else { return Ok(None) };
    for element in tuple.as_slice() {
        if let Some(alignment) = stack::nest(|| unmet_alignment(&element.view()))? {
            return Ok(Some(alignment));
        }
    }
    Ok(None)
}

/// Returns the error for an argument whose memory is not aligned.
fn unaligned(program: &Program, info: &FunctionInfo, index: usize, alignment: usize) -> Error {
    if SHORT {
        return plain_error!(VALUE_ERROR, "argument {} is not aligned to {}", index, alignment);
    }
    let write = |out: &mut Writer<'_>| {
        write_argument(out, program, info, index);
        out.put(b" is not aligned to ");
        out.put_word(alignment);
        out.put(b" bytes, as kernels assume");
    };
    Error::from_parts(ferrite_core::__error_site!(), ferrite_core::error::kind::VALUE_ERROR, &write)
}

/// Writes `The argument NAME of FUNCTION`, with the index of a nameless argument.
pub(super) fn write_argument(
    out: &mut Writer<'_>,
    program: &Program,
    info: &FunctionInfo,
    index: usize,
) {
    out.put(b"The argument ");
    match program.parameters(info).nth(index) {
        Some(name) => out.put_lossy(name),
        None => {
            out.put(b"#");
            out.put_word(index);
        }
    }
    out.put(b" of ");
    out.put_lossy(program.name(info));
}
