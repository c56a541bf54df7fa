//! An exported function with a type parameter.

#[ferrite::export]
fn twice<T: Copy>(x: T) -> T { //~ a generic function has no single signature
    x
}

fn main() {
    twice(1);
}
