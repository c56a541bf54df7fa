//! An address for the slots of libraries, which call it.

use ferrite::module::context;

fn main() -> ferrite::Result<()> {
    context::register(b"__TVMFFIFunctionCall", std::ptr::without_provenance_mut(8)) //~ context::register` is unsafe
}
