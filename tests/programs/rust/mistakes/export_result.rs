//! An exported function whose result is not a value.

#[ferrite::export]
fn twice(x: i64) -> std::sync::Arc<i64> { //~ `fn(i64) -> Arc<i64> {twice}` cannot be called with values
    std::sync::Arc::new(x)
}

fn main() {
    twice(1);
}
