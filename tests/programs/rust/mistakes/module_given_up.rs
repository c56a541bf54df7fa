//! A module that is no longer kept, with the code of its library.

use ferrite::Module;
use ferrite::module::globals;

fn main() -> ferrite::Result<()> {
    let module = Module::load("kernels.so")?;
    globals::add(&module)?;
    globals::remove(&module); //~ call to unsafe function `remove` is unsafe
    Ok(())
}
