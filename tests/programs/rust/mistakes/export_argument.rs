//! An exported function with a parameter that is not a value.

#[ferrite::export]
fn twice(x: std::sync::Arc<i64>) -> i64 { //~ `fn(Arc<i64>) -> i64 {twice}` cannot be called with values
    *x
}

fn main() {
    twice(std::sync::Arc::new(1));
}
