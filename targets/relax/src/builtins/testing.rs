//! Calls of builtins, for unit tests.

use ferrite_core::abi::DLPACK_FLAG_BITMASK_READ_ONLY;
use ferrite_core::{Any, AnyView, Tensor};

/// Imports a tensor whose producer does not allow writes.
pub(crate) fn read_only(tensor: &Tensor) -> Tensor {
    let managed = tensor.to_dlpack_versioned().unwrap().as_ptr();
    // SAFETY: the export is ours, and the import takes it over.
    unsafe {
        (*managed).flags = DLPACK_FLAG_BITMASK_READ_ONLY;
        Tensor::from_dlpack_versioned(managed, 0, false).unwrap()
    }
}

/// Calls the builtin with this name, and expects success.
#[track_caller]
pub(crate) fn call(name: &str, args: &[AnyView<'_>]) -> Any {
    let builtin =
        super::find(name.as_bytes()).unwrap_or_else(|| panic!("there is no builtin {name}"));
    builtin.implementation().unwrap()(args)
        .unwrap_or_else(|error| panic!("{name} failed: {error:?}"))
}

/// Calls the builtin with this name, and expects an error of this kind with this message.
#[track_caller]
pub(crate) fn failure(name: &str, args: &[AnyView<'_>], kind: &str, message: &str) {
    let builtin =
        super::find(name.as_bytes()).unwrap_or_else(|| panic!("there is no builtin {name}"));
    let error = builtin.implementation().unwrap()(args).expect_err(name);
    let texts = [error.kind_bytes(), error.message_bytes()]
        .map(|text| std::string::String::from_utf8_lossy(text).into_owned());
    assert_eq!(texts, [kind, message]);
}
