//! Instrumentation: calls of the user's instrument before and after each call of a function.

use ferrite_core::abi::{DLDataType, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Writer;
use ferrite_core::value::dtype;
use ferrite_core::{Any, AnyView, String};

use super::pools::Pools;
use super::{UseGuard, name_value};

/// Result by which an instrument skips the call.
const SKIP: i64 = 1;

/// Returns `true` if the machine has an instrument or a profile. Always `false` in builds that link
/// builtins individually, to save code.
#[inline]
pub(super) fn is_set(entry: &UseGuard<'_>) -> bool {
    cfg!(feature = "all-builtins") && entry.state().is_observed
}

/// Calls a function, and the instrument before and after it with (function, name, whether before,
/// result, arguments…). If the instrument returns 1 before the call, the call is skipped and its
/// result is None.
#[cold]
pub(super) fn call_instrumented(
    entry: &UseGuard<'_>,
    pools: &Pools,
    function: usize,
    args: &[AnyView<'_>],
    call: impl FnOnce() -> Result<Any>,
) -> Result<Any> {
    let Some(instrument) = entry.state().instrument.clone() else { return call() };
    let executable = entry.0.executable();
    let name = match executable.functions().get(function) {
        Some(info) => name_value(executable.name(info))?,
        None => String::EMPTY,
    };
    let texts = texts_of_dtypes(args)?;
    let result;
    let mut all = Buffer::try_with_capacity(4 + args.len())?;
    all.try_push(pools.function_value(function))?;
    all.try_push(AnyView::from(&name))?;
    all.try_push(AnyView::from(true))?;
    all.try_push(AnyView::NONE)?;
    let mut texts = texts.iter();
    for arg in args {
        let text = if arg.type_index() == type_index::DATA_TYPE { texts.next() } else { None };
        all.try_push(text.map_or(*arg, AnyView::from))?;
    }
    let answer = instrument.call_packed(&all)?;
    if answer.try_get::<i64>()? == Some(SKIP) {
        return Ok(Any::NONE);
    }
    result = call()?;
    if let Some([is_before, value]) = all.get_mut(2..4).and_then(|both| both.first_chunk_mut()) {
        *is_before = AnyView::from(false);
        *value = result.view();
    }
    instrument.call_packed(&all)?;
    drop(all);
    Ok(result)
}

/// Returns the data types among the arguments as strings, since Python callbacks do not accept data
/// types.
fn texts_of_dtypes(args: &[AnyView<'_>]) -> Result<Buffer<String>> {
    let mut texts = Buffer::new();
    for arg in args.iter().filter(|arg| arg.type_index() == type_index::DATA_TYPE) {
        let dtype: DLDataType = arg.get()?;
        texts.try_push(String::compose(&|out: &mut Writer<'_>| {
            let _ = dtype::write_dtype(dtype, out);
        })?)?;
    }
    Ok(texts)
}
