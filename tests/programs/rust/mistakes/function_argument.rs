//! A global function with a parameter that is not a value.

use ferrite::register_all;

#[ferrite::function(name = "ui.twice")]
fn twice(x: std::sync::Arc<i64>) -> i64 { //~ `fn(Arc<i64>) -> i64 {twice}` cannot be called with values
    *x
}

fn main() -> ferrite::Result<()> {
    twice(std::sync::Arc::new(1));
    register_all!(twice)
}
