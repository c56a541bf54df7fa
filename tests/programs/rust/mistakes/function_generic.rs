//! A global function with a type parameter.

use ferrite::register_all;

#[ferrite::function]
fn twice<T: Copy>(x: T) -> T { //~ a generic function has no single signature
    x
}

fn main() -> ferrite::Result<()> {
    twice(1);
    register_all!(twice)
}
