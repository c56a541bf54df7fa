//! A global function that is async.

use ferrite::register_all;

#[ferrite::function(name = "ui.twice")]
async fn twice(x: i64) -> i64 { //~ an async function cannot be called from other languages
    x
}

fn main() -> ferrite::Result<()> {
    drop(twice(1));
    register_all!(twice)
}
