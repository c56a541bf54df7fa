//! Program binaries. A client saves them and passes them to the module in its next process, since
//! compilation is slow on phones.

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, plain_bail, plain_ensure};

use super::code::OpenCl;
use crate::driver::Driver;
use crate::module::DeviceModule;
use crate::payload::{Writer, read_binaries};

/// Returns a function of OpenCL modules that is not a kernel; `None` for an unknown name.
///
/// # Errors
/// MemoryError.
pub(super) fn method(module: &Module, name: &[u8]) -> Result<Option<Function>> {
    let module = module.clone();
    match name {
        b"opencl.GetPreCompiledPrograms" => {
            Function::from_typed(move || save(own(&module)?)).map(Some)
        }
        b"opencl.SetPreCompiledPrograms" => {
            Function::from_typed(move |binaries: Bytes| restore(own(&module)?, &binaries)).map(Some)
        }
        _ => Ok(None),
    }
}

fn own(module: &Module) -> Result<&DeviceModule<OpenCl>> {
    match module.implementation() {
        Some(module) => Ok(module),
        None => plain_bail!(INTERNAL_ERROR, "The module is not of kind opencl"),
    }
}

/// Serialises the program binaries of all kernels on the current device. Builds the programs first
/// if necessary.
fn save(module: &DeviceModule<OpenCl>) -> Result<Bytes> {
    let payload = module.source().payload;
    let device = OpenCl::current_device()?;
    let mut saved = Writer::new();
    saved.count(payload.kernels().len())?;
    for (index, kernel) in payload.kernels().iter().enumerate() {
        saved.text(payload.name_of(kernel))?;
        let binary = module.with_kernel(index, device, |kernel| kernel.program().binary())?;
        saved.text(&binary)?;
    }
    saved.finish()
}

/// Loads saved program binaries on the current device. A kernel that was already launched keeps its
/// program.
fn restore(module: &DeviceModule<OpenCl>, saved: &Bytes) -> Result<()> {
    let source = module.source();
    let device = OpenCl::current_device()?;
    plain_ensure!(source.code.programs.is_some(), INTERNAL_ERROR, "The module itself is a binary");
    for (name, binary) in read_binaries(saved.as_bytes())?.iter() {
        let Some(kernel) = source.payload.find(name) else {
            plain_bail!(INTERNAL_ERROR, "There is a program for {}, which is not a kernel", *name);
        };
        source.code.precompiled.set(kernel, Some((device, Bytes::new(binary)?)));
        let loaded = module.with_kernel(kernel, device, |_| Ok(()));
        source.code.precompiled.set(kernel, None);
        loaded?;
    }
    Ok(())
}
