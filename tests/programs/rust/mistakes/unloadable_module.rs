//! A library whose code is unmapped while its objects may be there.

use ferrite::Module;

fn main() -> ferrite::Result<()> {
    Module::load_from_file(&ferrite::String::new("kernels.so")?).map(drop) //~ load_from_file` is unsafe
}
