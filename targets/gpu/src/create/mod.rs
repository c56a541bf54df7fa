//! Modules built from the compiler's objects: `ffi.Module.create.KIND`, which the compiler calls at
//! the end of code generation if the function exists.

mod function_info;

use ferrite_alloc_ext::containers::MapObject;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, String, plain_bail};

use crate::driver::Driver;
use crate::module::DeviceModule;
use crate::payload::{CodeLayout, Writer};

use function_info::FunctionInfo;

/// Implements `ffi.Module.load_from_bytes.KIND`.
///
/// # Errors
/// TypeError unless the argument is Bytes; errors of [`DeviceModule::load`].
pub fn load_from_bytes<D: Driver>(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [bytes] => Ok(DeviceModule::<D>::load(bytes.get()?)?.into()),
        _ => {
            plain_bail!(
                TYPE_ERROR,
                "A loader takes the bytes of a module, but got {} arguments",
                args.len()
            )
        }
    }
}

/// Implements `ffi.Module.create.KIND`. The arguments are (code, format, FunctionInfo by name,
/// sources by format). The code is Bytes, or a Map of Bytes for kinds with separate code for each
/// kernel.
///
/// # Errors
/// TypeError for other arguments; errors of [`DeviceModule::create`].
pub fn create<D: Driver>(args: &[AnyView<'_>]) -> Result<Any> {
    let [code, format, infos, sources] = args else {
        plain_bail!(TYPE_ERROR, "A device module is made of 4 arguments, but got {}", args.len());
    };
    let mut payload = Writer::new();
    if D::LAYOUT.has_format {
        payload.text(format.get::<String>()?.as_bytes())?;
    }
    write_kernels(&mut payload, &infos.get()?)?;
    match D::LAYOUT.code {
        CodeLayout::Whole => payload.text(content(code)?)?,
        CodeLayout::PerKernel | CodeLayout::Shaders => write_codes(&mut payload, &code.get()?)?,
    }
    let sources = sources.get::<Option<MapObject>>()?;
    Ok(DeviceModule::<D>::create(payload.finish()?, sources)?.into())
}

/// Returns the bytes of a Bytes or String argument.
fn content<'a>(code: &'a AnyView<'_>) -> Result<&'a [u8]> {
    match code.bytes_of_bytes().or_else(|| code.bytes_of_string()) {
        Some(content) => Ok(content),
        None => plain_bail!(TYPE_ERROR, "The code of a device module must be bytes"),
    }
}

fn write_kernels(payload: &mut Writer, infos: &MapObject) -> Result<()> {
    payload.count(infos.len())?;
    for (key, value) in infos.iter() {
        let info = FunctionInfo::from_any(value)?;
        payload.kernel_name(key.get::<String>()?.as_bytes())?;
        let types = info.parameter_types()?;
        payload.count(types.len())?;
        for dtype in types.as_slice() {
            payload.dtype(dtype.get::<DLDataType>()?)?;
        }
        let tags = info.launch_tags()?;
        payload.count(tags.len())?;
        for tag in tags.as_slice() {
            payload.text(tag.get::<String>()?.as_bytes())?;
        }
        let extra_tags = info.extra_tags()?;
        payload.count(extra_tags.len())?;
        for tag in extra_tags.as_slice() {
            payload.word(tag.get::<i32>()?.cast_unsigned())?;
        }
    }
    Ok(())
}

fn write_codes(payload: &mut Writer, codes: &MapObject) -> Result<()> {
    payload.count(codes.len())?;
    for (name, code) in codes.iter() {
        payload.text(name.get::<String>()?.as_bytes())?;
        payload.text(content(code.as_view())?)?;
    }
    Ok(())
}
