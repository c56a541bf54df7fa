//! Lists of tensors of the cache, as arrays, or as modules with a function `get_params`.

use core::ffi::CStr;

use ferrite_alloc_ext::containers::Array;
use ferrite_alloc_ext::module::{Module, ModuleImpl};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView, Function, String, Tensor, plain_bail, plain_error};

use super::cache::CACHE;

/// Module implementation of a list of parameters.
struct Params(Array<Tensor>);

impl ModuleImpl for Params {
    fn kind(&self) -> &CStr {
        c"param_module"
    }

    fn get_function(&self, _module: &Module, name: &String) -> Result<Option<Function>> {
        if name.as_bytes() != b"get_params" {
            return Ok(None);
        }
        let params = self.0.clone();
        Function::from_packed(move |_| Ok(params.clone().into_any())).map(Some)
    }
}

/// Returns the tensors `prefix_0`, `prefix_1` and so on: `count` of them, or as many as there are
/// if `count` is -1.
///
/// # Errors
/// InternalError if one is missing.
pub(super) fn array(prefix: String, count: i64) -> Result<Array<Tensor>> {
    let mut params = Array::new()?;
    let mut at = 0i64;
    while count == -1 || at < count {
        let name = numbered(&prefix, at)?;
        match CACHE.get(name.as_bytes()) {
            Some(tensor) => params.push(tensor)?,
            None if count == -1 => break,
            None => plain_bail!(INTERNAL_ERROR, "Cannot find {} in cache", &name),
        }
        at += 1;
    }
    Ok(params)
}

/// Returns the name of a parameter: prefix, underscore and number.
fn numbered(prefix: &String, number: i64) -> Result<String> {
    String::compose(&|out| {
        out.put(prefix.as_bytes());
        out.put(b"_");
        out.put_number(number);
    })
}

/// Returns the tensors of these names.
///
/// # Errors
/// ValueError if one is missing.
pub(super) fn array_by_name(names: Array<String>) -> Result<Array<Tensor>> {
    let mut params = Array::new()?;
    for name in names.iter() {
        params.push(named(&name?)?)?;
    }
    Ok(params)
}

fn named(name: &String) -> Result<Tensor> {
    CACHE
        .get(name.as_bytes())
        .ok_or_else(|| plain_error!(VALUE_ERROR, "Cannot find parameter in cache: {}", name))
}

/// Returns the tensors of the names among the arguments.
///
/// # Errors
/// ValueError if an argument is not a string, or a tensor is missing.
pub(super) fn array_of_names(args: &[AnyView<'_>]) -> Result<Any> {
    let mut params = Array::<Tensor>::new()?;
    for (at, arg) in args.iter().enumerate() {
        let Some(name) = arg.try_get::<String>()? else {
            let key = type_table::type_key_of(arg.type_index());
            plain_bail!(VALUE_ERROR, "Expect string as input, but get {} at {}", key, at);
        };
        params.push(named(&name)?)?;
    }
    Ok(params.into_any())
}

/// Returns a module with the tensors of [`array`].
pub(super) fn module(prefix: String, count: i64) -> Result<Module> {
    Module::from_impl(Params(array(prefix, count)?))
}

/// Returns a module with the tensors of [`array_by_name`].
pub(super) fn module_by_name(names: Array<String>) -> Result<Module> {
    Module::from_impl(Params(array_by_name(names)?))
}
