//! A symbol of the system library that is not a function.

use ferrite::module::system_lib;

fn main() -> ferrite::Result<()> {
    system_lib::register(b"__tvm_ffi_f", std::ptr::without_provenance_mut(8)) //~ system_lib::register` is unsafe
}
