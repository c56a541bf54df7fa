//! An exported function whose error does not convert.

#[derive(Debug)]
struct Odd;

#[ferrite::export]
fn half(x: i64) -> Result<i64, Odd> { //~ `fn(i64) -> Result<i64, Odd> {half}` cannot be called with values
    if x % 2 == 0 { Ok(x / 2) } else { Err(Odd) }
}

fn main() {
    half(1).unwrap();
}
