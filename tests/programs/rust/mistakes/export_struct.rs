//! An exported struct.

#[ferrite::export]
struct Point { //~ expected `fn`
    x: i64,
}

fn main() {
    println!("{}", Point { x: 1 }.x)
}
