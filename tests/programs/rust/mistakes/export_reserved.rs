//! An exported function whose symbol the loader reads as data.

#[ferrite::export]
fn _library_bin(x: i64) -> i64 { //~ names of exported functions do not begin with `_library_`
    x
}

fn main() {
    _library_bin(1);
}
